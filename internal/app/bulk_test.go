package app_test

import (
	"strings"
	"testing"

	"vault-mcp/internal/fault"
)

type bulkOut struct {
	written
	Processed, Succeeded, Failed int
	Backlinks                    struct{ Notes, Links int } `json:"backlinks_updated"`
	Results                      []struct {
		Path, From, To string
		OK             bool
		ModeUsed       string `json:"mode_used"`
		Hash           string `json:"content_hash"`
		Error          *struct{ Code, Message string }
	}
}

func TestSwapsAndChainsLoseNothing(t *testing.T) {
	files := map[string]string{"A.md": "a [[B]]\n", "B.md": "b [[C]]\n", "C.md": "c [[A]]\n", "links.md": "[[A]] [[B]] [[C]]\n"}
	for _, tt := range []struct {
		name  string
		moves []args
		want  map[string]string
	}{
		{"swap", []args{{"from": "A", "to": "B"}, {"from": "B", "to": "A"}},
			map[string]string{"B.md": "a [[A]]\n", "A.md": "b [[C]]\n", "C.md": "c [[B]]\n", "links.md": "[[B]] [[A]] [[C]]\n"}},
		{"chain", []args{{"from": "A", "to": "B"}, {"from": "B", "to": "D"}},
			map[string]string{"B.md": "a [[D]]\n", "D.md": "b [[C]]\n", "C.md": "c [[B]]\n", "links.md": "[[B]] [[D]] [[C]]\n"}},
		{"ring", []args{{"from": "A", "to": "B"}, {"from": "B", "to": "C"}, {"from": "C", "to": "A"}},
			map[string]string{"B.md": "a [[C]]\n", "C.md": "b [[A]]\n", "A.md": "c [[B]]\n", "links.md": "[[B]] [[C]] [[A]]\n"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, overwrite := range []bool{false, true} {
				a, dir := writable(t, files, true)
				var out bulkOut
				if err := call(t, a, "bulk_move_notes", args{"moves": tt.moves, "overwrite": overwrite}, &out); err != nil {
					t.Fatal(err)
				}
				holds(t, dir, tt.want)
				if out.Succeeded != len(tt.moves) || out.Failed != 0 || out.Results[0].Hash == "" {
					t.Errorf("%+v", out)
				}
				for _, f := range out.Files {
					if strings.Contains(f.Path, ".vault-mcp") {
						t.Errorf("the answer tells of %q", f.Path)
					}
				}
				back(t, a, dir, out.ChangeID, files)
				only(t, dir, "A.md", "B.md", "C.md", "links.md")
			}
		})
	}
}

func TestTwoRowsToOnePlaceClobberNothing(t *testing.T) {
	files := map[string]string{"a.md": "a\n", "b.md": "b\n", "c.md": "c [[b]]\n", "taken.md": "taken\n"}
	rows := []args{{"from": "a", "to": "x"}, {"from": "b", "to": "X"}, {"from": "gone", "to": "y"}, {"from": "c", "to": "taken"}, {"from": "a", "to": "z"}}
	a, dir := writable(t, files, true)
	var out bulkOut
	err := call(t, a, "bulk_move_notes", args{"moves": rows}, &out)
	if code(err) == "" || fault.Of(err).Details["failed"] != 4 {
		t.Fatalf("%v, %+v", err, fault.Of(err))
	}
	holds(t, dir, files)
	if err := call(t, a, "bulk_move_notes", args{"moves": rows, "partial": true}, &out); err != nil {
		t.Fatal(err)
	}
	only(t, dir, "b.md", "c.md", "taken.md", "x.md")
	var got []string
	for _, r := range out.Results {
		if r.OK {
			got = append(got, "ok")
		} else {
			got = append(got, r.Error.Code)
		}
	}
	if strings.Join(got, " ") != "ok invalid_input note_not_found note_exists invalid_input" || out.Succeeded != 1 || out.Failed != 4 {
		t.Errorf("%q %+v", got, out)
	}
}

// A row that fails keeps the place that another row wants.
func TestARowThatFailsStandsInTheWay(t *testing.T) {
	a, dir := writable(t, map[string]string{"a.md": "a\n", "b.md": "b\n", "c.md": "c\n", "d.md": "d\n"}, true)
	var out bulkOut
	err := call(t, a, "bulk_move_notes", args{"partial": true, "moves": []args{
		{"from": "a", "to": "b"}, {"from": "b", "to": "c"}, {"from": "c", "to": "what?"}, {"from": "d", "to": "e"},
	}}, &out)
	if err != nil {
		t.Fatal(err)
	}
	if out.Succeeded != 1 || out.Failed != 3 {
		t.Errorf("%+v", out)
	}
	only(t, dir, "a.md", "b.md", "c.md", "e.md")
}

func TestManyNotesAreWrittenAsOneChange(t *testing.T) {
	files := map[string]string{"old.md": "old\n"}
	a, dir := writable(t, files, true)
	items := []args{
		{"path": "New/a", "content": "---\nx: 1 # kept\n---\nbody\n", "frontmatter": args{"y": []string{"two"}, "x": 2}},
		{"path": "new/b", "content": "b\n"},
		{"path": "old", "content": "new\n", "mode": "upsert"},
	}
	var out bulkOut
	if err := call(t, a, "bulk_create_notes", args{"items": items}, &out); err != nil {
		t.Fatal(err)
	}
	holds(t, dir, map[string]string{"New/a.md": "---\nx: 2 # kept\ny:\n  - two\n---\nbody\n", "New/b.md": "b\n", "old.md": "new\n"})
	if out.Succeeded != 3 || out.Results[2].ModeUsed != "overwrite" || out.Results[1].Path != "New/b.md" {
		t.Errorf("%+v", out)
	}
	back(t, a, dir, out.ChangeID, files)
	only(t, dir, "old.md")
}

func TestOneBadNoteOfManyWritesNone(t *testing.T) {
	a, dir := writable(t, map[string]string{"old.md": "old\n"}, true)
	items := []args{
		{"path": "a.md", "content": "a\n"}, {"path": "A", "content": "again\n"}, {"path": "old", "content": "x"}, {"path": "a.md/below", "content": "x"},
		{"path": "../out", "content": "x"}, {"path": "x:y", "content": "x"}, {"path": "p", "content": "x", "prev_hash": strings.Repeat("0", 64)},
	}
	var out bulkOut
	err := call(t, a, "bulk_create_notes", args{"items": items}, &out)
	if code(err) == "" || fault.Of(err).Details["failed"] != 6 {
		t.Fatalf("%v %v", err, fault.Of(err))
	}
	only(t, dir, "old.md")
	if err := call(t, a, "bulk_create_notes", args{"items": items, "partial": true}, &out); err != nil {
		t.Fatal(err)
	}
	if out.Succeeded != 1 || out.Failed != 6 {
		t.Errorf("%+v", out)
	}
	holds(t, dir, map[string]string{"a.md": "a\n", "old.md": "old\n"})
	// What is in a row is checked like any argument.
	for _, item := range []args{{"path": "z", "content": "x", "mode": "bogus"}, {"path": "z", "content": "x", "overwrite": true}, {"path": "z"}, {"path": 1, "content": "x"}} {
		if err := call(t, a, "bulk_create_notes", args{"items": []args{item}}, &out); code(err) != fault.ValidationError {
			t.Errorf("%v: %v", item, err)
		}
	}
}

// No argument stands for a person.
func TestWhatNeedsAPersonNeedsOne(t *testing.T) {
	files := map[string]string{"a.md": "[[b]] [[b]] [[gone]]\n", "b.md": "# h\n", "F/c.md": "c\n", "p.png": "x"}
	a, dir := writable(t, files, false)
	for _, tt := range []struct {
		tool, why string
		in        args
	}{
		{"move_note", "another folder", args{"from": "b.md", "to": "F/b.md"}},
		{"move_folder", "another folder", args{"from": "F", "to": "G/F"}},
		{"delete_folder", "removes", args{"path": "F"}},
		{"delete_folder", "removes", args{"path": "F", "permanent": true}},
		{"delete_attachment", "removes", args{"path": "p.png"}},
		{"move_attachment", "another folder", args{"from": "p.png", "to": "F/p.png"}},
		{"put_attachment", "replaces", args{"path": "p.png", "content": "eQ==", "mode": "overwrite"}},
		{"bulk_move_notes", "bulk", args{"moves": []args{{"from": "b", "to": "d"}}}},
		{"bulk_create_notes", "bulk", args{"items": []args{{"path": "d", "content": "d"}}}},
		{"rewrite_link", "rewrites", args{"from_target": "b", "to_target": "F/c"}},
		{"prune_hub_links", "takes 2 links", args{"path": "a"}},
	} {
		var out written
		if err := call(t, a, tt.tool, tt.in, &out); code(err) != fault.ElicitRequired || !strings.Contains(err.Error(), tt.why) {
			t.Errorf("%s: %v", tt.tool, err)
		}
		tt.in["dry_run"] = true
		if err := call(t, a, tt.tool, tt.in, &out); err != nil || !out.DryRun || out.Summary == "" {
			t.Errorf("%s, dry: %v %+v", tt.tool, err, out)
		}
	}
	holds(t, dir, files)
	only(t, dir, "F/c.md", "a.md", "b.md", "p.png")
}
