package complete

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vault-mcp/cache/index"
	"vault-mcp/internal/acl"
	"vault-mcp/vault"
)

// The name counts before the path, and what begins so before what has it
// somewhere, whatever the case and the form of the letters.
func TestTheBestPathsComeFirst(t *testing.T) {
	paths := []string{
		"Areas/plan.md", "Areas/my plan.md", "Plan.md", "Plan/a.md", "Plan/zebra.md", "Planet.md", "Übersicht.md", "Zoo/Cafe\u0301.md", "archive.plan/x.md", "b/planets/y.md",
	}
	for value, want := range map[string][]string{
		"plan":      {"Areas/plan.md", "Plan.md", "Planet.md", "Plan/a.md", "Plan/zebra.md", "Areas/my plan.md", "archive.plan/x.md", "b/planets/y.md"},
		"PLAN.MD":   {"Areas/plan.md", "Plan.md", "Areas/my plan.md"},
		"plan/":     {"Plan/a.md", "Plan/zebra.md", "archive.plan/x.md"},
		"über":      {"Übersicht.md"},
		"CAF\u00c9": {"Zoo/Cafe\u0301.md"},
		"nothing":   {},
	} {
		f := newFinder(value)
		for _, p := range paths {
			f.offer(p, "")
		}
		if got := f.best(); !slices.Equal(got.Values, want) || got.Total != len(want) {
			t.Errorf("%q: %q of %d, want %q", value, got.Values, got.Total, want)
		}
	}
}

// Of many only the best go out, with how many there are.
func TestOfManyTheBestGoOut(t *testing.T) {
	f := newFinder("n")
	for _, folder := range []string{"a", "z"} {
		for i := range 150 {
			f.offer(fmt.Sprintf("%s/in %03d.md", folder, i), "main/")
		}
		f.turn()
	}
	f.offer("note.md", "main/")
	got := f.best()
	if len(got.Values) != Most || got.Total != 301 || got.Values[0] != "main/note.md" || got.Values[1] != "main/a/in 000.md" || got.Values[99] != "main/a/in 098.md" {
		t.Errorf("%d of %d: %q", len(got.Values), got.Total, got.Values)
	}
	if cut := got.within(1200); len(cut.Values) == 0 || cut.PayloadSize() > 1200 || cut.Total != 301 {
		t.Errorf("%d values with %d bytes fit into 1200", len(cut.Values), cut.PayloadSize())
	}
}

// What the index completes is what the files complete without it: only what the
// rules let be read, and no tag that only notes have which the rules hide, deny or
// keep for a person, or the app's settings exclude.
func TestOnlyWhatMayBeReadIsOffered(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "vault")
	for p, text := range map[string]string{
		".obsidian/app.json": `{"userIgnoreFilters":["Old/"]}`,
		"b.md":               "---\nStatus: x\ntags: [Project/One]\n---\n#other #other #project/two\n",
		"a.md":               "---\nstatus: x\n---\n#project/one #PROJECT/two\n",
		"Open/c.canvas":      "{}",
		"Hidden/status.md":   "---\nsecret: 1\n---\n#secret #project/one",
		"Denied/status.md":   "---\ndenied: 1\n---\n#denied",
		"Asked/status.md":    "---\nasked: 1\n---\n#asked",
		"Old/status.md":      "---\nold: 1\n---\n#old",
		"Open/status.png":    "x",
		"Open/status.txt":    "no resource that is listed",
	} {
		full := filepath.Join(dir, filepath.FromSlash(p))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	v, err := vault.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	rules, err := acl.Compile([]acl.Rule{{Glob: "Hidden/**", Read: acl.Hide}, {Glob: "Denied/**", Read: acl.Deny}, {Glob: "Asked/**", Read: acl.Ask}})
	if err != nil {
		t.Fatal(err)
	}
	ix := index.Open(v, t.TempDir(), index.Options{NoWatch: true, Sweep: -1})
	ix.Start(t.Context())
	defer ix.Close()
	for end := time.Now().Add(20 * time.Second); ix.Status(nil).Phase != index.Ready; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the index is not ready")
		}
	}
	for name, view := range map[string]*acl.View{
		"index": acl.NewView("main", v, rules, false).Indexed(ix).Now(), "files": acl.NewView("main", v, rules, false).Now(),
	} {
		for _, tt := range []struct {
			what  What
			value string
			want  string
		}{
			{Note, "", "Old/status.md a.md b.md"},
			{Note, "status", "Old/status.md"},
			{Resource, "status", "main/Old/status.md main/Open/status.png"},
			{Resource, "main/open/", "main/Open/c.canvas main/Open/status.png"},
			{Resource, "c", "main/Open/c.canvas"},
			{Tag, "", "project/one PROJECT/two other"},
			{Tag, "#TWO", "PROJECT/two"},
			{Tag, "o", "other project/one PROJECT/two"},
			{Tag, "secret", ""},
			{Property, "", "status tags"},
			{Property, "denied", ""},
		} {
			var got Values
			var err error
			switch tt.what {
			case Note:
				f := newFinder(tt.value)
				err = f.notes(t.Context(), view)
				got = f.best()
			case Resource:
				got, err = files(t.Context(), []*acl.View{view}, tt.value)
			default:
				got, err = words(t.Context(), view, tt.what, tt.value)
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, strings.Join(got.Values, " ")); diff != "" || got.Total != len(got.Values) {
				t.Errorf("%s: %s %q: %d, %s", name, tt.what, tt.value, got.Total, diff)
			}
		}
	}
}
