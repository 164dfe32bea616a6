package app_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault-mcp/internal/app"
	"vault-mcp/internal/fault"
	"vault-mcp/internal/racing"
)

// linked serves a vault of some files.
func linked(t *testing.T, files map[string]string, config ...string) *app.App {
	t.Helper()
	dir := t.TempDir()
	plant(t, dir, files)
	rules := ""
	if len(config) > 0 {
		rules = ", rules: [" + config[0] + "]"
	}
	return start(t, t.TempDir(), fmt.Sprintf("vaults: [{path: %q%s}]\ngovernor: {max_response_bytes: 20000}\n", dir, rules))
}

type linkRow struct {
	Source   string `json:"source_path"`
	Line     int
	Col      int
	Raw      string
	Kind     string
	Target   string
	Display  string
	Heading  string
	Property string
	Node     string
	Self     bool
	Snippet  string
	External bool
	Resolved bool
	Path     string   `json:"target_path"`
	Found    *bool    `json:"subpath_found"`
	Options  []string `json:"candidates"`
	AliasOf  []string `json:"alias_of"`
}

type linksAnswer struct {
	Counts      map[string]int
	Total       int
	Sources     int
	Unlinked    *int `json:"total_unlinked"`
	Links       []linkRow
	Backlinks   []linkRow
	Unresolved  []linkRow
	Orphans     []string
	Cycles      [][]string
	Notes       int
	Next        *string `json:"next_cursor"`
	Warnings    []struct{ Path, Reason string }
	Communities []struct {
		Size  int
		Paths []string
	}
}

func (a *linksAnswer) rows() []linkRow { return slices.Concat(a.Links, a.Backlinks, a.Unresolved) }

func links(t *testing.T, a *app.App, tool string, in args) linksAnswer {
	t.Helper()
	var out linksAnswer
	if err := call(t, a, tool, in, &out); err != nil {
		t.Fatalf("%s %v: %v", tool, in, err)
	}
	return out
}

// brief says of each row where it stands and what it is.
func brief(rows []linkRow) []string {
	var all []string
	for _, r := range rows {
		s := fmt.Sprintf("%s%d:%d %s %s", r.Source, r.Line, r.Col, r.Kind, r.Raw)
		if r.Property != "" {
			s += " in " + r.Property
		}
		if r.Self {
			s += " self"
		}
		all = append(all, s)
	}
	return all
}

var crafts = map[string]string{
	"Lathe.md":       "---\naliases: [Turning bench]\nup: \"[[Shop#Tools]]\"\nmore:\n  - \"[[Drill|d]]\"\n  - no [[Drill]] link\n---\n# Setup\nSee [[#Setup]] and [[ shop ]].\n\n## Speed: slow ##\nx ^b1\n",
	"Drill.md":       "é😀 [[Lathe|the lathe]] ![[Lathe#Speed slow]] [l](Lathe.md#^b1) [l](<Lathe.md> \"t\") [l](./Lathe%2Emd) `[[Lathe]]` %%[[Lathe]]%%\n\n~~~\n[[Lathe]]\n```\n[[Lathe]]\n~~~\n| a |\n|---|\n| [[Lathe\\|x]] |\n\n[lathe]: Lathe.md\n",
	"Shop.md":        "# Tools\n![[fire pit.png|100]] [p](fire%20pit.png) [[wall.canvas]] [[doc.pdf#page=2]] [m](mailto:a@b.org) <https://a.org> https://b.org [[Turning bench]] [[#None]] [[Lathe#Nowhere]] [[Gone/Lathe]] [[../Lathe]] [[gone.png]]\n\n[ref]: https://c.org\n",
	"fire pit.png":   "\x89PNG",
	"doc.pdf":        "%PDF",
	"wall.canvas":    "{\n\t\"nodes\":[\n\t\t{\"id\":\"1\",\"type\":\"file\",\"file\":\"Lathe.md\"},\n\t\t{\"id\":\"2\",\"type\":\"file\",\"file\":\"Lathe.md\",\"subpath\":\"#Setup\"},\n\t\t{\"id\":\"3\",\"type\":\"text\",\"text\":\"[[Lathe]] [[None]]\"},\n\t\t{\"id\":\"4\",\"type\":\"file\",\"file\":\"Gone.md\"},{\"id\":\"5\",\"type\":\"file\",\"file\":\"fire pit.png\"}\n\t]}",
	"empty.canvas":   "",
	"broken.canvas":  "{",
	"Old/Alone.md":   "The lathe and turning bench; Lathes, lathe_x `Lathe` #Lathe <b title=\"Lathe\"> [[Drill|Lathe]] Lathe.\n\n    Lathe\n",
	"Old/broken.md":  "---\na: [\n---\n[[Alone]]\n",
	"Old/latin.md":   "caf\xe9 [[Alone]]\n",
	"Old/drill.base": "filters: 'file.name == \"[[Lathe]]\"'\n",
}

func TestOutgoingLinksSayWhereTheyLead(t *testing.T) {
	a := linked(t, crafts)
	out := links(t, a, "get_outgoing_links", args{"path": "Shop.md"})
	var got []string
	for _, r := range out.Links {
		s := fmt.Sprintf("%s %s#%s -> %s", r.Kind, r.Target, r.Heading, r.Path)
		switch {
		case r.External:
			s += "external"
		case !r.Resolved:
			s += "nowhere"
		case r.Found != nil:
			s += fmt.Sprintf(" %v", *r.Found)
		}
		got = append(got, s)
	}
	want := []string{
		"embed fire pit.png# -> fire pit.png", "markdown fire pit.png# -> fire pit.png", "wikilink wall.canvas# -> wall.canvas",
		"wikilink doc.pdf#page=2 -> doc.pdf", "markdown mailto:a@b.org# -> external", "url https://a.org# -> external", "url https://b.org# -> external",
		"wikilink Turning bench# -> nowhere", "wikilink #None -> Shop.md false", "wikilink Lathe#Nowhere -> Lathe.md false",
		"wikilink Gone/Lathe# -> nowhere", "wikilink ../Lathe# -> nowhere", "wikilink gone.png# -> nowhere",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if d := cmp.Diff(map[string]int{"total": 13, "resolved": 6, "unresolved": 4, "external": 3}, out.Counts); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if got := links(t, a, "get_outgoing_links", args{"path": "Shop.md", "include_embeds": false}).Counts["total"]; got != 12 {
		t.Errorf("%d links without embeds", got)
	}
	found := map[string]bool{}
	for _, r := range links(t, a, "get_outgoing_links", args{"path": "Drill.md"}).Links {
		if r.Found != nil {
			found[r.Heading] = *r.Found
		}
	}
	if d := cmp.Diff(map[string]bool{"Speed slow": true, "^b1": true}, found); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	canvas := links(t, a, "get_outgoing_links", args{"path": "wall.canvas"})
	if d := cmp.Diff([]string{"3:3 canvas Lathe.md", "4:3 canvas Lathe.md#Setup", "6:3 canvas Gone.md", "6:45 canvas fire pit.png"}, brief(canvas.Links)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if c := canvas.Counts; c["resolved"] != 3 || c["unresolved"] != 1 || !*canvas.Links[1].Found {
		t.Errorf("%+v", canvas)
	}
	if got := links(t, a, "get_outgoing_links", args{"path": "doc.pdf"}); got.Counts["total"] != 0 {
		t.Errorf("%+v", got)
	}
	var none linksAnswer
	for _, path := range []string{"broken.canvas", "Old/latin.md"} {
		if err := call(t, a, "get_outgoing_links", args{"path": path}, &none); fault.Of(err) == nil || fault.Of(err).Code != fault.InvalidInput {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestSeveralFilesOfANameAreSaid(t *testing.T) {
	a := linked(t, map[string]string{"a/n.md": "[[n]]", "b/n.md": "", "a/x.md": "[[n]]", "c/long/n.md": ""})
	out := links(t, a, "get_outgoing_links", args{"path": "a/x.md"})
	if d := cmp.Diff([]string{"a/n.md", "b/n.md", "c/long/n.md"}, out.Links[0].Options); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// Whatever a page holds, each item comes exactly once and no answer is over
// the budget.
func TestPagesOfLinksSkipAndRepeatNothing(t *testing.T) {
	racing.Skips(t)
	files := map[string]string{"hub.md": "Hub [[hub]]\n", "b.canvas": `{"nodes":[{"type":"file","file":"hub.md"},{"type":"file","file":"hub.md"},{"type":"file","file":"no.md"}]}`}
	for i := range 24 {
		files[fmt.Sprintf("n %d.md", i)] = fmt.Sprintf("hub\n%s[[hub]] [[hub|x]] [[none]] %s\n\n[[n %d]] [[n %d]]\n", strings.Repeat("x", i*20), strings.Repeat("é", 300), i^1, i)
		files[fmt.Sprintf("o/alone %d.md", i)] = "---\na: &a [\"[[hub]]\", \"[[none]]\"]\nb: *a\n---\n" + strings.Repeat("[[hub]] [[none]] ", 4)
	}
	a := linked(t, files)
	for tool, in := range map[string]args{
		"get_backlinks": {"path": "hub.md", "unlinked": true, "context": 1}, "find_unresolved_links": {}, "find_orphans": {},
		"get_outgoing_links": {"path": "o/alone 7.md"}, "find_link_cycles": {},
	} {
		var whole []string
		for _, limit := range []int{1000, 17, 3} {
			in := cloned(in)
			in["limit"] = limit
			var all []string
			for page := 0; ; page++ {
				out := links(t, a, tool, in)
				all = append(all, append(brief(out.rows()), out.Orphans...)...)
				for _, c := range out.Cycles {
					all = append(all, strings.Join(c, " > "))
				}
				if out.Next == nil {
					total := max(out.Total, out.Counts["total"])
					if out.Unlinked != nil {
						total += *out.Unlinked
					}
					if len(all) != total {
						t.Errorf("%s by %d: %d items, total %d", tool, limit, len(all), total)
					}
					break
				}
				if in["cursor"] = *out.Next; page > 5000 {
					t.Fatal("the list does not end")
				}
			}
			if whole == nil {
				whole = all
			} else if d := cmp.Diff(whole, all); d != "" {
				t.Errorf("%s by %d: -whole +paged:\n%s", tool, limit, d)
			}
		}
		if len(whole) < 12 {
			t.Errorf("%s: only %d items", tool, len(whole))
		}
	}
}

// The cases say what the app takes for a link, and where it leads.
func TestFieldCasesOfLinks(t *testing.T) {
	ran := map[string]int{}
	for _, kind := range []string{"links_extract", "canvas", "files"} {
		b, err := os.ReadFile("../../testdata/field/" + kind + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var cases []fieldCase
		if err := json.Unmarshal(b, &cases); err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			var run func(*testing.T, *app.App, fieldCase)
			switch c.Op.What {
			case "links":
				run = expectLinks
			case "resolved_links":
				run = expectResolved
			case "backlinks":
				run = expectBacklinks
			default:
				continue
			}
			if c.Certainty != "high" {
				continue
			}
			ran[c.Op.What]++
			t.Run(c.ID, func(t *testing.T) {
				files := map[string]string{}
				for p, v := range c.Files {
					files[p], _ = v.(string) // what is no text need only be there
				}
				run(t, linked(t, files), c)
			})
		}
	}
	if len(ran) != 3 {
		t.Errorf("cases ran: %v", ran)
	}
}

func expectLinks(t *testing.T, a *app.App, c fieldCase) {
	out := links(t, a, "get_outgoing_links", c.Op.Args)
	want := c.Expect["links"].([]any)
	var rows []linkRow
	for _, r := range out.Links {
		if !r.External {
			rows = append(rows, r)
		}
	}
	if len(rows) != len(want) {
		t.Fatalf("%v, want %d links", brief(out.Links), len(want))
	}
	if c.Expect["ordered"] == false {
		return
	}
	for i, w := range want {
		r := rows[i]
		got := args{
			"kind": r.Kind, "target": r.Target, "line": float64(r.Line), "resolved": nil, "external": r.External, "property": r.Property,
			"subpath": "", "embed": r.Kind == "embed",
		}
		if r.Resolved {
			got["resolved"] = r.Path
		}
		if r.Heading != "" {
			got["subpath"] = "#" + r.Heading
		}
		for key, v := range w.(map[string]any) {
			if have, known := got[key]; known && have != v {
				t.Errorf("link %d: %s is %v, want %v", i, key, have, v)
			}
		}
	}
}

func expectResolved(t *testing.T, a *app.App, c fieldCase) {
	got := map[string]any{}
	for _, r := range links(t, a, "get_outgoing_links", c.Op.Args).Links {
		if r.Resolved {
			n, _ := got[r.Path].(float64)
			got[r.Path] = n + 1
		}
	}
	if d := cmp.Diff(c.Expect["resolved"], any(got)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func expectBacklinks(t *testing.T, a *app.App, c fieldCase) {
	got := []any{}
	for _, r := range links(t, a, "get_backlinks", c.Op.Args).Backlinks {
		if !slices.Contains(got, any(r.Source)) {
			got = append(got, r.Source)
		}
	}
	if d := cmp.Diff(c.Expect["sources"], any(got)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}
