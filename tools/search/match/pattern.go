package match

import (
	"bytes"
	"context"
	"errors"
	"io"
	"regexp"
	"regexp/syntax"
	"unicode/utf8"

	"vault-mcp/internal/fault"
)

// maxSteps bounds a pattern with its repeats written out: the time for a text
// is proportional to both.
const maxSteps = 5000

// Pattern is a compiled regular expression with what makes it fast: literals
// that are looked for first. They never change what is found. Goroutines may
// share it.
type Pattern struct {
	re *regexp.Regexp
	// here matches at the start of a text only, behind one character after it,
	// and rest anywhere from there on, as its group 1: the character in front
	// is for \b and ^ to see.
	here, behind, rest *regexp.Regexp

	lead     *finder // every match begins with one of these; nil if not known
	must     *finder // every match holds one of these; nil if not known
	oneLine  bool    // no match goes on in the next line
	literals []string
	size     int
}

// Compile reads a regular expression of JavaScript with its flags: i, s, m, u and
// g, of which the last three are always on. Its errors are of the argument
// pattern or flags, and for whoever wrote it.
func Compile(source, flags string) (*Pattern, error) {
	flags, err := goFlags(flags)
	if err != nil {
		return nil, err
	}
	re2, err := translate(source)
	if err != nil {
		return nil, err
	}
	whole := "(?" + flags + ")" + re2
	parsed, err := syntax.Parse(whole, syntax.Perl)
	if err != nil {
		return nil, unusable(err)
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, unusable(err)
	}
	p := &Pattern{size: len(prog.Inst), oneLine: oneLine(parsed)}
	if p.size > maxSteps {
		return nil, fault.New(fault.InvalidInput, "The pattern is too large: with its repeats written out it has %d steps; at most %d are allowed.", p.size, maxSteps).
			With("argument", "pattern")
	}
	if lits, _ := leads(parsed); usable(lits) {
		p.lead, p.literals = newFinder(lits), texts(lits)
	}
	if lits := musts(parsed); usable(lits) {
		p.must, p.literals = newFinder(lits), texts(lits)
	}
	group := "(?" + flags + ":" + re2 + ")"
	for _, c := range []struct {
		into   **regexp.Regexp
		source string
	}{{&p.re, whole}, {&p.here, `\A` + group}, {&p.behind, `\A(?s:.)` + group}, {&p.rest, `\A(?s:.)(?s:.*?)(` + group + `)`}} {
		if *c.into, err = regexp.Compile(c.source); err != nil {
			return nil, unusable(err)
		}
	}
	return p, nil
}

// goFlags turns JavaScript's flags into those of package regexp.
func goFlags(flags string) (string, error) {
	goes := "m"
	for _, f := range flags {
		switch f {
		case 'i', 's':
			goes += string(f)
		case 'm', 'u', 'g': // always on: lines are lines, characters are characters, and all are found
		default:
			return "", fault.New(fault.InvalidInput, "There is no flag %q; use i, m, s, u, or an empty string for none.", f).With("argument", "flags")
		}
	}
	return goes, nil
}

// Literals are texts of which every match holds one, without regard to case; nil
// if none are known.
func (p *Pattern) Literals() []string { return p.literals }

// unusable says why a pattern was refused.
func unusable(err error) error {
	e, ok := errors.AsType[*syntax.Error](err)
	if !ok {
		return fault.New(fault.InvalidInput, "The pattern cannot be used.").With("argument", "pattern").Because(err)
	}
	reason := string(e.Code)
	switch e.Code {
	case syntax.ErrInvalidRepeatSize:
		reason = "a repeat count is invalid, or repeats amount to more than 1000"
	case syntax.ErrInvalidCharRange:
		reason = "there is no such range or property"
	}
	return fault.New(fault.InvalidInput, "The pattern cannot be used: %s: %.60q.", reason, e.Expr).With("argument", "pattern")
}

// Find lists the first lines of b in which a match begins, at most most, one hit
// for each: these are what it counts. It ends early once ctx does.
func (p *Pattern) Find(ctx context.Context, w *Workspace, b []byte, most int) Found {
	if p.must != nil && !w.finding.holds(p.must, b) {
		return Found{}
	}
	text := w.unixLines(b)
	lines, more := p.over(ctx, w, text).lines(most)
	return Found{Text: text, Lines: lines, More: more, Total: len(lines)}
}

// Over begins a search for one match after the other. Lines of the text end with
// LF.
func (p *Pattern) Over(ctx context.Context, text []byte) *PatternFinding {
	return p.over(ctx, new(Workspace), text)
}

func (p *Pattern) over(ctx context.Context, w *Workspace, text []byte) *PatternFinding {
	s := &PatternFinding{p: p, ctx: ctx, w: w, text: text, budget: 2*len(text) + 4096}
	switch {
	case p.lead != nil:
		s.byLead = true
		w.finding.begin(p.lead, text)
	case p.must != nil && p.oneLine:
		s.byLine = true
		w.finding.begin(p.must, text)
	}
	return s
}

// PatternFinding is a Pattern on its way through one text.
type PatternFinding struct {
	p              *Pattern
	ctx            context.Context
	w              *Workspace
	text           []byte
	byLead, byLine bool
	budget         int // of characters to look at before byLead is given up
}

// Next is the first match that begins at or after from, or -1. from never
// decreases.
func (s *PatternFinding) Next(from int) (start, end int) {
	if s.byLine && from > 0 && s.text[from-1] != '\n' { // which looks at whole lines
		return s.anywhere(from)
	}
	return s.next(from)
}

// next is Next where from is the start of a line, or the end of a match over several.
func (s *PatternFinding) next(from int) (at, end int) {
	switch {
	case s.byLead:
		return s.nextLead(from)
	case s.byLine:
		return s.nextLine(from)
	}
	return s.anywhere(from)
}

// nextLead tries the places where a match can begin.
func (s *PatternFinding) nextLead(from int) (at, end int) {
	const overhead = 16 // of one try, in characters
	for {
		p, _ := s.w.finding.next(from)
		if p < 0 {
			return -1, -1
		}
		re, start := s.p.here, p
		if p > 0 {
			re, start = s.p.behind, p-1
		}
		loc := re.FindReaderIndex(s.reader(s.text[start:]))
		if loc != nil {
			return p, start + loc[1]
		}
		from = p + 1
		if s.budget -= s.w.runes.read + overhead; s.budget < 0 {
			// Each try looks far ahead in vain: one pass does it all.
			s.byLead = false
			return s.anywhere(from)
		}
	}
}

// nextLine tries the lines that hold what a match must.
func (s *PatternFinding) nextLine(from int) (at, end int) {
	for {
		p, _ := s.w.finding.next(from)
		if p < 0 {
			return -1, -1
		}
		start, stop := from+bytes.LastIndexByte(s.text[from:p], '\n')+1, len(s.text)
		if i := bytes.IndexByte(s.text[p:], '\n'); i >= 0 {
			stop = p + i
		}
		if loc := s.find(s.p.re, s.text[start:stop]); loc != nil {
			return start + loc[0], start + loc[1]
		}
		if from = stop + 1; from > len(s.text) {
			return -1, -1
		}
	}
}

func (s *PatternFinding) anywhere(from int) (at, end int) {
	if from == 0 || s.text[from-1] == '\n' {
		if loc := s.find(s.p.re, s.text[from:]); loc != nil {
			return from + loc[0], from + loc[1]
		}
		return -1, -1
	}
	if loc := s.p.rest.FindReaderSubmatchIndex(s.reader(s.text[from-1:])); loc != nil {
		return from - 1 + loc[2], from - 1 + loc[3]
	}
	return -1, -1
}

// find reads a text that takes long through a reader, which can be cancelled.
func (s *PatternFinding) find(re *regexp.Regexp, text []byte) []int {
	const short = 1 << 24
	if len(text)*s.p.size <= short {
		return re.FindIndex(text)
	}
	return re.FindReaderIndex(s.reader(text))
}

func (s *PatternFinding) reader(b []byte) *runes {
	s.w.runes = runes{ctx: s.ctx, b: b}
	return &s.w.runes
}

// runes reads a text until its context ends, as package regexp would.
type runes struct {
	ctx  context.Context
	b    []byte
	pos  int
	read int // characters
}

// ReadRune implements io.RuneReader.
func (r *runes) ReadRune() (rune, int, error) {
	const often = 1 << 12
	r.read++
	if r.pos >= len(r.b) || r.read%often == 0 && r.ctx.Err() != nil {
		return 0, 0, io.EOF
	}
	if c := r.b[r.pos]; c < utf8.RuneSelf {
		r.pos++
		return rune(c), 1, nil
	}
	c, size := utf8.DecodeRune(r.b[r.pos:])
	r.pos += size
	return c, size, nil
}
