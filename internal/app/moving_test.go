package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vault-mcp/internal/app"
	"vault-mcp/internal/fault"
	"vault-mcp/internal/racing"
)

type movedOut struct {
	written
	From, To    string
	Overwritten bool
	TrashedTo   *string                    `json:"trashed_dest_to"`
	Backlinks   struct{ Notes, Links int } `json:"backlinks_updated"`
	References  struct{ Notes, Links int } `json:"references_updated"`
	Warnings    []string
	Left        []struct {
		Path, Target string
		Line         int
	} `json:"links_left"`
	More int `json:"files_more"`
}

// holds fails if a file of the vault holds something else.
func holds(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	for p, text := range want {
		if got := content(t, dir, p); got != text {
			t.Errorf("%s holds %q, not %q", p, got, text)
		}
	}
}

// back takes a change back, and fails if the vault is not as it was.
func back(t *testing.T, a *app.App, dir, id string, files map[string]string) {
	t.Helper()
	var out written
	if err := call(t, a, "undo_change", args{"change_id": id}, &out); err != nil {
		t.Fatal(err)
	}
	holds(t, dir, files)
}

func TestLinksOfEveryFormSurviveARename(t *testing.T) {
	files := map[string]string{
		"A/Old.md": "# h\n[[Old#h]] and [[#h]]\n",
		"md.md":    "[t](A/Old.md) [t](A/Old.md#h) [t](<A/Old.md>) [t](A%2FOld.md) [t](A/Old.md \"title\")\n",
		"wiki.md":  "[[Old]] [[Old|shown]] [[A/Old#h]] ![[Old]] `[[Old]]` \\[[Old]]\n\n```\n[[Old]]\n```\n",
		"props.md": "---\nup: \"[[Old]]\"\n---\n",
		"c.canvas": `{"nodes":[{"id":"1","type":"file","file":"A/Old.md"},{"id":"2","type":"text","text":"see [[Old]]"}],"edges":[]}`,
	}
	a, dir := writable(t, files, true)
	var out movedOut
	if err := call(t, a, "move_note", args{"from": "A/Old", "to": "A/New Name"}, &out); err != nil {
		t.Fatal(err)
	}
	holds(t, dir, map[string]string{
		"A/New Name.md": "# h\n[[New Name#h]] and [[#h]]\n",
		"md.md":         "[t](A/New%20Name.md) [t](A/New%20Name.md#h) [t](<A/New Name.md>) [t](A%2FNew%20Name.md) [t](A/New%20Name.md \"title\")\n",
		"wiki.md":       "[[New Name]] [[New Name|shown]] [[A/New Name#h]] ![[New Name]] `[[Old]]` \\[[Old]]\n\n```\n[[Old]]\n```\n",
		"props.md":      "---\nup: \"[[New Name]]\"\n---\n",
		"c.canvas":      `{"nodes":[{"id":"1","type":"file","file":"A/New Name.md"},{"id":"2","type":"text","text":"see [[New Name]]"}],"edges":[]}`,
	})
	if out.Backlinks.Notes != 5 || out.Backlinks.Links != 13 || out.From != "A/Old.md" || out.To != "A/New Name.md" {
		t.Errorf("%+v", out)
	}
	back(t, a, dir, out.ChangeID, files)
}

func TestAMoveThatLeavesLinksAloneSaysSo(t *testing.T) {
	a, dir := writable(t, map[string]string{"a.md": "[[b]]\n", "b.md": "[[b#x]]\n", "c.md": "[[b]]\n"}, true)
	var out movedOut
	if err := call(t, a, "move_note", args{"from": "b.md", "to": "d.md", "update_backlinks": false}, &out); err != nil {
		t.Fatal(err)
	}
	holds(t, dir, map[string]string{"a.md": "[[b]]\n", "c.md": "[[b]]\n", "d.md": "[[d#x]]\n"})
	if out.Backlinks.Notes != 1 || out.Backlinks.Links != 1 {
		t.Errorf("%+v", out.Backlinks)
	}
}

func TestLinksThatKeepTheirTextAreNotCounted(t *testing.T) {
	a, dir := writable(t, map[string]string{"x/n.md": "text\n", "a.md": "[[n]] [[n|s]]\n"}, true)
	var out movedOut
	if err := call(t, a, "bulk_move_notes", args{"moves": []args{{"from": "x/n.md", "to": "y/n.md"}}}, &out); err != nil {
		t.Fatal(err)
	}
	if out.Backlinks.Links != 0 || len(out.Files) != 2 { // the folder and the move
		t.Errorf("%+v", out)
	}
	holds(t, dir, map[string]string{"a.md": "[[n]] [[n|s]]\n"})
}

func TestARenameThatOnlyChangesCaseTrashesNothing(t *testing.T) {
	for _, overwrite := range []bool{false, true} {
		a, dir := writable(t, map[string]string{"forge.md": "text\n", "a.md": "[[forge]]\n"}, true)
		var out movedOut
		if err := call(t, a, "move_note", args{"from": "forge", "to": "Forge", "overwrite": overwrite}, &out); err != nil {
			t.Fatal(err)
		}
		only(t, dir, "Forge.md", "a.md")
		holds(t, dir, map[string]string{"Forge.md": "text\n"})
		if out.Overwritten || out.To != "Forge.md" {
			t.Errorf("%+v", out)
		}
		if err := call(t, a, "move_note", args{"from": "Forge", "to": "Forge.md", "overwrite": overwrite}, &out); code(err) != fault.InvalidInput {
			t.Error(err)
		}
	}
}

func TestANoteIsNotMovedOntoAFolder(t *testing.T) {
	files := map[string]string{"a.md": "text\n", "Archive/x.md": "x\n", "p.png": "x"}
	a, dir := writable(t, files, true)
	var out movedOut
	for _, to := range []string{"Archive", "archive", "Archive/", "New/"} {
		for tool, from := range map[string]string{"move_note": "a.md", "copy_note": "a.md", "move_attachment": "p.png"} {
			err := call(t, a, tool, args{"from": from, "to": to}, &out)
			if code(err) != fault.InvalidInput || !strings.Contains(err.Error(), "folder") {
				t.Errorf("%s to %s: %v", tool, to, err)
			}
		}
	}
	for _, to := range []string{"Archive", "a.md", "Archive/x.md"} {
		if err := call(t, a, "move_folder", args{"from": "Archive", "to": to}, &out); err == nil {
			t.Errorf("the folder was moved to %s", to)
		}
	}
	only(t, dir, "Archive/x.md", "a.md", "p.png")
}

func TestAnOverwrittenNoteGoesToTheTrashAndComesBack(t *testing.T) {
	files := map[string]string{
		".obsidian/app.json": `{"trashOption":"local"}`,
		"a.md":               "a [[b]]\n", "b.md": "b [[a]]\n", "links.md": "[[a]] [[b]]\n",
	}
	for _, tool := range []string{"copy_note", "move_note"} {
		a, dir := writable(t, files, false)
		var out movedOut
		if err := call(t, a, tool, args{"from": "a.md", "to": "b.md"}, &out); code(err) != fault.NoteExists {
			t.Error(err)
		}
		err := call(t, a, tool, args{"from": "a.md", "to": "b.md", "overwrite": true}, &out)
		if code(err) != fault.ElicitRequired || !strings.Contains(err.Error(), `removes "b.md"`) {
			t.Errorf("%s clobbers without a person: %v", tool, err)
		}
		holds(t, dir, files)

		a, dir = writable(t, files, true)
		if err := call(t, a, tool, args{"from": "a.md", "to": "b.md", "overwrite": true}, &out); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"b.md": "a [[b]]\n", ".trash/b.md": "b [[a]]\n", "links.md": "[[a]] [[b]]\n", "a.md": "a [[b]]\n"}
		if tool == "move_note" {
			delete(want, "a.md")
			want["links.md"] = "[[b]] [[b]]\n"
		}
		holds(t, dir, want)
		if !out.Overwritten || out.TrashedTo == nil || *out.TrashedTo != ".trash/b.md" {
			t.Errorf("%+v", out)
		}
		back(t, a, dir, out.ChangeID, files)
	}
}

func TestAMovedFileKeepsItsModeAndItsHistory(t *testing.T) {
	a, dir := writable(t, map[string]string{"a.md": "one\n", "x/y.md": "y\n"}, true)
	if err := os.Chmod(filepath.Join(dir, "a.md"), 0o640); err != nil {
		t.Fatal(err)
	}
	var out movedOut
	if err := call(t, a, "write_note", args{"path": "a.md", "content": "two\n", "mode": "overwrite"}, &out); err != nil {
		t.Fatal(err)
	}
	for _, move := range []struct{ tool, from, to string }{
		{"move_note", "a.md", "New/deep/b.md"}, {"copy_note", "New/deep/b.md", "c.md"}, {"move_folder", "New/deep", "New/deeper"},
	} {
		if err := call(t, a, move.tool, args{"from": move.from, "to": move.to}, &out); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []string{"New/deeper/b.md", "c.md"} {
		if info, err := os.Stat(filepath.Join(dir, p)); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("%s: %v, %v", p, info.Mode(), err)
		}
	}
	var list struct{ Snapshots []struct{ ID int64 } }
	if err := call(t, a, "list_snapshots", args{"path": "New/deeper/b.md"}, &list); err != nil || len(list.Snapshots) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	var read struct{ Content string }
	if err := call(t, a, "read_snapshot", args{"snapshot_id": list.Snapshots[0].ID, "format": "json"}, &read); err != nil || read.Content != "one\n" {
		t.Errorf("%+v, %v", read, err)
	}
}

func TestAMoveOfAnotherVersionIsRefused(t *testing.T) {
	a, dir := writable(t, map[string]string{"a.md": "one\n", "p.png": "x"}, true)
	wrong := strings.Repeat("0", 64)
	var out movedOut
	for tool, in := range map[string]args{
		"move_note": {"from": "a.md", "to": "b.md"}, "copy_note": {"from": "a.md", "to": "b.md"},
		"move_attachment": {"from": "p.png", "to": "q.png"}, "delete_attachment": {"path": "p.png"},
		"put_attachment": {"path": "p.png", "content": "eQ==", "mode": "upsert"},
		"rename_heading": {"path": "a.md", "heading": "h", "to": "g"}, "prune_hub_links": {"path": "a.md"},
	} {
		in["prev_hash"] = wrong
		if err := call(t, a, tool, in, &out); code(err) != fault.ConcurrentModification {
			t.Errorf("%s: %v", tool, err)
		}
	}
	only(t, dir, "a.md", "p.png")
}

// A note with 1,000 backlinks is renamed as one change, which comes back as one.
func TestAThousandBacklinksFollow(t *testing.T) {
	racing.Skips(t)
	files := map[string]string{"hub.md": "hub\n"}
	for i := range 1000 {
		files[fmt.Sprintf("n/%04d.md", i)] = fmt.Sprintf("%d [[hub]] and [[hub|it]]\n", i)
	}
	a, dir := writable(t, files, true)
	a.Begin(t.Context())
	begun(t, a)
	var out movedOut
	if err := call(t, a, "move_note", args{"from": "hub", "to": "centre"}, &out); err != nil {
		t.Fatal(err)
	}
	if out.Backlinks.Notes != 1000 || out.Backlinks.Links != 2000 || len(out.Files) != 50 || out.More != 951 {
		t.Errorf("%+v", out.Backlinks)
	}
	for i := range 1000 {
		if got, want := content(t, dir, fmt.Sprintf("n/%04d.md", i)), fmt.Sprintf("%d [[centre]] and [[centre|it]]\n", i); got != want {
			t.Fatalf("%q", got)
		}
	}
	var links struct{ Total int }
	if err := call(t, a, "get_backlinks", args{"path": "centre"}, &links); err != nil || links.Total != 2000 {
		t.Errorf("%+v, %v", links, err)
	}
	back(t, a, dir, out.ChangeID, files)
}

// What another program did a moment ago is part of the plan, although the index
// has not heard of it.
func TestALinkThatTheIndexHasNotSeenFollows(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "vault")
	plant(t, dir, map[string]string{"a.md": "a\n", "b.md": "no link\n"})
	a := start(t, t.TempDir(), fmt.Sprintf("vaults: [{path: %q}]\nindex: {watch: false}\n", dir))
	a.Begin(t.Context())
	begun(t, a)
	plant(t, dir, map[string]string{"b.md": "now [[a]]\n", "new.md": "[[a]]\n", "late.md": "late\n"})
	var out movedOut
	if err := call(t, a, "move_note", args{"from": "a", "to": "c"}, &out); err != nil {
		t.Fatal(err)
	}
	holds(t, dir, map[string]string{"b.md": "now [[c]]\n", "new.md": "[[c]]\n", "c.md": "a\n"})
	if err := call(t, a, "move_note", args{"from": "late", "to": "later"}, &out); err != nil {
		t.Errorf("a note that is there could not be moved: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "new.md")); err != nil {
		t.Fatal(err)
	}
	if err := call(t, a, "move_note", args{"from": "c", "to": "d"}, &out); err != nil {
		t.Errorf("a note that is gone stands in the way: %v", err)
	}
	holds(t, dir, map[string]string{"b.md": "now [[d]]\n"})
}

// Notes that the index leaves out have links as well.
func TestLinksInNotesThatAreTooLargeForTheIndexFollow(t *testing.T) {
	racing.Skips(t)
	much := strings.Repeat("words of a note that is far too long\n", 500_000)
	files := map[string]string{"a.md": "a\n", "large.md": "[[a]]\n" + much, "utf16.md": "\xff\xfe[\x00[\x00a\x00]\x00]\x00"}
	for _, indexed := range []bool{false, true} {
		a, dir := writable(t, files, true)
		if indexed {
			begun(t, a)
		}
		var out movedOut
		if err := call(t, a, "move_note", args{"from": "a", "to": "b"}, &out); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(content(t, dir, "large.md"), "[[b]]\nwords") || out.Backlinks.Notes != 1 {
			t.Errorf("indexed %v: %+v", indexed, out.Backlinks)
		}
		holds(t, dir, map[string]string{"utf16.md": files["utf16.md"]})
	}
}

// What cannot be read is told, and does not keep the rest from being done.
func TestLinksThatNobodyCanReadAreTold(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("everything can be read by root")
	}
	a, dir := writable(t, map[string]string{"a.md": "a\n", "shut.md": "[[a]]\n", "shut.canvas": "{}", "open.md": "[[a]]\n"}, true)
	for _, p := range []string{"shut.md", "shut.canvas"} {
		if err := os.Chmod(filepath.Join(dir, p), 0); err != nil {
			t.Fatal(err)
		}
	}
	var out movedOut
	if err := call(t, a, "move_note", args{"from": "a", "to": "b"}, &out); err != nil {
		t.Fatal(err)
	}
	if len(out.Warnings) != 1 || !strings.Contains(out.Warnings[0], "shut.canvas, shut.md") {
		t.Errorf("%q", out.Warnings)
	}
	holds(t, dir, map[string]string{"open.md": "[[b]]\n"})
}
