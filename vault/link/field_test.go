package link

import (
	"encoding/json"
	"io/fs"
	"os"
	"slices"
	"testing"

	"golang.org/x/text/unicode/norm"

	"vault-mcp/vault/note"
	"vault-mcp/vault/settings"
)

// fieldCase is one case of testdata/cases.json: files, an operation on them, and what the app does.
type fieldCase struct {
	ID    string
	Why   string
	Files map[string]any
	Op    struct {
		What string
		Args struct {
			From, To, Markup, Alias, Subpath, Note, Filename string
			Heading                                          string
			Embed                                            bool
		}
	}
	Expect struct {
		Path, Target, Subpath *string
		SubpathLine           json.RawMessage `json:"subpath_line"`
		Embed                 *bool
		Compare               string
		MarkupOneOf           []string `json:"markup_one_of"`
	}
}

func TestFieldCases(t *testing.T) {
	raw, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []fieldCase
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			var paths []string
			for p := range c.Files {
				paths = append(paths, p)
			}
			x := NewIndex(paths)
			s := settings.Load(func(name string) ([]byte, error) {
				if text, ok := c.Files[".obsidian/"+name].(string); ok {
					return []byte(text), nil
				}
				return nil, fs.ErrNotExist
			})
			switch c.Op.What {
			case "resolve_link":
				c.resolve(t, x)
			case "generate_link":
				c.generate(t, x, s)
			case "create_from_link":
				l, ok := Parse(c.Op.Args.Markup)
				if !ok {
					t.Fatalf("%q is no link", c.Op.Args.Markup)
				}
				c.path(t)(NewNote(c.Op.Args.From, l.Path, s))
			case "attachment_path":
				c.path(t)(AttachmentPath(c.Op.Args.Note, c.Op.Args.Filename, s, x.Has))
			default:
				t.Fatalf("operation %q is not run here", c.Op.What)
			}
		})
	}
}

// path compares a path, or that there is none, with the case.
func (c fieldCase) path(t *testing.T) func(got string, ok bool) {
	return func(got string, ok bool) {
		t.Helper()
		want := ""
		if c.Expect.Path != nil {
			want = *c.Expect.Path
		}
		if c.Expect.Compare == "nfc" {
			got, want = norm.NFC.String(got), norm.NFC.String(want)
		}
		if ok != (c.Expect.Path != nil) || got != want {
			t.Errorf("%q, %v; want %q: %s", got, ok, want, c.Why)
		}
	}
}

func (c fieldCase) resolve(t *testing.T, x *Index) {
	l, ok := Parse(c.Op.Args.Markup)
	if !ok {
		t.Fatalf("%q is no link", c.Op.Args.Markup)
	}
	path, ok := x.Resolve(c.Op.Args.From, l.Path, nil)
	c.path(t)(path, ok)
	if want := c.Expect.Target; want != nil && l.Path != *want {
		t.Errorf("path %q, want %q", l.Path, *want)
	}
	if want := c.Expect.Subpath; want != nil && l.Subpath != *want {
		t.Errorf("sub-path %q, want %q", l.Subpath, *want)
	}
	if want := c.Expect.Embed; want != nil && l.Embed != *want {
		t.Errorf("embed %v, want %v", l.Embed, *want)
	}
	if c.Expect.SubpathLine == nil {
		return
	}
	text, _ := c.Files[path].(string)
	got := "null"
	if place, ok := Locate(note.Scan([]byte(text)), l.Subpath); ok {
		line, _ := json.Marshal(place.Line)
		got = string(line)
	}
	if want := string(c.Expect.SubpathLine); got != want {
		t.Errorf("line %s, want %s", got, want)
	}
}

func (c fieldCase) generate(t *testing.T, x *Index, s settings.Settings) {
	o := OptionsFor(s)
	o.Text, o.Subpath, o.Embed = c.Op.Args.Alias, c.Op.Args.Subpath, c.Op.Args.Embed
	if c.Op.Args.Heading != "" {
		o.Subpath = HeadingSubpath(c.Op.Args.Heading)
	}
	got, ok := x.Text(c.Op.Args.From, c.Op.Args.To, o)
	if !ok || !slices.Contains(c.Expect.MarkupOneOf, got) {
		t.Errorf("%q, %v; want one of %q", got, ok, c.Expect.MarkupOneOf)
	}
}
