package query

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"vault-mcp/vault/note"
)

// memory is a document in memory.
type memory struct {
	path string
	text []byte
	// calls counts how often a part was asked for.
	calls map[string]int
}

func newMemory(path, text string) *memory {
	return &memory{path: path, text: []byte(text), calls: map[string]int{}}
}

func (d *memory) Path() string { d.calls["path"]++; return d.path }
func (d *memory) Kind() Kind {
	d.calls["kind"]++
	switch {
	case strings.HasSuffix(d.path, ".md"):
		return NoteFile
	case strings.HasSuffix(d.path, ".canvas"):
		return CanvasFile
	}
	return OtherFile
}

func (d *memory) Text() []byte {
	d.calls["text"]++
	if d.Kind() == CanvasFile {
		return nil
	}
	return d.text
}

func (d *memory) note() *note.Note {
	if d.Kind() != NoteFile {
		return note.Scan(nil)
	}
	return note.Scan(d.text)
}

func (d *memory) Headings() []Heading {
	d.calls["headings"]++
	var list []Heading
	for _, h := range d.note().Headings {
		list = append(list, Heading{h.Level, Span(h.Span)})
	}
	return list
}

// itemStart is the start of a list item or a heading.
var itemStart = regexp.MustCompile(`^\s*([-*+]|\d+[.)])\s|^#{1,6} `)

// Blocks splits at blank lines, and before list items and headings.
func (d *memory) Blocks() []Span {
	d.calls["blocks"]++
	var list []Span
	open, fence := false, false
	n := d.note()
	for l := 1; l <= n.Lines(); l++ {
		s := Span(n.LineSpan(l))
		line := string(d.text[s.Start:s.End])
		blank := strings.TrimSpace(line) == ""
		if !fence && (blank || itemStart.MatchString(line)) {
			open = false
		}
		if strings.HasPrefix(line, "```") {
			fence = !fence
		}
		switch {
		case open:
			list[len(list)-1].End = s.End
		case !blank:
			list = append(list, s)
			open = !strings.HasPrefix(line, "#")
		}
	}
	return list
}

func (d *memory) Tasks() []Task {
	d.calls["tasks"]++
	var list []Task
	n := d.note()
	for _, t := range n.Inline().Tasks {
		end := n.LineSpan(t.EndLine)
		last := strings.TrimRight(string(d.text[end.Start:end.End]), " \t\r\n")
		start := t.StatusSpan.End + 1
		list = append(list, Task{Text: Span{start, max(start, end.Start+len(last))}, Done: t.Status != ' '})
	}
	return list
}

func (d *memory) Tags() []Tag {
	d.calls["tags"]++
	var list []Tag
	for _, t := range d.note().Inline().Tags {
		list = append(list, Tag{t.Name, Span(t.Span)})
	}
	for _, p := range d.Properties() {
		if strings.EqualFold(p.Name, "tags") {
			eachValue(p.Value, 0, func(v any) bool {
				if s, ok := v.(string); ok && !strings.Contains(s, " ") {
					list = append(list, Tag{Name: s})
				}
				return true
			})
		}
	}
	return list
}

func (d *memory) Properties() []Property {
	d.calls["properties"]++
	if d.Kind() != NoteFile {
		return nil
	}
	var list []Property
	props := note.ParseProperties(d.text)
	for _, p := range props.List {
		list = append(list, Property{p.Key, p.Value, Span{p.KeySpan.Start, p.ValueSpan.End}})
	}
	return list
}

// plain is an engine without any cleverness.
var plain = Engine{
	Literal: func(text string, fold bool) Finder {
		return literal{text, fold}
	},
	Regexp: func(pattern string, fold bool) (Finder, error) {
		re, err := regexp.Compile(flags(fold) + pattern)
		if err != nil {
			return nil, errors.New("The pattern cannot be used.")
		}
		return expression{re}, nil
	},
}

func flags(fold bool) string {
	if fold {
		return "(?mi)"
	}
	return "(?m)"
}

type literal struct {
	text string
	fold bool
}

func (l literal) Begin(text []byte) Finding { return literalIn{l, text} }

type literalIn struct {
	literal
	in []byte
}

func (l literalIn) Next(from int) (start, end int) {
	for at := from; at < len(l.in); at++ {
		if n := l.matchAt(at); n > 0 {
			return at, at + n
		}
	}
	return -1, -1
}

// matchAt compares character by character; every two may have lengths of their own.
func (l literalIn) matchAt(at int) int {
	rest := l.in[at:]
	for _, want := range l.text {
		got, size := utf8.DecodeRune(rest)
		if size == 0 || got == utf8.RuneError && size == 1 || got != want && !(l.fold && strings.EqualFold(string(got), string(want))) {
			return 0
		}
		rest = rest[size:]
	}
	return len(l.in) - at - len(rest)
}

type expression struct{ re *regexp.Regexp }

func (e expression) Begin(text []byte) Finding { return &passage{e.re, text, 0} }

type passage struct {
	re   *regexp.Regexp
	text []byte
	last int
}

func (p *passage) Next(from int) (start, end int) {
	if from < p.last {
		panic("from decreases")
	}
	p.last = from
	loc := p.re.FindIndex(p.text[from:])
	if loc == nil {
		return -1, -1
	}
	return from + loc[0], from + loc[1]
}

func prepare(t testing.TB, text string) *Matcher {
	t.Helper()
	q, err := Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	m, err := q.Prepare(plain)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return m
}

func matches(t testing.TB, text string, d *memory) bool {
	t.Helper()
	_, ok := prepare(t, text).Match(d, Options{Limit: 10})
	return ok
}
