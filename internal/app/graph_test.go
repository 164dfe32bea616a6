package app_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault-mcp/internal/fault"
	"vault-mcp/internal/racing"
)

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
	racing.Skips(t)
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

// The app leaves excluded files out of its graph; a note that only they link to
// is no orphan nevertheless.
func TestExcludedNotesAreNotInTheGraph(t *testing.T) {
	a := linked(t, map[string]string{
		"a.md": "[[b]] [[Old/x]]", "b.md": "[[a]]", "c.md": "", "d.md": "", "Old/x.md": "[[c]] [[Old/y]] [[none]]", "Old/y.md": "[[Old/x]] [[b]]",
		".obsidian/app.json": `{"userIgnoreFilters":["Old/"]}`,
	})
	type answer struct {
		Orphans   []string
		Cycles    [][]string
		Nodes     int
		Excluded  int
		Connected bool
		Total     int
		Notes     int `json:"total_notes"`
		Metrics   map[string]int
	}
	ask := func(tool string, in args) (out answer) {
		if err := call(t, a, tool, in, &out); err != nil {
			t.Fatalf("%s: %v", tool, err)
		}
		if out.Excluded == 0 {
			t.Errorf("%s does not say that notes are left out", tool)
		}
		return out
	}
	if d := cmp.Diff([]string{"d.md"}, ask("find_orphans", args{}).Orphans); d != "" {
		t.Errorf("orphans: -want +got:\n%s", d)
	}
	if d := cmp.Diff([][]string{{"a.md", "b.md"}}, ask("find_link_cycles", args{}).Cycles); d != "" {
		t.Errorf("cycles: -want +got:\n%s", d)
	}
	if n := ask("graph_centrality", args{}).Nodes; n != 4 {
		t.Errorf("centrality over %d nodes", n)
	}
	if n := ask("graph_communities", args{}).Nodes; n != 4 {
		t.Errorf("communities of %d nodes", n)
	}
	if h := ask("vault_health_score", args{}); h.Notes != 4 || h.Metrics["unresolved_links"] != 0 {
		t.Errorf("health: %+v", h)
	}
	// What a call names takes part.
	if !ask("graph_path_between", args{"from": "a", "to": "Old/x"}).Connected || ask("graph_path_between", args{"from": "a", "to": "c"}).Connected {
		t.Error("a path leads through an excluded note, or not to one that is named")
	}
	ask("get_link_strength", args{"from": "Old/x", "to": "a"})
	ask("suggest_links", args{"path": "Old/x"})
}
