package note

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTaskEdit(t *testing.T) {
	due := func(day string) []TaskValue { return []TaskValue{{TaskDue, day}} }
	for _, tt := range []struct {
		name, text string
		edit       TaskEdit
		want       string
	}{
		{"the id stays at the end", "- [ ] a ^blk\n", TaskEdit{Line: 1, Set: due("2031-02-03")}, "- [ ] a 📅 2031-02-03 ^blk\n"},
		{"a field is replaced where it is", "- [ ] a  📅 2031-02-03 #x ^blk\n", TaskEdit{Line: 1, Set: due("2031-02-04")}, "- [ ] a  📅 2031-02-04 #x ^blk\n"},
		{"a field is taken away", "- [ ] a ⏳ 2031-01-01 📅 2031-02-03 🔁 every day", TaskEdit{Line: 1, Set: due("")}, "- [ ] a ⏳ 2031-01-01 🔁 every day"},
		{"priority", "- [ ] a 🔼 📅 2031-02-03\n", TaskEdit{Line: 1, Set: []TaskValue{{TaskPriority, "lowest"}}}, "- [ ] a ⏬ 📅 2031-02-03\n"},
		{"new priority", "- [ ] a\n", TaskEdit{Line: 1, Set: []TaskValue{{TaskPriority, "high"}}}, "- [ ] a ⏫\n"},
		{"a whole tag", "- [ ] x #projects #project\n", TaskEdit{Line: 1, RemoveTags: []string{"project"}}, "- [ ] x #projects\n"},
		{"a tag at the start", "- [ ] #a x ^id\n", TaskEdit{Line: 1, RemoveTags: []string{"#A"}}, "- [ ] x ^id\n"},
		{"a tag before the fields", "- [ ] x 📅 2031-02-03\n", TaskEdit{Line: 1, AddTags: []string{"t/u"}}, "- [ ] x #t/u 📅 2031-02-03\n"},
		{"a tag before a field that touches the text", "- [ ] x📅 2031-02-03\n", TaskEdit{Line: 1, AddTags: []string{"t"}}, "- [ ] x #t 📅 2031-02-03\n"},
		{"a description before such a field", "- [ ] x📅 2031-02-03\n", TaskEdit{Line: 1, Description: "y #t"}, "- [ ] y #t 📅 2031-02-03\n"},
		{"a tag that is there", "- [ ] x #T\n", TaskEdit{Line: 1, AddTags: []string{"t"}}, "- [ ] x #T\n"},
		{"description", "- p\n\t* [ ]  old   text 📅 2031-02-03 ^id\n", TaskEdit{Line: 2, Description: "new"}, "- p\n\t* [ ]  new 📅 2031-02-03 ^id\n"},
		{"done with its day", "> - [ ] a\n", TaskEdit{Line: 1, Toggle: true, Set: []TaskValue{{TaskDone, "2031-02-03"}}}, "> - [x] a ✅ 2031-02-03\n"},
		{"in a callout, numbered", "> [!todo]\n> 1) [ ] a\n>    more\n", TaskEdit{Line: 2, Status: '/', Set: due("2031-02-03")}, "> [!todo]\n> 1) [/] a 📅 2031-02-03\n>    more\n"},
		{"nested, CRLF", "+ [ ] a\r\n  + [-] b\r\n", TaskEdit{Line: 2, Toggle: true, Description: "c"}, "+ [ ] a\r\n  + [ ] c\r\n"},
		{"an empty one", "- [ ]\n", TaskEdit{Line: 1, Description: "a"}, "- [ ] a\n"},
		{"an empty one with an id", "- [ ] ^id\n", TaskEdit{Line: 1, Description: "a"}, "- [ ] a ^id\n"},
		{"an id on the next line", "- [ ] a\n  b ^id\n", TaskEdit{Line: 1, Set: due("2031-02-03")}, "- [ ] a 📅 2031-02-03\n  b ^id\n"},
		{"the text is as expected", "- [ ] a\n", TaskEdit{Line: 1, Text: "- [ ] a", Toggle: true}, "- [x] a\n"},
		{"recurrence", "- [ ] a\n", TaskEdit{Line: 1, Set: []TaskValue{{TaskRecurrence, "every week"}, {TaskStart, "2031-02-03"}}}, "- [ ] a 🔁 every week 🛫 2031-02-03\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, err := tt.edit.Apply([]byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(e.Text)); diff != "" {
				t.Error(diff)
			}
			checkEdited(t, []byte(tt.text), e)
		})
	}
}

func TestTaskEditErrors(t *testing.T) {
	text := "- [ ] real\n```\n- [ ] code\n```\n%%\n- [ ] comment\n%%\n- plain\n"
	for line := 2; line < 10; line++ {
		_, err := TaskEdit{Line: line, Toggle: true}.Apply([]byte(text))
		none, ok := errors.AsType[*NoTaskError](err)
		if !ok || len(none.Tasks) != 1 || none.Tasks[0].Line != 1 {
			t.Errorf("line %d: %v", line, err)
		}
	}
	_, err := TaskEdit{Line: 1, Text: "other", Toggle: true}.Apply([]byte(text))
	if changed, ok := errors.AsType[*TaskChangedError](err); !ok || changed.Text != "real" {
		t.Error(err)
	}
	for _, bad := range []TaskEdit{
		{Status: '\n'}, {Description: "a\nb"}, {Description: "a ^id"}, {Description: " "}, {AddTags: []string{"a b"}}, {AddTags: []string{"12"}},
		{Set: []TaskValue{{TaskDue, "2031-02-30"}}}, {Set: []TaskValue{{TaskDue, "tomorrow"}}}, {Set: []TaskValue{{TaskPriority, "urgent"}}},
		{Set: []TaskValue{{TaskID, "a b"}}}, {Set: []TaskValue{{TaskRecurrence, "every\nday"}}}, {Description: "a 📅 2031-02-03"},
	} {
		bad.Line = 1
		_, err := bad.Apply([]byte(text))
		if _, ok := errors.AsType[*TaskValueError](err); !ok {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if e, err := (TaskEdit{Line: 1, Description: strings.Repeat("a ", 5)}).Apply([]byte(text)); err != nil || !strings.HasPrefix(string(e.Text), "- [ ] a a a a a\n") {
		t.Error(err)
	}
}
