package app_test

import (
	"fmt"
	"strings"
	"testing"

	"vault-mcp/internal/fault"
)

func TestATagIsRenamedInEveryNote(t *testing.T) {
	for _, way := range []string{"files", "index"} {
		t.Run(way, func(t *testing.T) { renameATag(t, way == "index") })
	}
}

func renameATag(t *testing.T, indexed bool) {
	files := map[string]string{
		"a.md":               "---\ntags: [Old, 2024, old/x] # c\n---\n#old #older #OLD/y `#old`\n",
		"b.md":               "---\ntag: old\n---\n",
		"c.md":               "no tag\n",
		"d.md":               "---\ntags: [new, old]\n---\n",
		"bad.md":             "---\nx: [\n---\n#old\n",
		"Hid/h.md":           "#old onlysecret\n",
		"Read/r.md":          "#old\n",
		"x.canvas":           `{"nodes":[{"id":"1","type":"text","text":"#old","x":0,"y":0,"width":1,"height":1}]}`,
		"utf16.md":           "\xff\xfe#\x00o\x00",
		"Excl/e.md":          "#old",
		".obsidian/app.json": `{"userIgnoreFilters":["Excl/"]}`,
	}
	want := map[string]string{
		"a.md": "---\ntags: [New, 2024, New/x] # c\n---\n#New #older #New/y `#old`\n", "b.md": "---\ntag: New\n---\n", "d.md": "---\ntags: [new]\n---\n",
		"Excl/e.md": "#New",
	}
	a, dir := writable(t, files, false, `, rules: [{glob: "Hid/**", verbs: {read: hide}}, {glob: "Read/**", verbs: {write: deny}}]`)
	if indexed {
		begun(t, a)
	}
	var out editing
	in := args{"tag": "#old", "new_tag": "New", "dry_run": true}
	if err := call(t, a, "rename_tag", in, &out); err != nil {
		t.Fatal(err)
	}
	dry := out
	delete(in, "dry_run")
	if err := call(t, a, "rename_tag", in, &out); err != nil {
		t.Fatal(err)
	}
	for path, old := range files {
		w, ok := want[path]
		if !ok {
			w = old
		}
		if got := content(t, dir, path); got != w {
			t.Errorf("%s\n got %q\nwant %q", path, got, w)
		}
	}
	if out.Notes != 4 || out.Notes != dry.Notes || out.Renamed != 7 || out.ChangeID == "" {
		t.Errorf("%+v", out)
	}
	all := strings.Join(out.Warnings, "\n")
	for _, part := range []string{"bad.md, line 3", "Read/r.md: the folder rules", "utf16.md", "#New is a tag of 1 note already"} {
		if !strings.Contains(all, part) {
			t.Errorf("no %q in %q", part, all)
		}
	}
	if strings.Contains(all+fmt.Sprint(out.Files)+dry.Diff, "Hid") {
		t.Errorf("what is hidden is told: %+v", out)
	}
	// All of it is one change.
	var undo written
	if err := call(t, a, "undo_change", args{"change_id": out.ChangeID}, &undo); code(err) != fault.ElicitRequired {
		t.Errorf("undo: %v", err)
	}
	for _, bad := range []args{{"tag": "a b", "new_tag": "x"}, {"tag": "x", "new_tag": "12"}} {
		if err := call(t, a, "rename_tag", bad, &out); code(err) != fault.InvalidInput {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

func TestAPropertyIsRenamedInEveryNoteOrNone(t *testing.T) {
	files := map[string]string{
		"a.md": "---\nx: 1\nState: [a,  b] # c\n---\n", "b.md": "---\nstate: 01\n---\nstate: x\n", "c.md": "---\nstatus: x\n---\n",
		"bad.md": "---\nstate: [\n---\n", "Hid/h.md": "---\nstate: 1\nstatus: 2\n---\n",
	}
	a, dir := writable(t, files, false, `, rules: [{glob: "Hid/**", verbs: {read: hide}}]`)
	var out editing
	if err := call(t, a, "rename_property", args{"key": "state", "new_key": "status"}, &out); err != nil {
		t.Fatal(err)
	}
	if got := content(t, dir, "a.md") + content(t, dir, "b.md") + content(t, dir, "Hid/h.md"); got != "---\nx: 1\nstatus: [a,  b] # c\n---\n"+"---\nstatus: 01\n---\nstate: x\n"+files["Hid/h.md"] {
		t.Errorf("%q", got)
	}
	if all := strings.Join(out.Warnings, "\n"); out.Notes != 2 || !strings.Contains(all, "bad.md, line") || strings.Contains(all, "Hid") {
		t.Errorf("%+v", out)
	}
	// A value that a note has under the new name is not lost.
	err := call(t, a, "rename_property", args{"key": "x", "new_key": "Status"}, &out)
	if code(err) != fault.InvalidInput || fmt.Sprint(fault.Of(err).Details["paths"]) != "[a.md]" {
		t.Errorf("%v %v", err, fault.Of(err).Details)
	}
}

func TestABulkRunIsOneChangeAndNeedsAPerson(t *testing.T) {
	files := map[string]string{"a.md": "---\nk: 1 # c\n---\n", "b.md": "text\n", "bad.md": "---\nk: [\n---\n", "same.md": "---\nk: 1.10\n---\n"}
	paths := []string{"a", "b.md", "A.md", "same", "none", "bad", "x.canvas"}
	a, dir := writable(t, files, false)
	var out editing
	if err := call(t, a, "bulk_set_property", args{"paths": []string{"a", "b"}, "key": "k", "value": 2}, &out); code(err) != fault.ElicitRequired {
		t.Errorf("%v", err)
	}
	if err := call(t, a, "bulk_set_property", args{"paths": []string{"a", "b"}, "key": "k"}, &out); code(err) != fault.ValidationError {
		t.Errorf("a value that was left out: %v", err)
	}
	b, dirB := writable(t, files, true)
	err := call(t, b, "bulk_set_property", args{"paths": paths, "key": "k", "value": 2}, &out)
	if code(err) != fault.InvalidInput || !strings.Contains(fmt.Sprint(fault.Of(err).Details["errors"]), "none.md") {
		t.Errorf("%v %v", err, fault.Of(err).Details)
	}
	for path, old := range files {
		if content(t, dir, path) != old || content(t, dirB, path) != old {
			t.Errorf("%s has changed", path)
		}
	}
	if err := call(t, b, "bulk_set_property", args{"paths": paths, "key": "k", "value": nil, "partial": true}, &out); err != nil {
		t.Fatal(err)
	}
	if got := content(t, dirB, "a.md") + content(t, dirB, "b.md") + content(t, dirB, "bad.md") + content(t, dirB, "same.md"); got != "---\nk: # c\n---\n"+"---\nk:\n---\ntext\n"+files["bad.md"]+"---\nk:\n---\n" {
		t.Errorf("%q", got)
	}
	if out.Succeeded != 3 || out.Failed != 3 || len(out.Results) != 6 || fmt.Sprint(out.Results[0].Prev, out.Results[1].Prev, out.Results[2].Prev) != "1 <nil> 1.1" ||
		out.Results[3].Error == nil || out.Results[3].Error.Code != string(fault.NoteNotFound) || out.ChangeID == "" {
		t.Errorf("%+v", out)
	}
}

// Many notes are a person's business, by whichever tool.
func TestAWideRenameNeedsAPerson(t *testing.T) {
	files := map[string]string{}
	for i := range 11 {
		files[fmt.Sprintf("%02d.md", i)] = "---\nk: 1\n---\n#old\n"
	}
	a, dir := writable(t, files, false)
	for tool, in := range map[string]args{"rename_tag": {"tag": "old", "new_tag": "new"}, "rename_property": {"key": "k", "new_key": "j"}} {
		var out editing
		if err := call(t, a, tool, in, &out); code(err) != fault.ElicitRequired {
			t.Errorf("%s: %v", tool, err)
		}
	}
	for path, old := range files {
		if content(t, dir, path) != old {
			t.Errorf("%s has changed", path)
		}
	}
}
