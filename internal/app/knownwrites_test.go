package app_test

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault-mcp/internal/fault"
)

// A name that another system, or a client that syncs the vault, cannot hold is
// refused by every tool that makes one.
func TestNamesThatNotEverySystemHoldsAreNotMade(t *testing.T) {
	files := map[string]string{"a.md": "x\n", "p.png": "x", "F/b.md": "x\n"}
	a, dir := writable(t, files, true)
	for _, name := range []string{"a:b?.md", "t. ", "t.", "F/c.", "t. /x.md", "CON.md", "x\x00y.md", "q|r.md", "F\\d.md"} {
		for tool, in := range map[string]args{
			"write_note": {"path": name, "content": "x"}, "append_note": {"path": name, "content": "x", "create_if_missing": true},
			"move_note": {"from": "a.md", "to": name}, "copy_note": {"from": "a.md", "to": name}, "move_folder": {"from": "F", "to": name},
			"bulk_create_notes": {"items": []args{{"path": name, "content": "x"}}}, "bulk_move_notes": {"moves": []args{{"from": "a.md", "to": name}}},
		} {
			if strings.HasSuffix(strings.TrimSpace(name), ".") && tool != "move_folder" {
				continue // .md comes behind it
			}
			var out json.RawMessage
			if err := call(t, a, tool, in, &out); code(err) != fault.PathInvalid {
				t.Errorf("%s %q: %v", tool, name, err)
			}
		}
	}
	only(t, dir, "F/b.md", "a.md", "p.png")
}

// Folders that are not there are made with the note, and go when it is taken back.
func TestMissingFoldersAreMade(t *testing.T) {
	a, dir := writable(t, map[string]string{"a.md": "x\n"}, true)
	var out written
	if err := call(t, a, "write_note", args{"path": "New/deep/er/n.md", "content": "x\n"}, &out); err != nil {
		t.Fatal(err)
	}
	only(t, dir, "New/deep/er/n.md", "a.md")
	if err := call(t, a, "undo_change", args{"change_id": out.ChangeID}, &out); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1 {
		t.Errorf("left are %q", left)
	}
}

// Each note whose links followed a move can be had back as it was, alone or with
// the whole change.
func TestNotesThatFollowedAMoveHaveTheirVersion(t *testing.T) {
	files := map[string]string{"a.md": "a\n", "one.md": "see [[a]]\n", "F/two.md": "[x](../a.md) and more\n"}
	a, dir := writable(t, files, true)
	var out written
	if err := call(t, a, "move_note", args{"from": "a", "to": "b"}, &out); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"one.md", "F/two.md"} {
		var list struct{ Snapshots []struct{ ID int64 } }
		if err := call(t, a, "list_snapshots", args{"path": p}, &list); err != nil || len(list.Snapshots) != 1 {
			t.Fatalf("%s: %+v, %v", p, list, err)
		}
		var read struct{ Content string }
		if err := call(t, a, "read_snapshot", args{"snapshot_id": list.Snapshots[0].ID, "format": "json"}, &read); err != nil || read.Content != files[p] {
			t.Errorf("%s: %+v, %v", p, read, err)
		}
	}
	back(t, a, dir, out.ChangeID, files)
}

// Nothing that a model puts into a call stands for the word of a person.
func TestNoArgumentConfirms(t *testing.T) {
	files := map[string]string{"a.md": "# One\n" + strings.Repeat("a line\n", 400) + "# Two\nx\n"}
	a, dir := writable(t, files, false)
	for _, tt := range []struct {
		tool string
		in   args
	}{
		{"patch_note", args{"path": "a", "operation": "replace", "target_heading": "One", "content": "gone"}},
		{"patch_note", args{"path": "a", "operation": "replace", "part": "document", "content": "gone"}},
		{"write_note", args{"path": "a", "content": "gone", "mode": "overwrite"}},
		{"delete_note", args{"path": "a"}},
	} {
		var out json.RawMessage
		if err := call(t, a, tt.tool, tt.in, &out); code(err) != fault.ElicitRequired {
			t.Errorf("%s %v: %v", tt.tool, tt.in, err)
		}
		for name, value := range map[string]any{
			"confirm_replace": true, "confirm": true, "confirmed": "yes", "approve": true, "force": true, "elicit_token": strings.Repeat("0", 32),
		} {
			in := maps.Clone(tt.in)
			in[name] = value
			if err := call(t, a, tt.tool, in, &out); !slices.Contains([]fault.Code{fault.ElicitRequired, fault.ElicitInvalid, fault.ValidationError}, code(err)) {
				t.Errorf("%s with %s: %v", tt.tool, name, err)
			}
		}
	}
	if d := cmp.Diff(files, bytesOf(t, dir)); d != "" {
		t.Errorf("(-before +after):\n%s", d)
	}
}

// A file that is no UTF-8 keeps each of its bytes: what cannot be read as text is
// not written as text.
func TestWhatIsNoTextIsNotRewritten(t *testing.T) {
	bad := "---\ntags: [x]\nstatus: caf\xe9\n---\n# One\n- [ ] caf\xe9 [[gone]] [[a]]\n\n| h |\n|-|\n| \xe9 |\n"
	files := map[string]string{"bad.md": bad, "a.md": "x\n", "F/f.md": "f\n"}
	a, dir := writable(t, files, true)
	for tool, in := range map[string]args{
		"append_note": {"content": "x"}, "patch_note": {"operation": "append", "target_heading": "One", "content": "x"},
		"write_note":         {"content": "x", "mode": "overwrite"},
		"update_frontmatter": {"operation": "set", "key": "k", "value": 1}, "add_tag": {"tag": "y"}, "remove_tag": {"tag": "x"},
		"rename_heading": {"heading": "One", "to": "Two"}, "prune_hub_links": {}, "update_task": {"line": 6, "toggle": true},
		"format_table": {}, "insert_table_row": {"values": []string{"1"}}, "insert_table_column": {"header": "c"}, "sort_table_by_column": {"column": 0},
	} {
		in["path"] = "bad"
		var out json.RawMessage
		if err := call(t, a, tool, in, &out); code(err) != fault.InvalidInput || !strings.Contains(err.Error(), "UTF-8") {
			t.Errorf("%s: %v", tool, err)
		}
	}
	if err := call(t, a, "bulk_set_property", args{"paths": []string{"bad"}, "key": "k", "value": 1}, &written{}); code(err) != fault.InvalidInput {
		t.Error(err)
	}
	if d := cmp.Diff(files, bytesOf(t, dir)); d != "" {
		t.Fatalf("(-before +after):\n%s", d)
	}
	// Those that go over the whole vault, or move it, leave its bytes alone.
	for _, c := range []struct {
		tool string
		in   args
	}{
		{"rename_tag", args{"tag": "x", "new_tag": "z"}}, {"rename_property", args{"key": "status", "new_key": "state"}},
		{"rewrite_link", args{"from_target": "a", "to_target": "F/f"}}, {"move_note", args{"from": "a", "to": "b"}},
		{"move_note", args{"from": "bad", "to": "worse"}}, {"copy_note", args{"from": "worse", "to": "F/bad"}}, {"move_note", args{"from": "worse", "to": "bad"}},
	} {
		var out json.RawMessage
		if err := call(t, a, c.tool, c.in, &out); err != nil {
			t.Errorf("%s: %v", c.tool, err)
		}
	}
	for _, p := range []string{"bad.md", "F/bad.md"} {
		if got := content(t, dir, p); got != bad {
			t.Errorf("%s: %q", p, got)
		}
	}
}
