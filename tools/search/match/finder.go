package match

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// finder finds the nearest of several literals in texts. It holds no state of
// a search, so that goroutines share it.
type finder struct{ forms []form }

// newFinder prepares literals as they are; none is empty.
func newFinder(lits []literal) *finder {
	f := &finder{}
	for _, l := range lits {
		f.forms = append(f.forms, newForm(l))
	}
	return f
}

// textFinder prepares all ways to write a text.
func textFinder(text string, fold bool) *finder {
	var lits []literal
	seen := map[string]bool{}
	unix := unixEnds.Replace(text)
	for _, s := range []string{text, norm.NFC.String(unix), norm.NFD.String(unix)} {
		for _, end := range []string{"\n", "\r\n", "\r"} {
			if s := strings.ReplaceAll(s, "\n", end); !seen[s] {
				seen[s] = true
				lits = append(lits, literal{s, fold})
			}
		}
	}
	return newFinder(lits)
}

// apart reports whether no match of one form can overlap one of another.
func (f *finder) apart() bool {
	for i := range f.forms {
		for j := range f.forms {
			if i != j && f.forms[i].reaches(&f.forms[j]) {
				return false
			}
		}
	}
	return true
}

// reaches reports whether a match of n can begin inside of one of m.
func (m *form) reaches(n *form) bool {
	for from := range m.classes {
		k := 0
		for k < len(n.classes) && from+k < len(m.classes) && slices.Contains(n.classes[k], m.classes[from+k][0]) {
			k++
		}
		if k == len(n.classes) || from+k == len(m.classes) {
			return true
		}
	}
	return false
}

var unixEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// finding is a finder on its way through one text. However many matches are
// asked for, the time is linear in the text. It is used again for text after
// text.
type finding struct{ forms []formFinding }

func (s *finding) begin(f *finder, b []byte) {
	if n := len(f.forms); cap(s.forms) < n {
		s.forms = make([]formFinding, n)
	} else {
		s.forms = s.forms[:n]
	}
	for i := range s.forms {
		s.forms[i].begin(&f.forms[i], b)
	}
}

// next is the first match at or after from: its offset and length, or -1. from
// never decreases.
func (s *finding) next(from int) (at, length int) {
	at = -1
	for i := range s.forms {
		a, n := s.forms[i].next(from)
		if a >= 0 && (at < 0 || a < at) {
			at, length = a, n
		}
	}
	return at, length
}

// holds reports whether b has a match.
func (s *finding) holds(f *finder, b []byte) bool {
	for i := range f.forms { // one after the other: the first often decides
		s.begin(&finder{f.forms[i : i+1]}, b)
		if at, _ := s.next(0); at >= 0 {
			return true
		}
	}
	return false
}

// inName is holds for a name: short, and mostly ASCII.
func (s *finding) inName(f *finder, name string) bool {
	if len(f.forms) == 1 && f.forms[0].ascii {
		for i := 0; ; i++ {
			if i == len(name) { // all of it is ASCII
				return f.forms[0].inASCII(name)
			}
			if name[i] >= utf8.RuneSelf {
				break
			}
		}
	}
	return s.holds(f, []byte(name))
}

type formFinding struct {
	*form
	b      []byte
	probe  probe
	quick  bool // only ASCII matches
	scouts []scout
	budget int        // of bytes to compare before the automaton takes over
	slow   *automaton // nil until then
	// found is the match that was last returned; -1 before the first, len(b)
	// once there is none left.
	found, length int
}

func (s *formFinding) begin(m *form, b []byte) {
	scouts := s.scouts[:0]
	*s = formFinding{form: m, b: b, probe: m.full, found: -1, budget: 8*len(b) + 4096}
	if !m.exact && !m.isOdd(b) {
		s.quick, s.probe = m.ascii, m.quick
	}
	for _, need := range s.probe.needs {
		scouts = append(scouts, scout{need: need, at: -1})
	}
	s.scouts = scouts
}

func (s *formFinding) next(from int) (at, length int) {
	if s.found < from {
		s.found, s.length = s.look(from)
		if s.found < 0 {
			s.found = len(s.b)
		}
	}
	if s.found == len(s.b) {
		return -1, 0
	}
	return s.found, s.length
}

func (s *formFinding) look(from int) (at, length int) {
	for s.slow == nil {
		p := s.nearest(from + s.probe.back)
		if p < 0 {
			return -1, 0
		}
		at = p - s.probe.back
		length, looked := s.compare(at)
		if s.budget -= looked; s.budget < 0 {
			s.slow = newAutomaton(s.form)
		}
		if length > 0 {
			return at, length
		}
		from = at + 1
	}
	return s.slow.next(s.b, from)
}

func (s *formFinding) compare(at int) (length, looked int) {
	switch {
	case s.exact:
		return len(s.text), len(s.text)
	case s.quick:
		return s.equalASCII(s.b[at:])
	}
	return s.equalRunes(s.b[at:])
}

// nearest is the first place at or after from that any scout finds, or -1.
func (s *formFinding) nearest(from int) int {
	p := -1
	for i := range s.scouts {
		if q := s.scouts[i].next(s.b, from); q >= 0 && (p < 0 || q < p) {
			p = q
		}
	}
	return p
}

// scout remembers where its text comes next, so that several can run side by
// side without looking at any part twice.
type scout struct {
	need []byte
	at   int // -1 before the first look, len of the text once there is no more
}

func (s *scout) next(b []byte, from int) int {
	if s.at < from && s.at < len(b) {
		if s.at = len(b); from < len(b) {
			if i := bytes.Index(b[from:], s.need); i >= 0 {
				s.at = from + i
			}
		}
	}
	if s.at == len(b) {
		return -1
	}
	return s.at
}
