package link

import (
	"strings"
	"unicode/utf8"

	"vault-mcp/vault"
)

// maxTarget is how many bytes of path a link can have and still lead to a file: no system has longer paths.
const maxTarget = 4096

// Split cuts the target of a link at its first #, which stays with the sub-path. Neither part is changed otherwise.
func Split(target string) (path, subpath string) {
	if i := strings.IndexByte(target, '#'); i >= 0 {
		return target[:i], target[i:]
	}
	return target, ""
}

// Display is the text that Obsidian shows for a link without one: "A > B > C" for A#B#C, and "B" for #B.
func Display(target string) string {
	if strings.IndexByte(target, '#') < 0 {
		return target
	}
	parts := strings.Split(target, "#")
	shown := parts[:0]
	for _, p := range parts {
		if p != "" {
			shown = append(shown, p)
		}
	}
	return strings.Join(shown, " > ")
}

// Key is the folded last name in the path of a link. An index that keeps links by their keys finds all that can lead to a
// file under KeysOf its path: a link resolves only to files that have its key. The key "" is that of a link to the note
// that holds it, and of links that lead nowhere.
func Key(target string) string {
	t := clean(target)
	if !t.ok {
		return ""
	}
	text := fold(t.text)
	return text[strings.LastIndexByte(text, '/')+1:]
}

// AppendKey appends the Key of a target to dst. It takes no other memory for most targets.
func AppendKey(dst []byte, target string) []byte {
	t := clean(target)
	if !t.ok {
		return dst
	}
	start := len(dst)
	for _, c := range []byte(t.text[strings.LastIndexByte(t.text, '/')+1:]) {
		switch {
		case c >= utf8.RuneSelf:
			return append(dst[:start], Key(target)...)
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

// KeysOf are the keys of the links that can lead to a file: its folded name, and for a note also that without ".md".
func KeysOf(path string) []string {
	name := fold(path[strings.LastIndexByte(path, '/')+1:])
	if stem, ok := strings.CutSuffix(name, noteExt); ok {
		return []string{name, stem}
	}
	return []string{name}
}

// noteExt is what may be left out of the name of a note.
const noteExt = ".md"

// target is the path of a link, made ready for a look-up.
type target struct {
	// text has single slashes, none at the ends, and no blanks there; it is not folded.
	text string
	// relative is set if it counts from the note's folder only.
	relative bool
	// self is set if it means the note itself.
	self bool
	// ok is false if it can lead nowhere.
	ok bool
}

// clean does to the path of a link what Obsidian does before it looks for a file. Names with ^ cannot be linked to, as
// those with #.
func clean(raw string) target {
	text, _ := Split(raw)
	text = strings.TrimSpace(text)
	if text == "" {
		return target{self: true, ok: true}
	}
	if len(text) > maxTarget || strings.IndexByte(text, '^') >= 0 {
		return target{}
	}
	if strings.Contains(text, "//") {
		text = collapse(text)
	}
	t := target{text: text}
	t.relative = strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../")
	t.text = strings.TrimSuffix(strings.TrimPrefix(text, "/"), "/")
	last := t.text[strings.LastIndexByte(t.text, '/')+1:]
	t.ok = last != "" && last != "." && last != ".."
	return t
}

// collapse makes one slash of several.
func collapse(s string) string {
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		if s[i] != '/' || i == 0 || s[i-1] != '/' {
			out = append(out, s[i])
		}
	}
	return string(out)
}

// fold is the form in which names are compared: composed, without case, with plain blanks.
func fold(s string) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return vault.FoldName(plainBlanks.Replace(s))
		}
	}
	return vault.FoldName(s)
}

// plainBlanks makes blanks of the two that do not break, as normalizePath of Obsidian does.
var plainBlanks = strings.NewReplacer("\u00a0", " ", "\u202f", " ")
