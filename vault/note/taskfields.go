package note

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// TaskFieldKind says what a field of the Tasks plugin means.
type TaskFieldKind uint8

// The fields of the Tasks plugin, with their signs.
const (
	TaskDue          TaskFieldKind = iota // 📅 date
	TaskScheduled                         // ⏳ date
	TaskStart                             // 🛫 date
	TaskCreated                           // ➕ date
	TaskDone                              // ✅ date
	TaskCancelled                         // ❌ date
	TaskRecurrence                        // 🔁 rule
	TaskPriority                          // 🔺 ⏫ 🔼 🔽 ⏬
	TaskID                                // 🆔 name
	TaskDepends                           // ⛔ names
	TaskOnCompletion                      // 🏁 action
)

// String is the name of the field in lower case.
func (k TaskFieldKind) String() string {
	return [...]string{
		"due", "scheduled", "start", "created", "done", "cancelled", "recurrence", "priority", "id", "depends", "on_completion",
	}[k]
}

// TaskField is one field that the Tasks plugin reads at the end of a task's line, behind which only other fields, tags and
// a block id may follow (documentation of the plugin, Tasks Emoji Format).
type TaskField struct {
	Kind TaskFieldKind
	// Value is the date as YYYY-MM-DD, which need not be one of the calendar; the rule of a recurrence; the ids, parted by
	// commas; or the priority as highest, high, medium, low or lowest.
	Value string
	// Span is the sign with its value; ValueSpan is the value, or the sign of a priority.
	Span, ValueSpan Span
}

// taskSign is what a sign means, and the value of a priority.
func taskSign(r rune) (kind TaskFieldKind, priority string, ok bool) {
	switch r {
	case '📅', '📆', '🗓':
		return TaskDue, "", true
	case '⏳', '⌛':
		return TaskScheduled, "", true
	case '🛫':
		return TaskStart, "", true
	case '➕':
		return TaskCreated, "", true
	case '✅':
		return TaskDone, "", true
	case '❌':
		return TaskCancelled, "", true
	case '🔁':
		return TaskRecurrence, "", true
	case '🆔':
		return TaskID, "", true
	case '⛔':
		return TaskDepends, "", true
	case '🏁':
		return TaskOnCompletion, "", true
	case '🔺':
		return TaskPriority, "highest", true
	case '⏫':
		return TaskPriority, "high", true
	case '🔼':
		return TaskPriority, "medium", true
	case '🔽':
		return TaskPriority, "low", true
	case '⏬':
		return TaskPriority, "lowest", true
	}
	return 0, "", false
}

// taskFields reads fields from the end of the text backwards, until something is neither a field nor a tag. offset is where
// the text stands in the note.
func (s *inliner) taskFields(text string, offset int) []TaskField {
	from := len(s.fields)
	for end := len(text); end > 0; {
		for end > 0 && isBlank(text[end-1]) {
			end--
		}
		tag := end
		for tag > 0 && !isBlank(text[tag-1]) {
			tag--
		}
		if tag < end && text[tag] == '#' {
			if tagEnd([]byte(text[tag:end]), 1) != end-tag {
				break
			}
			end = tag
			continue
		}
		f, ok := taskField(text[:end])
		if !ok {
			break
		}
		end = f.Span.Start
		f.Span, f.ValueSpan = f.Span.shift(offset), f.ValueSpan.shift(offset)
		s.fields = append(s.fields, f)
	}
	found := s.fields[from:len(s.fields):len(s.fields)]
	if len(found) == 0 {
		return nil
	}
	slices.Reverse(found)
	return found
}

// taskField reads the field that ends the text.
func taskField(text string) (TaskField, bool) {
	value := len(text)
	for value > 0 && isTaskByte(text[value-1]) {
		value--
	}
	r, size := utf8.DecodeLastRuneInString(text[:value])
	sign := value
	if r == 0xFE0F { // the variation selector of emoji
		sign -= size
		r, size = utf8.DecodeLastRuneInString(text[:sign])
	}
	kind, priority, ok := taskSign(r)
	if !ok {
		return TaskField{}, false
	}
	sign -= size
	f := TaskField{Kind: kind, Value: strings.Trim(text[value:], " \t"), Span: Span{sign, len(text)}}
	f.ValueSpan = Span{len(text) - len(f.Value), len(text)}
	if f.Kind == TaskPriority && f.Value == "" {
		f.Value, f.ValueSpan = priority, f.Span
		return f, true
	}
	return f, f.Kind.takes(f.Value)
}

// isTaskByte reports whether c can stand in the value of a field.
func isTaskByte(c byte) bool {
	return isAlpha(c) || isDigit(c) || c == '-' || c == '_' || c == ',' || c == '!' || isBlank(c)
}

// takes reports whether a value is one for the field.
func (k TaskFieldKind) takes(value string) bool {
	switch k {
	case TaskRecurrence:
		return value != "" && !strings.ContainsAny(value, "-_")
	case TaskID, TaskOnCompletion:
		return value != "" && !strings.ContainsAny(value, " \t,!")
	case TaskDepends:
		for id := range strings.SplitSeq(value, ",") {
			if id = strings.Trim(id, " \t"); !TaskID.takes(id) {
				return false
			}
		}
		return true
	case TaskPriority:
		return false
	}
	return isDate(value)
}

// isDate reports whether s looks like YYYY-MM-DD.
func isDate(s string) bool {
	if len(s) != 10 {
		return false
	}
	for i := range len(s) {
		if i == 4 || i == 7 {
			if s[i] != '-' {
				return false
			}
		} else if !isDigit(s[i]) {
			return false
		}
	}
	return true
}
