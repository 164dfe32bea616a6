package query

// Span is a half-open range of bytes of a document's text.
type Span struct{ Start, End int }

func (s Span) holds(t Span) bool { return s.Start <= t.Start && t.End <= s.End }

// Kind is what search makes of a file. Only notes and canvases have a text and a name that words are looked for in;
// other files are found by file: and path: (help page Plugins/Search, Search terms).
type Kind uint8

const (
	OtherFile  Kind = iota // every file that is neither
	NoteFile               // a note
	CanvasFile             // a canvas
)

// Document is one file, as an index or a reader of files knows it. Each method is called at most once in a Match and only
// when it is needed: Path and Kind always; Text if Query.NeedsText or Options.ReadText say so; Headings also to rank a note
// whose text was read.
type Document interface {
	// Path is the path in the vault, with slashes and the extension.
	Path() string
	Kind() Kind
	// Text is the source of a note, properties, comments and code included, or the text of a canvas's cards. It is not
	// changed. Other files have none.
	Text() []byte
	// Headings are the headings at top level, in text order.
	Headings() []Heading
	// Blocks are what block: looks at, in text order and apart from each other: paragraphs, headings, code, tables and so
	// on, and list items each without the items below it.
	Blocks() []Span
	// Tasks are the tasks, in text order.
	Tasks() []Task
	// Tags are the tags of the text and of the properties.
	Tags() []Tag
	// Properties are the properties; none if they cannot be read.
	Properties() []Property
}

// Heading is where a section starts.
type Heading struct {
	Level int // 1 to 6
	Span  Span
}

// Task is one task of a note. For the app every mark but a blank is done (help page Editing and formatting/Basic
// formatting syntax).
type Task struct {
	// Text is the item behind its box, without the items below it.
	Text Span
	Done bool
}

// Tag is a tag with its place.
type Tag struct {
	Name string // as written; a leading # is ignored
	// Span is where it stands in the text. It is empty for a tag of the properties, or if an index does not know it:
	// tag: inside line:, block:, section: or task: does not see it then.
	Span Span
}

// Property is one property.
type Property struct {
	Name string
	// Value is nil, bool, int, int64, float64, json.Number or another number with String, string, []any, or a mapping with
	// the methods Keys and Get.
	Value any
	// Span is where it stands in the text, or empty.
	Span Span
}

// Finder is a text or a regular expression prepared for searching. It is shared by goroutines.
type Finder interface {
	// Begin starts a search in one text, which does not change.
	Begin(text []byte) Finding
}

// Finding is a search on its way through one text.
type Finding interface {
	// Next is the first match that starts at or after from, or -1. from never decreases. A regular expression sees what
	// stands before from.
	Next(from int) (start, end int)
}

// Engine makes finders. Queries mean the same whatever the engine; it decides how fast they are.
type Engine struct {
	// Literal finds a text that is not empty; with fold without regard to case. Accents count.
	Literal func(text string, fold bool) Finder
	// Regexp finds a JavaScript regular expression with the flag m, and i with fold. Texts come with every line end as LF.
	// The error says for people what is wrong with the pattern.
	Regexp func(pattern string, fold bool) (Finder, error)
}

// Matcher is a query that is ready to run. It never changes and is shared by goroutines.
type Matcher struct {
	query  *Query
	root   *check
	checks int
}

// check is a node with what finds it.
type check struct {
	*node
	kids   []*check
	id     int
	fold   bool
	finder Finder // nil for nodes without text
}

// Prepare makes a query ready to run. The error is a *SyntaxError at the regular expression that is at fault.
func (q *Query) Prepare(e Engine) (*Matcher, error) {
	m := &Matcher{query: q}
	var err error
	m.root, err = m.prepare(q, e, q.root, true)
	return m, err
}

func (m *Matcher) prepare(q *Query, e Engine, n *node, fold bool) (*check, error) {
	c := &check{node: n, id: m.checks, fold: fold}
	m.checks++
	switch {
	case n.kind == kindOp && n.op == opMatchCase:
		fold = false
	case n.kind == kindOp && n.op == opIgnoreCase:
		fold = true
	case n.kind == kindWord, n.kind == kindPhrase, n.kind == kindNull && n.text == "EMPTY":
		c.finder = e.Literal(unixEnds.Replace(n.text), fold)
	case n.kind == kindRegex:
		f, err := e.Regexp(n.text, fold)
		if err != nil {
			return nil, &SyntaxError{Offset: n.at, Column: column(q.source, n.at), Msg: err.Error()}
		}
		c.finder = f
	}
	for _, kid := range n.kids {
		k, err := m.prepare(q, e, kid, fold)
		if err != nil {
			return nil, err
		}
		c.kids = append(c.kids, k)
	}
	return c, nil
}
