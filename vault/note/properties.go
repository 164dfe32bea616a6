package note

import (
	"bytes"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// State says what the start of a note holds.
type State uint8

// The states of the properties of a note. A note with invalid properties can be read, and its body edited, but its
// properties must not be edited: the app refuses that too (release notes 1.8.3).
const (
	StateNone    State = iota // no block: the note starts with something else, or the block is not closed
	StateEmpty                // a block that holds nothing but blanks, comments or null
	StateOK                   // a mapping, possibly {}
	StateInvalid              // no YAML 1.2, or no mapping
)

// String is the name of the state: none, empty, ok or invalid.
func (s State) String() string {
	return [...]string{"none", "empty", "ok", "invalid"}[s]
}

// Limits of a block of properties. Beyond them it is invalid, so that one note cannot use up memory or the stack.
const (
	MaxPropertyBytes = 1 << 20 // of YAML
	MaxPropertyDepth = 100     // of lists and mappings in each other
	maxAliasWeight   = 1 << 20 // bytes and values that aliases (*name) may add
)

// Properties is what a note says about itself in the block at its start (help page Editing and formatting/Properties).
type Properties struct {
	// State says whether there is a block, and whether it could be read.
	State State
	// Block is the opening --- up to and including the closing --- and its line end. It is empty if there is no block.
	Block Span
	// YAML is the lines between them.
	YAML Span
	// Body is where the text of the note starts: the end of Block, or else 0 or behind a byte order mark.
	Body int
	// Flow is true if the whole mapping is in flow style, such as JSON, so that it has no line of its own for each key.
	Flow bool
	// Problem says what is wrong with an invalid block, and is nil otherwise.
	Problem *Problem
	// List is the properties in source order. It is empty unless State is StateOK.
	List []Property
}

// Problem is why properties cannot be read.
type Problem struct {
	Line   int    // in the note, from 1
	Reason string // for people; it can quote a name from the note
}

// Property is one key of the properties with its value.
type Property struct {
	// Key is the key as a string, whatever it looks like: 2031 is "2031", 0x10 is "16", as in the app.
	Key string
	// Value is nil, bool, int64, float64, json.Number (an integer beyond int64), string, []any or *Map.
	Value any
	// KeySpan and ValueSpan are the source of the two, quotes, tags and anchors included, comments not. A missing value
	// is the empty span behind the colon, or behind the key of a flow mapping that has no colon.
	KeySpan, ValueSpan Span
	// Items are the spans of the items if the value is a list, in order.
	Items []Span
	// Line is where the key starts, from 1.
	Line int
}

// ParseProperties reads the properties of a note as YAML 1.2 with the core schema, like the app: yes, no, dates and 12:30
// are strings, 012 is 12, << is an ordinary key, a repeated key is an error.
func ParseProperties(text []byte) Properties {
	b, ok := findBlock(text)
	if !ok {
		return Properties{Body: bomLen(text)}
	}
	p := Properties{Block: b.block, YAML: b.yaml, Body: b.body}
	yaml := b.yaml.Of(text)
	if blankYAML(yaml) {
		p.State = StateEmpty
		return p
	}
	firstLine := 1 + countLines(text[:b.yaml.Start])
	problem := precheck(yaml)
	if problem != nil {
		problem.Line += firstLine
		p.State, p.Problem = StateInvalid, problem
		return p
	}
	flow := false
	list, plain := readPlain(yaml)
	if !plain {
		list, flow, problem = readYAML(yaml)
	}
	if problem != nil {
		problem.Line = max(problem.Line, 0) + firstLine
		p.State, p.Problem = StateInvalid, problem
		return p
	}
	if list == nil {
		p.State = StateEmpty
		return p
	}
	for i := range list {
		list[i].move(b.yaml.Start, firstLine)
	}
	p.State, p.List, p.Flow = StateOK, list, flow
	return p
}

// lists are lists of properties that nobody keeps.
var lists = sync.Pool{New: func() any { return new([maxPlain]Property) }}

// CheckProperties is the State and the Problem of ParseProperties, for who wants
// to know no more: it takes half the time.
func CheckProperties(text []byte) (State, *Problem) {
	if b, ok := findBlock(text); ok {
		if yaml := b.yaml.Of(text); !blankYAML(yaml) && precheck(yaml) == nil {
			list := lists.Get().(*[maxPlain]Property)
			_, plain := readPlainInto(yaml, list[:0])
			clear(list[:])
			lists.Put(list)
			if plain {
				return StateOK, nil
			}
		}
	}
	p := ParseProperties(text)
	return p.State, p.Problem
}

// move turns places in the YAML into places in the note.
func (p *Property) move(offset, firstLine int) {
	p.Line += firstLine
	p.KeySpan = Span{p.KeySpan.Start + offset, p.KeySpan.End + offset}
	p.ValueSpan = Span{p.ValueSpan.Start + offset, p.ValueSpan.End + offset}
	for i, s := range p.Items {
		p.Items[i] = Span{s.Start + offset, s.End + offset}
	}
}

// Find returns the property with a key. A key that is equal byte for byte wins over one that differs in case, since the
// app takes names of properties without case (release note 1.4.1).
func (p *Properties) Find(key string) (Property, bool) {
	fold := -1
	for i := range p.List {
		if p.List[i].Key == key {
			return p.List[i], true
		}
		if fold < 0 && strings.EqualFold(p.List[i].Key, key) {
			fold = i
		}
	}
	if fold < 0 {
		return Property{}, false
	}
	return p.List[fold], true
}

// Get returns the value of exactly this key.
func (p *Properties) Get(key string) (any, bool) {
	for i := range p.List {
		if p.List[i].Key == key {
			return p.List[i].Value, true
		}
	}
	return nil, false
}

// Lookup follows a dotted path into mappings and lists: author.name, steps.0. At each step the longest key wins, so that a
// key which holds dots itself can be named; list items count from 0. Keys must be equal byte for byte.
func (p *Properties) Lookup(path string) (any, bool) {
	return lookup(p.Map(), path)
}

// Map returns the properties as one mapping, in source order.
func (p *Properties) Map() *Map {
	m := &Map{}
	for _, prop := range p.List {
		m.add(prop.Key, prop.Value)
	}
	return m
}

func lookup(v any, path string) (any, bool) {
	for end := len(path); end >= 0; end = strings.LastIndexByte(path[:end], '.') {
		child, ok := step(v, path[:end])
		if !ok {
			continue
		}
		if end == len(path) {
			return child, true
		}
		if found, ok := lookup(child, path[end+1:]); ok {
			return found, true
		}
	}
	return nil, false
}

func step(v any, key string) (any, bool) {
	switch v := v.(type) {
	case *Map:
		return v.Get(key)
	case []any:
		i, err := strconv.Atoi(key)
		if err != nil || i < 0 || i >= len(v) {
			return nil, false
		}
		return v[i], true
	}
	return nil, false
}

// block is where the properties of a text stand.
type block struct {
	block, yaml Span
	body        int
}

// findBlock looks for the properties: the text starts, behind a byte order mark, with a line --- and a later line ---
// ends them. Blanks may stand behind the dashes. YAML's own end mark ... does not count: it is not documented.
func findBlock(text []byte) (block, bool) {
	start := bomLen(text)
	br := breaks{lf: -1, cr: -1}
	if !bytes.HasPrefix(text[start:], []byte("---")) {
		return block{}, false
	}
	end, pos := br.next(text, start)
	if !isFence(text[start:end]) || pos == end {
		return block{}, false
	}
	first := pos
	for pos < len(text) {
		end, after := br.next(text, pos)
		if isFence(text[pos:end]) {
			return block{block: Span{start, after}, yaml: Span{first, pos}, body: after}, true
		}
		pos = after
	}
	return block{}, false
}

func isFence(line []byte) bool {
	return bytes.HasPrefix(line, []byte("---")) && blankLine(line[3:])
}

// blankYAML reports whether there is nothing but blank lines and comments.
func blankYAML(yaml []byte) bool {
	br := breaks{lf: -1, cr: -1}
	for pos := 0; pos < len(yaml); {
		end, after := br.next(yaml, pos)
		if line := bytes.TrimLeft(yaml[pos:end], " \t"); len(line) > 0 && line[0] != '#' {
			return false
		}
		pos = after
	}
	return true
}

// precheck finds what must not reach the YAML library. Lines of the problem count from 0 in the block.
func precheck(yaml []byte) *Problem {
	if len(yaml) > MaxPropertyBytes {
		return &Problem{Reason: "the properties are larger than 1 MiB"}
	}
	if i := bytes.IndexByte(yaml, 0); i >= 0 {
		return &Problem{Line: countLines(yaml[:i]), Reason: "there is a NUL character"}
	}
	for i := 0; i < len(yaml); {
		if yaml[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(yaml[i:])
		if r == utf8.RuneError && size == 1 {
			return &Problem{Line: countLines(yaml[:i]), Reason: "the text is not UTF-8"}
		}
		i += size
	}
	return nil
}

// LineAt is the line of a text, from 1, that an offset is on.
func LineAt(text []byte, offset int) int { return 1 + countLines(text[:offset]) }

// countLines is the number of line ends in b.
func countLines(b []byte) int {
	n := 0
	br := breaks{lf: -1, cr: -1}
	for pos := 0; pos < len(b); {
		end, after := br.next(b, pos)
		if after > end {
			n++
		}
		pos = after
	}
	return n
}
