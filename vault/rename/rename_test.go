package rename

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault-mcp/internal/fault"
	"vault-mcp/vault/change"
	"vault-mcp/vault/settings"
)

// files are the texts of a vault.
type files map[string]string

// now is the vault as texts.
func (m *memory) now() files {
	all := files{}
	for p, b := range m.files {
		all[p] = string(b)
	}
	return all
}

var relative = settings.Settings{NewLinkFormat: settings.Relative}
var absolute = settings.Settings{NewLinkFormat: settings.Absolute}

func TestMoves(t *testing.T) {
	tests := []struct {
		name     string
		settings settings.Settings
		was      files
		moves    []Move
		want     files // what differs
	}{
		{
			name: "every form of a link to a note follows, code and escapes do not",
			was: files{"A/Old.md": "# h\n[[Old#h]]\n", "n.md": "[t](A/Old.md) [t](A/Old.md#h) [t](<A/Old.md>) [t](A%2FOld.md) [t](/A/Old.md \"x\")\n" +
				"[[Old]] [[A/Old]] [[/A/Old|y]] [[old|Old]]\n`[[Old]]` \\[[Old]] $[[Old]]$ <!-- [[Old]] --> %%[[Old]]%%\n```\n[[Old]]\n```\n\n[l]: A/Old.md\n"},
			moves: []Move{{From: "A/Old.md", To: "A/New Name.md"}},
			want: files{"A/New Name.md": "# h\n[[New Name#h]]\n", "n.md": "[t](A/New%20Name.md) [t](A/New%20Name.md#h) [t](<A/New Name.md>) [t](A%2FNew%20Name.md) [t](/A/New%20Name.md \"x\")\n" +
				"[[New Name]] [[A/New Name]] [[/A/New Name|y]] [[New Name|New Name]]\n`[[Old]]` \\[[Old]] $[[Old]]$ <!-- [[Old]] --> %%[[New Name]]%%\n```\n[[Old]]\n```\n\n[l]: A/New%20Name.md\n"},
		},
		{
			name:  "an attachment",
			was:   files{"i.png": "x", "n.md": "![x](i.png) ![](<i.png>) ![[i.png|100x50]] ![i.png|20](i.png) [i](i.png)\n"},
			moves: []Move{{From: "i.png", To: "j k.png"}},
			want:  files{"j k.png": "x", "n.md": "![x](j%20k.png) ![](<j k.png>) ![[j k.png|100x50]] ![i.png|20](j%20k.png) [j k](j%20k.png)\n"},
		},
		{
			name:  "relative links of the moved note",
			was:   files{"A/Foo.md": "", "B/Foo.md": "", "A/n.md": "[[../B/Foo]] [x](../B/Foo.md#a%20b) [[Foo]] [[./Foo|f]] ![[Foo#^x]]\n"},
			moves: []Move{{From: "A/n.md", To: "C/D/n.md"}},
			want:  files{"C/D/n.md": "[[../../B/Foo]] [x](../../B/Foo.md#a%20b) [[Foo]] [[../../A/Foo|f]] ![[Foo#^x]]\n"},
		},
		{
			name:  "a namesake that was beside",
			was:   files{"A/Foo.md": "", "B/Foo.md": "", "B/n.md": "[[Foo]] [Foo](Foo.md)\n"},
			moves: []Move{{From: "B/n.md", To: "n.md"}},
			want:  files{"n.md": "[[B/Foo]] [Foo](B/Foo.md)\n"},
		},
		{
			name: "properties keep their quoting",
			was: files{"Old.md": "", "n.md": "---\nup: \"[[Old]]\"\nq: '[[Old|it''s]]'\nlist:\n  - \"[[Old#a]]\" # [[Old]]\n  - '[x](Old.md)'\nflow: [\"[[Old]]\", '[[Old]]']\n" +
				"block: |-\n  [[Old]]\nno: [[Old]]\nmap: {a: \"[[Old]]\"}\n---\n"},
			moves: []Move{{From: "Old.md", To: "It's $1.md"}},
			want: files{"It's $1.md": "", "n.md": "---\nup: \"[[It's $1]]\"\nq: '[[It''s $1|it''s]]'\nlist:\n  - \"[[It's $1#a]]\" # [[Old]]\n  - '[x](It''s%20$1.md)'\nflow: [\"[[It's $1]]\", '[[It''s $1]]']\n" +
				"block: |-\n  [[It's $1]]\nno: [[Old]]\nmap: {a: \"[[It's $1]]\"}\n---\n"},
		},
		{
			name:  "properties with escapes",
			was:   files{"It's.md": "", "n.md": "---\na: '[[It''s]]'\nb: \"[[It\\u0027s|x\\ty]]\"\nc: ['[[It''s|It''s]]']\n---\n"},
			moves: []Move{{From: "It's.md", To: "That's.md"}},
			want:  files{"That's.md": "", "n.md": "---\na: '[[That''s]]'\nb: \"[[That's|x\\ty]]\"\nc: ['[[That''s|That''s]]']\n---\n"},
		},
		{
			name: "a canvas",
			was: files{"A/Old.md": "", "p.png": "", "c.canvas": "{\n\t\"nodes\":[\n\t\t{\"id\":\"1\",\"type\":\"file\",\"file\":\"A/Old.md\",\"subpath\":\"#h\",\"x\":1},\n" +
				"\t\t{\"id\":\"2\",\"text\":\"a \\\"b\\\"\\n[[Old]] `[[Old]]` [x](A/Old.md) A/Old.md\",\"type\":\"text\"},\n\t\t{\"type\":\"group\",\"background\":\"p.png\"},{\"type\":\"link\",\"url\":\"A/Old.md\"}],\"x\":{\"file\":\"A/Old.md\"}}"},
			moves: []Move{{From: "A/Old.md", To: "B/N\u2028\u00e9.md"}, {From: "p.png", To: "q.png"}},
			want: files{"B/N\u2028\u00e9.md": "", "q.png": "", "c.canvas": "{\n\t\"nodes\":[\n\t\t{\"id\":\"1\",\"type\":\"file\",\"file\":\"B/N\u2028\u00e9.md\",\"subpath\":\"#h\",\"x\":1},\n" +
				"\t\t{\"id\":\"2\",\"text\":\"a \\\"b\\\"\\n[[N\u2028\u00e9]] `[[Old]]` [x](B/N\u2028\u00e9.md) A/Old.md\",\"type\":\"text\"},\n\t\t{\"type\":\"group\",\"background\":\"q.png\"},{\"type\":\"link\",\"url\":\"A/Old.md\"}],\"x\":{\"file\":\"A/Old.md\"}}"},
		},
		{
			name:  "a base that names a folder and its notes",
			was:   files{"A/Old.md": "", "b.base": "filters:\n  and:\n    - file.inFolder(\"A\") # \"A\"\n    - 'file.folder == \"A\"'\n    - \"file.path != \\\"A/Old.md\\\"\"\n    - x.contains(link(\"Old\", \"Old\"))\n    - 'up == \"[[Old|o]]\"'\n    - status == \"A\"\nviews:\n  - type: table\n    name: A\n    filters: file.hasLink('A/Old#x')\n"},
			moves: []Move{{From: "A", To: "B's", Dir: true}, {From: "A/Old.md", To: "B's/New.md"}},
			want:  files{"B's/New.md": "", "b.base": "filters:\n  and:\n    - file.inFolder(\"B's\") # \"A\"\n    - 'file.folder == \"B''s\"'\n    - \"file.path != \\\"B's/New.md\\\"\"\n    - x.contains(link(\"New\", \"Old\"))\n    - 'up == \"[[New|o]]\"'\n    - status == \"A\"\nviews:\n  - type: table\n    name: A\n    filters: file.hasLink('B\\'s/New#x')\n"},
		},
		{
			name:  "a swap at once",
			was:   files{"A.md": "[[B]] [[A]]", "B.md": "", "n.md": "[[A]] [[B]] [A](A.md)"},
			moves: []Move{{From: "A.md", To: "B.md"}, {From: "B.md", To: "A.md"}},
			want:  files{"B.md": "[[A]] [[B]]", "A.md": "", "n.md": "[[B]] [[A]] [B](B.md)"},
		},
		{
			name:  "a chain that opens another note's name",
			was:   files{"A.md": "a", "B.md": "b", "n.md": "[[A]] [[B]]"},
			moves: []Move{{From: "A.md", To: "B.md"}, {From: "B.md", To: "C.md"}},
			want:  files{"B.md": "a", "C.md": "b", "n.md": "[[B]] [[C]]"},
		},
		{
			name:  "case only",
			was:   files{"forge.md": "", "Crew/a.md": "[[Crew/b]]", "Crew/b.md": "", "n.md": "[[forge]] [[Crew/a]]"},
			moves: []Move{{From: "forge.md", To: "Forge.md"}, {From: "Crew", To: "crew", Dir: true}},
			want:  files{"Forge.md": "", "crew/a.md": "[[Crew/b]]", "crew/b.md": ""},
		},
		{
			name:  "folders that swap, one in the other's place",
			was:   files{"A/x.md": "[[A/y]]", "A/y.md": "", "B/x.md": "[[./y]]", "B/y.md": "", "n.md": "[[A/x]] [[B/y]]"},
			moves: []Move{{From: "A", To: "B", Dir: true}, {From: "B", To: "A", Dir: true}},
			want:  files{"B/x.md": "[[B/y]]", "B/y.md": "", "A/x.md": "[[./y]]", "A/y.md": "", "n.md": "[[B/x]] [[A/y]]"},
		},
		{
			name:  "out of a folder and into it",
			was:   files{"A/x.md": "", "A/y.md": "", "z.md": "", "n.md": "[[A/x]] [[A/y]] [[z]]"},
			moves: []Move{{From: "A", To: "B/C", Dir: true}, {From: "A/x.md", To: "x2.md"}, {From: "z.md", To: "B/C/x.md"}},
			want:  files{"x2.md": "", "B/C/y.md": "", "B/C/x.md": "", "n.md": "[[x2]] [[B/C/y]] [[x]]"},
		},
		{
			name:     "the settings' relative form",
			settings: relative,
			was:      files{"A/Old.md": "", "B/n.md": "[[Old]] [x](A/Old.md)", "A/n.md": "[[Old]]"},
			moves:    []Move{{From: "A/Old.md", To: "A/New.md"}},
			want:     files{"A/New.md": "", "B/n.md": "[[../A/New]] [x](../A/New.md)", "A/n.md": "[[New]]"},
		},
		{
			name:     "the settings' absolute form",
			settings: absolute,
			was:      files{"A/Old.md": "", "B/n.md": "[[Old]] [[../A/Old]]"},
			moves:    []Move{{From: "A/Old.md", To: "A/New.md"}},
			want:     files{"A/New.md": "", "B/n.md": "[[A/New]] [[../A/New]]"},
		},
		{
			name:  "names that Markdown or a wikilink would misread",
			was:   files{"Old.md": "", "n.md": "[[Old]] [x](Old.md) [[Old|y]]"},
			moves: []Move{{From: "Old.md", To: "a%20b &amp; (c]].md"}},
			want:  files{"a%20b &amp; (c]].md": "", "n.md": "[a%20b &amp; (c\\]\\]](a%2520b%20%26amp;%20%28c]].md) [x](a%2520b%20%26amp;%20%28c]].md) [y](a%2520b%20%26amp;%20%28c]].md)"},
		},
		{
			name:  "a dot in the name that would be an extension",
			was:   files{"Old.md": "", "v1.png": "", "n.md": "[[Old]] [x](Old)"},
			moves: []Move{{From: "Old.md", To: "v1.png.md"}},
			want:  files{"v1.png.md": "", "n.md": "[[v1.png.md]] [x](v1.png.md)"},
		},
		{
			name:  "a picture that is a link",
			was:   files{"Old.md": "", "i.png": "", "n.md": "[![x](i.png)](Old.md) [![[i.png]]](https://example.org) [![i](i.png)](u)"},
			moves: []Move{{From: "Old.md", To: "New.md"}, {From: "i.png", To: "j.png"}},
			want:  files{"New.md": "", "j.png": "", "n.md": "[![x](j.png)](New.md) [![[j.png]]](https://example.org) [![j](j.png)](u)"},
		},
		{
			name:  "quotes, lists and tables",
			was:   files{"Old.md": "", "n.md": "> - [[Old\n> - [x\n>   y](Old.md)\n\n| a |\n|-|\n| [[Old\\|Old]] [a\\|b](Old.md) |\n"},
			moves: []Move{{From: "Old.md", To: "New.md"}},
			want:  files{"New.md": "", "n.md": "> - [[Old\n> - [x\n>   y](New.md)\n\n| a |\n|-|\n| [[New\\|New]] [a\\|b](New.md) |\n"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMemory(tt.was)
			m.run(t, tt.moves, tt.settings)
			want := maps.Clone(tt.was)
			for _, mv := range tt.moves {
				for p := range tt.was {
					if within(p, mv.From) {
						delete(want, p)
					}
				}
			}
			maps.Copy(want, tt.want)
			if d := cmp.Diff(want, m.now()); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	was := files{"A/x.md": "", "B/y.md": "", "z.md": "", "Z2.md": ""}
	tests := []struct {
		name  string
		moves []Move
		code  fault.Code
	}{
		{"a missing note", []Move{{From: "no.md", To: "n.md"}}, fault.NoteNotFound},
		{"a missing folder", []Move{{From: "no", To: "n", Dir: true}}, fault.NoteNotFound},
		{"a taken name", []Move{{From: "z.md", To: "Z2.md"}}, fault.NoteExists},
		{"a taken name in another case", []Move{{From: "z.md", To: "z2.md"}}, fault.NoteExists},
		{"two moves to one place", []Move{{From: "z.md", To: "n.md"}, {From: "Z2.md", To: "N.md"}}, fault.NoteExists},
		{"a folder onto a folder", []Move{{From: "A", To: "B", Dir: true}}, fault.NoteExists},
		{"a folder into itself", []Move{{From: "A", To: "A/B", Dir: true}}, fault.InvalidInput},
		{"a file twice", []Move{{From: "z.md", To: "n.md"}, {From: "z.md", To: "o.md"}}, fault.InvalidInput},
		{"a name with a dot in front", []Move{{From: "z.md", To: "A/.z.md"}}, fault.PathInvalid},
		{"a name that not every system has", []Move{{From: "z.md", To: "A/a:b.md"}}, fault.PathInvalid},
		{"a blank in front", []Move{{From: "z.md", To: "A/ b.md"}}, fault.PathInvalid},
		{"below a file", []Move{{From: "z.md", To: "Z2.md/b.md"}}, fault.PathInvalid},
		{"a note onto a folder", []Move{{From: "z.md", To: "A"}}, fault.NoteExists},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Plan(newMemory(was), tt.moves, settings.Default())
			if e, ok := errors.AsType[*fault.Error](err); !ok || e.Code != tt.code {
				t.Errorf("%v, not %s", err, tt.code)
			}
		})
	}
}

// What becomes of links is said in the report, and only what is concerned is read.
func TestReport(t *testing.T) {
	m := newMemory(files{
		"long/path/Anvil.md": "", "b/Hammer.md": "[[Anvil]] [[Hammer]]", "index.md": "[[Anvil]] [[Hammer]]", "other.md": "[[long/path/Anvil]]",
		"wait.md": "[[b/Anvil]]", "far.md": "[[index]]",
	})
	r := m.run(t, []Move{{From: "b/Hammer.md", To: "b/Anvil.md"}}, settings.Default())
	want := Report{
		Files: []Count{{"b/Anvil.md", 2}, {"index.md", 2}}, Ambiguous: 1, Alive: []Count{{"wait.md", 1}},
	}
	if d := cmp.Diff(want, r.Report); d != "" {
		t.Error(d)
	}
	if m.reads != 3 {
		t.Errorf("%d files were read", m.reads)
	}
	var upkeep []string
	for _, e := range r.Edits {
		if e.Upkeep {
			upkeep = append(upkeep, e.Path)
		}
	}
	if !slices.Equal(upkeep, []string{"index.md"}) {
		t.Errorf("upkeep of %q", upkeep)
	}

	m = newMemory(files{"Old.md": "", "n.md": "a\n[[Old]] [x](Old.md)"})
	r = m.run(t, []Move{{From: "Old.md", To: "No #1.md"}}, settings.Default())
	if d := cmp.Diff([]Place{{"n.md", 2, "Old"}, {"n.md", 2, "Old.md"}}, r.Report.Left); d != "" || len(r.Edits) != 1 {
		t.Error(d)
	}
}

// A move that changes no link is nothing but the move.
func TestNothingToRespell(t *testing.T) {
	m := newMemory(files{"a/x.md": "[[y]]", "y.md": "", "n.md": "[[x]] [x](x.md)"})
	r := m.run(t, []Move{{From: "a/x.md", To: "b/c/x.md"}}, settings.Default())
	if len(r.Edits) != 3 || r.Edits[2].Kind != change.Move || r.Report.Links() != 0 || m.reads != 0 {
		t.Errorf("%s, %d reads", describe(r.Edits), m.reads)
	}
	if _, err := Plan(m, []Move{{From: "n.md", To: "n.md"}}, settings.Default()); err != nil {
		t.Error(err)
	}
}

// A name that comes back under a swap stands beside its file, hidden, and is gone in the end.
func TestTemporaryName(t *testing.T) {
	m := newMemory(files{"f/A.md": "a", "B.md": "b"})
	r := m.run(t, []Move{{From: "f/A.md", To: "B.md"}, {From: "B.md", To: "f/A.md"}}, settings.Default())
	if !strings.HasPrefix(r.Edits[0].To, "f/"+change.TempPrefix) {
		t.Error(describe(r.Edits))
	}
}
