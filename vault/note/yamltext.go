package note

import (
	"bytes"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// yamlText is the text that the YAML library parses, and the way back to the source. It differs from the source where
// the library would read YAML 1.1: NEL, U+2028 and U+2029 end lines there, control characters and a byte order mark in
// the middle are refused, and a question mark or a colon ends a text in brackets. Each of those is replaced by a character
// that the source does not hold. And it differs in two escapes of JSON that the library does not know, and in some tabs.
type yamlText struct {
	src, b  []byte
	edits   []edit
	restore *strings.Replacer // nil if nothing was replaced
}

// edit says that the text at an offset, and behind it, is shifted against the source.
type edit struct{ at, source int }

func newYAMLText(src []byte) yamlText {
	t := yamlText{src: src, b: src}
	stand, flow := map[rune]rune{}, bytes.ContainsAny(src, "[{")
	for i := 0; i < len(src); {
		r, size := rune(src[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(src[i:])
		}
		if refused(r) || flow && plainMark(src, i) {
			stand[r] = 0
		}
		i += size
	}
	if len(stand) == 0 {
		return t
	}
	free := rune(0xF0000) // private use
	var pairs []string
	for r := range stand {
		for bytes.ContainsRune(src, free) {
			free++
		}
		stand[r] = free
		pairs = append(pairs, string(free), string(r))
		free++
	}
	t.restore = strings.NewReplacer(pairs...)
	out := make([]byte, 0, len(src)+16)
	for i := 0; i < len(src); {
		r, size := utf8.DecodeRune(src[i:])
		if s, ok := stand[r]; ok && (r != '?' && r != ':' || plainMark(src, i)) {
			out = utf8.AppendRune(out, s)
			t.edits = append(t.edits, edit{len(out), i + size})
		} else {
			out = append(out, src[i:i+size]...)
		}
		i += size
	}
	t.b = out
	return t
}

// refused reports whether YAML 1.2 takes a character as an ordinary one, and the library does not.
func refused(r rune) bool {
	switch r {
	case '\t', '\n', '\r':
		return false
	case 0x85, 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF:
		return true
	}
	return r < 0x20 || r >= 0x7F && r < 0xA0
}

// plainMark reports whether a question mark or colon belongs to a text: such a mark of a key has a blank behind it, and a
// question mark has no text before it. Other colons are not asked for, as the library takes them in a text.
func plainMark(src []byte, i int) bool {
	mark := src[i]
	if mark != '?' && mark != ':' {
		return false
	}
	text := i+1 < len(src) && !isYAMLSpace(src[i+1]) && bytes.IndexByte([]byte(",[]{}"), src[i+1]) < 0
	if mark == ':' {
		return text && (i == 0 || isYAMLSpace(src[i-1]) || bytes.IndexByte([]byte("[{,"), src[i-1]) >= 0)
	}
	for i--; !text && i >= 0 && isBlank(src[i]); i-- {
	}
	return text || i >= 0 && bytes.IndexByte([]byte("\n\r[{,:-?"), src[i]) < 0
}

// original undoes the replacement in a value.
func (t *yamlText) original(s string) string {
	if t.restore == nil {
		return s
	}
	return t.restore.Replace(s)
}

// source is the offset in the source of an offset in the text.
func (t *yamlText) source(at int) int {
	i := sort.Search(len(t.edits), func(i int) bool { return t.edits[i].at > at })
	if i == 0 {
		return at
	}
	e := t.edits[i-1]
	return min(e.source+at-e.at, len(t.src))
}

// decodeEscapes rewrites the escapes \/ and \uD83D\uDE00 (a surrogate pair), which JSON writes and the library refuses. It
// reports whether there was one. It is for texts that did not parse, since it does not know which text is quoted.
func (t *yamlText) decodeEscapes() bool {
	if !bytes.Contains(t.b, []byte(`\/`)) && !bytes.Contains(t.b, []byte(`\u`)) {
		return false
	}
	out, edits, found := make([]byte, 0, len(t.b)), []edit(nil), false
	for i, k := 0, 0; i < len(t.b); {
		for ; k < len(t.edits) && t.edits[k].at <= i; k++ {
			edits = append(edits, edit{len(out), t.edits[k].source})
		}
		rest, n := t.b[i:], 0
		switch {
		case len(rest) < 2 || rest[0] != '\\':
			out = append(out, rest[0])
			i++
			continue
		case rest[1] == '/':
			out, n = append(out, '/'), 2
		case len(rest) >= 12 && rest[1] == 'u' && rest[6] == '\\' && rest[7] == 'u' && pair(rest) >= 0:
			out, n = fmt.Appendf(out, `\U%08X`, pair(rest)), 12
		default:
			out = append(out, rest[:2]...)
			i += 2
			continue
		}
		i, found = i+n, true
		edits = append(edits, edit{len(out), t.source(i)})
	}
	t.b, t.edits = out, edits
	return found
}

// blankTabs makes blanks of the tabs in lines of white space and behind the dash of an item, which YAML takes there and the
// library refuses. It reports whether there was one. It is for texts that did not parse: in a block text they are content.
func (t *yamlText) blankTabs() bool {
	if bytes.IndexByte(t.b, '\t') < 0 {
		return false
	}
	out, found := bytes.Clone(t.b), false
	for pos, br := 0, (breaks{lf: -1, cr: -1}); pos < len(out); {
		var end int
		start := pos
		end, pos = br.next(out, start)
		at := start + run(out[start:end], ' ')
		for at+1 < end && out[at] == '-' && isBlank(out[at+1]) {
			at = trimBlanks(out[:end], at+1)
		}
		if trimBlanks(out[:end], at) == end {
			at = end
		} else if rest := out[at:end]; out[at] == '\t' || bytes.Contains(rest, []byte(": ")) || rest[len(rest)-1] == ':' {
			continue // a tab would be indentation
		}
		for i := start; i < at; i++ {
			if out[i] == '\t' {
				out[i], found = ' ', true
			}
		}
	}
	t.b = out
	return found
}

// pair is the character that two \u escapes make together, or -1.
func pair(b []byte) rune {
	hi, err := strconv.ParseUint(string(b[2:6]), 16, 32)
	lo, err2 := strconv.ParseUint(string(b[8:12]), 16, 32)
	if err != nil || err2 != nil {
		return -1
	}
	if r := utf16.DecodeRune(rune(hi), rune(lo)); r != utf8.RuneError {
		return r
	}
	return -1
}
