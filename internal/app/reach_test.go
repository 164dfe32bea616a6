package app_test

import (
	"strings"
	"testing"

	"vault-mcp/internal/fault"
)

// Links in closed folders stay right, by a person's leave, and the answer tells
// nothing of them.
func TestLinksInClosedFoldersFollowAndStayUnknown(t *testing.T) {
	files := map[string]string{
		"a.md": "a\n", "open.md": "[[a]]\n", "Hidden/h.md": "onlysecret [[a]]\n", "Denied/d.md": "onlysecret [[a]]\n", "Fixed/f.md": "[[a]]\n",
	}
	rules := `, rules: [{glob: "Hidden/**", verbs: {read: hide}}, {glob: "Denied/**", verbs: {read: deny}}, {glob: "Fixed/**", verbs: {write: deny}}]`
	a, dir := writable(t, files, false, rules)
	var out movedOut
	err := call(t, a, "move_note", args{"from": "a", "to": "b"}, &out)
	if code(err) != fault.ElicitRequired || !strings.Contains(err.Error(), "2 files outside the folders that the caller may write") {
		t.Errorf("%v", err)
	}
	holds(t, dir, files)
	for _, dry := range []bool{true, false} {
		a, dir = writable(t, files, true, rules)
		out = movedOut{}
		res, err := do(t.Context(), a, "move_note", map[bool]string{true: `{"from":"a","to":"b","dry_run":true}`, false: `{"from":"a","to":"b"}`}[dry])
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"Hidden", "Denied", "onlysecret", "files_more"} {
			if strings.Contains(string(res.Structured), word) || strings.Contains(res.Text, word) {
				t.Errorf("dry %v: the answer has %q: %s", dry, word, res.Structured)
			}
		}
		if !strings.Contains(string(res.Structured), `"backlinks_updated":{"notes":2,"links":2}`) {
			t.Errorf("%s", res.Structured)
		}
	}
	holds(t, dir, map[string]string{"open.md": "[[b]]\n", "Hidden/h.md": "onlysecret [[b]]\n", "Denied/d.md": "onlysecret [[b]]\n", "Fixed/f.md": "[[b]]\n"})
	var list changesOut
	if err := call(t, a, "list_changes", args{}, &list); err != nil || len(list.Changes) > 0 && strings.Contains(list.Changes[0].Summary, "4 ") {
		t.Errorf("%+v, %v", list, err)
	}
}

// What may not be read is not moved to where it may.
func TestAMoveOpensNothing(t *testing.T) {
	files := map[string]string{"P/Locked/x.md": "onlysecret\n", "P/open.md": "open\n", "H/Hidden/y.md": "onlysecret\n", "H/open.md": "open\n", "P/Locked/p.png": "x"}
	a, dir := writable(t, files, true, `, rules: [{glob: "P/Locked/**", verbs: {read: deny}}, {glob: "H/Hidden/**", verbs: {read: hide}}]`)
	for _, tt := range []struct {
		tool string
		in   args
	}{
		{"move_note", args{"from": "P/Locked/x.md", "to": "x.md"}},
		{"copy_note", args{"from": "P/Locked/x.md", "to": "x.md"}},
		{"move_attachment", args{"from": "P/Locked/p.png", "to": "p.png"}},
		{"bulk_move_notes", args{"moves": []args{{"from": "P/Locked/x.md", "to": "x.md"}}}},
		{"move_folder", args{"from": "P", "to": "Q"}},
		{"move_folder", args{"from": "P/Locked", "to": "Q"}},
		{"move_folder", args{"from": "H", "to": "Q"}},
		{"delete_folder", args{"path": "H"}},
		{"delete_folder", args{"path": "H", "permanent": true}},
		{"rename_heading", args{"path": "P/Locked/x.md", "heading": "h", "to": "g"}},
		{"prune_hub_links", args{"path": "P/Locked/x.md"}},
	} {
		var out written
		err := call(t, a, tt.tool, tt.in, &out)
		if code(err) != fault.ACLDenied || strings.Contains(err.Error(), "y.md") || strings.Contains(err.Error(), "Hidden") {
			t.Errorf("%s %v: %v", tt.tool, tt.in, err)
		}
	}
	holds(t, dir, files)
	only(t, dir, "H/Hidden/y.md", "H/open.md", "P/Locked/p.png", "P/Locked/x.md", "P/open.md")
}

func TestBothEndsOfAMoveAreJudged(t *testing.T) {
	files := map[string]string{"Keep/k.md": "k\n", "a.md": "a\n", "F/a.md": "f\n", "Shut/s.md": "s\n"}
	a, dir := writable(t, files, true, `, rules: [{glob: "Keep/**", verbs: {delete: deny}}, {glob: "Shut/**", verbs: {write: deny}}, {glob: "G/a.md", verbs: {write: deny}}]`)
	for _, tt := range []struct {
		tool string
		in   args
	}{
		{"move_note", args{"from": "Keep/k.md", "to": "k.md"}},
		{"move_note", args{"from": "a.md", "to": "Shut/a.md"}},
		{"copy_note", args{"from": "a.md", "to": "Shut/a.md"}},
		{"move_folder", args{"from": "Keep", "to": "Kept"}},
		{"move_folder", args{"from": "F", "to": "Shut/F"}},
		{"move_folder", args{"from": "F", "to": "G"}},
		{"delete_folder", args{"path": "Keep"}},
		{"bulk_create_notes", args{"items": []args{{"path": "Shut/n", "content": "n"}}}},
		{"put_attachment", args{"path": "Shut/p.png", "content": "eQ=="}},
		{"rewrite_link", args{"from_target": "a", "to_target": "Nothing"}},
	} {
		var out written
		want := fault.ACLDenied
		if tt.tool == "rewrite_link" {
			want = fault.NoteNotFound
		}
		if err := call(t, a, tt.tool, tt.in, &out); code(err) != want {
			t.Errorf("%s %v: %v", tt.tool, tt.in, err)
		}
	}
	holds(t, dir, files)
}

func TestInAReadOnlyVaultNothingMoves(t *testing.T) {
	files := map[string]string{"a.md": "[[b]]\n", "b.md": "b\n", "p.png": "x", "F/c.md": "c\n"}
	a, dir := writable(t, files, true, `, read_only: true`)
	for tool, in := range map[string]args{
		"move_note": {"from": "b", "to": "c"}, "copy_note": {"from": "b", "to": "c"}, "move_folder": {"from": "F", "to": "G"}, "delete_folder": {"path": "F"},
		"bulk_move_notes": {"moves": []args{{"from": "b", "to": "c"}}}, "bulk_create_notes": {"items": []args{{"path": "n", "content": "n"}}},
		"move_attachment": {"from": "p.png", "to": "q.png"}, "delete_attachment": {"path": "p.png"}, "put_attachment": {"path": "q.png", "content": "eQ=="},
		"rename_heading": {"path": "a", "heading": "h", "to": "g"}, "rewrite_link": {"from_target": "b", "to_target": "F/c"}, "prune_hub_links": {"path": "a"},
	} {
		var out written
		if err := call(t, a, tool, in, &out); code(err) != fault.ReadOnly {
			t.Errorf("%s: %v", tool, err)
		}
	}
	holds(t, dir, files)
}

// A change that reached into closed folders is taken back there as well, and that
// tells no more of them.
func TestWhatReachedIntoClosedFoldersIsTakenBack(t *testing.T) {
	files := map[string]string{"a.md": "a\n", "open.md": "[[a]]\n", "Hidden/h.md": "onlysecret [[a]]\n", "Denied/d.md": "onlysecret [[a]]\n"}
	a, dir := writable(t, files, true, `, rules: [{glob: "Hidden/**", verbs: {read: hide}}, {glob: "Denied/**", verbs: {read: deny}}]`)
	var out, again movedOut
	for _, o := range []*movedOut{&out, &again} { // the second call is answered from the first
		if err := call(t, a, "move_note", args{"from": "a", "to": "b", "idempotency_key": "k"}, o); err != nil {
			t.Fatal(err)
		}
	}
	if again.ChangeID != out.ChangeID || out.ChangeID == "" {
		t.Errorf("%q and %q", out.ChangeID, again.ChangeID)
	}
	for _, tool := range []string{"read_change", "undo_change"} {
		res, err := do(t.Context(), a, tool, `{"change_id":"`+out.ChangeID+`"}`)
		if err != nil {
			t.Fatalf("%s: %v", tool, err)
		}
		if strings.Contains(string(res.Structured), "Hidden") || strings.Contains(string(res.Structured), "Denied") || strings.Contains(string(res.Structured), "onlysecret") {
			t.Errorf("%s tells %s", tool, res.Structured)
		}
	}
	holds(t, dir, files)
}
