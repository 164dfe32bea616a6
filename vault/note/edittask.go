package note

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// TaskEdit is a change of one task. Only its first line changes, by what is asked for; a block id stays at its end.
type TaskEdit struct {
	// Line is the line of the task, from 1.
	Line int
	// Text, if it is not empty, is what the task must say: its Text or its whole line.
	Text string
	// Toggle opens a task that has any mark, and gives an open one an x.
	Toggle bool
	// Status is the character for the box; 0 leaves it. A blank opens the task.
	Status rune
	// Description, if it is not empty, replaces the text before the fields.
	Description string
	// Set are fields of the Tasks plugin to set, in order. An empty value takes the field away. No field is set unasked,
	// also not the day on which a task was done.
	Set []TaskValue
	// AddTags and RemoveTags are tags with or without #. Case does not count.
	AddTags, RemoveTags []string
}

// TaskValue is a value of a field as TaskField.Value has it: a date as YYYY-MM-DD, a priority from lowest to highest.
type TaskValue struct {
	Kind  TaskFieldKind
	Value string
}

// NoTaskError says that a line holds no task, and which do.
type NoTaskError struct {
	Line int
	// Tasks are the tasks of the note.
	Tasks []Task
}

func (e *NoTaskError) Error() string { return fmt.Sprintf("line %d is no task", e.Line) }

// TaskChangedError says that the task does not say what the caller expects.
type TaskChangedError struct {
	Line int
	// Text is what it says.
	Text string
}

func (e *TaskChangedError) Error() string {
	return fmt.Sprintf("the task in line %d says %.200q", e.Line, e.Text)
}

// TaskValueError says why a value cannot be written into a task.
type TaskValueError struct {
	// Field is the name of the field, or status, description, tag.
	Field, Value, Reason string
}

func (e *TaskValueError) Error() string {
	return fmt.Sprintf("the %s cannot be %.200q: %s", e.Field, e.Value, e.Reason)
}

// Apply makes the change. Errors are NoTaskError, TaskChangedError, TaskValueError and ErrNotText.
func (t TaskEdit) Apply(text []byte) (Edited, error) {
	if !utf8.Valid(text) {
		return Edited{}, ErrNotText
	}
	if err := t.check(); err != nil {
		return Edited{}, err
	}
	in := Scan(text)
	task, tags, err := in.findTask(t.Line)
	if err != nil {
		return Edited{}, err
	}
	line := in.LineSpan(t.Line)
	line.End = contentEnd(text, line.End)
	if whole := string(line.Of(text)); t.Text != "" && t.Text != task.Text && strings.TrimSpace(t.Text) != strings.TrimSpace(whole) {
		return Edited{}, &TaskChangedError{Line: t.Line, Text: task.Text}
	}
	w := taskWriter{status: task.Status, line: t.Line}
	w.open(text, task, tags)
	if err := t.write(&w); err != nil {
		return Edited{}, err
	}
	return w.edit(text, task)
}

func (n *Note) findTask(line int) (Task, []Tag, error) {
	in := n.Inline()
	for _, task := range in.Tasks {
		if task.Line == line {
			var tags []Tag
			for _, tag := range in.Tags {
				if tag.Span.Start >= task.TextSpan.Start && tag.Span.End <= task.TextSpan.End {
					tags = append(tags, tag)
				}
			}
			return task, tags, nil
		}
	}
	return Task{}, nil, &NoTaskError{Line: line, Tasks: in.Tasks}
}

// check refuses values before anything is looked at.
func (t TaskEdit) check() error {
	if t.Status != 0 && (t.Status == '\n' || t.Status == '\r' || t.Status == utf8.RuneError) {
		return &TaskValueError{"status", string(t.Status), "it must be one character that does not end a line"}
	}
	if strings.ContainsAny(t.Description, "\r\n") || !utf8.ValidString(t.Description) {
		return &TaskValueError{"description", t.Description, "it must be one line of text"}
	}
	if t.Description != "" && strings.TrimSpace(t.Description) == "" {
		return &TaskValueError{"description", t.Description, "it is blank"}
	}
	for _, tags := range [][]string{t.AddTags, t.RemoveTags} {
		for _, tag := range tags {
			if b := []byte(strings.TrimPrefix(tag, "#")); tagEnd(b, 0) != len(b) || !isTag(b) {
				return &TaskValueError{"tag", tag, "a tag has letters, digits, - _ and /, and not only digits"}
			}
		}
	}
	for _, v := range t.Set {
		if v.Value == "" {
			continue
		}
		switch v.Kind {
		case TaskPriority:
			if prioritySign(v.Value) == 0 {
				return &TaskValueError{"priority", v.Value, "it is one of highest, high, medium, low, lowest"}
			}
		case TaskDue, TaskScheduled, TaskStart, TaskCreated, TaskDone, TaskCancelled:
			if _, err := time.Parse(time.DateOnly, v.Value); err != nil {
				return &TaskValueError{v.Kind.String(), v.Value, "it is no day as YYYY-MM-DD"}
			}
		default:
			for i := range len(v.Value) {
				if !isTaskByte(v.Value[i]) {
					return &TaskValueError{v.Kind.String(), v.Value, "the Tasks plugin would not read it"}
				}
			}
			if v.Value != strings.TrimSpace(v.Value) || !v.Kind.takes(v.Value) {
				return &TaskValueError{v.Kind.String(), v.Value, "the Tasks plugin would not read it"}
			}
		}
	}
	return nil
}

// taskSigns are the signs that are written, by kind.
var taskSigns = [...]rune{
	TaskDue: '📅', TaskScheduled: '⏳', TaskStart: '🛫', TaskCreated: '➕', TaskDone: '✅', TaskCancelled: '❌',
	TaskRecurrence: '🔁', TaskID: '🆔', TaskDepends: '⛔', TaskOnCompletion: '🏁',
}

// prioritySign is the sign of a priority, or 0.
func prioritySign(value string) rune {
	for _, r := range "🔺⏫🔼🔽⏬" {
		if _, p, _ := taskSign(r); p == value {
			return r
		}
	}
	return 0
}

// taskWriter is the text of a task while it changes. After each step it is read again.
type taskWriter struct {
	line   int
	status rune
	text   string // as Task.Text
	fields []TaskField
	tags   []Span
	names  []string // of the tags
}

// open sets the text, with places in it.
func (w *taskWriter) open(src []byte, t Task, tags []Tag) {
	w.text = string(t.TextSpan.Of(src))
	w.fields, w.tags, w.names = nil, nil, nil
	for _, f := range t.Fields {
		f.Span, f.ValueSpan = f.Span.shift(-t.TextSpan.Start), f.ValueSpan.shift(-t.TextSpan.Start)
		w.fields = append(w.fields, f)
	}
	for _, tag := range tags {
		w.tags = append(w.tags, tag.Span.shift(-t.TextSpan.Start))
		w.names = append(w.names, tag.Name)
	}
}

// set replaces a part of the text and reads it again as the text of a task.
func (w *taskWriter) set(at Span, s string) {
	w.text = strings.Trim(w.text[:at.Start]+s+w.text[at.End:], " \t")
	src := []byte("- [ ] " + w.text)
	t, tags, err := Scan(src).findTask(1)
	if err != nil || t.Text != w.text {
		w.fields, w.tags, w.names = nil, nil, nil // edit refuses it
		return
	}
	w.open(src, t, tags)
}

// cut takes parts out, with the blanks before each, or those behind it at the start of the text.
func (w *taskWriter) cut(parts []Span) {
	if len(parts) == 0 {
		return
	}
	var left []byte
	from := 0
	for _, p := range parts {
		start := trimRight([]byte(w.text), from, p.Start)
		left = append(left, w.text[from:start]...)
		from = p.End
	}
	left = append(left, w.text[from:]...)
	w.set(Span{0, len(w.text)}, string(left))
}

func (t TaskEdit) write(w *taskWriter) error {
	if t.Toggle {
		if w.status == ' ' {
			w.status = 'x'
		} else {
			w.status = ' '
		}
	}
	if t.Status != 0 {
		w.status = t.Status
	}
	if t.Description != "" {
		if err := w.describe(strings.TrimSpace(t.Description)); err != nil {
			return err
		}
	}
	for _, tag := range t.RemoveTags {
		w.removeTag(strings.TrimPrefix(tag, "#"))
	}
	for _, tag := range t.AddTags {
		if err := w.addTag(strings.TrimPrefix(tag, "#")); err != nil {
			return err
		}
	}
	for _, v := range t.Set {
		if err := w.setField(v); err != nil {
			return err
		}
	}
	return nil
}

// body is the text before the fields.
func (w *taskWriter) body() Span {
	end := len(w.text)
	if len(w.fields) > 0 {
		end = w.fields[0].Span.Start
	}
	return Span{0, trimRight([]byte(w.text), 0, end)}
}

// gap is the blank that has to stand behind what is put at an offset, or "": the
// sign of a field would become a part of a tag before it.
func (w *taskWriter) gap(at int) string {
	if at == len(w.text) || w.text[at] == ' ' || w.text[at] == '\t' {
		return ""
	}
	return " "
}

func (w *taskWriter) describe(s string) error {
	at, fields := w.body(), len(w.fields)
	w.set(at, s+w.gap(at.End))
	if len(w.fields) > fields {
		return &TaskValueError{"description", s, "it ends with a field of the Tasks plugin: set that by its name"}
	}
	return nil
}

func (w *taskWriter) removeTag(name string) {
	var gone []Span
	for i, n := range w.names {
		if strings.EqualFold(n, name) {
			gone = append(gone, w.tags[i])
		}
	}
	w.cut(gone)
}

func (w *taskWriter) addTag(name string) error {
	had := len(w.fields)
	is := func(n string) bool { return strings.EqualFold(n, name) }
	if slices.ContainsFunc(w.names, is) {
		return nil
	}
	at := w.body().End
	w.set(Span{at, at}, " #"+name+w.gap(at))
	if !slices.ContainsFunc(w.names, is) || len(w.fields) != had {
		return &TaskValueError{"tag", name, "it would not be read as a tag there"}
	}
	return nil
}

// setField sets the first field of a kind, or takes all of them away.
func (w *taskWriter) setField(v TaskValue) error {
	if v.Value == "" {
		var gone []Span
		for _, f := range w.fields {
			if f.Kind == v.Kind {
				gone = append(gone, f.Span)
			}
		}
		w.cut(gone)
		return nil
	}
	at, sign, value, count := Span{len(w.text), len(w.text)}, "", v.Value, len(w.fields)+1
	if v.Kind == TaskPriority {
		value = string(prioritySign(value)) // the sign is the value
	} else {
		sign = string(taskSigns[v.Kind]) + " "
	}
	text := " " + sign + value
	for _, f := range w.fields {
		if f.Kind == v.Kind {
			at, text, count = f.ValueSpan, value, count-1
			break
		}
	}
	w.set(at, text)
	for _, f := range w.fields {
		if f.Kind == v.Kind && f.Value == v.Value && len(w.fields) == count {
			return nil
		}
	}
	return &TaskValueError{v.Kind.String(), v.Value, "the Tasks plugin would not read it there"}
}

// edit puts status and text into the note, and makes sure that they are read there.
func (w *taskWriter) edit(src []byte, t Task) (Edited, error) {
	cut, add := t.StatusSpan, utf8.AppendRune(nil, w.status)
	if old := string(t.TextSpan.Of(src)); w.text != old {
		cut.End = t.TextSpan.End
		between := string(src[t.StatusSpan.End:t.TextSpan.Start])
		if t.TextSpan.Len() == 0 && w.text != "" && !strings.HasSuffix(between, " ") && !strings.HasSuffix(between, "\t") {
			between += " "
		}
		add = append(append(add, between...), w.text...)
		if rest := src[cut.End:]; len(rest) > 0 && rest[0] == '^' && w.text != "" {
			add = append(add, ' ')
		}
	}
	e := splice(src, cut, add)
	got, _, err := Scan(e.Text).findTask(w.line)
	switch {
	case err != nil || got.Status != w.status:
		return Edited{}, &TaskValueError{"status", string(w.status), "the line would be no task any more"}
	case got.Text != w.text || got.ID != t.ID:
		return Edited{}, &TaskValueError{"description", w.text, fmt.Sprintf("it would be read as %.200q", got.Text)}
	}
	return e, nil
}
