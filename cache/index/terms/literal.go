package terms

import (
	"slices"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// part is a token of a text that is looked for. In a note it may go on to the
// left or to the right, unless the text shows that it ends there.
type part struct {
	term        []byte // empty if it is longer than a term
	left, right bool   // it ends there
}

// inLong reports whether a part can be in a run that is too long for a term.
func (p part) inLong() bool { return len(p.term) == 0 || !p.left || !p.right }

// form is one way to write a text that is looked for, as parts in order.
type form struct {
	parts []part
	alone bool // it is one part and nothing else
}

// formsOf lists the ways to write a text: as it is, composed and decomposed. It
// is nil if some form has no part, so that terms do not tell where it is.
func formsOf(text string) []form {
	if !utf8.ValidString(text) {
		return nil
	}
	var forms []form
	var seen []string
	for _, s := range []string{text, norm.NFC.String(text), norm.NFD.String(text)} {
		folded := string(fold(s))
		if slices.Contains(seen, folded) {
			continue
		}
		seen = append(seen, folded)
		f := newForm([]byte(folded))
		if len(f.parts) == 0 {
			return nil
		}
		forms = append(forms, f)
	}
	return forms
}

func newForm(folded []byte) form {
	var f form
	var p pages
	for t := range Tokenize(folded) {
		f.alone = t.Start == 0 && t.End == len(folded)
		f.parts = append(f.parts, part{
			term:  slices.Clone(t.Term),
			left:  t.Start > 0 || p.beginsAlways(folded[t.Start:]),
			right: t.End < len(folded),
		})
	}
	return f
}

// beginsAlways reports whether a token begins at the first character of a text,
// whatever stands before it.
func (p *pages) beginsAlways(text []byte) bool {
	if text[0] < utf8.RuneSelf {
		return false
	}
	_, k, _ := p.look(text)
	return splits(plain, k)
}

// whole is the form without parts that go on.
func (f form) whole() form {
	for i := range f.parts {
		f.parts[i].left, f.parts[i].right = true, true
	}
	return f
}

// selective sorts the parts so that those come first that are found fastest and
// in the fewest documents.
func (f form) selective() []part {
	weight := func(p part) int {
		if p.left && p.right {
			return len(p.term) + MaxTerm
		}
		return len(p.term)
	}
	slices.SortStableFunc(f.parts, func(a, b part) int { return weight(b) - weight(a) })
	return f.parts
}

// eachTerm lists the terms that a part can be, with how often each holds it.
func (d *Dictionary) eachTerm(p part, yield func(id, times uint32)) {
	switch {
	case len(p.term) == 0:
	case p.left && p.right:
		if id, ok := d.Lookup(p.term); ok {
			yield(id, 1)
		}
	default:
		terms := d.all()
		terms.find(pattern(p.term, p.left, p.right), yield)
	}
}
