package note

import (
	"bytes"
	"strings"
)

// openHTML: the seven start conditions of CommonMark 4.6. The seventh, any complete tag alone on its line, does not
// interrupt a paragraph.
func (s *scanner) openHTML(matched int, rest []byte) started {
	kind := htmlStart(rest)
	if kind == 0 || kind == 7 && s.leaf.kind == KindParagraph {
		return startedNothing
	}
	s.closeTo(matched)
	s.open(KindHTML)
	s.leaf.html = kind
	s.addLine(s.nextPos)
	s.endHTML(rest)
	return startedLeaf
}

// endHTML closes the open HTML block if the line meets its end condition. Blocks of condition 6 and 7 end at a blank
// line, which continueLeaf sees to.
func (s *scanner) endHTML(rest []byte) {
	ends := false
	switch s.leaf.html {
	case 1:
		ends = endsRaw(rest)
	case 2:
		ends = bytes.Contains(rest, []byte("-->"))
	case 3:
		ends = bytes.Contains(rest, []byte("?>"))
	case 4:
		ends = bytes.IndexByte(rest, '>') >= 0
	case 5:
		ends = bytes.Contains(rest, []byte("]]>"))
	}
	if ends {
		s.closeLeaf()
	}
}

func htmlStart(rest []byte) int {
	switch {
	case len(rest) < 2:
		return 0
	case bytes.HasPrefix(rest, []byte("<!--")):
		return 2
	case rest[1] == '?':
		return 3
	case bytes.HasPrefix(rest, []byte("<![CDATA[")):
		return 5
	case rest[1] == '!':
		if len(rest) > 2 && isAlpha(rest[2]) {
			return 4
		}
		return 0
	}
	name := rest[1:]
	closing := name[0] == '/'
	if closing {
		name = name[1:]
	}
	n := 0
	for n < len(name) && n < 16 && (isAlpha(name[n]) || isDigit(name[n])) {
		n++
	}
	tag, after := strings.ToLower(string(name[:n])), name[n:]
	bare := len(after) == 0 || isBlank(after[0]) || after[0] == '>'
	switch {
	case !closing && bare && rawTags[tag]:
		return 1
	case blockTags[tag] && (bare || bytes.HasPrefix(after, []byte("/>"))):
		return 6
	case !rawTags[tag] && completeTag(rest):
		return 7
	}
	return 0
}

// endsRaw reports whether the line holds the end tag of script, pre, style or textarea, whichever opened the block.
func endsRaw(b []byte) bool {
	for {
		i := bytes.Index(b, []byte("</"))
		if i < 0 {
			return false
		}
		b = b[i+2:]
		n := 0
		for n < len(b) && n < 9 && isAlpha(b[n]) {
			n++
		}
		if n < len(b) && b[n] == '>' && rawTags[strings.ToLower(string(b[:n]))] {
			return true
		}
	}
}

// completeTag reports whether the line is one open or closing tag and blanks (CommonMark 6.6).
func completeTag(b []byte) bool {
	n := tagLength(b)
	return n > 0 && blankLine(b[n:])
}

// tagLength is the length of the open or closing tag that b starts with, or 0 (CommonMark 6.6).
func tagLength(b []byte) int {
	closing := len(b) > 1 && b[1] == '/'
	i := 1
	if closing {
		i = 2
	}
	if i >= len(b) || !isAlpha(b[i]) {
		return 0
	}
	for i < len(b) && (isAlpha(b[i]) || isDigit(b[i]) || b[i] == '-') {
		i++
	}
	for !closing {
		next := skipSpace(b, i)
		if next == i {
			break
		}
		end, ok := attribute(b, next)
		if !ok {
			break
		}
		i = end
	}
	i = skipSpace(b, i)
	if !closing && i < len(b) && b[i] == '/' {
		i++
	}
	if i < len(b) && b[i] == '>' {
		return i + 1
	}
	return 0
}

// attribute reads one attribute of a tag at i, and returns where it ends.
func attribute(b []byte, i int) (int, bool) {
	start := i
	for i < len(b) && (isAlpha(b[i]) || b[i] == '_' || b[i] == ':' ||
		i > start && (isDigit(b[i]) || b[i] == '.' || b[i] == '-')) {
		i++
	}
	if i == start {
		return i, false
	}
	eq := skipSpace(b, i)
	if eq >= len(b) || b[eq] != '=' {
		return i, true
	}
	v := skipSpace(b, eq+1)
	if v >= len(b) {
		return i, false
	}
	if q := b[v]; q == '"' || q == '\'' {
		end := bytes.IndexByte(b[v+1:], q)
		return v + 2 + end, end >= 0
	}
	end := v
	for end < len(b) && !isSpace(b[end]) && !strings.ContainsRune("\"'=<>`", rune(b[end])) {
		end++
	}
	return end, end > v
}

func skipBlanks(b []byte, i int) int {
	for i < len(b) && isBlank(b[i]) {
		i++
	}
	return i
}

func set(names string) map[string]bool {
	m := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		m[name] = true
	}
	return m
}

var (
	rawTags   = set("script pre style textarea")
	blockTags = set(`address article aside base basefont blockquote body caption center col colgroup dd details dialog
		dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe
		legend li link main menu menuitem nav noframes ol optgroup option p param search section summary table tbody td
		tfoot th thead title tr track ul`)
)
