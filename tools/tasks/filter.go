package tasks

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"vault-mcp/cache/index/facts"
	"vault-mcp/internal/fault"
	"vault-mcp/vault"
	"vault-mcp/vault/note"
)

// status is what the character in a task's box means.
type status string

// Values lists the statuses for the schema.
func (status) Values() []string {
	return []string{"todo", "done", "cancelled", "in_progress", "scheduled", "other"}
}

// statusOf follows what themes and the Tasks plugin make of a character. The
// app itself takes every one but a blank for done.
func statusOf(char rune) status {
	switch char {
	case ' ':
		return "todo"
	case 'x', 'X':
		return "done"
	case '-':
		return "cancelled"
	case '/':
		return "in_progress"
	case '>':
		return "scheduled"
	}
	return "other"
}

// priority is a priority of the Tasks plugin.
type priority string

// Values lists the priorities for the schema.
func (priority) Values() []string {
	return []string{"highest", "high", "medium", "low", "lowest", "none"}
}

// date is a day as YYYY-MM-DD, or empty.
type date string

// UnmarshalJSON refuses what is no day of the calendar.
func (d *date) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	if _, err := time.Parse(time.DateOnly, s); err != nil && s != "" {
		return errors.New("a day of the calendar is YYYY-MM-DD")
	}
	*d = date(s)
	return nil
}

// span is the days from and to, of one field. Empty ends are open.
type span struct {
	field    note.TaskFieldKind
	from, to date
}

// filter tells which tasks are asked for.
type filter struct {
	statuses   []status
	char       rune // 0 for none
	spans      []span
	priorities []priority
	tags       []string // folded
	text       string   // folded
}

func newFilter(in listIn) (filter, error) {
	f := filter{statuses: in.Status, priorities: in.Priority, text: vault.FoldName(in.Text)}
	for _, r := range in.StatusChar {
		f.char = r
	}
	for _, s := range []span{
		{note.TaskDue, in.DueOn, in.DueOn},
		{note.TaskDue, in.DueAfter, in.DueBefore},
		{note.TaskScheduled, in.ScheduledAfter, in.ScheduledBefore},
		{note.TaskStart, in.StartAfter, in.StartBefore},
		{note.TaskDone, in.DoneAfter, in.DoneBefore},
		{note.TaskCreated, in.CreatedAfter, in.CreatedBefore},
	} {
		if s.from != "" || s.to != "" {
			f.spans = append(f.spans, s)
		}
	}
	for _, t := range in.Tags {
		key := vault.FoldName(strings.Trim(strings.TrimPrefix(strings.TrimSpace(t), "#"), "/"))
		if key == "" {
			return f, fault.New(fault.InvalidInput, "An item of %q holds no tag.", "tags").With("argument", "tags")
		}
		f.tags = append(f.tags, key)
	}
	return f, nil
}

// takes judges a task by everything but its tags.
func (f *filter) takes(t *facts.Task) bool {
	if (len(f.statuses) > 0 || f.char != 0) && !slices.Contains(f.statuses, statusOf(t.Status)) && t.Status != f.char {
		return false
	}
	for _, s := range f.spans {
		day, ok := t.Field(s.field)
		if !ok || s.from != "" && day < string(s.from) || s.to != "" && day > string(s.to) {
			return false
		}
	}
	if len(f.priorities) > 0 {
		p, ok := t.Field(note.TaskPriority)
		if !ok {
			p = "none"
		}
		if !slices.Contains(f.priorities, priority(p)) {
			return false
		}
	}
	return f.text == "" || strings.Contains(vault.FoldName(t.Description()), f.text)
}

// takesTags judges a task by its tags.
func (f *filter) takesTags(tags []facts.Tag) bool {
	for _, want := range f.tags {
		if !slices.ContainsFunc(tags, func(t facts.Tag) bool {
			below, ok := strings.CutPrefix(vault.FoldName(t.Name), want)
			return ok && (below == "" || below[0] == '/')
		}) {
			return false
		}
	}
	return true
}
