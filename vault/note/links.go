package note

import (
	"slices"
	"strconv"
	"strings"
)

// LinkForm says how a link is written.
type LinkForm uint8

// The forms of links.
const (
	FormWiki       LinkForm = iota // [[target#sub|text]], ![[target]]
	FormMarkdown                   // [text](target "title"), ![alt](target)
	FormDefinition                 // [label]: target "title"
	FormAutolink                   // <https://example.org>, <a@example.org>
	FormURL                        // https://example.org in running text
)

// String is the name of the form: wiki, markdown, definition, autolink or url.
func (f LinkForm) String() string {
	return [...]string{"wiki", "markdown", "definition", "autolink", "url"}[f]
}

// Link is one link or embed (help pages Linking notes and files/Internal links and Embed files). What it leads to is not
// decided here.
type Link struct {
	Form LinkForm
	// Embed is true for ![[…]] and ![…](…).
	Embed bool
	// External is true if the target is a URL with a scheme. A wikilink never is: [[https://…]] names a note.
	External bool
	// Angle is true if the target stands in angle brackets.
	Angle bool
	// TableEscape is true for a wikilink in a table whose bar is written \|.
	TableEscape bool
	// Line is where the link starts, from 1.
	Line int
	// Target is the path, or the whole URL of an external link. Percent escapes, backslashes and entities of Markdown are
	// decoded once; it is not made into a normal form. It is empty for a link into the same note.
	Target string
	// Subpath is what follows the path, from the first # on: a heading, a heading below another, or a block id.
	Subpath string
	// Text is the display text as written: behind the bar, in the brackets, or the label of a definition. In a table a bar
	// has no backslash. It is empty if there is none: see Display.
	Text string
	// Width and Height are the size of an embed in pixels, from its text or the last part of it, or 0.
	Width, Height int
	// Span is the whole markup, with the ! of an embed. TargetSpan and SubpathSpan are where Target and Subpath are
	// written, without angle brackets; TextSpan and TitleSpan those of the display text and of the title with its quotes.
	// Each is empty if there is nothing.
	Span, TargetSpan, SubpathSpan, TextSpan, TitleSpan Span
	// Property is the key of the property that the link is the value of, and empty in the text.
	Property string
	// Item is the index of the link in the list that the property holds, or -1.
	Item int
}

// Display is what Obsidian shows: the text, or else path and sub-path with " > " between those parts that are not empty.
func (l *Link) Display() string {
	if l.Text != "" || l.Form != FormWiki {
		return l.Text
	}
	parts := slices.DeleteFunc(strings.Split(l.Target+l.Subpath, "#"), func(p string) bool { return p == "" })
	return strings.Join(parts, " > ")
}

// wikilink reads [[…]] at i, which may be the first of two brackets, and returns where it ends, or 0. The text is raw up to
// ]]: no line end is in it, and of nested ones only the inner one is a link.
func (s *inliner) wikilink(i int, embed bool) int {
	buf := s.buf
	if i+1 >= len(buf) || buf[i+1] != '[' || i+2 < len(buf) && buf[i+2] == '[' {
		return 0
	}
	start := i + 2
	for j := start; j+1 < len(buf); j++ {
		switch buf[j] {
		case '\n', '\r':
			return 0
		case '[':
			if buf[j+1] == '[' {
				return 0
			}
		case ']':
			if buf[j+1] != ']' {
				continue
			}
			end := j + 2
			s.fresh, s.done = end, end
			if trimBoth(buf, start, j) != (Span{j, j}) {
				s.addWiki(i, start, j, embed)
			}
			return end
		}
	}
	return 0
}

// addWiki records the wikilink with the text between start and end. The first bar parts target and display text; at the
// very start it is part of the target, as the app takes it.
func (s *inliner) addWiki(open, start, end int, embed bool) {
	buf := s.buf
	l := Link{Form: FormWiki, Embed: embed, Item: none}
	bar, target := end, end
	for j := start + 1; j < end; j++ {
		if buf[j] == '|' {
			bar, target = j, j
			if s.cell && buf[j-1] == '\\' {
				target, l.TableEscape = j-1, true
			}
			break
		}
	}
	hash := start
	for hash < target && buf[hash] != '#' {
		hash++
	}
	path, sub := trimBoth(buf, start, hash), trimBoth(buf, hash, target)
	l.Target, l.Subpath = s.text.str(path.Of(buf)), s.text.str(sub.Of(buf))
	l.TargetSpan, l.SubpathSpan = s.span(path.Start, path.End), s.span(sub.Start, sub.End)
	if bar < end {
		text := trimBoth(buf, bar+1, end)
		l.Text, l.TextSpan = s.unescapeBar(text), s.span(text.Start, text.End)
	} else {
		l.TextSpan = s.span(end, end)
	}
	l.TitleSpan = s.span(end, end)
	if embed {
		open--
		l.Width, l.Height = embedSize(l.Text)
	}
	l.Span = s.span(open, end+2)
	l.Line = s.line(l.Span.Start)
	if !embed {
		s.inactive = len(s.brackets)
	}
	s.out.Links = append(s.out.Links, l)
}

// unescapeBar is a part of the run as text; in a cell, \| is a bar.
func (s *inliner) unescapeBar(p Span) string {
	text := s.text.str(p.Of(s.buf))
	if s.cell && strings.Contains(text, `\|`) {
		return strings.ReplaceAll(text, `\|`, "|")
	}
	return text
}

// embedSize reads the size of an embed: W or WxH in pixels, as its text or behind the last bar of it.
func embedSize(text string) (width, height int) {
	text = text[strings.LastIndexByte(text, '|')+1:]
	w, h, both := strings.Cut(strings.TrimSpace(text), "x")
	width, ok := pixels(w)
	if both && ok {
		height, ok = pixels(h)
	}
	if !ok {
		return 0, 0
	}
	return width, height
}

func pixels(s string) (int, bool) {
	if s == "" || len(s) > 9 || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil
}

// trimBoth is the part between start and end without the blanks around it.
func trimBoth(b []byte, start, end int) Span {
	for start < end && isSpace(b[start]) {
		start++
	}
	for end > start && isSpace(b[end-1]) {
		end--
	}
	return Span{start, end}
}
