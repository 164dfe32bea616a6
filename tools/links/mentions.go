package links

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"vault-mcp/tools"
	"vault-mcp/vault"
	"vault-mcp/vault/note"
)

const (
	// maxNames is how many names of a note are looked for.
	maxNames = 50
	// maxMentions is how many of one note's mentions are listed.
	maxMentions = 1000
)

// seeker finds where the names of a note stand in other notes as whole words
// that are not linked. It keeps the first rows behind a place, however many
// there are.
type seeker struct {
	names []string
	self  string
	paged bool
	after place
	keep  int

	mu    sync.Mutex
	rows  []backlinkRow
	total int
}

// run looks into all notes but those that Obsidian's settings exclude, which the
// app leaves out of unlinked mentions.
func (s *seeker) run(ctx context.Context, c *tools.Call, ws *tools.Warnings) error {
	names := usable(s.names)
	if len(names) == 0 {
		return nil
	}
	f := newNameFinder(names)
	root, err := c.View.FindFolder(ctx, "")
	if err != nil {
		return err
	}
	excluded := c.View.Settings().Excluded
	o := vault.ScanOptions{WalkOptions: vault.WalkOptions{
		Accept: func(name string) bool { return vault.Kind(name) == vault.Note }, Problem: ws.Fail, Gone: ws.Gone,
	}}
	err = c.View.Scan(ctx, root, o, func(file vault.File, text []byte, err error) error {
		switch {
		case file.Path == s.self, excluded(file.Path):
		case err != nil:
			ws.Fail(file.Path, err)
		case vault.Text(text):
			s.add(file.Path, f, text)
		default:
			ws.Add(file.Path, 0, vault.NotText)
		}
		return ctx.Err()
	})
	s.cut()
	return err
}

func (s *seeker) add(path string, f *nameFinder, text []byte) {
	spans := f.mentions(text)
	if len(spans) == 0 {
		return
	}
	n := note.Scan(text)
	var rows []backlinkRow
	for _, span := range spans[:min(len(spans), maxMentions)] {
		at := n.Pos(span.Start)
		r := backlinkRow{
			Source: path, Line: at.Line, Col: at.Column, Raw: string(span.Of(text)), Kind: kindMention,
			at: place{Mention: true, Path: path, Line: at.Line, Col: at.Column},
		}
		if !s.paged || r.at.compare(s.after) > 0 {
			rows = append(rows, r)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total += len(spans)
	if s.rows = append(s.rows, rows...); len(s.rows) > 4*s.keep+maxMentions {
		s.cut()
	}
}

func (s *seeker) cut() {
	slices.SortFunc(s.rows, func(a, b backlinkRow) int { return a.at.compare(b.at) })
	s.rows = s.rows[:min(len(s.rows), s.keep)]
}

// usable are the names that can be looked for: those with a letter or digit.
func usable(names []string) []string {
	var all []string
	for _, name := range names {
		name = strings.TrimSpace(name)
		if strings.ContainsFunc(name, isWord) && !strings.ContainsAny(name, "\r\n") {
			all = append(all, name)
		}
	}
	return all[:min(len(all), maxNames)]
}

func isWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '_'
}

// isClosed is for scripts that put blanks between words: only there a word
// ends where its neighbour is no letter.
func isClosed(r rune) bool {
	return isWord(r) && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// nameFinder finds names in texts, without case.
type nameFinder struct {
	exp   *regexp.Regexp
	lower [][]byte // the names in lower case: most texts lack them all
}

func newNameFinder(names []string) *nameFinder {
	f := &nameFinder{}
	var forms []string
	for _, name := range names {
		for _, form := range []string{norm.NFC.String(name), norm.NFD.String(name)} {
			if !slices.Contains(forms, form) {
				forms = append(forms, form)
				f.lower = append(f.lower, bytes.ToLower([]byte(form)))
			}
		}
	}
	// The longest name that begins somewhere is the one that is meant.
	slices.SortStableFunc(forms, func(a, b string) int { return len(b) - len(a) })
	for i := range forms {
		forms[i] = regexp.QuoteMeta(forms[i])
	}
	f.exp = regexp.MustCompile("(?i)(?:" + strings.Join(forms, "|") + ")")
	return f
}

func (f *nameFinder) mayHold(text []byte) bool {
	low := bytes.ToLower(text)
	return slices.ContainsFunc(f.lower, func(name []byte) bool { return bytes.Contains(low, name) })
}

// mentions are the places in a note where a name stands as a whole word and
// could be linked: not in code, links, tags and properties.
func (f *nameFinder) mentions(text []byte) []note.Span {
	if !f.mayHold(text) {
		return nil
	}
	spans := f.words(text)
	if len(spans) == 0 {
		return nil
	}
	n := note.Scan(text)
	taken := []note.Span{{Start: 0, End: n.Body}}
	in := n.Inline()
	for _, list := range [][]note.Link{in.Links, in.Definitions} {
		for i := range list {
			taken = append(taken, list[i].Span)
		}
	}
	for i := range in.Tags {
		taken = append(taken, in.Tags[i].Span)
	}
	return linkable(text, outside(spans, taken))
}

// words are the names that stand in a text as whole words.
func (f *nameFinder) words(text []byte) []note.Span {
	var spans []note.Span
	for from := 0; from < len(text); {
		m := f.exp.FindIndex(text[from:])
		if m == nil {
			break
		}
		start, end := from+m[0], from+m[1]
		if isWhole(text, start, end) {
			spans = append(spans, note.Span{Start: start, End: end})
			from = end
			continue
		}
		_, size := utf8.DecodeRune(text[start:])
		from = start + size
	}
	return spans
}

func isWhole(text []byte, start, end int) bool {
	before, _ := utf8.DecodeLastRune(text[:start])
	first, _ := utf8.DecodeRune(text[start:])
	last, _ := utf8.DecodeLastRune(text[:end])
	behind, _ := utf8.DecodeRune(text[end:])
	return !(isClosed(before) && isClosed(first)) && !(isClosed(last) && isClosed(behind))
}

// outside are the spans that touch none of others.
func outside(spans, others []note.Span) []note.Span {
	slices.SortFunc(others, func(a, b note.Span) int { return a.Start - b.Start })
	i, end := 0, 0 // where those that began before end at the latest
	return slices.DeleteFunc(spans, func(s note.Span) bool {
		for i < len(others) && others[i].Start < s.End {
			end = max(end, others[i].End)
			i++
		}
		return s.Start < end
	})
}

// linkable are the spans round which brackets make a link: it is left to the
// reader of notes what code, math and HTML are.
func linkable(text []byte, spans []note.Span) []note.Span {
	if len(spans) == 0 {
		return nil
	}
	const open, closing = "[[", "]]"
	bracketed := make([]byte, 0, len(text)+len(spans)*len(open+closing))
	at := map[int]bool{}
	starts := make([]int, len(spans))
	from := 0
	for i, s := range spans {
		bracketed = append(bracketed, text[from:s.Start]...)
		starts[i] = len(bracketed)
		bracketed = append(append(append(bracketed, open...), s.Of(text)...), closing...)
		from = s.End
	}
	bracketed = append(bracketed, text[from:]...)
	in := note.Scan(bracketed).Inline()
	for i := range in.Links {
		at[in.Links[i].Span.Start] = true
	}
	var free []note.Span
	for i, s := range spans {
		if at[starts[i]] {
			free = append(free, s)
		}
	}
	return free
}
