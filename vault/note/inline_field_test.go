package note

import (
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// inlineExpect is what a field case says about the text of notes.
type inlineExpect struct {
	Links []struct {
		Kind                          string
		Target, Subpath, Display, Key *string
		Line, Width, Height           int
	}
	Tasks []struct {
		Path, Status, Text string
		Line               int
		ParentLine         int `json:"parent_line"`
		EndLine            int `json:"end_line"`
	}
	Callouts []struct {
		Line                   int
		Type, Title, Canonical string
		Fold                   *string
	}
	Tables []struct {
		Line   int
		Header []string
		Align  []*string
		Cells  [][]string
	}
	Lanes []struct {
		Name  string
		Cards []string
	}
	Archive []string
	Paths   []string
}

// linkKind is the kind of a link in the words of the field cases.
func linkKind(l Link) string {
	switch {
	case l.Property != "":
		return "frontmatter"
	case l.Embed:
		return "embed"
	case l.Form == FormWiki:
		return "wikilink"
	}
	return "markdown"
}

func (c fieldCase) links(t *testing.T, text []byte) {
	p := ParseProperties(text)
	var got []Link
	for _, l := range append(p.Links(text), Scan(text).Inline().Links...) {
		if !l.External {
			got = append(got, l)
		}
	}
	if len(got) != len(c.Expect.Links) {
		t.Fatalf("%d links, want %d: %+v", len(got), len(c.Expect.Links), got)
	}
	for i, want := range c.Expect.Links {
		l := got[i]
		for what, pair := range map[string][2]*string{
			"target": {want.Target, &l.Target}, "subpath": {want.Subpath, &l.Subpath}, "key": {want.Key, &l.Property},
		} {
			if pair[0] != nil && *pair[0] != *pair[1] {
				t.Errorf("%s %q, want %q", what, *pair[1], *pair[0])
			}
		}
		if want.Display != nil && *want.Display != l.Display() {
			t.Errorf("display %q, want %q", l.Display(), *want.Display)
		}
		if linkKind(l) != want.Kind || want.Line != 0 && l.Line != want.Line ||
			want.Width != 0 && l.Width != want.Width || want.Height != 0 && l.Height != want.Height {
			t.Errorf("link %+v, want %+v", l, want)
		}
	}
}

// allTags are the tags of a note, those of its properties first.
func allTags(text []byte) []string {
	p := ParseProperties(text)
	tags := []string{}
	for _, tag := range append(p.Tags(), Scan(text).Inline().Tags...) {
		tags = append(tags, tag.Name)
	}
	return tags
}

func (c fieldCase) tags(t *testing.T) {
	switch want := c.Expect.Tags.(type) {
	case []any:
		got := []any{}
		for _, tag := range allTags([]byte(c.Files[c.Op.Args.Path])) {
			got = append(got, tag)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	case map[string]any:
		got := map[string]any{}
		for name, text := range c.Files {
			if path.Ext(name) != ".md" {
				continue
			}
			for _, tag := range allTags([]byte(text)) {
				n, _ := got[tag].(float64)
				got[tag] = n + 1
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

func (c fieldCase) notesWithTag(t *testing.T) {
	got, want := map[string]bool{}, map[string]bool{}
	tag := strings.TrimPrefix(c.Op.Args.Tag, "#")
	for name, text := range c.Files {
		for _, have := range allTags([]byte(text)) {
			if len(have) >= len(tag) && strings.EqualFold(have[:len(tag)], tag) && (len(have) == len(tag) || have[len(tag)] == '/') {
				got[name] = true
			}
		}
	}
	for _, p := range c.Expect.Paths {
		want[p] = true
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func (c fieldCase) tasks(t *testing.T) {
	type found struct {
		Path string
		Task
	}
	var got []found
	for name, text := range c.Files {
		if path.Ext(name) != ".md" || c.Op.Args.Path != "" && name != c.Op.Args.Path {
			continue
		}
		for _, task := range Scan([]byte(text)).Inline().Tasks {
			if c.Op.Args.Filter == "todo" && task.Done() || c.Op.Args.Status != "" && string(task.Status) != c.Op.Args.Status {
				continue
			}
			got = append(got, found{name, task})
		}
	}
	if len(got) != len(c.Expect.Tasks) {
		t.Fatalf("%d tasks, want %d: %+v", len(got), len(c.Expect.Tasks), got)
	}
	for _, g := range got {
		ok := false
		for _, w := range c.Expect.Tasks {
			ok = ok || (w.Path == "" || w.Path == g.Path) && w.Line == g.Line && (w.Status == "" || w.Status == string(g.Status)) &&
				(w.Text == "" || w.Text == g.Text) && (w.EndLine == 0 || w.EndLine == g.EndLine) && w.ParentLine == g.Parent
		}
		if !ok {
			t.Errorf("task %+v", g)
		}
	}
}

// toggle sets the status of the task on a line, or turns it over.
func (c fieldCase) toggle(t *testing.T, text []byte) {
	for _, task := range Scan(text).Inline().Tasks {
		if task.Line != c.Op.Args.Line {
			continue
		}
		status := c.Op.Args.Status
		if status == "" && task.Done() {
			status = " "
		} else if status == "" {
			status = "x"
		}
		got := string(text[:task.StatusSpan.Start]) + status + string(text[task.StatusSpan.End:])
		if got != c.Expect.Content {
			t.Errorf("%q, want %q", got, c.Expect.Content)
		}
		return
	}
	t.Error("no task there")
}

func (c fieldCase) callouts(t *testing.T, text []byte) {
	got := Scan(text).Inline().Callouts
	if len(got) != len(c.Expect.Callouts) {
		t.Fatalf("%d callouts, want %d: %+v", len(got), len(c.Expect.Callouts), got)
	}
	for i, want := range c.Expect.Callouts {
		g, title, fold := got[i], got[i].Title, byte(0)
		if title == "" {
			title = g.DefaultTitle()
		}
		if want.Fold != nil {
			fold = (*want.Fold)[0]
		}
		if g.Line != want.Line || g.Type != want.Type || want.Title != "" && title != want.Title || g.Fold != fold ||
			want.Canonical != "" && g.Canonical() != want.Canonical {
			t.Errorf("callout %+v, want %+v", g, want)
		}
	}
}

func (c fieldCase) tables(t *testing.T, text []byte) {
	got := Scan(text).Inline().Tables
	if len(got) != len(c.Expect.Tables) {
		t.Fatalf("%d tables, want %d", len(got), len(c.Expect.Tables))
	}
	cells := func(spans []Span) (texts []string) {
		for _, s := range spans {
			texts = append(texts, CellText(text, s))
		}
		return texts
	}
	for i, want := range c.Expect.Tables {
		g := got[i]
		var rows [][]string
		for k := range g.Rows() {
			rows = append(rows, cells(g.Row(k)))
		}
		if g.Line != want.Line {
			t.Errorf("table in line %d, want %d", g.Line, want.Line)
		}
		if diff := cmp.Diff([]any{want.Header, want.Cells}, []any{cells(g.Header()), rows}); diff != "" {
			t.Error(diff)
		}
		for k, a := range want.Align {
			if a == nil && g.Align[k] != AlignNone || a != nil && g.Align[k].String() != *a {
				t.Errorf("column %d is aligned %v", k, g.Align[k])
			}
		}
	}
}

// kanban reads a board of the Kanban plugin: second-level headings are lanes, tasks are cards, and the heading behind a
// rule is the archive.
func (c fieldCase) kanban(t *testing.T, text []byte) {
	n := Scan(text)
	tasks := n.Inline().Tasks
	lanes := map[string][]string{}
	var archive []string
	for _, h := range n.Headings {
		cards := []string{}
		for _, task := range tasks {
			if task.Span.Start >= h.Section.Start && task.Span.End <= h.Section.End {
				cards = append(cards, task.Text)
			}
		}
		if strings.HasSuffix(strings.TrimSpace(string(text[:h.Span.Start])), "***") {
			archive = cards
		} else {
			lanes[h.Text] = cards
		}
	}
	want := map[string][]string{}
	for _, l := range c.Expect.Lanes {
		want[l.Name] = l.Cards
	}
	if diff := cmp.Diff(want, lanes); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(c.Expect.Archive, archive); diff != "" {
		t.Error(diff)
	}
}
