package link

import (
	"slices"
	"strings"

	"vault-mcp/vault/settings"
)

// Respell lists the paths, percent-decoded, by which a link in the note from can name the file after, the best first. Each
// of them leads to it. The link has named the file before by target, and goes on in its way: from the root with a slash, by
// "./" and "../" from the note's folder, with or without ".md". Else format decides: settings.Absolute and
// settings.Relative ask for their form, and settings.Shortest keeps as many folders as there were. Behind that come longer
// forms. The list is empty if no link can lead there.
func (x *Index) Respell(from, target, before, after string, format settings.LinkFormat) []string {
	t := strings.TrimSpace(target)
	paths := x.ways(from, t, before, after, format)
	short := after
	if isNote(after) && (!isNote(before) || !isNote(t)) {
		short = after[:len(after)-len(noteExt)]
	}
	var all []string
	for _, whole := range [...]bool{false, true} {
		for _, p := range paths {
			if !whole {
				p = p[:len(p)-(len(after)-len(short))]
			}
			p = spelledLike(p, t, before)
			if to, ok := x.Resolve(from, p, nil); ok && to == after {
				all = append(all, p)
			}
		}
		if len(short) == len(after) {
			break
		}
	}
	return slices.Compact(all)
}

// ways are the paths for Respell with all extensions, whether they lead there or not.
func (x *Index) ways(from, target, before, after string, format settings.LinkFormat) []string {
	rel := relative(from, after)
	dotted := rel
	if !strings.HasPrefix(rel, "../") {
		dotted = "./" + rel
	}
	var ways []string
	slash := strings.LastIndexByte(target, '/')
	explicit := strings.HasPrefix(target, "/") || strings.HasPrefix(target, "./") || strings.HasPrefix(target, "../")
	if slash >= 0 && folderOf(before) == folderOf(after) && (explicit || format == settings.Shortest || format == "") {
		ways = append(ways, target[:slash+1]+nameOf(after))
	}
	switch {
	case strings.HasPrefix(target, "/"):
		return append(ways, "/"+after)
	case strings.HasPrefix(target, "../") && format == settings.Relative:
		ways = append(ways, rel, dotted)
	case explicit:
		ways = append(ways, dotted)
	case format == settings.Absolute:
	case format == settings.Relative:
		ways = append(ways, rel, dotted)
	case slash < 0:
		if x.unique(nameOf(after), nil) {
			ways = append(ways, nameOf(after))
		}
	default:
		if folders := strings.Count(clean(target).text, "/"); strings.Count(before, "/") > folders {
			ways = append(ways, tail(after, folders))
		}
	}
	return append(ways, after, "/"+after)
}

// spelledLike keeps case and Unicode form of the names in a link where it deviates from the names on disk, and they stay
// or get something added or taken off at one end.
func spelledLike(path, written, before string) string {
	if before == written || strings.HasSuffix(before, "/"+written) {
		return path
	}
	names, olds, links := strings.Split(path, "/"), strings.Split(before, "/"), strings.Split(written, "/")
	for i := 1; i <= min(len(names), len(olds), len(links)); i++ {
		name, old, text, ext := names[len(names)-i], olds[len(olds)-i], links[len(links)-i], ""
		if i == 1 {
			if isNote(old) && !isNote(text) {
				old = old[:len(old)-len(noteExt)]
			}
			name, ext = cutExt(name)
			if n := len(text) - len(ext); n > 0 && strings.EqualFold(text[n:], ext) {
				old, text = strings.TrimSuffix(old, ext), text[:n]
			}
		}
		if text == old || fold(text) != fold(old) {
			continue
		}
		switch {
		case strings.HasPrefix(name, old):
			name = text + name[len(old):]
		case strings.HasSuffix(name, old):
			name = name[:len(name)-len(old)] + text
		case len(text) == len(old) && strings.HasPrefix(old, name):
			name = text[:len(name)]
		case len(text) == len(old) && strings.HasSuffix(old, name):
			name = text[len(text)-len(name):]
		}
		names[len(names)-i] = name + ext
	}
	return strings.Join(names, "/")
}

// cutExt cuts a name before its last dot.
func cutExt(name string) (stem, ext string) {
	if dot := strings.LastIndexByte(name, '.'); dot > 0 {
		return name[:dot], name[dot:]
	}
	return name, ""
}

// tail is a path without all folders but the last n.
func tail(path string, n int) string {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '/' {
			if n--; n < 0 {
				return path[i+1:]
			}
		}
	}
	return path
}

// Destination is how the destination of a Markdown link is written, so that another one can be written like it.
type Destination struct {
	angle, lower, beyondASCII bool
	escaped                   [128]bool
}

// DestinationLike looks at a destination as written, without its angle brackets. It keeps which characters stand there as
// escapes, and in which case.
func DestinationLike(written string, angle bool) Destination {
	d := Destination{angle: angle}
	for i := range len(written) {
		if !isEscape(written, i) {
			continue
		}
		c := byte(hex(written[i+1])<<4 | hex(written[i+2]))
		if c < 0x80 {
			d.escaped[c] = true
		} else {
			d.beyondASCII = true
		}
		d.lower = d.lower || strings.ContainsAny(written[i+1:i+3], "abcdef")
	}
	return d
}

// Encode writes the path of a target, or a sub-path with its #, as a part of such a destination. Like Obsidian it encodes
// blanks, but not in angle brackets, and besides only what is so in the other one, what would end the destination, and what
// would be read as something else.
func (d Destination) Encode(target string) string {
	digits := "0123456789ABCDEF"
	if d.lower {
		digits = "0123456789abcdef"
	}
	parens := d.angle || balanced(target) && d.escaped['('] == d.escaped[')']
	percent := false
	for i := range len(target) {
		percent = percent || d.escapes(target, i, parens) || isEscape(target, i)
	}
	var out strings.Builder
	out.Grow(len(target) + 16)
	for i := range len(target) {
		c := target[i]
		if d.escapes(target, i, parens) || c == '%' && percent {
			out.Write([]byte{'%', digits[c>>4], digits[c&15]})
		} else {
			out.WriteByte(c)
		}
	}
	return out.String()
}

// escapes reports whether the byte at i, which is no percent sign, is written as an escape.
func (d Destination) escapes(target string, i int, parens bool) bool {
	switch c := target[i]; c {
	case '#':
		return false
	case '(', ')':
		return !parens || d.escaped[c] // one of a pair alone would end the destination, or not end it
	case '<', '>', '\\', 0x7f:
		return true
	case '&': // it could begin an entity
		return d.escaped[c] || strings.IndexByte(target[i:], ';') > 0
	case ' ':
		return !d.angle || d.escaped[c]
	default:
		return c < ' ' || c >= 0x80 && d.beyondASCII || c < 0x80 && d.escaped[c]
	}
}

// Same reports whether two links from the same note name the same, whether it exists or not: case, Unicode form and
// superfluous slashes do not count, and a slash at the start does not either.
func Same(a, b string) bool {
	s, t := clean(a), clean(b)
	return s.ok && t.ok && s.relative == t.relative && s.self == t.self && fold(s.text) == fold(t.text)
}
