package query

import (
	"strconv"
	"strings"
	"time"
)

// bound is what a value is compared with: a number or a date.
type bound struct {
	number float64
	date   string // YYYY-MM-DD, perhaps with T and a time; empty for a number
}

// property reads [name], [name:query] and what they allow inside.
func (p *parser) property() (*node, error) {
	at := p.pos
	if err := p.down(at); err != nil {
		return nil, err
	}
	defer func() { p.place = inQuery; p.up() }()
	p.pos++
	n := &node{kind: kindProperty, at: at}
	name, err := p.part(inName)
	if err != nil {
		return nil, err
	}
	if name == nil {
		return nil, p.fail(at, "A [ begins a property, but no name follows. Put text with brackets in quotes.")
	}
	n.kids = append(n.kids, name)
	if p.pos < len(p.in) && p.in[p.pos] == ':' {
		p.pos++
		value, err := p.part(inValue)
		if err != nil {
			return nil, err
		}
		if value != nil {
			n.kids = append(n.kids, value)
		}
	}
	if p.pos == len(p.in) {
		return nil, p.fail(at, "This [ begins a property that is not closed. Put text with brackets in quotes.")
	}
	if p.in[p.pos] != ']' {
		return nil, p.fail(p.pos, "This %s closes nothing.", p.in[p.pos:p.pos+1])
	}
	p.pos++
	return n, nil
}

func (p *parser) part(where place) (*node, error) {
	p.place = where
	return p.or()
}

// name reads the rest of a name that holds blanks: the words up to an OR are one name. Its first word has been read.
func (p *parser) name(at int) (*node, error) {
	words := []string{p.in[at:p.pos]}
	for {
		back := p.pos
		p.skipBlanks()
		if p.closed() || p.word("OR") || strings.IndexByte(`("/[`, p.in[p.pos]) >= 0 {
			p.pos = back
			return p.leaf(kindName, at, strings.Join(words, " "))
		}
		end := p.wordEnd(p.pos)
		words = append(words, p.in[p.pos:end])
		p.pos = end
	}
}

// comparison reads < > <= or >= with a number or a date behind it.
func (p *parser) comparison() (*node, error) {
	at := p.pos
	sign := p.in[at : at+1]
	if p.pos++; strings.HasPrefix(p.in[p.pos:], "=") {
		sign += "="
		p.pos++
	}
	p.skipBlanks()
	start := p.pos
	p.pos = p.wordEnd(start)
	operand := p.in[start:p.pos]
	b, ok := parseBound(operand)
	if !ok {
		return nil, p.fail(start, "Behind %s a number or a date such as 2031-05-09 must follow. Put text in quotes.", sign)
	}
	n, err := p.leaf(kindCompare, at, sign+operand)
	if err == nil {
		n.bound = b
	}
	return n, err
}

func parseBound(s string) (bound, bool) {
	if s != "" && strings.Trim(s, "0123456789.+-eE") == "" {
		if f, err := strconv.ParseFloat(s, 64); err == nil {
			return bound{number: f}, true
		}
	}
	date, ok := isoDate(s)
	return bound{date: date}, ok
}

// isoDate brings a date with or without a time into a form whose order is that of the text.
func isoDate(s string) (string, bool) {
	if len(s) > 10 && s[10] == ' ' {
		s = s[:10] + "T" + s[11:]
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02T15:04", "2006-01-02T15:04:05"} {
		if _, err := time.Parse(layout, s); err == nil {
			return s, true
		}
	}
	return "", false
}

// compares reports whether a value stands in the relation to the bound that the sign at the start of text asks for.
func (n *node) compares(v any) bool {
	c := 0
	if n.bound.date != "" {
		s, ok := v.(string)
		if !ok {
			return false
		}
		date, ok := isoDate(s)
		if !ok {
			return false
		}
		c = strings.Compare(date, n.bound.date)
	} else {
		f, ok := number(v)
		switch {
		case !ok || f != f: // NaN has no order
			return false
		case f < n.bound.number:
			c = -1
		case f > n.bound.number:
			c = 1
		}
	}
	switch {
	case c < 0:
		return n.text[0] == '<'
	case c > 0:
		return n.text[0] == '>'
	}
	return n.text[1] == '='
}
