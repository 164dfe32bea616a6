package link

import (
	"strings"

	"vault-mcp/vault"
	"vault-mcp/vault/settings"
)

// Options say how a new link is written. The zero value is the wikilink that Obsidian writes by default.
type Options struct {
	// Format is the form of the path; "" is settings.Shortest.
	Format settings.LinkFormat
	// Markdown asks for [text](path.md).
	Markdown bool
	// Embed asks for the ! in front.
	Embed bool
	// Text is what the link shows, or "" for what Obsidian would show. For an embed it may be a size.
	Text string
	// Subpath is "" or the part of the file that is meant, from its # on; see HeadingSubpath.
	Subpath string
	// Visible says which files count for what is unique and what a path leads to; nil is all.
	Visible func(path string) bool
}

// OptionsFor are the options that the settings of a vault ask for.
func OptionsFor(s settings.Settings) Options {
	return Options{Format: s.NewLinkFormat, Markdown: s.UseMarkdownLinks}
}

// Text writes a link from the note from to the file to, both paths of the Index. The path is the file's name if no other
// visible file has it, else the path from the root (settings.Shortest), the path from the note's folder
// (settings.Relative), or the path from the root (settings.Absolute); only where this would lead elsewhere is it spelled
// out further. A wikilink leaves ".md" out, a Markdown link has it and encodes blanks (both observed of Obsidian). A
// part of the note itself is named without any path.
//
// What no wikilink can say, as a name with [[ in it, becomes a Markdown link. ok is false if no link can lead to the file
// at all, because it has # or ^ in its path or is not visible; the text is the nearest to one then.
func (x *Index) Text(from, to string, o Options) (text string, ok bool) {
	if o.Subpath != "" && o.Subpath[0] != '#' {
		o.Subpath = "#" + o.Subpath
	}
	for _, markdown := range [...]bool{o.Markdown, true} {
		o.Markdown = markdown
		for _, path := range x.spellings(from, to, o) {
			markup := o.write(path, nameOf(to))
			if text == "" {
				text = markup
			}
			l, isLink := Parse(markup)
			if !isLink || l.External || l.Subpath != o.Subpath {
				continue
			}
			if o.Text != "" && !markdown && l.Text != o.Text && l.Path+l.Subpath != o.Text {
				continue
			}
			if found, leads := x.Resolve(from, l.Path, o.Visible); leads && found == to {
				return markup, true
			}
		}
	}
	return text, false
}

// spellings are the paths by which a link may name the file, those before that the options ask for.
func (x *Index) spellings(from, to string, o Options) []string {
	short := func(path string) string {
		if !o.Markdown && isNote(path) {
			return path[:len(path)-len(noteExt)]
		}
		return path
	}
	var paths []string
	if from == to && o.Subpath != "" {
		paths = append(paths, "")
	}
	switch o.Format {
	case settings.Absolute:
	case settings.Relative:
		rel := short(relative(from, to))
		paths = append(paths, rel)
		if !strings.HasPrefix(rel, "../") {
			paths = append(paths, "./"+rel)
		}
	default:
		if x.unique(nameOf(to), o.Visible) {
			paths = append(paths, short(nameOf(to)))
		}
	}
	return append(paths, short(to), to, "/"+short(to), "/"+to)
}

// unique reports whether at most one visible file has a name.
func (x *Index) unique(name string, visible func(string) bool) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	q := query{visible: visible}
	byFold, _ := x.named(fold(name), "")
	n := 0
	for _, id := range byFold {
		if q.sees(&x.files[id]) {
			n++
		}
		if n > 1 {
			return false
		}
	}
	return true
}

// relative is the way from the folder of one file to another file.
func relative(from, to string) string {
	folder := folderOf(from)
	up := ""
	for folder != "" && !strings.HasPrefix(to, folder+"/") {
		folder = folderOf(folder)
		up += "../"
	}
	if folder != "" {
		to = to[len(folder)+1:]
	}
	return up + to
}

// write puts a link together.
func (o Options) write(path, name string) string {
	var s strings.Builder
	if o.Embed {
		s.WriteByte('!')
	}
	target := path + o.Subpath
	if !o.Markdown {
		s.WriteString("[[" + target)
		if o.Text != "" && o.Text != target {
			s.WriteString("|" + o.Text)
		}
		s.WriteString("]]")
		return s.String()
	}
	text := o.Text
	if text == "" && !o.Embed {
		if isNote(name) {
			name = name[:len(name)-len(noteExt)]
		}
		if path == "" {
			name = ""
		}
		text = Display(name + o.Subpath)
	}
	s.WriteString("[" + bracketSafe(text) + "](" + Destination{}.Encode(target) + ")")
	return s.String()
}

// bracketSafe puts backslashes before brackets where they would end the text of a link too early, and makes one line of
// it.
func bracketSafe(text string) string {
	text = oneLine.Replace(text)
	if closing("["+text+"]") == len(text)+1 {
		return text
	}
	return escaped.Replace(text)
}

var (
	oneLine = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ")
	escaped = strings.NewReplacer("[", `\[`, "]", `\]`, `\`, `\\`)
)

// isNote reports whether ".md" may be left out of the name of a file.
func isNote(path string) bool { return vault.Kind(path) == vault.Note }
