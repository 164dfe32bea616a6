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
// the library would read YAML 1.1: NEL, U+2028 and U+2029 end lines there, and control characters and a byte order mark
// in the middle are refused. Each of those is replaced by a character that the source does not hold. And it differs in
// two escapes of JSON that the library does not know.
type yamlText struct {
	src, b  []byte
	edits   []edit
	restore *strings.Replacer // nil if nothing was replaced
}

// edit says that the text at an offset, and behind it, is shifted against the source.
type edit struct{ at, source int }

func newYAMLText(src []byte) yamlText {
	t := yamlText{src: src, b: src}
	stand := map[rune]rune{}
	for i := 0; i < len(src); {
		r, size := rune(src[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(src[i:])
		}
		if refused(r) {
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
		if s, ok := stand[r]; ok {
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
	if t.edits != nil || !bytes.Contains(t.b, []byte(`\/`)) && !bytes.Contains(t.b, []byte(`\u`)) {
		return false
	}
	out := make([]byte, 0, len(t.b))
	for i := 0; i < len(t.b); {
		rest := t.b[i:]
		switch {
		case len(rest) < 2 || rest[0] != '\\':
			out = append(out, rest[0])
			i++
		case rest[1] == '/':
			out = append(out, '/')
			i += 2
			t.edits = append(t.edits, edit{len(out), i})
		case len(rest) >= 12 && rest[1] == 'u' && rest[6] == '\\' && rest[7] == 'u' && pair(rest) >= 0:
			out = fmt.Appendf(out, `\U%08X`, pair(rest))
			i += 12
			t.edits = append(t.edits, edit{len(out), i})
		default:
			out = append(out, rest[:2]...)
			i += 2
		}
	}
	t.b = out
	return len(t.edits) > 0
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
