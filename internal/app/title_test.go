package app_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"vault-mcp/hitl"
	"vault-mcp/internal/app"
	"vault-mcp/internal/fault"
)

// read is the text and the path that a call of read_note gets.
func read(t *testing.T, a *app.App, r request) (string, string, error) {
	t.Helper()
	res, err := do1(t.Context(), a, r)
	if err != nil {
		return "", "", err
	}
	header, text, _ := strings.Cut(res.Text, "\n")
	path, _, _ := strings.Cut(header, " ·")
	return path, text, nil
}

func TestATitleNamesANote(t *testing.T) {
	for _, indexed := range []bool{true, false} {
		g := questions(t, closed)
		if indexed {
			g.app.Begin(t.Context())
		}
		g.write("É.md", "accent\n")
		if err := call(t, g.app, "index_vault", args{}, new(any)); indexed && err != nil {
			t.Fatal(err)
		}
		for title, want := range map[string]string{"Only": "Alias.md", "alias": "Alias.md", "A": "a.md", "e\u0301": "É.md"} {
			if path, _, err := read(t, g.app, byTitle("read_note", title)); err != nil || path != want {
				t.Errorf("indexed %t, %s: %q, %v", indexed, title, path, err)
			}
		}
		_, _, err := read(t, g.app, byTitle("read_note", "Alis"))
		if e := fault.Of(err); code(err) != fault.NoteNotFound || fmt.Sprint(e.Details["closest"]) != "[Alias.md]" {
			t.Errorf("%v", err)
		}
		for _, in := range []string{`{}`, `{"title":"A","path":"a.md"}`, `{"title":""}`} {
			if err := g.do(request{tool: "read_note", args: in}); !strings.HasPrefix(err, "validation_error") {
				t.Errorf("%s: %s", in, err)
			}
		}
		for _, title := range []string{"P/Plan", "Plan.md", "../a", "Nothing"} {
			if _, _, err := read(t, g.app, byTitle("read_note", title)); code(err) != fault.NoteNotFound {
				t.Errorf("%s: %v", title, err)
			}
		}
	}
}

// What the caller may not know of is no candidate, nor is what may not be acted
// on.
func TestOnlyNotesThatCanBeMeantAreCandidates(t *testing.T) {
	g := questions(t, closed)
	_, err := do1(t.Context(), g.app, byTitle("read_note", "PLAN"))
	n, ok := errors.AsType[*hitl.NeedsInput](err)
	if !ok {
		t.Fatal(err)
	}
	var schema struct {
		Properties struct {
			Note    struct{ Enum []string } `json:"note_id"`
			Approve *struct{}
		}
		Required []string
	}
	if err := json.Unmarshal(n.Form.Schema, &schema); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(schema.Properties.Note.Enum) != "[P/Plan.md Q/plan.md]" || schema.Properties.Approve != nil || fmt.Sprint(schema.Required) != "[note_id]" {
		t.Errorf("%s", n.Form.Schema)
	}
	if a := hitl.AdmitForm(n.Form.Schema, n.Form.Message, hitl.Capabilities{Form: true}); !a.Admitted || strings.Contains(n.Form.Message, "only") {
		t.Errorf("%s: %s", a.Reason, n.Form.Message)
	}
	// Of the two twins one cannot be deleted, so the other is meant.
	_, err = do1(t.Context(), g.app, byTitle("delete_note", "twin"))
	if n, ok = errors.AsType[*hitl.NeedsInput](err); !ok || strings.Contains(string(n.Form.Schema), "note_id") || !strings.Contains(n.Form.Message, "Move P/Twin.md to the trash") {
		t.Errorf("%v %+v", err, n)
	}
	_, err = do1(t.Context(), g.app, byTitle("delete_note", "Plan"))
	if n, ok = errors.AsType[*hitl.NeedsInput](err); !ok || !strings.Contains(string(n.Form.Schema), `"required":["note_id","approve"]`) {
		t.Errorf("%v %s", err, n.Form.Schema)
	}
}

// The vault answers alike whether there are hidden notes with the title or not.
func TestHiddenNotesDoNotMakeATitleAmbiguous(t *testing.T) {
	g := questions(t, closed)
	g.write("Hidden/a.md", "onlysecret\n")
	for _, tool := range []string{"read_note", "append_note"} {
		r := byTitle(tool, "a")
		if tool == "append_note" {
			r.args = `{"title":"a","content":"x"}`
		}
		if got := g.do(r); got != "ran" {
			t.Errorf("%s: %s", tool, got)
		}
	}
}

// Where nobody can be asked the candidates are told, and nothing is kept.
func TestNobodyCanBeAskedWhichNoteIsMeant(t *testing.T) {
	for _, tool := range []string{"read_note", "delete_note"} {
		g := questions(t, closed)
		r := byTitle(tool, "Plan")
		for name, reach := range map[string]hitl.Reach{"modern": {Modern: true}, "older": {}} {
			r.reach = reach
			_, err := do1(t.Context(), g.app, r)
			if e := fault.Of(err); code(err) != fault.PathAmbiguous || fmt.Sprint(e.Details["candidates"]) != "[P/Plan.md Q/plan.md]" {
				t.Errorf("%s: %v", name, err)
			}
		}
		r.reach = hitl.Reach{Modern: true, URLs: true}
		_, err := do1(t.Context(), g.app, r)
		p, ok := errors.AsType[*hitl.ProtocolError](err)
		if !ok || p.Code != -32021 {
			t.Fatal(err)
		}
		if data, _ := json.Marshal(p.Data); string(data) != `{"requiredCapabilities":{"elicitation":{"form":{}}}}` {
			t.Errorf("%s", data)
		}
		if s := g.statuses(); s != "" {
			t.Errorf("kept is %s", s)
		}
	}
	// With twenty-one candidates nobody can choose.
	g := questions(t, "")
	for i := range hitl.MaxOptions + 1 {
		plant(t, g.dir, map[string]string{fmt.Sprintf("%d/Many.md", i): "x\n"})
	}
	_, err := do1(t.Context(), g.app, byTitle("read_note", "Many"))
	e := fault.Of(err)
	if list, _ := e.Details["candidates"].([]string); e.Code != fault.PathAmbiguous || len(list) != hitl.MaxOptions || e.Details["total"] != hitl.MaxOptions+1 {
		t.Errorf("%v %v", err, e.Details)
	}
}

// Every tool that takes one note which is there takes its title.
func TestEveryToolThatNamesANoteTakesATitle(t *testing.T) {
	a := newGated(t).app
	without := []string{"note_exists", "write_note", "put_attachment", "list_snapshots", "list_changes", "find_path_between", "get_link_strength", "inspect_acl"}
	for _, tool := range a.Registry.All() {
		var s struct {
			Properties map[string]struct{ Description string }
		}
		if err := json.Unmarshal(tool.InputSchema(false), &s); err != nil {
			t.Fatal(err)
		}
		_, title := s.Properties["title"]
		names := strings.Contains(s.Properties["path"].Description, ".md") || strings.Contains(s.Properties["path"].Description, "note") || strings.Contains(s.Properties["from"].Description, ".md")
		if names && !title && !slices.Contains(without, tool.Name) {
			t.Errorf("%s takes no title", tool.Name)
		}
	}
}

// Links follow the note that was chosen, not the one that was planned before it.
func TestAMoveByTitleTakesTheChosenNote(t *testing.T) {
	g := questions(t, "")
	plant(t, g.dir, map[string]string{"l.md": "[[P/Plan]] [[Q/plan]]\n"})
	r := request{tool: "move_note", args: `{"title":"Plan","to":"New.md"}`, reach: screen}
	if got := g.do(r.with(g.ask(r), chooses("P/Plan.md", true))); got != "ran" {
		t.Fatal(got)
	}
	holds(t, g.dir, map[string]string{"New.md": "of p\n", "Q/plan.md": "of q\n", "l.md": "[[New]] [[Q/plan]]\n"})
}
