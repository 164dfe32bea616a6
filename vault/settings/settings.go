// Package settings reads the settings in an Obsidian vault's config folder
// that change what the server does. It never writes them. What cannot be used
// is replaced by Obsidian's default and named in Problems.
package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// appFile is where Obsidian keeps the settings of the app itself.
const appFile = "app.json"

// typesFile is where Obsidian keeps the types of properties.
const typesFile = "types.json"

// maxTypes bounds how many types of properties are known.
const maxTypes = 10_000

// maxType bounds the name of a type, in bytes.
const maxType = 50

// LinkFormat is how Obsidian writes the path in a new link.
type LinkFormat string

// The link formats. Shortest is the default.
const (
	Shortest LinkFormat = "shortest"
	Relative LinkFormat = "relative"
	Absolute LinkFormat = "absolute"
)

// NewFileLocation is where Obsidian puts a new note that names no folder.
type NewFileLocation string

// The locations for new notes. InRoot is the default.
const (
	InRoot    NewFileLocation = "root"
	InCurrent NewFileLocation = "current"
	InFolder  NewFileLocation = "folder"
)

// TrashOption is where a deleted file goes.
type TrashOption string

// The trash options. TrashSystem is the default.
const (
	TrashSystem TrashOption = "system"
	TrashLocal  TrashOption = "local"
	TrashNone   TrashOption = "none"
)

// Settings are a vault's settings. The zero value is not valid; Default and
// Load make one.
type Settings struct {
	// NewLinkFormat is the form of the path in new links.
	NewLinkFormat LinkFormat
	// UseMarkdownLinks is set if new links are [text](path) and not [[path]].
	UseMarkdownLinks bool
	// AttachmentFolder is where new attachments go, as Obsidian writes it: ""
	// or "/" is the root, "./" beside the note, "./X" the folder X beside the
	// note, and X that folder. AttachmentFolderFor works it out.
	AttachmentFolder string
	// NewFileLocation and NewFileFolder say where new notes go; the folder is
	// only used with InFolder, and "" is the root. NewFileFolderFor works it
	// out.
	NewFileLocation NewFileLocation
	NewFileFolder   string
	// AlwaysUpdateLinks is set if links follow a rename without asking.
	AlwaysUpdateLinks bool
	// Trash is where deleted files go.
	Trash TrashOption
	// IgnoreFilters are the excluded files, as Obsidian writes them: the
	// beginning of a path, or a regular expression between slashes. Excluded
	// applies them.
	IgnoreFilters []string
	// ShowUnsupportedFiles is set if Obsidian shows files of every kind.
	ShowUnsupportedFiles bool
	// Problems name the file, and the key in it, that could not be used, one
	// sentence each; nil if there is none. They hold no path of the machine.
	Problems []string

	ignored []*regexp.Regexp
}

// Default are the settings of a vault where nothing was ever set.
func Default() Settings {
	return Settings{NewLinkFormat: Shortest, NewFileLocation: InRoot, Trash: TrashSystem}
}

// Load reads the settings by read, which returns a file of the config folder
// by its name, or fs.ErrNotExist. It never fails: a missing file or key is the
// default, a damaged one too, with an entry in Problems.
func Load(read func(name string) ([]byte, error)) Settings {
	s := Default()
	b, err := read(appFile)
	if errors.Is(err, fs.ErrNotExist) {
		return s
	}
	if err != nil {
		s.problem("%s cannot be read; the defaults are used.", appFile)
		return s
	}
	var keys map[string]json.RawMessage
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	if err := json.Unmarshal(b, &keys); err != nil || keys == nil {
		s.problem("%s is not a JSON object; the defaults are used.", appFile)
		return s
	}
	choose(&s, keys, "newLinkFormat", &s.NewLinkFormat, Shortest, Relative, Absolute)
	choose(&s, keys, "newFileLocation", &s.NewFileLocation, InRoot, InCurrent, InFolder)
	choose(&s, keys, "trashOption", &s.Trash, TrashSystem, TrashLocal, TrashNone)
	decode(&s, keys, "useMarkdownLinks", &s.UseMarkdownLinks)
	decode(&s, keys, "alwaysUpdateLinks", &s.AlwaysUpdateLinks)
	decode(&s, keys, "showUnsupportedFiles", &s.ShowUnsupportedFiles)
	s.folder(keys, "attachmentFolderPath", &s.AttachmentFolder)
	s.folder(keys, "newFileFolderPath", &s.NewFileFolder)
	decode(&s, keys, "userIgnoreFilters", &s.IgnoreFilters)
	s.compile()
	return s
}

func (s *Settings) problem(format string, args ...any) {
	s.Problems = append(s.Problems, fmt.Sprintf(format, args...))
}

// Types reads the types that Obsidian has for properties, by read as in Load:
// text, multitext, number, checkbox, date, datetime, tags, aliases, or one that
// a plugin has. The keys are as Obsidian writes them. Whatever cannot be read
// is left out.
func Types(read func(name string) ([]byte, error)) map[string]string {
	b, err := read(typesFile)
	if err != nil {
		return nil
	}
	var file struct {
		Types map[string]json.RawMessage `json:"types"`
	}
	if json.Unmarshal(bytes.TrimPrefix(b, []byte("\ufeff")), &file) != nil || len(file.Types) > maxTypes {
		return nil
	}
	types := map[string]string{}
	for key, raw := range file.Types {
		var t string
		if json.Unmarshal(raw, &t) == nil && t != "" && len(t) <= maxType {
			types[key] = t
		}
	}
	return types
}

// decode sets into from a key that is there and has its type. It reports
// whether it did.
func decode[T any](s *Settings, keys map[string]json.RawMessage, key string, into *T) bool {
	raw, ok := keys[key]
	if !ok {
		return false
	}
	var value T
	if string(raw) == "null" || json.Unmarshal(raw, &value) != nil {
		s.problem("%s: %s has a value of the wrong type; the default is used.", appFile, key)
		return false
	}
	*into = value
	return true
}

// choose is decode for a key that has one of a few values.
func choose[T ~string](s *Settings, keys map[string]json.RawMessage, key string, into *T, values ...T) {
	var value T
	if !decode(s, keys, key, &value) {
		return
	}
	if !slices.Contains(values, value) {
		s.problem("%s: %s is %q, which is not known; the default is used.", appFile, key, value)
		return
	}
	*into = value
}

// folder is decode for a key that names a folder of the vault.
func (s *Settings) folder(keys map[string]json.RawMessage, key string, into *string) {
	var value string
	if !decode(s, keys, key, &value) {
		return
	}
	for i, name := range strings.Split(normalize(value), "/") {
		if strings.HasPrefix(name, ".") && (i > 0 || name != ".") {
			s.problem("%s: %s names no folder of the vault; the default is used.", appFile, key)
			return
		}
	}
	*into = value
}

// compile makes of the ignore filters what Excluded applies. Like all names,
// paths are compared without regard to case.
func (s *Settings) compile() {
	for _, f := range s.IgnoreFilters {
		expr := "^" + regexp.QuoteMeta(norm.NFC.String(f))
		if len(f) > 2 && f[0] == '/' && f[len(f)-1] == '/' {
			expr = norm.NFC.String(f[1 : len(f)-1])
		} else if f == "" {
			continue
		}
		re, err := regexp.Compile("(?i)" + expr)
		if err != nil {
			s.problem("%s: userIgnoreFilters has %q, which is no regular expression that the server can use; it excludes nothing.", appFile, f)
			continue
		}
		s.ignored = append(s.ignored, re)
	}
}

// Excluded reports whether Obsidian's "Excluded files" cover a path of the
// vault. Obsidian only ranks such files last or leaves them out of lists; it
// is no protection.
func (s Settings) Excluded(path string) bool {
	if len(s.ignored) == 0 {
		return false
	}
	path = norm.NFC.String(path)
	return slices.ContainsFunc(s.ignored, func(re *regexp.Regexp) bool { return re.MatchString(path) })
}

// AttachmentFolderFor is the folder for a new attachment of a note, both from
// the vault's root; "" is the root. The folder need not exist.
func (s Settings) AttachmentFolderFor(note string) string {
	folder := normalize(s.AttachmentFolder)
	beside, ok := strings.CutPrefix(folder+"/", "./")
	if !ok {
		return folder
	}
	return strings.Trim(path.Join(parent(note), beside), "/")
}

// NewFileFolderFor is the folder for a new note that names none, made from the
// note current ("" for none), both from the vault's root; "" is the root. The
// folder need not exist.
func (s Settings) NewFileFolderFor(current string) string {
	switch s.NewFileLocation {
	case InCurrent:
		return parent(current)
	case InFolder:
		return strings.TrimPrefix(strings.TrimPrefix(normalize(s.NewFileFolder), "."), "/")
	}
	return ""
}

// parent is the folder that holds a path; "" is the root.
func parent(p string) string {
	if i := strings.LastIndexByte(p, '/'); i >= 0 {
		return p[:i]
	}
	return ""
}

// normalize is a path as Obsidian takes one from a setting: composed, with
// plain blanks, and single slashes between names only.
func normalize(p string) string {
	p = strings.Map(func(r rune) rune {
		if r == '\u00a0' || r == '\u202f' {
			return ' '
		}
		return r
	}, norm.NFC.String(p))
	return strings.Join(strings.FieldsFunc(strings.TrimSpace(p), func(r rune) bool { return r == '/' || r == '\\' }), "/")
}
