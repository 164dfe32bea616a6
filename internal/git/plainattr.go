package git

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// attributeLine is a line of .gitattributes: a pattern with what it says, or a macro.
type attributeLine struct {
	pattern
	// macro is the name that stands for what it says.
	macro string
	// says are the attributes in their order: name, and on, off, "" or =value.
	says [][2]string
}

const (
	on  = "on"
	off = "off"
)

// builtin is the macro that git knows of itself.
var builtin = attributeLine{macro: "binary", says: [][2]string{{"diff", off}, {"merge", off}, {"text", off}}}

// attributeLines reads the lines of a file of attributes that counts in dir.
func attributeLines(lines []string, dir string) []attributeLine {
	var all []attributeLine
	for _, line := range lines {
		line = strings.Trim(line, " \t\r")
		if line == "" || line[0] == '#' {
			continue
		}
		name, rest := line, ""
		if end := strings.IndexAny(line, " \t\r"); end >= 0 {
			name, rest = line[:end], line[end:]
		}
		if line[0] == '"' {
			if quoted, err := strconv.QuotedPrefix(line); err == nil {
				if name, err = strconv.Unquote(quoted); err == nil {
					rest = line[len(quoted):]
				}
			}
		}
		l, ok := attributeLine{}, true
		if macro, is := strings.CutPrefix(name, "[attr]"); is {
			if l.macro = macro; dir != "" {
				continue // git knows them in the root alone
			}
		} else if l.pattern, ok = parsePattern(name, dir); !ok || l.not {
			continue
		}
		for _, word := range strings.Fields(rest) {
			name, value, given := strings.Cut(word, "=")
			switch {
			case given:
				value = "=" + value
			case word[0] == '-':
				name, value = word[1:], off
			case word[0] == '!':
				name = word[1:]
			default:
				value = on
			}
			l.says = append(l.says, [2]string{name, value})
		}
		all = append(all, l)
	}
	return all
}

// attributesAt are the lines of one file, read once.
func (a *alone) attributesAt(path, dir string, read func() ([]string, error)) ([]attributeLine, error) {
	if lines, ok := a.rules[path]; ok {
		return lines, nil
	}
	lines, err := read()
	if err != nil {
		return nil, refused("attributes", "The attributes of %s cannot be read: %v.", path, err)
	}
	a.rules[path] = attributeLines(lines, dir)
	return a.rules[path], nil
}

// folderAttributes are those of a folder's .gitattributes, or of the index where
// it is not in the work tree.
func (a *alone) folderAttributes(dir string) ([]attributeLine, error) {
	path := dir + ".gitattributes"
	return a.attributesAt(path, dir, func() ([]string, error) {
		full := filepath.Join(a.r.Work, filepath.FromSlash(path))
		info, err := os.Lstat(full)
		if err == nil && info.Mode()&os.ModeSymlink != 0 {
			return nil, nil // which git does not follow
		}
		if at := a.ix.At(path); absent(err) && len(at) == 1 && at[0].Mode&typeBits == fileMode&typeBits {
			id, err := wantOID(at[0].ID)
			if err != nil {
				return nil, err
			}
			b, err := a.o.blob(id, maxConfig)
			return strings.Split(string(b), "\n"), err
		}
		return listLines(full)
	})
}

// attributes are what git knows of a path by name: on, off, =value or "".
func (a *alone) attributes(path string) (map[string]string, error) {
	user, err := a.file("core.attributesfile", "attributes")
	if err != nil {
		return nil, err
	}
	var files []string
	if no := a.r.lookup("GIT_CONFIG_NOSYSTEM"); no == "" || no == "0" || no == "false" {
		files = systemFiles("gitattributes")
	}
	lines := []attributeLine{builtin}
	add := func(path string) error {
		more, err := a.attributesAt(path, "", func() ([]string, error) { return listLines(path) })
		lines = append(lines, more...)
		return err
	}
	for _, path := range append(files, user) {
		if path == "" {
			continue
		}
		if err := add(path); err != nil {
			return nil, err
		}
	}
	for i := range len(path) {
		if i > 0 && path[i-1] != '/' {
			continue
		}
		more, err := a.folderAttributes(path[:i])
		if err != nil {
			return nil, err
		}
		lines = append(lines, more...)
	}
	if err := add(filepath.Join(a.r.Common, "info", "attributes")); err != nil {
		return nil, err
	}
	known := map[string]string{}
	var fill func(says [][2]string)
	fill = func(says [][2]string) { // what comes last counts
		for _, s := range slices.Backward(says) {
			if _, ok := known[s[0]]; ok {
				continue
			}
			if known[s[0]] = s[1]; s[1] != on {
				continue
			}
			for _, l := range slices.Backward(lines) {
				if l.macro == s[0] {
					fill(l.says)
					break
				}
			}
		}
	}
	for _, l := range slices.Backward(lines) {
		if l.macro == "" && a.matches(l.pattern, path, false) {
			fill(l.says)
		}
	}
	return known, a.tired()
}

// unconverted refuses a file whose content git would store otherwise than it is.
func (a *alone) unconverted(path string, content []byte) error {
	known, err := a.attributes(path)
	if err != nil {
		return err
	}
	encoding := strings.ToLower(strings.TrimPrefix(known["working-tree-encoding"], "="))
	for name, bad := range map[string]bool{
		"filter":                strings.HasPrefix(known["filter"], "="),
		"ident":                 known["ident"] == on,
		"working-tree-encoding": encoding != "" && encoding != off && encoding != "utf-8" && encoding != "utf8",
	} {
		if bad {
			return refused("attributes", "git would store %s otherwise than it is (the attribute %s), which needs the git program.", path, name)
		}
	}
	kind, text := "attributes", known["text"]
	if text == "" {
		text = known["crlf"]
	}
	switch eol := known["eol"]; {
	case text == off:
		return nil
	case text != "" || eol == "=lf" || eol == "=crlf":
	case a.autocrlf != "":
		kind = "autocrlf"
	default:
		return nil
	}
	// Line ends are the only thing that git changes, and only those of Windows.
	if !bytes.Contains(content, []byte("\r\n")) && !(a.safecrlf && bytes.IndexByte(content, '\n') >= 0) {
		return nil
	}
	what := "its attributes text or eol"
	if kind == "autocrlf" {
		what = "core.autocrlf"
	}
	return refused(kind, "git would store %s with other line ends than it has (%s), which needs the git program.", path, what)
}
