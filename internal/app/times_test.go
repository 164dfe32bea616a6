//go:build unix

package app_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Times come from programs, archives and other computers. One that no int64 of
// nanoseconds holds, as after 2262, must not turn an order around, or make an
// answer fail.
func TestTimesBeyondNanoseconds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "vault")
	seconds := map[string]int64{
		"a-1700.md": -8520336000, "b-1905.md": -2051222400, "c-1969.md": -1, "d-1970.md": 0, "e-2026.md": 1800000000,
		"f-2262.md": 9223372036, "g-2263.md": 9246182400, "h-2400.md": 13569465600, "i-9999.md": 253402300799, "j-12000.md": 316516204800,
	}
	files := map[string]string{}
	for p := range seconds {
		files[p] = "[[e-2026]] #x"
	}
	plant(t, dir, files)
	for p, s := range seconds {
		at := unix.Timespec{Sec: s, Nsec: 5}
		if err := unix.UtimesNanoAt(unix.AT_FDCWD, filepath.Join(dir, p), []unix.Timespec{at, at}, 0); err != nil {
			t.Fatal(err)
		}
	}
	a := start(t, t.TempDir(), fmt.Sprintf("vaults: [{path: %q}]\n", dir))
	calls := [][2]string{
		{"list_notes", `{"sort":"mtime"}`}, {"search_jsonlogic", `{"logic":{"<":[{"var":"modified"},"2100-01-01"]}}`},
		{"search_text", `{"query":"e-2026"}`}, {"search_vault", `{"query":"tag:#x"}`}, {"find_notes_by_tag", `{"tag":"x"}`},
		{"get_backlinks", `{"path":"e-2026.md"}`}, {"read_note", `{"path":"j-12000.md","format":"json"}`}, {"list_attachments", `{}`},
		{"search_jsonlogic", `{"logic":{"var":"path"}}`}, {"note_exists", `{"path":"i-9999.md"}`},
	}
	before := map[string]string{}
	want := slices.Sorted(maps.Keys(seconds))
	if got := list(t, a, args{"sort": "mtime"}); !slices.Equal(want, got) {
		t.Errorf("by time: %q", got)
	}
	if got := list(t, a, args{"modified_since": "2262-01-01"}); !slices.Equal(want[5:], got) {
		t.Errorf("since 2262: %q", got)
	}
	for _, c := range calls {
		res, err := do(t.Context(), a, c[0], c[1])
		if err != nil {
			t.Errorf("%s %s: %v", c[0], c[1], err)
			continue
		}
		before[c[0]+c[1]] = string(res.Structured)
	}
	a.Begin(t.Context())
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		var out struct{ Index string }
		if err := call(t, a, "get_index_status", args{}, &out); err != nil || time.Now().After(end) {
			t.Fatalf("%v, %s", err, out.Index)
		}
		if out.Index == "ready" {
			break
		}
	}
	for _, c := range calls {
		res, err := do(t.Context(), a, c[0], c[1])
		if err != nil {
			t.Errorf("indexed: %s %s: %v", c[0], c[1], err)
			continue
		}
		if x, y := lasting(t, before[c[0]+c[1]]), lasting(t, string(res.Structured)); x != y {
			t.Errorf("%s %s:\nfiles %s\nindex %s", c[0], c[1], x, y)
		}
	}
}

// lasting is an answer without what belongs to the moment.
func lasting(t *testing.T, answer string) string {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(answer), &m); err != nil {
		t.Fatal(err)
	}
	delete(m, "next_cursor")
	delete(m, "index")
	return fmt.Sprint(m)
}
