package app_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAttachmentsAddressesAndHeadingsAreNotUnresolved(t *testing.T) {
	a := linked(t, crafts)
	out := links(t, a, "find_unresolved_links", args{"missing": []string{"note"}})
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
	if d := cmp.Diff([]string{"Old/broken.md", "Old/latin.md", "broken.canvas"}, bad); d != "" {
		t.Errorf("warnings: -want +got:\n%s", d)
	}
	if got := links(t, a, "find_unresolved_links", args{"folder": "Old"}); got.Total != 0 {
		t.Errorf("%v", got.Unresolved)
	}
}

type targetsAnswer struct {
	Total   int
	Counts  map[string]int
	Targets []struct {
		Target, Missing string
		Links           int
		Sources         []string
		AliasOf         []string `json:"alias_of"`
	}
	Unresolved []struct{ Target, Missing string }
	Excluded   int
	Next       *string `json:"next_cursor"`
}

var wanting = map[string]string{
	"a.md": "[[Gone]] [[gone|x]] [[GONE.md#h]] [[b#Plan]] [[b#plan#Deep]] [[b#None]] [[b#none]] [[b#^id]] [[b#^no]] [[b#]] [[#own]] [[p.png#x]] [[latin#h]]\n",
	"b.md": "# Plan\n## Deep\ntext ^id\n\n[[gone]] [[Other]] [[#^no]] [[Bee]]\n", "c.md": "---\naliases: [Bee]\n---\n", "p.png": "", "latin.md": "\xe9",
	"k.canvas": `{"nodes":[{"id":"1","type":"file","file":"b.md","subpath":"#None"},{"id":"2","type":"file","file":"Gone.md"}]}`,
	"Old/x.md": "[[gone]] [[b#None]]", ".obsidian/app.json": `{"userIgnoreFilters":["Old/"]}`,
}

// A link to a heading that was renamed looked as sound as any other.
func TestMissingHeadingsAndBlocksAreToldApart(t *testing.T) {
	a := linked(t, wanting)
	var out targetsAnswer
	if err := call(t, a, "find_unresolved_links", args{}, &out); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range out.Unresolved {
		got = append(got, r.Missing+" "+r.Target)
	}
	want := []string{
		"note Gone", "note gone", "note GONE.md#h", "heading b#None", "heading b#none", "block b#^no", "heading #own",
		"note gone", "note Other", "block #^no", "note Bee", "heading b.md#None", "note Gone.md",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if d := cmp.Diff(map[string]int{"note": 7, "heading": 4, "block": 2}, out.Counts); d != "" || out.Total != 13 || out.Excluded != 1 {
		t.Errorf("total %d, excluded %d, counts -want +got:\n%s", out.Total, out.Excluded, d)
	}
	// Of a note that cannot be read nobody knows which headings it has.
	for _, r := range links(t, a, "get_outgoing_links", args{"path": "a.md"}).Links {
		if known := r.Found != nil; known != (r.Heading != "" && (r.Path == "b.md" || r.Path == "a.md")) {
			t.Errorf("%s: subpath_found %v", r.Raw, r.Found)
		}
	}
	if err := call(t, a, "find_unresolved_links", args{"missing": []string{"block"}}, &out); err != nil || out.Total != 2 {
		t.Errorf("%v, %+v", err, out)
	}
}

// One missing note came as many, one for each spelling.
func TestMissingTargetsAreOneRowEach(t *testing.T) {
	a := linked(t, wanting)
	want := []string{
		"5 note Gone [a.md b.md k.canvas] []", "3 heading b#None [a.md k.canvas] []", "2 block b#^no [a.md b.md] []",
		"1 heading #own [a.md] []", "1 note Bee [b.md] [c.md]", "1 note Other [b.md] []",
	}
	for _, limit := range []int{1, 4, 100} {
		in := args{"group": "target", "limit": limit}
		var got []string
		for {
			var out targetsAnswer
			if err := call(t, a, "find_unresolved_links", in, &out); err != nil {
				t.Fatal(err)
			}
			if out.Total != len(want) || len(out.Unresolved) != 0 {
				t.Errorf("limit %d: %+v", limit, out)
			}
			for _, r := range out.Targets {
				got = append(got, fmt.Sprint(r.Links, " ", r.Missing, " ", r.Target, " ", r.Sources, " ", r.AliasOf))
			}
			if out.Next == nil {
				break
			}
			in["cursor"] = *out.Next
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("limit %d (-want +got):\n%s", limit, d)
		}
	}
}
