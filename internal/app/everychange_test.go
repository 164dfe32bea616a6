package app_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault-mcp/internal/app"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
)

// trial is a call that changes something, and a part of the diff that shows it:
// "" where no text is changed, as by a removal or a move.
type trial struct {
	in   args
	diff string
}

// trials has one for every tool that changes notes, over the vault of tried.
func trials() map[string]trial {
	n := func(more args) args {
		in := args{"path": "n.md"}
		maps.Copy(in, more)
		return in
	}
	return map[string]trial{
		"write_note":           {args{"path": "new.md", "content": "text\n"}, "+text"},
		"append_note":          {n(args{"content": "more\n"}), "+more"},
		"patch_note":           {n(args{"operation": "append", "target_heading": "One", "content": "more"}), "+more"},
		"move_note":            {args{"from": "n", "to": "n2"}, "+[[n2]]"},
		"copy_note":            {args{"from": "n", "to": "F/n2"}, "+# One"},
		"delete_note":          {n(nil), ""},
		"move_folder":          {args{"from": "F", "to": "G"}, "[[G/f]]"},
		"delete_folder":        {args{"path": "F"}, ""},
		"bulk_create_notes":    {args{"items": []args{{"path": "x.md", "content": "x\n"}, {"path": "y.md", "content": "y\n"}}}, "+y"},
		"bulk_move_notes":      {args{"moves": []args{{"from": "n", "to": "F/n2"}}}, "+[[n2]]"},
		"bulk_set_property":    {args{"paths": []string{"n", "m"}, "key": "k", "value": 1}, "+k: 1"},
		"update_frontmatter":   {n(args{"operation": "set", "key": "k", "value": 1}), "+k: 1"},
		"add_tag":              {n(args{"tag": "z"}), "+tags: [x, z]"},
		"remove_tag":           {n(args{"tag": "x"}), "-tags: [x]"},
		"rename_tag":           {args{"tag": "x", "new_tag": "z"}, "+tags: [z]"},
		"rename_property":      {args{"key": "status", "new_key": "state"}, "+state: draft"},
		"rename_heading":       {n(args{"heading": "One", "to": "Two"}), "+# Two"},
		"rewrite_link":         {args{"from_target": "n", "to_target": "m"}, "+[[m]]"},
		"prune_hub_links":      {n(nil), "-- [[gone]]"},
		"move_attachment":      {args{"from": "p.png", "to": "q.png"}, "![[q.png]]"},
		"delete_attachment":    {args{"path": "p.png"}, ""},
		"put_attachment":       {args{"path": "r.png", "content": "iVBORwA="}, ""},
		"update_task":          {n(args{"line": 6, "toggle": true}), "+- [x] task"},
		"format_table":         {n(nil), "+| --- | --- |"},
		"insert_table_row":     {n(args{"values": []string{"3", "4"}}), "+| 3"},
		"insert_table_column":  {n(args{"header": "new"}), "new"},
		"sort_table_by_column": {n(args{"column": "h"}), "| 2 | 1 |"},
		"undo_change":          {args{"change_id": "set by the test"}, "-appended"},
		"git_restore":          {args{"path": "m.md"}, "-appended"},
		"restore_note":         {args{"path": "m.md", "snapshot_id": 1}, "-appended"},
		"restore_from_trash":   {args{"name": "t.md"}, ""},
	}
}

// Every change can be tried first, with a diff of what it would rewrite; says of
// which version it speaks where it is about one file; and is repeated safely.
func TestEveryChangeIsTriedAndRepeatedSafely(t *testing.T) {
	r, err := app.Registry()
	if err != nil {
		t.Fatal(err)
	}
	all := trials()
	several := []string{ // what is about several files, or none
		"bulk_create_notes", "bulk_move_notes", "bulk_set_property", "rename_tag", "rename_property", "rewrite_link", "move_folder", "delete_folder",
		"undo_change", "restore_from_trash",
	}
	for _, tool := range r.All() {
		if tool.Kind != tools.KindChange {
			continue
		}
		t.Run(tool.Name, func(t *testing.T) {
			c, ok := all[tool.Name]
			if !ok {
				t.Fatal("a new tool needs a trial")
			}
			if tool.Takes("prev_hash") == slices.Contains(several, tool.Name) {
				t.Errorf("takes prev_hash: %v", tool.Takes("prev_hash"))
			}
			a, dir := writable(t, map[string]string{
				"n.md": "---\nstatus: draft\ntags: [x]\n---\n# One\n- [ ] task\n- [[gone]]\n\n| h | i |\n|-|-|\n| 2 | 1 |\n| 1 | 2 |\n", "m.md": "m\n", "t.md": "t\n", "F/f.md": "f\n",
				"hub.md": "[[n]]\n![[p.png]] [[F/f]]\n", "F/o.md": "o\n", "p.png": "\x89PNG\x00", ".obsidian/app.json": `{"trashOption": "local"}`,
			}, true)
			if tool.Domain == "git" {
				committed(t, dir)
			}
			var out written
			for tool, in := range map[string]args{"append_note": {"path": "m.md", "content": "appended\n"}, "delete_note": {"path": "t.md"}} {
				if err := call(t, a, tool, in, &out); err != nil {
					t.Fatal(err)
				}
				if tool == "append_note" && c.in["change_id"] != nil {
					c.in["change_id"] = out.ChangeID
				}
			}
			before := bytesOf(t, dir)
			with := func(more args) args {
				in := maps.Clone(c.in)
				maps.Copy(in, more)
				return in
			}
			var dry written
			if err := call(t, a, tool.Name, with(args{"dry_run": true, "idempotency_key": "k"}), &dry); err != nil {
				t.Fatal(err)
			}
			if !dry.DryRun || dry.ChangeID != "" || len(dry.Files) == 0 || dry.Summary == "" || !strings.Contains(dry.Diff, c.diff) || c.diff == "" && dry.Diff != "" {
				t.Errorf("dry: %+v", dry)
			}
			if tool.Takes("prev_hash") {
				err := call(t, a, tool.Name, with(args{"prev_hash": strings.Repeat("0", 64)}), &written{})
				if code(err) != fault.ConcurrentModification {
					t.Errorf("another version: %v", err)
				}
			}
			if d := cmp.Diff(before, bytesOf(t, dir)); d != "" {
				t.Fatalf("something was changed (-before +after):\n%s", d)
			}
			var once, twice json.RawMessage
			if err := call(t, a, tool.Name, with(args{"idempotency_key": "k"}), &once); err != nil {
				t.Fatal(err)
			}
			after := bytesOf(t, dir)
			if err := call(t, a, tool.Name, with(args{"idempotency_key": "k"}), &twice); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(after, bytesOf(t, dir)); d != "" || string(once) != string(twice) || cmp.Equal(before, after) {
				t.Errorf("repeated (-once +twice):\n%s\n%s\n%s", d, once, twice)
			}
		})
	}
}
