package rename

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"vault-mcp/vault/note"
)

// baseItems are the strings in the expressions of a base that name a file or folder: arguments of link, hasLink, linksTo,
// file and inFolder, what file.path and file.folder are compared with, and strings that are one wikilink. Expressions
// are looked for in each line by itself. A base that is no YAML has none.
func baseItems(text []byte) []item {
	if !isYAML(text) {
		return nil
	}
	var items []item
	at := 0
	for line := range bytes.Lines(text) {
		content := bytes.TrimRight(line, "\r\n")
		start := at + len(key.Find(content))
		items = append(items, scalar(text, note.Span{Start: start, End: at + len(content)})...)
		at += len(line)
	}
	return items
}

// isYAML reports whether a base can be read: a base is what stands between the fences of properties.
func isYAML(text []byte) bool {
	block := slices.Concat([]byte("---\n"), text, []byte("\n---\n"))
	props := note.ParseProperties(block)
	return props.State == note.StateOK && props.Block.End == len(block)
}

// key is what stands before a value in a line.
var key = regexp.MustCompile(`^\s*(- +)*([A-Za-z0-9_. -]+:(\s+|$))?`)

// scalar finds the strings in a value of YAML.
func scalar(text []byte, at note.Span) []item {
	raw := at.Of(text)
	if len(raw) == 0 || raw[0] == '#' {
		return nil
	}
	var in literal
	if quote := raw[0]; quote == '\'' || quote == '"' {
		end := closing(raw, quote)
		if end < 0 {
			return nil
		}
		var ok bool
		if in, ok = unquote(raw[1:end], at.Start+1, quote, quote == '"'); !ok {
			return nil
		}
	} else {
		if i := bytes.Index(raw, []byte(" #")); i >= 0 {
			raw = raw[:i]
		}
		in = literal{value: raw}
		for i := range len(raw) + 1 {
			in.at = append(in.at, at.Start+i)
		}
	}
	return expression(in)
}

// closing is where the string that starts with a quote ends, or -1.
func closing(raw []byte, quote byte) int {
	for i := 1; i < len(raw); i++ {
		switch {
		case quote == '"' && raw[i] == '\\':
			i++
		case raw[i] != quote:
		case quote == '\'' && i+1 < len(raw) && raw[i+1] == quote:
			i++
		default:
			return i
		}
	}
	return -1
}

// expression finds the strings in an expression that name something.
func expression(in literal) []item {
	var items []item
	for i := 0; i < len(in.value); i++ {
		quote := in.value[i]
		if quote != '"' && quote != '\'' {
			continue
		}
		end := i + 1
		for end < len(in.value) && in.value[end] != quote {
			if in.value[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(in.value) {
			break
		}
		if it, ok := named(in, i, end, quote); ok {
			items = append(items, it)
		}
		i = end
	}
	return items
}

// named is the item of a string between two quotes of an expression, if what stands around it makes it one.
func named(in literal, open, end int, quote byte) (item, bool) {
	inner, ok := unquote(in.value[open+1:end], open+1, quote, true)
	if !ok {
		return item{}, false
	}
	for i := range inner.at {
		inner.at[i] = in.at[inner.at[i]]
	}
	inner.quote, inner.inner = in.quote, quote
	it := item{in: inner}
	whole := note.Span{End: len(inner.value)}
	it.Span, it.Form = whole, note.FormWiki
	it.Target, it.TargetSpan = string(inner.value), whole
	before := strings.TrimRight(string(in.value[:open]), " ")
	switch {
	case called.MatchString(before):
		path, sub, _ := strings.Cut(it.Target, "#")
		if len(path) < len(it.Target) {
			it.Subpath = "#" + sub
		}
		it.Target, it.TargetSpan.End = path, len(path)
		it.SubpathSpan = note.Span{Start: len(path), End: whole.End}
	case inFolder.MatchString(before):
		it.kind, it.Target, it.TargetSpan.End = folder, strings.TrimSuffix(it.Target, "/"), len(strings.TrimSuffix(it.Target, "/"))
	case isPath.MatchString(before):
		it.kind = exact
	default:
		links := textItems(inner)
		if len(links) != 1 || links[0].Span != whole || links[0].Form != note.FormWiki {
			return item{}, false
		}
		it = links[0]
	}
	return it, it.Target != ""
}

// What stands before a string that is a link, a folder, or the path of a file.
var (
	called   = regexp.MustCompile(`\b(link|hasLink|linksTo|file)\($`)
	inFolder = regexp.MustCompile(`(\binFolder\(|\bfile\.folder *[=!]=)$`)
	isPath   = regexp.MustCompile(`\bfile\.path *[=!]=$`)
)
