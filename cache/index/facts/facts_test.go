package facts

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault-mcp/vault/note"
)

const sample = "---\naliases: [Shed day, Repairs]\ntags: [wood, a/b]\nrating: 4\nhalf: 0.5\nbig: 123456789012345678901234567890\n" +
	"empty:\ndone: true\nodd: {x: [1, {y: no}], z: ~}\nup: \"[[Home#Top|home]]\"\nsee: [\"[[A]]\", \"[[B]]\"]\n---\n" +
	"# Shed #now\n\nSee [[Glue]], ![[p.png|100]] and [x](Other%20note.md#H) and <https://example.org>. ^leg\n\n" +
	"- [ ] glue 📅 2031-02-05 ^t1\n  - [x] buy [[Glue#^a|some]]\n\n## Sub\n\n😀 [[After]]\n\n[def]: Target.md\n"

func TestFactsOfANote(t *testing.T) {
	n := Of([]byte(sample))
	var links []string
	for _, l := range n.Links {
		links = append(links, l.Target+l.Subpath)
	}
	want := []string{"Home#Top", "A", "B", "Glue", "p.png", "Other note.md#H", "https://example.org", "Glue#^a", "After", "Target.md"}
	if diff := cmp.Diff(want, links); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
	after := n.Links[8]
	if after.Line != 22 || after.Column != 4 {
		t.Errorf("[[After]] is at %d:%d, want 22:4 in UTF-16 units", after.Line, after.Column)
	}
	for i, raw := range map[int]string{0: "[[Home#Top|home]]", 3: "[[Glue]]", 4: "![[p.png|100]]", 5: "[x](Other%20note.md#H)", 7: "[[Glue#^a|some]]", 8: "[[After]]"} {
		if n.Links[i].Length != len(raw) {
			t.Errorf("%s has %d bytes", raw, n.Links[i].Length)
		}
	}
	if n.Links[2].Property != "see" || n.Links[2].Item != 1 || n.Links[3].Item != -1 {
		t.Errorf("items: %+v", n.Links[2:4])
	}
	if due, ok := n.Tasks[0].Field(note.TaskDue); !ok || due != "2031-02-05" || n.Tasks[0].Done() || !n.Tasks[1].Done() {
		t.Errorf("tasks: %+v", n.Tasks)
	}
	odd := n.Properties[slices.IndexFunc(n.Properties, func(p Property) bool { return p.Key == "odd" })]
	if x, _ := odd.Value.(Map).Get("x"); cmp.Diff([]any{int64(1), Map{{"y", "no"}}}, x) != "" {
		t.Errorf("odd.x = %#v", x)
	}
}

func TestABlobKeepsEverything(t *testing.T) {
	notes := []*Note{
		{}, Of(nil), Of([]byte(sample)), Of([]byte("---\na: b: c\n---\nx")), Of([]byte("\xff\x00[[a]]")),
		{Properties: []Property{
			{"f", math.Inf(-1), 3}, {"i", int64(math.MinInt64), 4}, {"n", json.Number("99999999999999999999"), 2}, {"l", []any{}, 5}, {"m", Map{}, 5},
		}},
	}
	for _, n := range notes {
		got, err := Blob(n.Append(nil)).Decode()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(n, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestListsAreReadInPlace(t *testing.T) {
	n := Of([]byte(sample))
	b := Blob(n.Append(nil))
	if diff := cmp.Diff(n.Links, slices.Collect(b.Links())); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(n.Tags, slices.Collect(b.Tags())); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(n.Aliases, slices.Collect(b.Aliases())); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(n.Properties, slices.Collect(b.Properties())); diff != "" {
		t.Error(diff)
	}
	if len(slices.Collect(b.Headings())) != 2 || len(slices.Collect(b.Blocks())) != 2 || len(slices.Collect(b.Tasks())) != 2 {
		t.Error("headings, blocks or tasks are missing")
	}
	for range b.Links() {
		break // ends early without harm
	}
	if got := testing.AllocsPerRun(100, func() {
		for l := range b.Links() {
			_ = l
		}
	}); got > 4 {
		t.Errorf("reading links allocates %v times", got)
	}
	if h := b.Head(); h.State != note.StateOK || h.Lines != n.Lines {
		t.Errorf("head: %+v", h)
	}
}

func TestADamagedBlobIsRefused(t *testing.T) {
	good := string(Of([]byte(sample)).Append(nil))
	for i := 1; i < len(good); i++ {
		if _, err := Blob(good[:i]).Decode(); err == nil {
			t.Errorf("cut at %d it is read", i)
		}
	}
	if _, err := Blob("\x63" + good[1:]).Decode(); err == nil {
		t.Error("another version is read")
	}
	deep := encoder{}
	for range 200 {
		deep.b = append(deep.b, isList, 1)
	}
	r := reader{s: string(deep.b) + strings.Repeat("\x00", 9)}
	if r.value(0); !r.bad {
		t.Error("endless nesting is read")
	}
}

func FuzzBlob(f *testing.F) {
	f.Add(Of([]byte(sample)).Append(nil))
	f.Add((&Note{}).Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := Blob(b).Decode()
		for range Blob(b).Links() {
		}
		for range Blob(b).Properties() {
		}
		if err != nil {
			return
		}
		again, err := Blob(n.Append(nil)).Decode()
		if err != nil {
			t.Fatalf("what was read is not read again: %v", err)
		}
		equal := cmp.Comparer(func(a, b float64) bool { return a == b || a != a && b != b })
		if diff := cmp.Diff(n, again, equal); diff != "" {
			t.Fatal(diff)
		}
	})
}

func FuzzOf(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte("---\n\"\": [\"[[a]]\", \"[[b]]\"]\n---\n")) // a property without a name
	f.Fuzz(func(t *testing.T, text []byte) {
		n := Of(text)
		got, err := Blob(n.Append(nil)).Decode()
		if err != nil {
			t.Fatal(err)
		}
		if !cmp.Equal(n, got, cmp.Comparer(func(a, b float64) bool { return a == b || a != a && b != b })) {
			t.Fatal(cmp.Diff(n, got))
		}
	})
}

func BenchmarkOf(b *testing.B) {
	text := []byte(sample)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Of(text)
	}
}

func BenchmarkLinks(b *testing.B) {
	blob := Blob(Of([]byte(sample)).Append(nil))
	b.ReportAllocs()
	for b.Loop() {
		for l := range blob.Links() {
			_ = l
		}
	}
}

func TestWhatIsWrongWithANote(t *testing.T) {
	for text, want := range map[string]string{
		"---\na: 1\n---\nx": "0 ", "---\na: [\n---\n\x00": "3 its properties are no valid YAML: ", "a\r\nb\rc\x00": "3 it holds a NUL character", "\ufeff\x00": "1 it holds a NUL",
	} {
		line, reason := FlawOf([]byte(text))
		line2, reason2 := Blob(Of([]byte(text)).Append(nil)).Flaw()
		if got := fmt.Sprint(line, " ", reason); !strings.HasPrefix(got, want) || want == "0 " && got != want || line != line2 || reason != reason2 {
			t.Errorf("%q: %q, and %d %q of its blob; want %q", text, got, line2, reason2, want)
		}
	}
}
