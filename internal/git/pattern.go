package git

import (
	"bytes"
	"os"
	"strings"
)

// pattern is a line that names files, as .gitignore and .gitattributes have them.
// go-git's takes [!a], a leading backslash and ** within a name otherwise than git.
type pattern struct {
	glob string
	// dir is the folder of its file, with a slash at its end.
	dir string
	// not is a line that begins with !, folders one for folders alone, whole one
	// that is about the whole path below dir and not about the name alone.
	not, folders, whole bool
}

// maxTries bounds the steps in which a call matches patterns: stars can take for
// ever.
const maxTries = 50_000_000

// parsePattern reads a line without its end.
func parsePattern(line, dir string) (p pattern, ok bool) {
	p.dir = dir
	line, p.not = strings.CutPrefix(line, "!")
	line, p.folders = strings.CutSuffix(line, "/")
	p.whole = strings.Contains(line, "/")
	p.glob = strings.TrimPrefix(line, "/")
	return p, p.glob != ""
}

// trimBlanks cuts the blanks at the end that no backslash keeps.
func trimBlanks(line string) string {
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			if strings.Trim(line[i:], " ") == "" {
				return line[:i]
			}
		case '\\':
			i++
		}
	}
	return line
}

// listLines are the lines of a list of patterns.
func listLines(path string) ([]string, error) {
	info, err := os.Lstat(path)
	if absent(err) {
		return nil, nil
	}
	if err == nil && info.IsDir() {
		return nil, nil
	}
	b, err := readFile(path, maxConfig)
	if err != nil {
		return nil, err
	}
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	return strings.Split(string(b), "\n"), nil
}

// matches reports whether a pattern is about a path.
func (a *alone) matches(p pattern, path string, folder bool) bool {
	rel, ok := strings.CutPrefix(path, p.dir)
	if !ok || rel == "" || p.folders && !folder {
		return false
	}
	if !p.whole {
		rel = rel[strings.LastIndexByte(rel, '/')+1:]
	}
	glob := p.glob
	if a.fold {
		glob, rel = strings.ToLower(glob), strings.ToLower(rel)
	}
	return a.wild(glob, rel, true)
}

// tired is the refusal of patterns that take too long.
func (a *alone) tired() error {
	if a.tries <= maxTries {
		return nil
	}
	return refused("excludes", "The patterns of .gitignore or .gitattributes take too long to match.")
}

// wild matches a text by a pattern of git, in which one star stops at a slash.
// first says that the pattern begins here or after a slash.
func (a *alone) wild(p, t string, first bool) bool {
	for p != "" {
		if a.tries++; a.tries > maxTries {
			return false
		}
		c := p[0]
		if c == '*' {
			rest := strings.TrimLeft(p, "*")
			deep := len(p)-len(rest) > 1 && first && (rest == "" || rest[0] == '/')
			if rest == "" {
				return deep || !strings.Contains(t, "/")
			}
			if deep && a.wild(rest[1:], t, true) {
				return true
			}
			for i := 0; ; i++ {
				if a.wild(rest, t[i:], false) {
					return true
				}
				if i == len(t) || t[i] == '/' && !deep {
					return false
				}
			}
		}
		if t == "" {
			return false
		}
		first = c == '/'
		switch c {
		case '?':
			if t[0] == '/' {
				return false
			}
			p = p[1:]
		case '[':
			n, ok := class(p, t[0])
			if !ok || t[0] == '/' {
				return false
			}
			p = p[n:]
		case '\\':
			if len(p) < 2 || p[1] != t[0] {
				return false
			}
			p = p[2:]
		default:
			if c != t[0] {
				return false
			}
			p = p[1:]
		}
		t = t[1:]
	}
	return t == ""
}

// class matches a byte by the [class] that a pattern begins with, n bytes long. One
// without an end matches nothing.
func class(p string, c byte) (n int, ok bool) {
	i, in := 1, false
	not := len(p) > 1 && (p[1] == '!' || p[1] == '^')
	if not {
		i++
	}
	last := -1 // the byte before, which may begin a range
	for begin := i; i < len(p); i++ {
		b := p[i]
		switch {
		case b == ']' && i > begin:
			return i + 1, in != not
		case b == '\\':
			if i++; i == len(p) {
				return 0, false
			}
			b = p[i]
		case b == '-' && last >= 0 && i+1 < len(p) && p[i+1] != ']':
			if i++; p[i] == '\\' {
				if i++; i == len(p) {
					return 0, false
				}
			}
			in = in || int(c) >= last && c <= p[i]
			last = -1
			continue
		case b == '[' && strings.HasPrefix(p[i+1:], ":"):
			name, _, ok := strings.Cut(p[i+2:], ":]")
			is := named[name]
			if !ok || is == nil {
				return 0, false
			}
			in = in || is(c)
			i, last = i+len(name)+3, -1
			continue
		}
		in, last = in || b == c, int(b)
	}
	return 0, false
}

// named are the classes of bytes that have a name.
var named = map[string]func(c byte) bool{
	"alpha":  letter,
	"digit":  digit,
	"alnum":  func(c byte) bool { return letter(c) || digit(c) },
	"blank":  func(c byte) bool { return c == ' ' || c == '\t' },
	"cntrl":  func(c byte) bool { return c < ' ' || c == 0x7f },
	"graph":  func(c byte) bool { return c > ' ' && c < 0x7f },
	"lower":  func(c byte) bool { return c >= 'a' && c <= 'z' },
	"print":  func(c byte) bool { return c >= ' ' && c < 0x7f },
	"punct":  func(c byte) bool { return c > ' ' && c < 0x7f && !letter(c) && !digit(c) },
	"space":  func(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' },
	"upper":  func(c byte) bool { return c >= 'A' && c <= 'Z' },
	"xdigit": func(c byte) bool { return digit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' },
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }
