package hitl

import (
	"bytes"
	"strings"
	"time"

	"vault-mcp/vault"
	"vault-mcp/vault/note"
)

// settled is how many whole days after it was done a task is history.
const settled = 7

// reopens reports whether a task of a note that was done more than settled days
// before now is open or cancelled afterwards. A task is the same one by its text
// without fields and tags, by its block id, or by its place among lines that
// were replaced by as many.
func reopens(path string, was, is []byte, now time.Time) bool {
	if vault.Kind(path) != vault.Note || !bytes.Contains(was, []byte("✅")) {
		return false // nearly always: the tasks of a thousand notes take their time
	}
	before := note.Scan(was).Inline().Tasks
	var history []*note.Task
	for i := range before {
		if isHistory(&before[i], now) {
			history = append(history, &before[i])
		}
	}
	if len(history) == 0 {
		return false
	}
	after := note.Scan(is).Inline().Tasks
	open := openOf(after) // how many more of each there are
	for key, n := range openOf(before) {
		open[key] -= n
	}
	left := map[string]int{} // how many of each are history still
	ids, lines := map[string]bool{}, map[int]bool{}
	for i := range after {
		t := &after[i]
		switch {
		case isHistory(t, now):
			left[words(t)]++
		case !done(t):
			ids[strings.ToLower(t.ID)], lines[t.Line] = true, true
		}
	}
	delete(ids, "")
	first, last := replaced(was, is)
	for _, t := range history {
		key := words(t)
		left[key]--
		gone := left[key] < 0
		inPlace := first <= t.Line && t.Line <= last && lines[t.Line]
		if ids[strings.ToLower(t.ID)] || gone && (open[key] > 0 || inPlace) {
			return true
		}
	}
	return false
}

func done(t *note.Task) bool { return t.Status == 'x' || t.Status == 'X' }

// isHistory reports whether a task was done long ago. The day is one of the
// person's calendar, as the Tasks plugin writes it.
func isHistory(t *note.Task, now time.Time) bool {
	f, ok := t.Field(note.TaskDone)
	if !ok || !done(t) {
		return false
	}
	day, err := time.ParseInLocation(time.DateOnly, f.Value, now.Location())
	return err == nil && day.AddDate(0, 0, settled).Before(time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location()))
}

// openOf counts the tasks that are not done, by their words.
func openOf(tasks []note.Task) map[string]int {
	open := map[string]int{}
	for i := range tasks {
		if !done(&tasks[i]) {
			open[words(&tasks[i])]++
		}
	}
	return open
}

// words are the text of a task without fields and tags.
func words(t *note.Task) string {
	text := t.Text
	if len(t.Fields) > 0 {
		text = text[:t.Fields[0].Span.Start-t.TextSpan.Start]
	}
	var kept []string
	for w := range strings.FieldsSeq(text) {
		if !strings.HasPrefix(w, "#") {
			kept = append(kept, strings.ToLower(w))
		}
	}
	return strings.Join(kept, " ")
}

// replaced are the first and the last line, from 1, that differ between two texts
// of as many lines; otherwise none.
func replaced(was, is []byte) (first, last int) {
	a, b := bytes.Split(was, []byte("\n")), bytes.Split(is, []byte("\n"))
	if len(a) != len(b) {
		return 1, 0
	}
	for i := range a {
		if !bytes.Equal(a[i], b[i]) {
			if first == 0 {
				first = i + 1
			}
			last = i + 1
		}
	}
	if first == 0 {
		return 1, 0
	}
	return first, last
}
