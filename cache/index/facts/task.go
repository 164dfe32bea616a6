package facts

import (
	"slices"
	"strings"
	"unicode/utf8"

	"vault-mcp/vault/note"
)

// Task is a list item with a box.
type Task struct {
	// Status is the character in the box.
	Status rune
	// Text is the source of the first line behind the box, without the block id.
	Text          string
	Line, EndLine int
	// Parent is the line of the list item that it lies in, or 0, and Indent how
	// many it lies in.
	Parent, Indent int
	// ID is its block id, or empty.
	ID     string
	Fields []TaskField
}

// Done reports whether the app takes the task for done.
func (t *Task) Done() bool { return t.Status != ' ' }

// Field is the value of the first field of a kind.
func (t *Task) Field(kind note.TaskFieldKind) (string, bool) {
	for _, f := range t.Fields {
		if f.Kind == kind {
			return f.Value, true
		}
	}
	return "", false
}

// TaskField is a field that the Tasks plugin reads at the end of a task.
type TaskField struct {
	Kind  note.TaskFieldKind
	Value string
}

// Description is the task's text without its fields, which end it. Tags between
// them stay.
func (t *Task) Description() string {
	if len(t.Fields) == 0 {
		return t.Text
	}
	text := t.Text
	var tags []string
	for i := len(t.Fields) - 1; i >= 0; {
		text = strings.TrimRight(text, " \t")
		f := &t.Fields[i]
		if word := text[strings.LastIndexAny(text, " \t")+1:]; strings.HasPrefix(word, "#") {
			tags = append(tags, word)
			text = text[:len(text)-len(word)]
			continue
		}
		if f.Kind != note.TaskPriority {
			text = strings.TrimRight(strings.TrimSuffix(text, f.Value), " \t")
		}
		text = strings.TrimSuffix(text, "\ufe0f")
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
		i--
	}
	text = strings.TrimRight(text, " \t")
	slices.Reverse(tags)
	return strings.TrimLeft(strings.Join(append([]string{text}, tags...), " "), " ")
}

func (n *Note) tasks(list []note.Task) {
	for i := range list {
		t := &list[i]
		task := Task{
			Status: t.Status, Text: t.Text, Line: t.Line, EndLine: t.EndLine, Parent: t.Parent, Indent: t.Indent, ID: t.ID,
		}
		for _, f := range t.Fields {
			task.Fields = append(task.Fields, TaskField{f.Kind, f.Value})
		}
		n.Tasks = append(n.Tasks, task)
	}
}
