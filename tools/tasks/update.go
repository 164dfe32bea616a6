package tasks

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"vault-mcp/cache/index/facts"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/vault/change"
	"vault-mcp/vault/note"
)

// newStatus is a status that a task can be given by its name.
type newStatus string

// Values lists the statuses for the schema.
func (newStatus) Values() []string {
	return []string{"todo", "done", "cancelled", "in_progress", "scheduled"}
}

type updateIn struct {
	tools.VaultArg
	tools.TargetArg
	Line        int       `json:"line,omitempty" jsonschema:"of the task" limits:"min=1"`
	ID          string    `json:"id,omitempty" jsonschema:"instead of line: its block id, or its id of the Tasks plugin" limits:"maxLength=200"`
	Text        string    `json:"text,omitempty" jsonschema:"what the task must say now, or the call is refused: its text or its whole line" limits:"maxLength=10000"`
	Toggle      bool      `json:"toggle,omitempty" jsonschema:"x into an open box, a blank into any other"`
	Status      newStatus `json:"status,omitempty" jsonschema:"sets no date by itself"`
	StatusChar  string    `json:"status_char,omitempty" jsonschema:"or this character" limits:"minLength=1,maxLength=1"`
	Description string    `json:"description,omitempty" jsonschema:"new text before the fields" limits:"minLength=1,maxLength=10000"`
	Due         date      `json:"due,omitempty" jsonschema:"YYYY-MM-DD as the others; empty takes a field away"`
	Scheduled   date      `json:"scheduled,omitempty"`
	Start       date      `json:"start,omitempty"`
	Created     date      `json:"created,omitempty"`
	Done        date      `json:"done,omitempty"`
	Cancelled   date      `json:"cancelled,omitempty"`
	Priority    priority  `json:"priority,omitempty"`
	Recur       string    `json:"recur,omitempty" jsonschema:"such as every week" limits:"maxLength=200"`
	AddTags     []string  `json:"add_tags,omitempty" limits:"maxItems=20,minLength=1,maxLength=200"`
	RemoveTags  []string  `json:"remove_tags,omitempty" limits:"maxItems=20,minLength=1,maxLength=200"`
	tools.VersionArg
	tools.WriteArg
}

type updateOut struct {
	Path      string `json:"path"`
	Line      int    `json:"line"`
	UpdatedAt string `json:"updated_at"`
	Prev      row    `json:"prev_state"`
	New       row    `json:"new_state"`
	tools.Versions
	tools.Written
}

func updateTask() tools.Tool {
	return tools.Change(tools.Spec{
		Name:  "update_task",
		Title: "Change a task",
		Doc:   "Changes the box, text, dates, priority or tags of one task. All else of its line stays as it is, and no other task is made.",
		Scope: auth.Read | auth.Write,
	}, func(ctx context.Context, c *tools.Call, in updateIn) (change.Plan, updateOut, error) {
		out := updateOut{UpdatedAt: tools.Clock(c.Began)}
		edit, err := in.edit(c)
		if err != nil {
			return change.Plan{}, out, err
		}
		t, err := in.Path.Note(c)
		if err != nil {
			return change.Plan{}, out, err
		}
		out.Path = t.Path
		p, e, err := c.EditNote(ctx, &in.Path, in.PrevHash, "", func(text []byte) ([]byte, error) {
			before := facts.Blob(facts.Of(text).Append(nil))
			if in.ID != "" {
				if edit.Line, err = lineOf(before, in.ID); err != nil {
					return nil, err
				}
			}
			edited, err := edit.Apply(text)
			if err != nil {
				return nil, noEdit(t.Path, err)
			}
			out.Line = edit.Line
			out.Prev = stateOf(t.Path, before, edit.Line)
			out.New = stateOf(t.Path, facts.Blob(facts.Of(edited.Text).Append(nil)), edit.Line)
			return edited.Text, nil
		})
		if err != nil {
			return change.Plan{}, out, err
		}
		out.Versions = tools.VersionsOf(e)
		if !p.Empty() {
			p.Summary = fmt.Sprintf("Change the task in line %d of %s", out.Line, t.Path)
		}
		return p, out, nil
	})
}

// edit is the edit that the arguments mean.
func (in *updateIn) edit(c *tools.Call) (note.TaskEdit, error) {
	e := note.TaskEdit{
		Line: in.Line, Text: in.Text, Toggle: in.Toggle, Description: in.Description, AddTags: in.AddTags, RemoveTags: in.RemoveTags,
	}
	wrong := func(argument, says string) (note.TaskEdit, error) {
		return e, fault.New(fault.InvalidInput, "%s", says).With("argument", argument)
	}
	if (in.Line == 0) == (in.ID == "") {
		return wrong("line", "Name the task by one of line and id.")
	}
	boxes := 0
	if in.Toggle {
		boxes++
	}
	if in.Status != "" {
		boxes++
		e.Status = map[newStatus]rune{"todo": ' ', "done": 'x', "cancelled": '-', "in_progress": '/', "scheduled": '>'}[in.Status]
	}
	for _, r := range in.StatusChar {
		boxes++
		e.Status = r
	}
	if boxes > 1 {
		return wrong("status", "Give one of toggle, status and status_char.")
	}
	if p := in.Priority; p != "" {
		e.Set = append(e.Set, note.TaskValue{Kind: note.TaskPriority, Value: strings.TrimPrefix(string(p), "none")})
	}
	for _, f := range []struct {
		name, value string
		kind        note.TaskFieldKind
	}{
		{"recur", in.Recur, note.TaskRecurrence}, {"created", string(in.Created), note.TaskCreated}, {"start", string(in.Start), note.TaskStart},
		{"scheduled", string(in.Scheduled), note.TaskScheduled}, {"due", string(in.Due), note.TaskDue},
		{"cancelled", string(in.Cancelled), note.TaskCancelled}, {"done", string(in.Done), note.TaskDone},
	} {
		if c.Has(f.name) {
			e.Set = append(e.Set, note.TaskValue{Kind: f.kind, Value: f.value})
		}
	}
	if boxes == 0 && e.Description == "" && len(e.Set)+len(e.AddTags)+len(e.RemoveTags) == 0 {
		return wrong("status", "Nothing to change is given.")
	}
	return e, nil
}

// lineOf is the line of the one task with an id.
func lineOf(b facts.Blob, id string) (int, error) {
	id = strings.TrimPrefix(strings.TrimSpace(id), "^")
	var lines []int
	for t := range b.Tasks() {
		own, _ := t.Field(note.TaskID)
		if strings.EqualFold(t.ID, id) || own == id { // block ids have no case
			lines = append(lines, t.Line)
		}
	}
	switch len(lines) {
	case 0:
		return 0, fault.New(fault.NotFound, "The note has no task with the id %q; list_tasks tells the ids there are.", tools.Cut(id, longest)).With("argument", "id")
	case 1:
		return lines[0], nil
	}
	return 0, fault.New(fault.InvalidInput, "%d tasks have the id %q; line says which.", len(lines), tools.Cut(id, longest)).
		With("argument", "line").With("lines", lines[:min(len(lines), maxListed)])
}

// stateOf is the task in a line, which is there.
func stateOf(path string, b facts.Blob, line int) row {
	for t := range b.Tasks() {
		if t.Line == line {
			return rowOf(path, &t, within(textTags(b), &t))
		}
	}
	return row{}
}

// maxListed bounds the tasks that an error lists.
const maxListed = 50

// noEdit is what a caller is told about an edit of a task that cannot be made.
func noEdit(path string, err error) error {
	if e, ok := errors.AsType[*note.NoTaskError](err); ok {
		there := []map[string]any{}
		for _, t := range e.Tasks[:min(len(e.Tasks), maxListed)] {
			there = append(there, map[string]any{"line": t.Line, "text": tools.Cut(t.Text, longest)})
		}
		return fault.New(fault.InvalidInput, "Line %d of %q is no task.", e.Line, path).With("argument", "line").With("path", path).
			With("tasks", there).With("tasks_more", len(e.Tasks)-len(there))
	}
	if e, ok := errors.AsType[*note.TaskChangedError](err); ok {
		return fault.New(fault.ConcurrentModification, "The task in line %d of %q says something else; nothing was changed.", e.Line, path).
			With("path", path).With("line", e.Line).With("actual", tools.Cut(e.Text, longestText))
	}
	if e, ok := errors.AsType[*note.TaskValueError](err); ok {
		return fault.New(fault.InvalidInput, "The %s cannot be %q: %s.", e.Field, tools.Cut(e.Value, longest), e.Reason).With("argument", e.Field)
	}
	return fault.New(fault.InvalidInput, "The task stays as it is: %s.", err)
}
