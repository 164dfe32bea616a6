package facts

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"iter"
	"math"

	"vault-mcp/vault/note"
)

// ErrDamaged is what a blob is that Append has not written, or of another
// Version.
var ErrDamaged = errors.New("the facts of a note are damaged")

// maxDepth bounds lists and mappings in each other, as reading properties does.
const maxDepth = note.MaxPropertyDepth + 1

// Blob is the encoded form of a Note. Its methods give what can be read of a
// damaged one; Valid tells. Strings that they return are parts of it. The empty
// blob is that of a note whose content could not be read.
type Blob string

// reader reads from the front of s. What is wrong sets bad and gives zeros.
type reader struct {
	s    string
	last int
	bad  bool
}

// noLists are the lengths of lists that are all empty.
const noLists = "\x00\x00\x00\x00\x00\x00\x00"

func (r *reader) fail() { r.bad, r.s = true, "" }

func (r *reader) more() bool { return !r.bad && r.s != "" }

func (r *reader) byte() byte {
	if r.s == "" {
		r.fail()
		return 0
	}
	b := r.s[0]
	r.s = r.s[1:]
	return b
}

func (r *reader) uvarint() uint64 {
	var n uint64
	for shift := uint(0); shift < 64; shift += 7 {
		b := r.byte()
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return n
		}
	}
	r.fail()
	return 0
}

func (r *reader) uint() int {
	n := r.uvarint()
	if n > math.MaxInt32 {
		r.fail()
		return 0
	}
	return int(n)
}

func (r *reader) int() int64 {
	n := r.uvarint()
	return int64(n>>1) ^ -int64(n&1)
}

func (r *reader) string() string {
	n := r.uint()
	if n > len(r.s) {
		r.fail()
		return ""
	}
	s := r.s[:n]
	r.s = r.s[n:]
	return s
}

func (r *reader) line() int {
	r.last += int(r.int())
	return r.last
}

// head reads what stands before the lists into n, and leaves r at the lengths.
func (b Blob) head(n *Note) reader {
	if len(b) == 0 {
		return reader{s: noLists}
	}
	r := reader{s: string(b)}
	if r.byte() != Version {
		r.fail()
		return r
	}
	state := r.byte()
	if state > byte(note.StateInvalid) {
		r.fail()
		return r
	}
	n.State = note.State(state)
	n.Lines = r.uint()
	if n.Problem = r.string(); n.Problem != "" {
		n.ProblemLine = r.uint()
	}
	return r
}

// section is a reader of one list.
func (b Blob) section(which int) reader {
	var n Note
	return section(b.head(&n), which)
}

func section(r reader, which int) reader {
	from, size := 0, 0
	for i := range sections {
		l := r.uint()
		if i < which {
			from += l
		} else if i == which {
			size = l
		}
	}
	if from+size > len(r.s) {
		r.fail()
		return r
	}
	return reader{s: r.s[from : from+size], bad: r.bad}
}

// Head is the note without its lists.
func (b Blob) Head() Note {
	var n Note
	b.head(&n)
	return n
}

// each reads a list item by item.
func each[T any](b Blob, which int, read func(*reader, *T)) iter.Seq[T] {
	return func(yield func(T) bool) {
		r := b.section(which)
		for r.more() {
			var item T
			read(&r, &item)
			if r.bad || !yield(item) {
				return
			}
		}
	}
}

// Aliases are the other names of the note.
func (b Blob) Aliases() iter.Seq[string] { return each(b, inAliases, readAlias) }

// Tags are the tags of the note, one for each place.
func (b Blob) Tags() iter.Seq[Tag] { return each(b, inTags, readTag) }

// Links are the links of the note.
func (b Blob) Links() iter.Seq[Link] { return each(b, inLinks, readLink) }

// Headings are the headings of the note.
func (b Blob) Headings() iter.Seq[Heading] { return each(b, inHeadings, readHeading) }

// Blocks are the parts of the note with an id.
func (b Blob) Blocks() iter.Seq[Block] { return each(b, inBlocks, readBlock) }

// Tasks are the tasks of the note.
func (b Blob) Tasks() iter.Seq[Task] { return each(b, inTasks, readTask) }

// Properties are the properties of the note.
func (b Blob) Properties() iter.Seq[Property] { return each(b, inProperties, readProperty) }

func readAlias(r *reader, s *string) { *s = r.string() }

func readTag(r *reader, t *Tag) {
	t.Name = r.string()
	t.Line = r.line()
	t.Property = r.string()
}

func readLink(r *reader, l *Link) {
	flags := r.byte()
	if l.Card = flags&linkForm == isCard; !l.Card {
		l.Form = note.LinkForm(flags & linkForm)
	}
	if l.Form > note.FormURL {
		r.fail()
	}
	l.Embed, l.External, l.Item = flags&linkEmbed != 0, flags&linkExternal != 0, -1
	l.Line, l.Column, l.Length = r.line(), r.uint(), r.uint()
	l.Target = r.string()
	if flags&linkSubpath != 0 {
		l.Subpath = r.string()
	}
	if flags&linkText != 0 {
		l.Text = r.string()
	}
	if flags&linkProperty != 0 {
		l.Property = r.string()
		l.Item = int(r.int())
		if l.Property == "" {
			r.fail()
		}
	}
	if l.Card {
		l.Node = r.string()
	}
}

func readHeading(r *reader, h *Heading) {
	h.Level = int(r.byte())
	h.Line, h.Lines = r.line(), r.uint()
	h.Text = r.string()
}

func readBlock(r *reader, b *Block) {
	b.Kind = note.Kind(r.byte())
	if b.Kind > note.KindRule {
		r.fail()
	}
	b.Line = r.line()
	b.EndLine = b.Line + r.uint()
	b.ID = r.string()
}

func readTask(r *reader, t *Task) {
	t.Status = rune(r.uint())
	t.Line = r.line()
	t.EndLine = t.Line + r.uint()
	t.Parent, t.Indent = r.uint(), r.uint()
	t.Text, t.ID = r.string(), r.string()
	for range r.uint() {
		f := TaskField{note.TaskFieldKind(r.byte()), r.string()}
		if f.Kind > note.TaskOnCompletion {
			r.fail()
		}
		if r.bad {
			return
		}
		t.Fields = append(t.Fields, f)
	}
}

func readProperty(r *reader, p *Property) {
	p.Key = r.string()
	p.Line = r.line()
	p.Value = r.value(0)
}

func (r *reader) value(depth int) any {
	kind := r.byte()
	if depth > maxDepth {
		r.fail()
	}
	switch kind {
	case isFalse, isTrue:
		return kind == isTrue
	case isInt:
		return r.int()
	case isFloat:
		if len(r.s) < 8 {
			r.fail()
			return nil
		}
		v := math.Float64frombits(binary.LittleEndian.Uint64([]byte(r.s[:8])))
		r.s = r.s[8:]
		return v
	case isNumber:
		return json.Number(r.string())
	case isString:
		return r.string()
	case isList:
		list := []any{}
		for n := r.uint(); n > 0 && !r.bad; n-- {
			list = append(list, r.value(depth+1))
		}
		return list
	case isMap:
		m := Map{}
		for n := r.uint(); n > 0 && !r.bad; n-- {
			m = append(m, Member{r.string(), r.value(depth + 1)})
		}
		return m
	case isNull:
		return nil
	}
	r.fail()
	return nil
}

// Decode reads the whole note.
func (b Blob) Decode() (*Note, error) {
	n := &Note{}
	at := b.head(n)
	ok := collect(at, inAliases, readAlias, &n.Aliases) && collect(at, inTags, readTag, &n.Tags) &&
		collect(at, inLinks, readLink, &n.Links) && collect(at, inHeadings, readHeading, &n.Headings) &&
		collect(at, inBlocks, readBlock, &n.Blocks) && collect(at, inTasks, readTask, &n.Tasks) &&
		collect(at, inProperties, readProperty, &n.Properties)
	if !ok {
		return nil, ErrDamaged
	}
	return n, nil
}

func collect[T any](at reader, which int, read func(*reader, *T), into *[]T) bool {
	r := section(at, which)
	for r.more() {
		var item T
		if read(&r, &item); !r.bad {
			*into = append(*into, item)
		}
	}
	return !r.bad
}
