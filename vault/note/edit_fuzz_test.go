package note

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

var fuzzNotes = []string{
	"---\na: 1\n---\nintro\n\n# A\none ^p\n\n## B\n- x ^i\n  - y\n\n^l\n", "> [!note] t\n> a ^q\n\n# H\r\n\r\ntext\r\n", "A\n===\n| a |\n| - |\n| b |\n\n^t\nB\n---\n",
	"- [ ] t 📅 2031-02-03 #a ^id\n\t1. [x] u\n> * [/] v\n", "# A\n```\n# x\n", "- a\n\n  b ^c\n- - d ^e\n", "%%\n# x\n%%\n# y\n\n\n\n# z",
	"---\nkanban-plugin: board\n---\n## A\n- [ ] a\n\n***\n\n## Archive\n\n%% kanban:settings\nx\n%%",
	"*\n0\n-", "0\n* 0)\n^0", "# \n0\n \n0", "- a\n\n^l\n\nb\n", "> a\n\n# H\n> [!t]\n",
}

// FuzzPatch: a patch of anything that a note has changes only what it says, puts in what was given, and loses neither a
// heading nor an id outside; what is read and written back changes nothing.
func FuzzPatch(f *testing.F) {
	for i, s := range fuzzNotes {
		for j, c := range []string{"x\n", "- z", "\n\ny\r\nz\n\n", "```\nq\n```", "> w", "| a |\n| - |", "---", "# N\n", "~~~\n"} {
			f.Add([]byte(s), c, uint8(i+j))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, content string, how uint8) {
		mode := PatchMode(how % 3)
		n := Scan(text)
		targets := []Target{{}, {Kind: TargetPreamble}}
		for _, h := range n.Headings[:min(3, len(n.Headings))] {
			target := Target{Kind: TargetHeading, Heading: []string{h.Text}, Line: h.Line}
			if n.FindSection(target.Heading) == nil { // punctuation alone, or what looks like hashes
				target.Heading = nil
			}
			targets = append(targets, target)
		}
		for _, b := range n.Blocks[:min(4, len(n.Blocks))] {
			targets = append(targets, Target{Kind: TargetBlock, Block: b.ID, Line: b.Line})
		}
		for _, target := range targets {
			e, err := Patch{Target: target, Mode: mode, Content: content, CreateHeading: how > 127}.Apply(text)
			if err == nil {
				checkPatch(t, text, target, mode, content, e)
			}
			// Plain words fit everywhere, but for an id that names another id.
			if _, err := (Patch{Target: target, Mode: mode, Content: "some words"}).Apply(text); err != nil && err != ErrNotText && target.Kind != TargetBlock {
				t.Fatalf("%v: %+v, mode %d, of %q", err, target, mode, text)
			}
		}
		if !utf8.Valid(text) {
			return
		}
		for _, h := range n.Headings[:min(3, len(n.Headings))] {
			body := string(Span{h.Span.End, n.sectionEnd(h)}.Of(text))
			target := Target{Kind: TargetHeading, Line: h.Line}
			if oneLineEnd(text) {
				e, err := Patch{Target: target, Mode: PatchReplace, Content: body}.Apply(text)
				if err != nil || string(e.Text) != string(text) {
					t.Fatalf("%q written back to line %d of %q: %v %q", body, h.Line, text, err, e.Text)
				}
			}
		}
	})
}

// oneLineEnd reports whether all line ends of a text are LF.
func oneLineEnd(text []byte) bool { return bytes.IndexByte(text, '\r') < 0 }

func checkPatch(t *testing.T, text []byte, target Target, mode PatchMode, content string, e Edited) {
	t.Helper()
	checkEdited(t, text, e)
	n, m := Scan(text), Scan(e.Text)
	added := string(withLineEnd(string(e.Added.Of(e.Text)), "\n"))
	for _, line := range newPiece(content).lines {
		if want := strings.Trim(strings.TrimPrefix(strings.Trim(line, " \t"), "> "), " \t>"); !strings.Contains(added, want) && mode != PatchReplace {
			t.Fatalf("%q is not in %q, which went into %q", line, added, text)
		}
	}
	if target.Kind == TargetBlock && len(m.FindBlock(target.Block)) != len(n.FindBlock(target.Block)) {
		t.Fatalf("^%s is lost: %q\n%q", target.Block, text, e.Text)
	}
	if target.Kind == TargetDocument {
		return
	}
	// Headings and ids outside, told by what stands at their place.
	before, after := outside(n, e.Removed), outside(m, e.Added)
	for _, was := range before {
		i := slices.Index(after, was)
		if i < 0 {
			t.Fatalf("%v became %v: %q\n%q", before, after, text, e.Text)
		}
		after = slices.Delete(after, i, i+1)
	}
	for _, more := range after { // an id that stood alone may have got something to name
		if more[0] == '#' {
			t.Fatalf("new heading %q: %q\n%q", more, text, e.Text)
		}
	}
}

// outside are the headings and ids of a note that do not lie in a span.
func outside(n *Note, s Span) []string {
	var list []string
	for _, h := range n.Headings {
		if h.Span.Start < s.Start || h.Span.Start >= s.End {
			list = append(list, strings.Repeat("#", h.Level)+h.Text)
		}
	}
	for _, b := range n.Blocks {
		if b.Mark.Start < s.Start || b.Mark.Start >= s.End {
			list = append(list, "^"+b.ID)
		}
	}
	return list
}

// FuzzTaskEdit: an edit of any task is read back, and the line is a task as before.
func FuzzTaskEdit(f *testing.F) {
	for _, s := range fuzzNotes {
		f.Add([]byte(s), "text", "tag", "/")
	}
	f.Fuzz(func(t *testing.T, text []byte, description, tag, status string) {
		tasks := Scan(text).Inline().Tasks
		for _, task := range tasks[:min(4, len(tasks))] {
			mark, _ := utf8.DecodeRuneInString(status)
			if mark == 0 {
				mark = 'x'
			}
			e, err := TaskEdit{
				Line: task.Line, Description: description, AddTags: []string{tag}, Status: mark,
				Set: []TaskValue{{TaskDue, "2031-02-28"}, {TaskPriority, "high"}, {TaskStart, ""}},
			}.Apply(text)
			if err != nil {
				continue
			}
			checkEdited(t, text, e)
			got, tags, err := Scan(e.Text).findTask(task.Line)
			due, _ := got.Field(TaskDue)
			priority, _ := got.Field(TaskPriority)
			_, start := got.Field(TaskStart)
			if err != nil || got.Status != mark || due.Value != "2031-02-28" || priority.Value != "high" || start || got.ID != task.ID {
				t.Fatalf("%v %+v of %q\n%q", err, got, text, e.Text)
			}
			if !slices.ContainsFunc(tags, func(g Tag) bool { return strings.EqualFold(g.Name, strings.TrimPrefix(tag, "#")) }) {
				t.Fatalf("no tag %q in %q", tag, got.Text)
			}
			if !strings.HasPrefix(got.Text, strings.TrimSpace(description)) {
				t.Fatalf("%q does not say %q", got.Text, description)
			}
			if again := Scan(e.Text).Inline().Tasks; len(again) != len(tasks) {
				t.Fatalf("%d tasks became %d: %q\n%q", len(tasks), len(again), text, e.Text)
			}
		}
	})
}

// FuzzTableEdit: what an edit puts into a table is read back, every other cell stays, and formatting twice is formatting once.
func FuzzTableEdit(f *testing.F) {
	for _, s := range []string{
		"|a|b|\n|-|:-:|\n|1|2|\n|3|\n", "> a | b\n> -|-\n> `x|y` | [[a\\|b]] | c\n", "- | a |\r\n  |--:|\r\n  |10|\r\n  | 9 |", "|a|\n|-|\n|\\\\|b|\n|[[x|y]]|\n",
	} {
		f.Add([]byte(s), "v|w", "h\n\\", uint8(1))
	}
	f.Fuzz(func(t *testing.T, text []byte, value, header string, at uint8) {
		tables := Scan(text).Inline().Tables
		for i, old := range tables[:min(2, len(tables))] {
			ref, want := TableRef{Index: i}, tableCells(text, old)
			if e, err := FormatTable(text, ref); err == nil {
				checkEdited(t, text, e.Edited)
				now := Scan(e.Text).Inline().Tables[i]
				if got := tableCells(e.Text, now); !sameCells(text, old, want, got) {
					t.Fatalf("%q became %q: %q\n%q", want, got, text, e.Text)
				}
				again, err := FormatTable(e.Text, ref)
				if err != nil || string(again.Text) != string(e.Text) {
					t.Fatalf("%v formatting again: %q\n%q", err, e.Text, again.Text)
				}
			}
			if e, err := InsertRow(text, ref, int(at)%(old.Rows()+1), []string{value}); err == nil {
				checkEdited(t, text, e.Edited)
				now := Scan(e.Text).Inline().Tables[i]
				k := int(at) % (old.Rows() + 1)
				if got := CellText(e.Text, now.Row(k)[0]); got != CellText([]byte(escapeCell(value)), Span{0, len(escapeCell(value))}) {
					t.Fatalf("%q is read as %q", value, got)
				}
				got := tableCells(e.Text, now)
				if !slices.EqualFunc(want, slices.Delete(got, k+1, k+2), slices.Equal) {
					t.Fatalf("a row changed others: %q\n%q", text, e.Text)
				}
			}
			if e, err := InsertColumn(text, ref, int(at)%(len(old.Align)+1), header, AlignLeft, nil); err == nil {
				checkEdited(t, text, e.Edited)
				now := Scan(e.Text).Inline().Tables[i]
				if c := int(at) % (len(old.Align) + 1); now.Align[c] != AlignLeft || len(now.Align) != len(old.Align)+1 {
					t.Fatalf("no column %d: %q\n%q", c, text, e.Text)
				}
			}
			if e, err := SortTable(text, ref, ColumnRef{}, SortBy(at%3), at > 127); err == nil {
				checkEdited(t, text, e.Edited)
				got := tableCells(e.Text, Scan(e.Text).Inline().Tables[i])
				for _, list := range [][][]string{want, got} {
					slices.SortFunc(list[1:], slices.Compare)
				}
				if !slices.EqualFunc(want, got, slices.Equal) {
					t.Fatalf("sorting changed cells: %q\n%q", text, e.Text)
				}
			}
		}
	})
}

// tableCells are the texts of a table: the header, then the rows.
func tableCells(text []byte, t Table) [][]string {
	rows := [][]string{t.names(text)}
	for i := range t.Rows() {
		var cells []string
		for _, c := range t.Row(i) {
			cells = append(cells, CellText(text, c))
		}
		rows = append(rows, cells)
	}
	return rows
}

// sameCells compares the cells of two tables, but for rows that had too many: these may be read anew.
func sameCells(text []byte, t Table, a, b [][]string) bool {
	if len(a) != len(b) {
		return false
	}
	n := Scan(text)
	for i := range a {
		if i > 0 {
			line := n.lines[t.RowLine(i-1)-1]
			end := contentEnd(text, n.LineSpan(t.RowLine(i-1)).End)
			if len(appendCells(nil, text, int(line.text), end)) > len(t.Align) {
				continue
			}
		}
		if !slices.Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}
