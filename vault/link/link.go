// Package link owns what a link between the files of a vault means: its syntax, the file that it leads to, the place in
// that file, and how a new link is written. It works on path strings alone and reads no file. Where the help pages of
// Obsidian are silent, it follows what was observed of Obsidian 1.13.
package link

import (
	"strconv"
	"strings"

	"vault-mcp/vault/note"
)

// Link is one link as its text says it, not yet resolved.
type Link struct {
	// Path names the file, as written but percent-decoded; "" is the note that holds the link. For an external link it
	// is the whole address.
	Path string
	// Subpath is "" or the part from the first # on: "#Heading", "#Outer#Inner", "#^block", "#page=3". An external link
	// has none.
	Subpath string
	// Text is what was given to be shown, or "". For an embed it may hold the size; see Size.
	Text string
	// Embed is set for ![[x]] and ![x](y).
	Embed bool
	// Markdown is set for [x](y) and ![x](y).
	Markdown bool
	// External is set for a Markdown link that leads out of the vault. A wikilink never does.
	External bool
}

// Target is the path with the sub-path, as Obsidian's own records have it.
func (l Link) Target() string { return l.Path + l.Subpath }

// Display is the text that is shown for the link: the one given, or "A > B" for the target A#B.
func (l Link) Display() string {
	if l.Text != "" || l.Markdown {
		return l.Text
	}
	return Display(l.Target())
}

// Size is the width and height that an embed asks for by "120" or "120x80" behind the last bar of its text; the height is
// 0 if it is not given. ok is false if the link is no embed or asks for nothing.
func (l Link) Size() (width, height int, ok bool) {
	if !l.Embed {
		return 0, 0, false
	}
	size := l.Text[strings.LastIndexByte(l.Text, '|')+1:]
	w, h, both := strings.Cut(size, "x")
	width, ok = pixels(w)
	if ok && both {
		height, ok = pixels(h)
	}
	if !ok {
		return 0, 0, false
	}
	return width, height, true
}

func pixels(s string) (int, bool) {
	if s == "" || s[0] < '0' || s[0] > '9' {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil
}

// Parse reads a text that is one link and nothing else, as in a property value: [[…]], ![[…]], […](…) or ![…](…). ok is
// false if it is anything else. A reader of whole notes must know itself what code, math and comments are.
func Parse(markup string) (l Link, ok bool) {
	s, embed := strings.CutPrefix(markup, "!")
	if inner, found := strings.CutPrefix(s, "[["); found && strings.HasSuffix(inner, "]]") {
		l, ok = ParseWiki(inner[:len(inner)-2])
	}
	if !ok && strings.HasPrefix(s, "[") {
		l, ok = parseMarkdown(s)
	}
	if !ok {
		return Link{}, false
	}
	l.Embed = embed
	return l, true
}

// ParseWiki reads what stands between [[ and ]]: path#sub|text. The first bar splits, also one with the backslash that
// table cells ask for; a bar in the very first place belongs to the path. ok is false for an empty text and for one with
// a line break or brackets that make another link of it.
func ParseWiki(inner string) (Link, bool) {
	if inner == "" || strings.ContainsAny(inner, "\r\n") || strings.Contains(inner, "[[") ||
		strings.Contains(inner, "]]") || inner[0] == '[' || inner[len(inner)-1] == ']' {
		return Link{}, false
	}
	var l Link
	target := inner
	if bar := strings.IndexByte(inner, '|'); bar > 0 && inner[:bar] != `\` {
		target, l.Text = strings.TrimSuffix(inner[:bar], `\`), inner[bar+1:]
	}
	l.Path, l.Subpath = Split(target)
	l.Subpath = strings.TrimSpace(l.Subpath)
	return l, true
}

func newMarkdown(text, dest string) (Link, bool) {
	l := Link{Text: text, Markdown: true}
	switch {
	case dest == "":
		return Link{}, false
	case External(dest):
		l.Path, l.External = dest, true
	default:
		path, subpath := Split(dest) // an encoded hash is a letter of a name
		l.Path, l.Subpath = Decode(note.Unescape(path)), Decode(note.Unescape(subpath))
	}
	return l, true
}

// parseMarkdown reads [text](destination "title").
func parseMarkdown(s string) (Link, bool) {
	end := closing(s)
	if end < 0 || !strings.HasPrefix(s[end:], "](") || !strings.HasSuffix(s, ")") {
		return Link{}, false
	}
	dest, title, ok := cutDestination(strings.Trim(s[end+2:len(s)-1], " \t\n"))
	if !ok || title != "" && !isTitle(title) {
		return Link{}, false
	}
	return newMarkdown(s[1:end], dest)
}

// closing is the place of the bracket that closes the one at the start, or -1.
func closing(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}
