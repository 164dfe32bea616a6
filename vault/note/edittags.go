package note

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// TagPlace says which tags of a note are meant.
type TagPlace uint8

// The places of tags.
const (
	TagsEverywhere TagPlace = iota
	TagsInProperties
	TagsInText
)

// TagNameError says that a name cannot be a tag.
type TagNameError struct{ Name string }

func (e *TagNameError) Error() string {
	return fmt.Sprintf("%q cannot be a tag: a tag has letters, digits, - _ and /, and not digits alone", e.Name)
}

// TagName is the name of a tag that is given with or without #, and an error, *TagNameError, if it cannot be one.
func TagName(tag string) (string, error) {
	name := tagName(tag)
	b := []byte(name)
	if !isTag(b) || tagEnd(b, 0) != len(b) || strings.Contains("/"+name+"/", "//") {
		return "", &TagNameError{Name: tag}
	}
	return name, nil
}

// AddTag adds a tag that the place does not have yet, whatever its case: to the property tags, or else, for TagsInText, as
// a new last paragraph, or behind the last tag if the text ends with a line of tags.
func AddTag(text []byte, tag string, place TagPlace) ([]byte, error) {
	name, err := TagName(tag)
	if err != nil {
		return nil, err
	}
	if place != TagsInText {
		return EditProperties(text, AddItems("tags", name))
	}
	n := Scan(text)
	tags := n.Inline().Tags
	if slices.ContainsFunc(tags, func(t Tag) bool { return sameTag(t.Name, name) }) {
		return text, nil
	}
	out := behindTags(text, tags, name)
	if out == nil {
		e, err := Append(text, "#"+name, true)
		if err != nil {
			return nil, err
		}
		out = e.Text
	}
	if harm := n.tagHarm(out, append(tagNames(tags), name), 1); harm != "" {
		return nil, &SpoilError{Harm: "a tag at the end of the note would be no tag: " + harm}
	}
	return out, nil
}

// behindTags puts a tag behind the last one, if the last line with text is tags and nothing else.
func behindTags(text []byte, tags []Tag, name string) []byte {
	end := len(bytes.TrimRight(text, " \t\r\n"))
	at := bytes.LastIndexAny(text[:end], "\r\n") + 1
	for i := range tags {
		if s := tags[i].Span; s.Start >= at {
			if !blankLine(text[at:s.Start]) {
				return nil
			}
			at = s.End
		}
	}
	if len(tags) == 0 || at != end || tags[len(tags)-1].Span.End != end {
		return nil
	}
	return slices.Concat(text[:end], []byte(" #"+name), text[end:])
}

// RemoveTag takes a tag out, but not those below it (tag/child), and says how often it was there. The property tag, which
// older versions of the app read, counts too. In the text the blanks go that would be left over; the rest of the line
// stays, and an edit that would make another kind of block of it is refused with a *SpoilError.
func RemoveTag(text []byte, tag string, place TagPlace) ([]byte, int, error) {
	name, err := TagName(tag)
	if err != nil {
		return nil, 0, err
	}
	removed := 0
	if place != TagsInProperties {
		if text, removed, err = removeTextTags(text, name); err != nil {
			return nil, 0, err
		}
	}
	if place != TagsInText {
		text, err = editTagProperties(text, place, func(e *propertyEditor, key string) error {
			return e.filter(key, func(v any) bool {
				s, ok := plainOf(v).(string)
				if ok = ok && sameTag(tagName(s), name); ok {
					removed++
				}
				return ok
			})
		})
		if err != nil {
			return nil, 0, err
		}
	}
	return text, removed, nil
}

// editTagProperties makes an edit of each property that holds tags. Properties that are not valid have none, which is an
// error only if nothing else is meant.
func editTagProperties(text []byte, place TagPlace, edit func(*propertyEditor, string) error) ([]byte, error) {
	e := propertyEditor{}
	if err := e.open(text); err != nil {
		if place == TagsInProperties {
			return nil, err
		}
		return text, nil
	}
	for _, p := range e.props.List {
		if isTagKey(p.Key) {
			if err := named(edit(&e, p.Key), p.Key); err != nil {
				return nil, err
			}
		}
	}
	return e.text, nil
}

// RenameTag gives a tag, and all those below it, another name, and says how many were renamed: old/child becomes new/child.
// A tag that a property has under the new name already is not doubled.
func RenameTag(text []byte, old, to string, place TagPlace) ([]byte, int, error) {
	from, err := TagName(old)
	if err != nil {
		return nil, 0, err
	}
	if to, err = TagName(to); err != nil {
		return nil, 0, err
	}
	renamed := 0
	if place != TagsInProperties {
		if text, renamed, err = renameTextTags(text, from, to); err != nil {
			return nil, 0, err
		}
	}
	if place != TagsInText {
		text, err = editTagProperties(text, place, func(e *propertyEditor, key string) error {
			n, err := e.renameTags(key, from, to)
			renamed += n
			return err
		})
		if err != nil {
			return nil, 0, err
		}
	}
	return text, renamed, nil
}

// renameTags renames tags in a property.
func (e *propertyEditor) renameTags(key, from, to string) (int, error) {
	p, _ := e.props.Find(key)
	if s, ok := p.Value.(string); ok {
		if s, ok = renamedItem(s, from, to); !ok {
			return 0, nil
		}
		return 1, e.set([]string{p.Key}, s)
	}
	list, ok := p.Value.([]any)
	if !ok {
		return 0, nil
	}
	have := map[string]bool{}
	for _, v := range list {
		if s, ok := v.(string); ok && !isBelow(tagName(s), from) {
			have[tagKey(s)] = true
		}
	}
	renamed := 0
	var kept, next []any
	for _, v := range list {
		s, ok := v.(string)
		if ok {
			s, ok = renamedItem(s, from, to)
		}
		if !ok {
			kept, next = append(kept, v), append(next, v)
			continue
		}
		renamed++
		if !have[tagKey(s)] {
			have[tagKey(s)] = true
			kept, next = append(kept, v), append(next, s)
		}
	}
	if renamed == 0 {
		return 0, nil
	}
	if len(kept) < len(list) { // first, so that what stays is renamed in its place
		if err := e.set([]string{p.Key}, kept); err != nil {
			return 0, err
		}
	}
	return renamed, e.set([]string{p.Key}, next)
}

// renamedItem is a tag of a property under its new name, with its # if it has one.
func renamedItem(s, from, to string) (string, bool) {
	name := tagName(s)
	if !isBelow(name, from) {
		return s, false
	}
	mark := ""
	if strings.HasPrefix(strings.TrimSpace(s), "#") {
		mark = "#"
	}
	return mark + to + name[prefixLen(name, from):], true
}

// tagKey is the same for all spellings of a tag, by the rule that look-ups of tags follow: composed (NFC), with full case
// folding.
func tagKey(s string) string {
	s = strings.TrimRight(tagName(s), "/")
	if strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return strings.ToLower(s)
	}
	return norm.NFC.String(cases.Fold().String(norm.NFC.String(s)))
}

func sameTag(a, b string) bool { return tagKey(a) == tagKey(b) }

// isBelow reports whether a tag is another one or below it.
func isBelow(name, tag string) bool { return prefixLen(name, tag) > 0 }

// prefixLen is the length of the part of a name that is a tag, or 0. Spellings of a tag can differ in length.
func prefixLen(name, tag string) int {
	at := 0
	for range 1 + strings.Count(strings.TrimRight(tag, "/"), "/") {
		if at > 0 {
			at++
		}
		if at > len(name) {
			return 0
		}
		if i := strings.IndexByte(name[at:], '/'); i >= 0 {
			at += i
		} else {
			at = len(name)
		}
	}
	if !sameTag(name[:at], tag) {
		return 0
	}
	return at
}

func tagNames(tags []Tag) []string {
	names := make([]string, len(tags))
	for i, t := range tags {
		names[i] = t.Name
	}
	return names
}

// renameTextTags renames tags in the text.
func renameTextTags(text []byte, from, to string) ([]byte, int, error) {
	n := Scan(text)
	tags := n.Inline().Tags
	want := tagNames(tags)
	var out []byte
	at, renamed := 0, 0
	for i, t := range tags {
		size := prefixLen(t.Name, from)
		if size == 0 {
			continue
		}
		name := t.Span.Start + 1
		out = append(append(out, text[at:name]...), to...)
		at = name + size
		want[i] = to + t.Name[size:]
		renamed++
	}
	if renamed == 0 {
		return text, 0, nil
	}
	out = append(out, text[at:]...)
	if harm := n.tagHarm(out, want, 0); harm != "" {
		return nil, 0, &SpoilError{Harm: "the tag cannot be renamed in its place: " + harm}
	}
	return out, renamed, nil
}

// removeTextTags takes a tag out of the text: with the blanks that would be left over, or, if that would change what is
// around it, alone.
func removeTextTags(text []byte, name string) ([]byte, int, error) {
	n := Scan(text)
	tags := n.Inline().Tags
	var want []string
	var tidy, bare []Span
	for _, t := range tags {
		if sameTag(t.Name, name) {
			tidy, bare = append(tidy, n.tagCut(t.Span)), append(bare, t.Span)
		} else {
			want = append(want, t.Name)
		}
	}
	if bare == nil {
		return text, 0, nil
	}
	harm := ""
	for _, cuts := range [...][]Span{tidy, bare} {
		var out []byte
		at := 0
		for _, c := range cuts {
			if c.End > at {
				out = append(out, text[at:max(at, c.Start)]...)
				at = c.End
			}
		}
		out = append(out, text[at:]...)
		if harm = n.tagHarm(out, want, 0); harm == "" {
			return out, len(bare), nil
		}
	}
	return nil, 0, &SpoilError{Harm: "the tag cannot be taken out of the text: " + harm}
}

// lineLead is what can stand before the text of a line, behind the marks of its containers.
var lineLead = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[ \t]*(?:\[[^\r\n]\]|#{1,6})?[ \t]*$`) })

// tagCut is a tag in the text with what would be left over without it: its line, if it holds nothing else, or the blanks
// on one side.
func (n *Note) tagCut(s Span) Span {
	i := n.lineAt(s.Start)
	line := n.LineSpan(i + 1)
	end := line.End
	for end > s.End && isLineEnd(n.src[end-1]) {
		end--
	}
	start := max(int(n.lines[i].text), line.Start)
	if start > s.Start {
		start = line.Start
	}
	left, right := n.src[start:s.Start], n.src[s.End:end]
	switch {
	case blankLine(left) && blankLine(right) && blankLine(n.src[line.Start:start]):
		if line.End == end && line.Start > n.Body { // the last line, without a line end: the one before it goes
			k := line.Start - 1
			if n.src[k] == '\n' && k > 0 && n.src[k-1] == '\r' {
				k--
			}
			return Span{max(k, n.Body), end}
		}
		return line
	case lineLead().Match(left):
		return Span{s.Start, trimBlanks(n.src, s.End)}
	}
	before := trimRight(n.src, start, s.Start)
	if before < s.Start && (len(right) == 0 || isBlank(right[0]) || bytes.IndexByte([]byte(".,;:!?)]}"), right[0]) >= 0) {
		return Span{before, s.End}
	}
	return s
}

// tagHarm says what else than the wanted tags an edit of tags in the text would change, or "". It may add some paragraphs.
func (n *Note) tagHarm(text []byte, want []string, paragraphs int) string {
	m := Scan(text)
	a, b := n.Inline(), m.Inline()
	switch {
	case !slices.Equal(tagNames(b.Tags), want):
		return "other tags would change, or it would stand in code, math or a comment"
	case m.Body != n.Body:
		return "the properties would change"
	case len(a.Tasks) != len(b.Tasks):
		return "a task would come or go"
	case len(a.Links) != len(b.Links) || len(a.Code) != len(b.Code) || len(a.Math) != len(b.Math) || len(a.Comments) != len(b.Comments) ||
		len(a.Footnotes) != len(b.Footnotes) || len(a.References) != len(b.References):
		return "a link, code or comment would come or go"
	}
	had, has := n.kinds(), m.kinds()
	if has[KindParagraph] > had[KindParagraph]+paragraphs {
		return "a paragraph would be torn"
	}
	had[KindParagraph], has[KindParagraph] = 0, 0
	if had != has || len(n.Blocks) != len(m.Blocks) {
		return "a line would become another kind of block"
	}
	return ""
}

// kinds counts the blocks of each kind.
func (n *Note) kinds() (counts [KindRule + 1]int) {
	for i := range n.nodes {
		counts[n.nodes[i].kind]++
	}
	return counts
}
