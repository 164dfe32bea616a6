package git

import (
	"errors"
	"path/filepath"
	"strings"
)

// settings are what a repository's config says about the repository itself.
type settings struct {
	bare bool
	// work is core.worktree, or "".
	work string
	// partial says that objects may be missing as they are fetched when needed.
	partial bool
	// perTree says that each work tree has a config of its own.
	perTree bool
}

// settings reads the config, and refuses a repository of a format that is not
// read here. Like git it follows no include for that.
func (r *Repo) settings() (settings, error) {
	var s settings
	options, err := readConfig(filepath.Join(r.Common, "config"))
	if absent(err) {
		return s, nil
	}
	if err != nil {
		return s, refused("config", "The config of the repository cannot be read: %v.", err)
	}
	perTree, err := s.format(options)
	if err != nil {
		return s, err
	}
	if r.Dir == r.Common { // else these are about the main work tree
		s.core(options)
	}
	if s.perTree = perTree; perTree {
		options, err := readConfig(filepath.Join(r.Dir, "config.worktree"))
		if err != nil && !absent(err) {
			return s, refused("config", "The config of the work tree cannot be read: %v.", err)
		}
		s.core(options)
	}
	return s, nil
}

func (s *settings) core(options []option) {
	for _, o := range options {
		switch o.name {
		case "core.bare":
			s.bare = o.isTrue()
		case "core.worktree":
			s.work = o.value
		}
	}
}

// format judges the version and the extensions, and reports whether each work
// tree has a config of its own.
func (s *settings) format(options []option) (perTree bool, err error) {
	version := ""
	for _, o := range options {
		if o.name == "core.repositoryformatversion" {
			version = o.value
		}
	}
	if version != "" && version != "0" && version != "1" {
		return false, refused("format", "The repository has format version %s; 0 and 1 are read.", version)
	}
	for _, o := range options {
		if strings.HasPrefix(o.name, "remote.") && strings.HasSuffix(o.name, ".promisor") && o.isTrue() {
			s.partial = true
		}
		extension, ok := strings.CutPrefix(o.name, "extensions.")
		if !ok {
			continue
		}
		switch extension {
		case "noop", "preciousobjects", "relativeworktrees":
		case "partialclone":
			s.partial = true
		case "worktreeconfig":
			perTree = o.isTrue()
		case "objectformat":
			if !strings.EqualFold(o.value, "sha1") {
				return false, refused("sha256", "The repository names its objects by %s; only sha1 is read.", o.value)
			}
		case "refstorage":
			if !strings.EqualFold(o.value, "files") {
				return false, refused("reftable", "The repository keeps its branches as %s; only files are read. `git refs migrate --ref-format=files` changes that.", o.value)
			}
		default:
			if version == "1" {
				return false, refused("extension", "The repository uses the extension %s, which is not known here.", extension)
			}
		}
	}
	return perTree, nil
}

// option is one line of a config.
type option struct {
	// name is section.key in small letters, with a subsection as it is between them.
	name, value string
	// bare says that there is no value, not even an empty one.
	bare bool
	// maybe says that it only counts under a condition.
	maybe bool
}

func (o option) isTrue() bool {
	switch strings.ToLower(o.value) {
	case "true", "yes", "on", "1":
		return true
	}
	return o.bare
}

func readConfig(path string) ([]option, error) {
	b, err := readFile(path, maxConfig)
	if err != nil {
		return nil, err
	}
	return parseConfig(string(b))
}

// parseConfig reads the text of a config as git does. go-git's reader refuses what
// git takes: a key on the line of its section, and a mark of the byte order.
func parseConfig(text string) ([]option, error) {
	text = strings.TrimPrefix(text, "\ufeff")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	var options []option
	section := ""
	for {
		text = strings.TrimLeft(text, " \t\n\r\f\v")
		switch {
		case text == "":
			return options, nil
		case text[0] == '#' || text[0] == ';':
			_, text, _ = strings.Cut(text, "\n")
			continue
		case text[0] == '[':
			name, rest, ok := configSection(text[1:])
			if !ok {
				return nil, errors.New("a section has no end")
			}
			section, text = name, rest
			continue
		}
		end := strings.IndexFunc(text, func(c rune) bool {
			return c != '-' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z')
		})
		if end < 0 {
			end = len(text)
		}
		o := option{name: strings.TrimPrefix(section+"."+strings.ToLower(text[:end]), "."), bare: true}
		if text = strings.TrimLeft(text[end:], " \t"); end == 0 {
			return nil, errors.New("a line is no option")
		}
		switch {
		case text == "" || text[0] == '\n' || text[0] == '#' || text[0] == ';':
		case text[0] == '=':
			var ok bool
			if o.value, text, ok = configValue(text[1:]); !ok {
				return nil, errors.New("the value of " + o.name + " is not quoted right")
			}
			o.bare = false
		default:
			return nil, errors.New("a line is no option")
		}
		options = append(options, o)
	}
}

// configSection reads what follows the bracket of [name "sub"].
func configSection(text string) (name, rest string, ok bool) {
	end := strings.IndexAny(text, "] \t\n")
	if end < 0 {
		return "", "", false
	}
	name, rest = strings.ToLower(text[:end]), strings.TrimLeft(text[end:], " \t")
	if rest, ok = strings.CutPrefix(rest, "]"); ok {
		return name, rest, true
	}
	if rest == "" || rest[0] != '"' {
		return "", "", false
	}
	sub := []byte(".")
	for i := 1; i < len(rest) && rest[i] != '\n'; i++ {
		switch {
		case rest[i] == '\\' && i+1 < len(rest):
			i++
		case rest[i] == '"':
			rest, ok = strings.CutPrefix(rest[i+1:], "]")
			return name + string(sub), rest, ok
		}
		sub = append(sub, rest[i])
	}
	return "", "", false
}

// configValue reads what follows the sign of key = value.
func configValue(text string) (value, rest string, ok bool) {
	var b []byte
	keep := 0 // how much of b stays: blanks at the end do so only in quotes
	quoted, comment := false, false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\n':
			return string(b[:keep]), text[i:], !quoted
		case comment:
			continue
		case !quoted && (c == '#' || c == ';'):
			comment = true
			continue
		case c == '"':
			quoted = !quoted
			keep = len(b)
			continue
		case !quoted && (c == ' ' || c == '\t'):
			if len(b) > 0 {
				b = append(b, c)
			}
			continue
		case c == '\\':
			i++
			at := -1
			if i < len(text) {
				at = strings.IndexByte("\n\"\\ntb", text[i])
			}
			if at < 0 {
				return "", "", false
			}
			if text[i] == '\n' {
				continue
			}
			c = "\n\"\\\n\t\b"[at]
		}
		b = append(b, c)
		keep = len(b)
	}
	return string(b[:keep]), "", !quoted
}
