package app_test

import (
	"strings"
	"testing"

	"vault-mcp/internal/fault"
)

func TestLinksFollowARenamedHeading(t *testing.T) {
	files := map[string]string{
		"n.md": "# Top\n## Tools ##\n[[#Tools]] [[#^b]]\n## Tools\nblock ^b\n", "a.md": "[[n#Tools|them]] [[n#Top#Tools]] [md](n.md#Tools) `[[n#Tools]]` [[n]]\n",
	}
	a, dir := writable(t, files, true)
	var out struct {
		written
		Line  int
		Links struct{ Notes, Links int } `json:"links_updated"`
	}
	in := args{"path": "n", "heading": []string{"Tools"}, "to": "Big Gear"}
	if err := call(t, a, "rename_heading", in, &out); code(err) != fault.InvalidInput || !strings.Contains(err.Error(), "line") {
		t.Error(err)
	}
	in["line"] = 2
	if err := call(t, a, "rename_heading", in, &out); err != nil {
		t.Fatal(err)
	}
	holds(t, dir, map[string]string{
		"n.md": "# Top\n## Big Gear ##\n[[#Big Gear]] [[#^b]]\n## Tools\nblock ^b\n",
		"a.md": "[[n#Big Gear|them]] [[n#Top#Big Gear]] [md](n.md#Big%20Gear) `[[n#Tools]]` [[n]]\n",
	})
	if out.Links.Notes != 2 || out.Links.Links != 4 || out.Line != 2 {
		t.Errorf("%+v", out)
	}
	back(t, a, dir, out.ChangeID, files)
	for _, to := range []string{"two\nlines", " "} {
		if err := call(t, a, "rename_heading", args{"path": "n", "heading": "Top", "to": to}, &out); code(err) != fault.InvalidInput {
			t.Errorf("%q: %v", to, err)
		}
	}
	if err := call(t, a, "rename_heading", args{"path": "n", "heading": "None", "to": "x"}, &out); code(err) != fault.NotFound {
		t.Error(err)
	}
}

type rewriteOut struct {
	written
	Notes   int `json:"notes_changed"`
	Links   int `json:"links_rewritten"`
	Changes []struct {
		Path  string
		Count int
	}
}

func TestLinksAreRewrittenByWhatTheyLeadTo(t *testing.T) {
	files := map[string]string{
		"New.md": "# h\n", "Sub/Old.md": "old\n", "a.md": "[[Old]] [[Sub/Old#h|x]] ![[Old]] [m](Sub/Old.md) `[[Old]]` [[Older]] [[Gone note]]\n",
		"F/b.md": "[[gone note#h]]\n", "Shut/s.md": "[[Old]]\n",
	}
	a, dir := writable(t, files, true, `, rules: [{glob: "Shut/**", verbs: {read: hide}}]`)
	var out rewriteOut
	if err := call(t, a, "rewrite_link", args{"from_target": "Old", "to_target": "New", "dry_run": true}, &out); err != nil {
		t.Fatal(err)
	}
	holds(t, dir, files)
	if err := call(t, a, "rewrite_link", args{"from_target": "Old", "to_target": "New", "include_embeds": false, "dry_run": true}, &out); err != nil || out.Links != 3 {
		t.Errorf("%+v, %v", out, err)
	}
	if err := call(t, a, "rewrite_link", args{"from_target": "Old", "to_target": "New"}, &out); err != nil {
		t.Fatal(err)
	}
	holds(t, dir, map[string]string{
		"a.md": "[[New]] [[New#h|x]] ![[New]] [m](New.md) `[[Old]]` [[Older]] [[Gone note]]\n", "Shut/s.md": "[[Old]]\n",
	})
	if out.Notes != 1 || out.Links != 4 || out.Changes[0].Path != "a.md" {
		t.Errorf("%+v", out)
	}
	if err := call(t, a, "rewrite_link", args{"from_target": "Gone note", "to_target": "New", "folder": "F"}, &out); err != nil {
		t.Fatal(err)
	}
	holds(t, dir, map[string]string{"F/b.md": "[[New#h]]\n"})
	if !strings.Contains(content(t, dir, "a.md"), "[[Gone note]]") {
		t.Error("a link outside of the folder was rewritten")
	}
	if err := call(t, a, "rewrite_link", args{"from_target": "Gone note", "to_target": "Nothing"}, &out); code(err) != fault.NoteNotFound {
		t.Error(err)
	}
}

func TestPruningAHubLosesNoWords(t *testing.T) {
	hub := "---\nup: \"[[Missing]]\"\n---\n# Hub [[Missing]]\n![[img.png]]\n![[gone.png]]\n- [ ] [[Missing]]\n- [[Missing]]\n- [[A]]\n- [[A]]\n- [[A|again]] with words\n" +
		"  - [[A]]\n- [[Missing]]\n  - child\n- [[Missing|[x] no task]] more\n`[[A]]` [ext](https://x.org) [[A#h]] [[A#h]] [[secret]] [md](Missing.md)\n\n| t |\n|---|\n| [[A\\|cell]] |\n"
	want := "---\nup: \"[[Missing]]\"\n---\n# Hub [[Missing]]\n![[img.png]]\n![[gone.png]]\n- [ ] Missing\n- [[A]]\n- again with words\n" +
		"- Missing\n  - child\n- [[Missing|[x] no task]] more\n`[[A]]` [ext](https://x.org) [[A#h]] A > h [[secret]] md\n\n| t |\n|---|\n| cell |\n"
	files := map[string]string{"hub.md": hub, "A.md": "# h\n", "img.png": "x", "Shut/secret.md": "s\n"}
	a, dir := writable(t, files, true, `, rules: [{glob: "Shut/**", verbs: {read: hide}}]`)
	var out struct {
		written
		Count   int `json:"removed_count"`
		Removed []struct {
			Target, Reason string
			Line           int
		}
	}
	if err := call(t, a, "prune_hub_links", args{"path": "hub"}, &out); err != nil {
		t.Fatal(err)
	}
	holds(t, dir, map[string]string{"hub.md": want})
	if out.Count != 9 || len(out.Removed) != 9 || out.Removed[0].Line != 7 || out.Removed[0].Reason != "unresolved" {
		t.Errorf("%+v", out)
	}
	back(t, a, dir, out.ChangeID, files)
	out.ChangeID = ""
	if err := call(t, a, "prune_hub_links", args{"path": "hub", "remove_unresolved": false, "remove_duplicates": false}, &out); err != nil || out.Count != 0 || out.ChangeID != "" {
		t.Errorf("%v %+v", err, out)
	}
}
