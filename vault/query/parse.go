package query

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// place is the part of a query that is being read: in brackets some characters mean something else.
type place uint8

const (
	inQuery place = iota
	inName        // between [ and : or ]
	inValue       // between : and ]
)

type parser struct {
	in    string
	pos   int
	place place
	depth int
	terms int
	notes []Note
}

func (p *parser) fail(at int, format string, args ...any) error {
	return &SyntaxError{Offset: at, Column: column(p.in, at), Msg: fmt.Sprintf(format, args...)}
}

func (p *parser) note(at int, format string, args ...any) {
	p.notes = append(p.notes, Note{Offset: at, Column: column(p.in, at), Msg: fmt.Sprintf(format, args...)})
}

// query reads the whole input.
func (p *parser) query() (*node, error) {
	n, err := p.or()
	switch {
	case err != nil:
		return nil, err
	case p.pos < len(p.in):
		return nil, p.fail(p.pos, "This ) closes nothing. Put text with a parenthesis in quotes.")
	case n == nil:
		return nil, p.fail(0, "The query is empty.")
	}
	return n, nil
}

// or reads up to the end or a character that closes something. It returns nil if there is no term.
func (p *parser) or() (*node, error) {
	var kids []*node
	pending := -1 // the OR that has no right side yet
	for at := p.pos; ; {
		n, err := p.and()
		if err != nil {
			return nil, err
		}
		p.skipBlanks()
		isOr := p.word("OR")
		switch {
		case n != nil:
			kids = append(kids, n)
			pending = -1
		case pending >= 0:
			p.note(pending, "This OR has nothing behind it.")
		case isOr:
			p.note(p.pos, "This OR has nothing in front of it.")
		}
		if !isOr {
			return join(kindOr, at, kids), nil
		}
		pending = p.pos
		p.pos += len("OR")
	}
}

// and reads the terms up to an OR, the end, or a character that closes something.
func (p *parser) and() (*node, error) {
	var kids []*node
	for at := p.pos; ; {
		p.skipBlanks()
		if p.closed() || p.word("OR") {
			return join(kindAnd, at, kids), nil
		}
		n, err := p.term()
		if err != nil {
			return nil, err
		}
		kids = append(kids, n)
	}
}

// join makes one node of several; nodes of the same kind become one.
func join(k kind, at int, kids []*node) *node {
	switch len(kids) {
	case 0:
		return nil
	case 1:
		return kids[0]
	}
	n := &node{kind: k, at: at}
	for _, kid := range kids {
		if kid.kind == k {
			n.kids = append(n.kids, kid.kids...)
		} else {
			n.kids = append(n.kids, kid)
		}
	}
	return n
}

// closed reports whether nothing more can come here.
func (p *parser) closed() bool {
	if p.pos == len(p.in) {
		return true
	}
	switch p.in[p.pos] {
	case ')':
		return true
	case ']':
		return p.place != inQuery
	case ':':
		return p.place == inName
	}
	return false
}

func (p *parser) skipBlanks() {
	for p.pos < len(p.in) {
		r, size := utf8.DecodeRuneInString(p.in[p.pos:])
		if !unicode.IsSpace(r) {
			return
		}
		p.pos += size
	}
}

// word reports whether a word stands here on its own.
func (p *parser) word(w string) bool {
	return strings.HasPrefix(p.in[p.pos:], w) && p.wordEnd(p.pos) == p.pos+len(w)
}

// term reads one term.
func (p *parser) term() (*node, error) {
	at := p.pos
	if p.in[p.pos] != '-' {
		return p.positive()
	}
	p.pos++
	if p.atBlank() || p.closed() {
		p.note(at, "This - stands alone and is taken as text; put it right in front of what is not wanted.")
		return p.leaf(kindWord, at, "-")
	}
	n, err := p.positive()
	if err != nil {
		return nil, err
	}
	return &node{kind: kindNot, at: at, kids: []*node{n}}, nil
}

func (p *parser) atBlank() bool {
	r, _ := utf8.DecodeRuneInString(p.in[p.pos:])
	return p.pos < len(p.in) && unicode.IsSpace(r)
}

func (p *parser) leaf(k kind, at int, text string) (*node, error) {
	if p.terms++; p.terms > MaxTerms {
		return nil, p.fail(at, "The query has too many terms: at most %d are read.", MaxTerms)
	}
	return &node{kind: k, at: at, text: text}, nil
}

// positive reads a term without its -.
func (p *parser) positive() (*node, error) {
	at := p.pos
	switch c := p.in[at]; {
	case c == '(':
		return p.group()
	case c == '"':
		return p.phrase()
	case c == '[' && p.place == inQuery:
		return p.property()
	case c == '/' && !strings.HasPrefix(p.in[at:], "//"):
		return p.regex()
	case (c == '<' || c == '>') && p.place == inValue:
		return p.comparison()
	}
	if n, err := p.operator(); n != nil || err != nil {
		return n, err
	}
	end := p.wordEnd(at)
	if end == at { // a bracket or colon where none can be
		return nil, p.fail(at, "This %s has no meaning here. Put it in quotes.", p.in[at:at+1])
	}
	text := p.in[at:end]
	p.pos = end
	switch {
	case p.place == inName:
		return p.name(at)
	case p.place == inValue && strings.EqualFold(text, "null"):
		return p.leaf(kindNull, at, "null")
	case p.place == inValue && text == "EMPTY":
		return p.leaf(kindNull, at, text)
	case p.place == inQuery && (text == "AND" || text == "NOT"):
		p.note(at, "%s is searched for as a word; a blank means and, a - in front means not.", text)
	}
	return p.leaf(kindWord, at, text)
}

// wordEnd is where the word that starts at an offset ends.
func (p *parser) wordEnd(at int) int {
	if p.place == inValue && strings.HasPrefix(p.in[at:], "[[") { // a link, as properties hold them
		if i := strings.Index(p.in[at:], "]]"); i >= 0 {
			return at + i + 2
		}
	}
	for i, r := range p.in[at:] {
		switch {
		case unicode.IsSpace(r), r == '(', r == ')', r == '"',
			p.place != inQuery && (r == ']' || r == '['),
			p.place == inName && r == ':':
			return at + i
		}
	}
	return len(p.in)
}

// down enters what is inside something else; up leaves it.
func (p *parser) down(at int) error {
	if p.depth++; p.depth > MaxDepth {
		return p.fail(at, "The query is nested too deep: at most %d parentheses and operators can be inside each other.", MaxDepth)
	}
	return nil
}

func (p *parser) up() { p.depth-- }

func (p *parser) group() (*node, error) {
	at := p.pos
	if err := p.down(at); err != nil {
		return nil, err
	}
	defer p.up()
	p.pos++
	n, err := p.or()
	switch {
	case err != nil:
		return nil, err
	case p.pos < len(p.in) && p.in[p.pos] == ')':
		p.pos++
	case p.pos < len(p.in): // in brackets, which end first
		return nil, p.fail(at, "This ( is not closed before the %s.", p.in[p.pos:p.pos+1])
	default:
		p.note(at, "This ( is not closed; the group goes on to the end.")
	}
	if n == nil && p.place != inQuery {
		return nil, p.fail(at, "These parentheses are empty.")
	}
	if n == nil {
		p.note(at, "These parentheses are empty and hold for everything.")
		return p.leaf(kindAny, at, "")
	}
	return n, nil
}

// phrase reads a text in quotes, in which \" is a quote and \\ a backslash.
func (p *parser) phrase() (*node, error) {
	at := p.pos
	text, ok := p.quoted()
	if !ok {
		p.note(at, "This quote is not closed; the phrase goes on to the end.")
	}
	switch {
	case p.place == inName && text == "":
		return nil, p.fail(at, "The name of the property is empty.")
	case p.place == inName:
		return p.leaf(kindName, at, text)
	case p.place == inValue && text == "":
		return p.leaf(kindEmpty, at, "")
	case text == "":
		return p.leaf(kindAny, at, "")
	}
	return p.leaf(kindPhrase, at, text)
}

func (p *parser) quoted() (text string, closed bool) {
	var b strings.Builder
	for p.pos++; p.pos < len(p.in); p.pos++ {
		c := p.in[p.pos]
		if c == '"' {
			p.pos++
			return b.String(), true
		}
		if c == '\\' && p.pos+1 < len(p.in) && (p.in[p.pos+1] == '"' || p.in[p.pos+1] == '\\') {
			p.pos++
			c = p.in[p.pos]
		}
		b.WriteByte(c)
	}
	return b.String(), false
}

// regex reads up to the next / that has no backslash in front. Flags behind it that are in force anyway are skipped.
func (p *parser) regex() (*node, error) {
	at := p.pos
	for i := at + 1; i < len(p.in); i++ {
		switch p.in[i] {
		case '\\':
			i++
		case '/':
			p.pos = i + 1
			if end := p.wordEnd(p.pos); strings.Trim(p.in[p.pos:end], "gimu") == "" {
				p.pos = end
			}
			return p.leaf(kindRegex, at, p.in[at+1:i])
		}
	}
	return nil, p.fail(at, "This / begins a regular expression that is not closed. Put text that starts with a / in quotes.")
}

// operator reads an operator with its term. It returns nil if there is none.
func (p *parser) operator() (*node, error) {
	at := p.pos
	colon := at
	for i, r := range p.in[at:] {
		if r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			colon = at + i
			break
		}
	}
	if p.place == inName || colon == at || p.in[colon] != ':' {
		return nil, nil
	}
	name := p.in[at:colon]
	op := operator(strings.ToLower(name))
	switch known := isOperator(op); {
	case p.place == inValue && op != opMatchCase && op != opIgnoreCase:
		return nil, nil // a value may hold a colon
	case !known:
		return nil, p.unknown(at, name)
	}
	if err := p.down(at); err != nil {
		return nil, err
	}
	defer p.up()
	p.pos = colon + 1
	p.skipBlanks()
	if p.closed() || p.word("OR") {
		p.note(at, "The operator %s: has no text and holds for everything it looks at.", op)
		empty := kindAny
		if p.place == inValue {
			empty = kindEmpty
		}
		n, err := p.leaf(empty, at, "")
		return &node{kind: kindOp, op: op, at: at, kids: []*node{n}}, err
	}
	n, err := p.term()
	if err != nil {
		return nil, err
	}
	return &node{kind: kindOp, op: op, at: at, kids: []*node{n}}, nil
}

func isOperator(op operator) bool {
	for _, o := range operators {
		if o == op {
			return true
		}
	}
	return false
}

func (p *parser) unknown(at int, name string) error {
	near := ""
	for _, o := range operators {
		if strings.EqualFold(name, string(o)+"s") || strings.EqualFold(name, strings.ReplaceAll(string(o), "-", "")) ||
			strings.EqualFold(name, strings.ReplaceAll(string(o), "-", "_")) {
			near = fmt.Sprintf(" Did you mean %s:?", o)
		}
	}
	return p.fail(at, "There is no operator %q.%s Put text with a colon in quotes; ask for properties as [name:value]. Operators are %s.",
		name, near, strings.Join(Operators(), ", "))
}
