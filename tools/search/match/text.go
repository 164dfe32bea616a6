package match

import "vault-mcp/vault/query"

// Text is a text to look for, as a person would call it one: it may be written
// composed or decomposed, and its lines may end in any way. Goroutines may share
// it.
type Text struct {
	find       *finder
	fold, word bool
}

// NewText prepares a text that is not empty. fold is without regard to case;
// with word, matches begin and end at the border of a word.
func NewText(text string, fold, word bool) *Text {
	return &Text{textFinder(text, fold), fold, word}
}

// Countable reports whether all matches are as many as those of each way to
// write the text together, because they never overlap. It takes time quadratic
// in the text.
func (t *Text) Countable() bool { return t.fold && !t.word && t.find.apart() }

// Find lists the first matching lines of b, at most most, one hit for each, and
// counts all matches.
func (t *Text) Find(w *Workspace, b []byte, most int) Found {
	n := Found{Text: b}
	w.lines = w.lines[:0]
	w.finding.begin(t.find, b)
	for from, line := 0, 0; ; {
		at, length := t.next(&w.finding, b, from)
		if at < 0 {
			break
		}
		if n.Total++; n.Total == 1 {
			w.liner.begin(b)
		}
		if from = at + length; at < line || n.More {
			continue // in a line that is listed, or need not be
		}
		w.liner.seek(at)
		line = w.liner.next()
		if n.More = len(w.lines) == most; !n.More {
			w.lines = append(w.lines, Hit{w.liner.line, w.liner.at, at, at + length})
		}
	}
	n.Lines = w.lines
	return n
}

// In reports whether a name has the text.
func (t *Text) In(w *Workspace, name string) bool {
	if !t.word {
		return w.finding.inName(t.find, name)
	}
	b := []byte(name)
	w.finding.begin(t.find, b)
	at, _ := t.next(&w.finding, b, 0)
	return at >= 0
}

// next is the first match at or after from that has the borders it needs.
func (t *Text) next(f *finding, b []byte, from int) (at, length int) {
	for {
		at, length = f.next(from)
		if at < 0 || !t.word || query.WholeWords(b, at, at+length) {
			return at, length
		}
		from = at + 1
	}
}

// Over begins a search for one match after the other.
func (t *Text) Over(b []byte) *TextFinding {
	f := &TextFinding{text: t, b: b}
	f.in.begin(t.find, b)
	return f
}

// TextFinding is a text on its way through another.
type TextFinding struct {
	text *Text
	b    []byte
	in   finding
}

// Next is the first match that begins at or after from, or -1. from never
// decreases.
func (f *TextFinding) Next(from int) (start, end int) {
	at, n := f.text.next(&f.in, f.b, from)
	return at, at + max(n, 0)
}
