package app_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"vault-mcp/internal/fault"
)

// What a refusal says, and the details beside it, are all that a model has to
// make a better call.
func TestARefusalSaysWhatToDo(t *testing.T) {
	a, dir := writable(t, map[string]string{
		"note.md": "# One\n- [ ] task ^t\n\n## Same\n## Same\n\n| h | i |\n| - | - |\n| 1 | 2 |\n\ntext ^p\n", "other.md": "x\n", "broken.md": "---\nx: [\n---\n", "F/in.md": "x\n", "p.png": "\x89PNG\x00",
	}, false)
	before := bytesOf(t, dir)
	patch := func(more args) args {
		in := args{"path": "note", "operation": "append", "content": "x"}
		for k, v := range more {
			in[k] = v
		}
		return in
	}
	zeros := strings.Repeat("0", 64)
	for _, tt := range []struct {
		tool    string
		in      args
		code    fault.Code
		says    string
		details []string // keys
	}{
		{"append_note", args{"path": "notes", "content": "x"}, fault.NoteNotFound, `No note or file at "notes.md". create_if_missing`, []string{"path", "closest"}},
		{"write_note", args{"path": "notes", "content": "x", "mode": "overwrite"}, fault.NoteNotFound, `No note or file at "notes.md". The mode create`, []string{"closest"}},
		{"delete_note", args{"path": "notes"}, fault.NoteNotFound, "No note or file at", []string{"closest"}},
		{"add_tag", args{"path": "notes", "tag": "x"}, fault.NoteNotFound, "No note or file at", []string{"closest"}},
		{"prune_hub_links", args{"path": "notes"}, fault.NoteNotFound, "No note or file at", []string{"closest"}},
		{"move_note", args{"from": "notes", "to": "y"}, fault.NoteNotFound, "No note or file at", []string{"closest"}},
		{"move_attachment", args{"from": "q.png", "to": "y.png"}, fault.NoteNotFound, "No file or folder at", []string{"closest"}},
		{"delete_folder", args{"path": "G"}, fault.NoteNotFound, "No folder at", []string{"closest"}},
		{"delete_folder", args{"path": "note.md"}, fault.NoteNotFound, "is a file, not a folder.", nil},
		{"bulk_move_notes", args{"moves": []args{{"from": "notes", "to": "z"}}}, fault.NoteNotFound, `Row 1: No note or file at "notes". Nothing was done`, []string{"rows"}},
		{"bulk_set_property", args{"paths": []string{"broken"}, "key": "k", "value": 1}, fault.InvalidInput, "1 of 1 notes cannot", []string{"errors"}},
		{"write_note", args{"path": "note", "content": "x"}, fault.NoteExists, "exists already", []string{"path"}},
		{"write_note", args{"path": "new", "content": "x", "prev_hash": zeros}, fault.ConcurrentModification, `"new.md" is not there, so`, []string{"expected", "actual"}},
		{"append_note", args{"path": "note", "content": "x", "prev_hash": zeros}, fault.ConcurrentModification, "is not in the version", []string{"expected", "actual"}},
		{"write_note", args{"path": "a:b", "content": "x"}, fault.PathInvalid, `: * ? " < > | \`, nil},
		{"write_note", args{"path": "note.md/c", "content": "x"}, fault.PathInvalid, "is a file", nil},
		{"patch_note", patch(args{"target_heading": "Nope"}), fault.NotFound, `no heading "Nope"`, []string{"headings", "blocks"}},
		{"patch_note", patch(args{"block": "nope"}), fault.NotFound, `no block "^nope"`, []string{"headings", "blocks"}},
		{"patch_note", patch(args{"target_heading": "Same"}), fault.InvalidInput, `"Same" is in several lines: 4, 5; line says which.`, []string{"argument", "lines"}},
		{"patch_note", patch(args{"target_heading": "One", "line": 9}), fault.InvalidInput, `"One" is in line 1 alone; leave line out or say that one.`, []string{"argument", "lines"}},
		{"patch_note", patch(nil), fault.InvalidInput, "target_heading, block and part", []string{"argument"}},
		{"patch_note", patch(args{"target_heading": "Same", "line": 4, "content": "```\nopen"}), fault.InvalidInput, "closed", nil},
		{"patch_note", args{"path": "note", "operation": "replace", "block": "p", "content": "# H"}, fault.InvalidInput, "The note stays as it is: the block id ^p", nil},
		{"update_frontmatter", args{"path": "note", "operation": "merge", "properties": args{"": 1}}, fault.InvalidInput, "without a name", []string{"argument"}},
		{"put_attachment", args{"path": "x.png", "content": "AAAA", "mode": "overwrite"}, fault.NoteNotFound, `No note or file at "x.png". The mode create`, []string{"closest"}},
		{"bulk_move_notes", args{"moves": []args{{"from": "note", "to": "other"}}}, fault.NoteExists, `"other.md" exists already. Nothing was done`, nil},
		{"rename_heading", args{"path": "note", "heading": "One", "to": "a\nb"}, fault.InvalidInput, "cannot be the title", []string{"argument"}},
		{"rename_heading", args{"path": "note", "heading": "Nope", "to": "x"}, fault.NotFound, `no heading "Nope"`, []string{"headings"}},
		{"rename_heading", args{"path": "note", "heading": "Same", "to": "x"}, fault.InvalidInput, "line says which", []string{"lines"}},
		{"update_task", args{"path": "note", "line": 1, "toggle": true}, fault.InvalidInput, "no task", []string{"tasks"}},
		{"update_task", args{"path": "note", "id": "zz", "toggle": true}, fault.NotFound, "list_tasks", []string{"argument"}},
		{"update_task", args{"path": "note", "line": 2, "due": "2031-02-30"}, fault.ValidationError, "a day of the calendar", []string{"argument"}},
		{"format_table", args{"path": "other"}, fault.NotFound, `In "other.md" there is no table.`, []string{"tables"}},
		{"format_table", args{"path": "note", "table_index": 3}, fault.NotFound, "the note has 1, counted from 0", []string{"tables"}},
		{"sort_table_by_column", args{"path": "note", "column": "x"}, fault.NotFound, "no column", []string{"columns"}},
		{"rewrite_link", args{"from_target": "note", "to_target": "nope"}, fault.NoteNotFound, "nope", nil},
		{"undo_change", args{"change_id": "x"}, fault.NotFound, "list_changes", nil},
		{"restore_note", args{"path": "note", "snapshot_id": 9}, fault.NotFound, "list_snapshots", nil},
		{"restore_from_trash", args{"name": "x"}, fault.NotFound, "list_trash", nil},
	} {
		err := call(t, a, tt.tool, tt.in, &written{})
		if code(err) != tt.code {
			t.Errorf("%s %v: %v", tt.tool, tt.in, err)
			continue
		}
		e := fault.Of(err)
		if first, _ := utf8.DecodeRuneInString(e.Message); !strings.Contains(e.Message, tt.says) || !strings.HasSuffix(e.Message, ".") ||
			unicode.IsLower(first) {
			t.Errorf("%s %v: %s", tt.tool, tt.in, e.Message)
		}
		for _, key := range tt.details {
			if _, ok := e.Details[key]; !ok {
				t.Errorf("%s %v lacks %s: %v", tt.tool, tt.in, key, e.Details)
			}
		}
	}
	if d := bytesOf(t, dir); len(d) != len(before) {
		t.Errorf("something was written: %v", d)
	}
	// A name that is near is told.
	err := call(t, a, "delete_note", args{"path": "notte"}, &written{})
	if got, _ := fault.Of(err).Details["closest"].([]string); !slices.Contains(got, "note.md") {
		t.Errorf("%v: %q", err, got)
	}
}

// A name that is hidden is not told as one that may have been meant.
func TestARefusalTellsNoHiddenName(t *testing.T) {
	a, _ := writable(t, map[string]string{"F/private note.md": "x\n", "F/a.md": "x\n"}, false, `, rules: [{glob: "F/private*", verbs: {read: hide, write: allow}}]`)
	for _, path := range []string{"F/private notes", "F/privat note"} {
		err := call(t, a, "append_note", args{"path": path, "content": "x"}, &written{})
		if e := fault.Of(err); e == nil || e.Details["closest"] != nil && strings.Contains(strings.Join(e.Details["closest"].([]string), "|"), "private note.md") {
			t.Errorf("%s: %v %v", path, err, e.Details)
		}
	}
}
