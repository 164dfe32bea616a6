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

func TestBacklinksSeePropertiesCanvasesAndEmbedsButNoCode(t *testing.T) {
	a := linked(t, crafts)
	out := links(t, a, "get_backlinks", args{"path": "lathe"})
	want := []string{
		"Drill.md1:5 wikilink [[Lathe|the lathe]]", "Drill.md1:25 embed ![[Lathe#Speed slow]]", "Drill.md1:47 markdown [l](Lathe.md#^b1)",
		"Drill.md1:65 markdown [l](<Lathe.md> \"t\")", "Drill.md1:85 markdown [l](./Lathe%2Emd)", "Drill.md1:117 wikilink [[Lathe]]",
		"Drill.md10:3 wikilink [[Lathe\\|x]]",
		"Lathe.md9:5 wikilink [[#Setup]] self",
		"Shop.md2:156 wikilink [[Lathe#Nowhere]]",
		"wall.canvas3:3 canvas Lathe.md", "wall.canvas4:3 canvas Lathe.md#Setup",
	}
	if d := cmp.Diff(want, brief(out.Backlinks)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if out.Total != len(want) || out.Sources != 4 {
		t.Errorf("total %d of %d sources", out.Total, out.Sources)
	}
	if b := out.Backlinks[0]; b.Display != "the lathe" || !strings.Contains(b.Snippet, "[[Lathe|the lathe]]") {
		t.Errorf("%+v", b)
	}
	if b := out.Backlinks[10]; b.Node != "2" || b.Heading != "Setup" {
		t.Errorf("%+v", b)
	}
	if d := cmp.Diff([]string{"Lathe.md3:6 wikilink [[Shop#Tools]] in up", "Lathe.md9:20 wikilink [[ shop ]]", "Shop.md2:146 wikilink [[#None]] self"},
		brief(links(t, a, "get_backlinks", args{"path": "Shop.md"}).Backlinks)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if d := cmp.Diff([]string{"Lathe.md5:6 wikilink [[Drill|d]] in more", "Old/Alone.md1:79 wikilink [[Drill|Lathe]]"},
		brief(links(t, a, "get_backlinks", args{"path": "Drill.md"}).Backlinks)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestBacklinksOfFilesThatAreNoNotes(t *testing.T) {
	a := linked(t, crafts)
	for path, want := range map[string]int{"fire pit.png": 3, "doc.pdf": 1, "wall.canvas": 1, "Old/drill.base": 0} {
		if got := links(t, a, "get_backlinks", args{"path": path}); got.Total != want {
			t.Errorf("%s: %v", path, brief(got.Backlinks))
		}
	}
}

func TestBacklinksWithContext(t *testing.T) {
	long := strings.Repeat("wörter ", 200)
	a := linked(t, map[string]string{"a.md": "one\r\ntwo\r\nsee [[b]] here\r\nfour\r\n", "b.md": "", "c.md": long + "[[b]]" + long})
	out := links(t, a, "get_backlinks", args{"path": "b", "context": 1})
	if got, want := out.Backlinks[0].Snippet, "two\nsee [[b]] here\nfour"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if s := out.Backlinks[1].Snippet; len(s) > 1000 || !strings.Contains(s, "[[b]]") || !strings.HasPrefix(s, "…") || !strings.HasSuffix(s, "…") {
		t.Errorf("%d bytes: %q", len(s), s)
	}
}

func TestUnlinkedMentionsAreWholeWordsOutsideLinksAndCode(t *testing.T) {
	a := linked(t, crafts)
	out := links(t, a, "get_backlinks", args{"path": "Lathe.md", "unlinked": true})
	var mentions []linkRow
	for _, r := range out.Backlinks {
		if r.Kind == "mention" {
			mentions = append(mentions, r)
		}
	}
	want := []string{"Old/Alone.md1:5 mention lathe", "Old/Alone.md1:15 mention turning bench", "Old/Alone.md1:95 mention Lathe"}
	if d := cmp.Diff(want, brief(mentions)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if out.Unlinked == nil || *out.Unlinked != len(want) || out.Total != 11 {
		t.Errorf("%v unlinked, %d linked", out.Unlinked, out.Total)
	}
	if !strings.Contains(mentions[1].Snippet, "turning bench;") {
		t.Errorf("%+v", mentions[1])
	}
	a = linked(t, map[string]string{"東京.md": "", "n.md": "私は東京に住む\n", "Über.md": "", "m.md": "über alles, U\u0308BER, Übers\n"})
	for path, want := range map[string]int{"東京": 1, "Über": 2} {
		if got := links(t, a, "get_backlinks", args{"path": path, "unlinked": true}); *got.Unlinked != want {
			t.Errorf("%s: %v", path, brief(got.Backlinks))
		}
	}
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

func TestAttachmentsAddressesAndHeadingsAreNotUnresolved(t *testing.T) {
	a := linked(t, crafts)
	out := links(t, a, "find_unresolved_links", args{})
	var got []string
	for _, r := range out.Unresolved {
		s := r.Source + " " + r.Target
		if r.AliasOf != nil {
			s += " alias of " + strings.Join(r.AliasOf, ",")
		}
		got = append(got, s)
	}
	want := []string{
		"Shop.md Turning bench alias of Lathe.md", "Shop.md Gone/Lathe", "Shop.md ../Lathe", "Shop.md gone.png", "wall.canvas Gone.md",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	var bad []string
	for _, w := range out.Warnings {
		bad = append(bad, w.Path)
	}
	if d := cmp.Diff([]string{"Old/latin.md", "broken.canvas"}, bad); d != "" {
		t.Errorf("warnings: -want +got:\n%s", d)
	}
	if got := links(t, a, "find_unresolved_links", args{"folder": "Old"}); got.Total != 0 {
		t.Errorf("%v", got.Unresolved)
	}
}

func TestOrphansAreWhatNothingElseLinksTo(t *testing.T) {
	files := map[string]string{
		"self.md": "[[self]] [[#h]]", "card.md": "", "prop.md": "", "embedded.md": "", "alone.md": "", "from.md": "![[embedded]]",
		"p.md": "---\nup: \"[[prop]]\"\n---\n", "b.canvas": `{"nodes":[{"type":"file","file":"card.md"},{"type":"text","text":"[[alone]]"}]}`, "sub/x.md": "",
	}
	a := linked(t, files)
	for _, tt := range []struct {
		in   args
		want []string
	}{
		{args{}, []string{"alone.md", "from.md", "p.md", "self.md", "sub/x.md"}},
		{args{"require_no_outgoing": true}, []string{"alone.md", "self.md", "sub/x.md"}},
		{args{"folder": "sub"}, []string{"sub/x.md"}},
	} {
		out := links(t, a, "find_orphans", tt.in)
		if d := cmp.Diff(tt.want, out.Orphans); d != "" || out.Total != len(tt.want) {
			t.Errorf("%v: total %d, -want +got:\n%s", tt.in, out.Total, d)
		}
	}
}

// Whatever a page holds, each item comes exactly once and no answer is over
// the budget.
func TestPagesOfLinksSkipAndRepeatNothing(t *testing.T) {
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

func TestCyclesAndPaths(t *testing.T) {
	a := linked(t, map[string]string{
		"a.md": "[[b]]", "b.md": "![[c]]", "c.md": "---\nup: \"[[a]]\"\n---\n[d](d.md)", "d.md": "[[d]]",
		"x.md": "[[y]]", "y.md": "[[x]]", "pic.png": "", "lone.md": "",
	})
	out := links(t, a, "find_link_cycles", args{})
	if d := cmp.Diff([][]string{{"a.md", "b.md", "c.md"}, {"x.md", "y.md"}}, out.Cycles); d != "" || out.Total != 2 || out.Notes != 5 {
		t.Errorf("%+v, -want +got:\n%s", out, d)
	}
	type way struct {
		Connected bool
		From      bool `json:"from_in_graph"`
		To        bool `json:"to_in_graph"`
		Length    *int
		Hops      []struct {
			From, To string
			Via      []string
			Back     bool
		}
	}
	path := func(from, to string, directed bool) (w way) {
		t.Helper()
		if err := call(t, a, "graph_path_between", args{"from": from, "to": to, "directed": directed}, &w); err != nil {
			t.Fatal(err)
		}
		return w
	}
	if w := path("a", "d", true); !w.Connected || *w.Length != 3 || w.Hops[1].Via[0] != "embed" || w.Hops[2].Via[0] != "markdown" {
		t.Errorf("%+v", w)
	}
	if w := path("a", "d", false); *w.Length != 2 || !w.Hops[0].Back || w.Hops[0].Via[0] != "property" {
		t.Errorf("%+v", w)
	}
	if w := path("d", "a", true); w.Connected || w.Length != nil || !w.From || !w.To {
		t.Errorf("%+v", w)
	}
	if w := path("a", "a", true); !w.Connected || *w.Length != 0 {
		t.Errorf("%+v", w)
	}
	if w := path("a", "pic.png", false); w.Connected || w.To {
		t.Errorf("%+v", w)
	}
	if err := call(t, a, "graph_path_between", args{"from": "a", "to": "absent"}, &way{}); fault.Of(err) == nil || fault.Of(err).Code != fault.NoteNotFound {
		t.Errorf("%v", err)
	}
	var health struct {
		Score   int
		Notes   int            `json:"total_notes"`
		Links   int            `json:"total_links"`
		Metrics map[string]int `json:"metrics"`
	}
	if err := call(t, a, "vault_health_score", args{"hub_threshold": 1}, &health); err != nil {
		t.Fatal(err)
	}
	// 7 notes: one orphan is 30/7, two cycles are 4, six hubs are 120/7.
	if d := cmp.Diff(map[string]int{"orphans": 1, "unresolved_links": 0, "hubs": 6, "cycles": 2}, health.Metrics); d != "" || health.Score != 75 || health.Notes != 7 || health.Links != 7 {
		t.Errorf("%+v, -want +got:\n%s", health, d)
	}
}

func TestStrengthAddsWhatNotesShare(t *testing.T) {
	a := linked(t, map[string]string{
		"a.md": "[[b]] [[s]]", "b.md": "[[s]] [[t]]", "c.md": "[[a]] [[b]]", "s.md": "", "t.md": "", "lone.md": "",
	})
	type strength struct {
		Direct   bool
		Cited    int `json:"co_citation"`
		Shared   int `json:"shared_out_neighbors"`
		Distance *int
		Strength float64
	}
	var near, none strength
	if err := call(t, a, "get_link_strength", args{"from": "b", "to": "a"}, &near); err != nil {
		t.Fatal(err)
	}
	one := 1
	if d := cmp.Diff(strength{true, 1, 1, &one, 0.9}, near); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if err := call(t, a, "get_link_strength", args{"from": "a", "to": "lone"}, &none); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strength{}, none); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	var suggested struct {
		Total       int
		Suggestions []struct {
			Path  string
			Score int
		}
	}
	if err := call(t, a, "suggest_links", args{"path": "a"}, &suggested); err != nil {
		t.Fatal(err)
	}
	if suggested.Total != 1 || suggested.Suggestions[0].Path != "t.md" || suggested.Suggestions[0].Score != 1 {
		t.Errorf("%+v", suggested)
	}
}

func TestBetweennessIsRefusedWhereItWouldTakeLong(t *testing.T) {
	files := map[string]string{}
	for i := range 2001 {
		files[fmt.Sprintf("%d.md", i)] = ""
	}
	a := linked(t, files)
	var out struct {
		Available bool
		Message   string
		Results   []linkRow
	}
	if err := call(t, a, "graph_centrality", args{"metric": "betweenness"}, &out); err != nil || out.Available || out.Message == "" {
		t.Errorf("%v, %+v", err, out)
	}
	if err := call(t, a, "graph_centrality", args{"limit": 3}, &out); err != nil || !out.Available || len(out.Results) != 3 {
		t.Errorf("%v, %+v", err, out)
	}
}

// Of the notes that are hidden none is on a path, wins a link, or makes a
// cycle, a community or an orphan what it is.
func TestNoWayLeadsThroughHiddenNotes(t *testing.T) {
	files := map[string]string{
		"a.md": "[[x]] [[n]]", "b.md": "", "far/n.md": "", "Private/x.md": "[[b]] [[a]] alias", "Private/b2.md": "---\naliases: [ghost]\n---\n[[b]] a",
		"Private/wall.canvas": `{"nodes":[{"type":"file","file":"b.md"}]}`, "n2/longer/path/n.md": "", "Private/n.md": "", "c.md": "[[ghost]]",
	}
	const hide = "{glob: 'Private/**', verbs: {read: hide}}"
	hidden := linked(t, files, hide)
	rest := map[string]string{}
	for p, text := range files {
		if !strings.HasPrefix(p, "Private/") {
			rest[p] = text
		}
	}
	absent := linked(t, rest, hide)
	for tool, all := range map[string][]string{
		"graph_path_between":    {`{"from":"a","to":"b"}`},
		"get_outgoing_links":    {`{"path":"a"}`},
		"get_backlinks":         {`{"path":"b"}`, `{"path":"far/n.md"}`, `{"path":"a","unlinked":true}`},
		"find_orphans":          {`{}`},
		"find_unresolved_links": {`{}`},
		"graph_centrality":      {`{}`, `{"metric":"betweenness"}`},
		"graph_communities":     {`{}`},
		"find_link_cycles":      {`{}`},
		"vault_health_score":    {`{}`},
		"get_link_strength":     {`{"from":"a","to":"b"}`},
		"suggest_links":         {`{"path":"a"}`},
	} {
		for _, in := range all {
			got, _ := answer(t.Context(), hidden, tool, in)
			want, _ := answer(t.Context(), absent, tool, in)
			if got != want {
				t.Errorf("%s %s\n with the folder hidden: %s\nwith the folder absent: %s", tool, in, got, want)
			}
		}
	}
	out := links(t, hidden, "get_outgoing_links", args{"path": "a"})
	if l := out.Links; l[0].Resolved || l[1].Path != "far/n.md" || slices.Contains(l[1].Options, "Private/n.md") {
		t.Errorf("%+v", l)
	}
}

// What the rules deny, but do not hide, is not read for answers either.
func TestDeniedNotesLinkToNothing(t *testing.T) {
	a := linked(t, map[string]string{"a.md": "[[x]]", "Locked/x.md": "[[a]] a"}, "{glob: 'Locked/**', verbs: {read: deny}}")
	if out := links(t, a, "get_backlinks", args{"path": "a", "unlinked": true}); out.Total != 0 || *out.Unlinked != 0 {
		t.Errorf("%+v", out)
	}
	if out := links(t, a, "find_unresolved_links", args{}); out.Total != 1 {
		t.Errorf("%+v", out)
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
