package rename

import (
	"errors"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault-mcp/internal/fault"
	"vault-mcp/vault/link"
	"vault-mcp/vault/note"
	"vault-mcp/vault/settings"
)

func TestHeading(t *testing.T) {
	tests := []struct {
		name  string
		was   files
		line  int
		title string
		want  files // what differs
	}{
		{
			name: "links by every spelling",
			was: files{
				"F.md":     "# Tools\n\n## Saws\n\n[[#Tools]] [x](#tools) [[F#Tools#Saws|s]] `[[#Tools]]`\n",
				"n.md":     "---\na: '[[F#Tools]]'\n---\n[[F#tools]] ![[F#Tools#Saws]] [m](F.md#Tools) [m](<F.md#Tools>) [[F#Saws]] [[G#Tools]] [[F]] [[F#^t]]\n| [[F#Tools\\|x]] |\n|-|\n",
				"G.md":     "# Tools\n",
				"c.canvas": `{"nodes":[{"type":"file","file":"F.md","subpath":"#Tools"},{"type":"text","text":"[[F#Tools]]"}]}`,
			},
			line: 1, title: "Big Gear: a|b",
			want: files{
				"F.md":     "# Big Gear: a|b\n\n## Saws\n\n[[#Big Gear a b]] [x](#Big%20Gear%20a%20b) [[F#Big Gear a b#Saws|s]] `[[#Tools]]`\n",
				"n.md":     "---\na: '[[F#Big Gear a b]]'\n---\n[[F#Big Gear a b]] ![[F#Big Gear a b#Saws]] [m](F.md#Big%20Gear%20a%20b) [m](<F.md#Big Gear a b>) [[F#Saws]] [[G#Tools]] [[F]] [[F#^t]]\n| [[F#Big Gear a b\\|x]] |\n|-|\n",
				"c.canvas": `{"nodes":[{"type":"file","file":"F.md","subpath":"#Big Gear a b"},{"type":"text","text":"[[F#Big Gear a b]]"}]}`,
			},
		},
		{
			name: "a title that hides a later one",
			was:  files{"F.md": "# A\n## x\n# B\n## y\n## C\n", "n.md": "[[F#y]] [[F#B#y]] [[F#C]] [[F#x]]"},
			line: 2, title: "y",
			want: files{"F.md": "# A\n## y\n# B\n## y\n## C\n", "n.md": "[[F#B#y]] [[F#B#y]] [[F#C]] [[F#y]]"},
		},
		{
			name: "the first of two stays the one that is meant",
			was:  files{"F.md": "# A\n# A\n", "n.md": "[[F#A]]"},
			line: 1, title: "B",
			want: files{"F.md": "# B\n# A\n", "n.md": "[[F#B]]"},
		},
		{
			name: "closing hashes and a setext heading stay",
			was:  files{"F.md": "  ##  Next  ##  \r\n\r\n[[#next]]\r\n", "n.md": ""},
			line: 1, title: "Last",
			want: files{"F.md": "  ##  Last  ##  \r\n\r\n[[#Last]]\r\n"},
		},
		{
			name: "a setext heading of two lines",
			was:  files{"F.md": "a\n\nNext\none\n---\n[[#Next one]]\n"},
			line: 3, title: "Last",
			want: files{"F.md": "a\n\nLast\n---\n[[#Last]]\n"},
		},
		{
			name: "a link in the old title, and one in the new",
			was:  files{"F.md": "# See [[n]]\n\n[[#See n]] [[#See [[n]]", "n.md": "[[F#Tools]]"},
			line: 1, title: "Tools of [[n|m]]",
			want: files{"F.md": "# Tools of [[n|m]]\n\n[[#Tools of n m]] [[#See [[n]]"},
		},
		{
			name: "no title before",
			was:  files{"F.md": "##\n\n# \n"},
			line: 1, title: "x",
			want: files{"F.md": "## x\n\n# \n"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMemory(tt.was)
			r, err := Heading(m, "F.md", tt.line, tt.title)
			if err != nil {
				t.Fatalf("%v %v", err, errors.Unwrap(err))
			}
			if err := m.apply(r.Edits); err != nil {
				t.Fatal(err)
			}
			want := maps.Clone(tt.was)
			maps.Copy(want, tt.want)
			if d := cmp.Diff(want, m.now()); d != "" {
				t.Error(d)
			}
			for _, e := range r.Edits {
				if e.Upkeep != (e.Path != "F.md") {
					t.Errorf("%s: upkeep %v", e.Path, e.Upkeep)
				}
			}
		})
	}
}

func TestHeadingRefused(t *testing.T) {
	m := newMemory(files{"F.md": "# A\n\ntext\n\nB\n===\n"})
	for _, tt := range []struct {
		line  int
		title string
		code  fault.Code
	}{
		{3, "x", fault.NotFound}, {1, "", fault.InvalidInput}, {1, "a\nb", fault.InvalidInput}, {1, "x #", fault.InvalidInput},
		{5, "# x", fault.InvalidInput}, {5, "- x", fault.InvalidInput},
	} {
		_, err := Heading(m, "F.md", tt.line, tt.title)
		if e, ok := errors.AsType[*fault.Error](err); !ok || e.Code != tt.code {
			t.Errorf("%d %q: %v", tt.line, tt.title, err)
		}
	}
}

func TestBlock(t *testing.T) {
	was := files{
		"F.md": "text ^b1\n\n- item ^b2\n\n[[#^b1]] [[F#^B1|x]] [[#^b2]]\n", "n.md": "![[F#^b1]] [x](F.md#^b1) [[F#h#^b1]] [[F#b1]] [[F#^b12]]",
	}
	m := newMemory(was)
	r, err := Block(m, "F.md", "^B1", "new-1")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.apply(r.Edits); err != nil {
		t.Fatal(err)
	}
	want := files{
		"F.md": "text ^new-1\n\n- item ^b2\n\n[[#^new-1]] [[F#^new-1|x]] [[#^b2]]\n", "n.md": "![[F#^new-1]] [x](F.md#^new-1) [[F#h#^new-1]] [[F#b1]] [[F#^b12]]",
	}
	if d := cmp.Diff(want, m.now()); d != "" {
		t.Error(d)
	}
	for id, to := range map[string]string{"no": "x", "b2": "new-1", "new-1": "a b"} {
		if _, err := Block(m, "F.md", id, to); err == nil {
			t.Errorf("%q became %q", id, to)
		}
	}
}

func TestLinks(t *testing.T) {
	was := files{
		"Old.md": "[[#h]] [[Old]]", "a/New.md": "", "New.md": "",
		"n.md":     "[[Old|Old]] [x](./Old.md#h) ![[Old.md]] [[old#^b]] `[[Old]]` [[Missing]]",
		"c.canvas": `{"nodes":[{"type":"file","file":"Old.md"}]}`,
	}
	m := newMemory(was)
	r, err := Links(m, "Old.md", "a/New.md", true, settings.Default())
	if err != nil {
		t.Fatal(err)
	}
	if err := m.apply(r.Edits); err != nil {
		t.Fatal(err)
	}
	want := maps.Clone(was)
	maps.Copy(want, files{
		"Old.md":   "[[#h]] [[a/New]]",
		"n.md":     "[[a/New|New]] [x](./a/New.md#h) ![[a/New.md]] [[a/New#^b]] `[[Old]]` [[Missing]]",
		"c.canvas": `{"nodes":[{"type":"file","file":"a/New.md"}]}`,
	})
	if d := cmp.Diff(want, m.now()); d != "" {
		t.Error(d)
	}
	if r.Report.Links() != 6 {
		t.Errorf("%+v", r.Report)
	}
	if r, err = Links(m, "missing", "Old.md", true, settings.Default()); err != nil {
		t.Fatal(err)
	}
	if err := m.apply(r.Edits); err != nil {
		t.Fatal(err)
	}
	want["n.md"] = "[[a/New|New]] [x](./a/New.md#h) ![[a/New.md]] [[a/New#^b]] `[[Old]]` [[Old]]"
	if d := cmp.Diff(want, m.now()); d != "" {
		t.Error(d)
	}
}

// FuzzHeading gives a heading any title: every sub-path of the vault leads to the heading that it led to, or is named.
func FuzzHeading(f *testing.F) {
	for _, title := range []string{"B", "C", "x: y", "a#b", "[[n]]", "`B`", "b  ", "%%c", "Ä^", "\"q'"} {
		f.Add("# A\n## B\n# C\n## B\n", "[[F#A]] [[F#B]] [x](F.md#C#B) [[F#a#b]]", 0, title)
		f.Add("A\n=\n\n## B ##\n[[#A]] [[#B|[[F#A]]]]\n# C", "---\na: '[[F#A]]'\nb: \"[[F#B]]\"\n---\n| [[F#B\\|x]] |\n|-|", 1, title)
	}
	f.Fuzz(func(t *testing.T, target, other string, at int, title string) {
		n := note.Scan([]byte(target))
		if at < 0 || at >= len(n.Headings) {
			return
		}
		m := newMemory(files{"F.md": target, "n.md": other})
		places := func() (all []int) {
			n := note.Scan(m.files["F.md"])
			for _, it := range itemsOf("n.md", m.files["n.md"]) {
				place := -1
				if to, ok := it.leadsTo(m.paths, "n.md"); ok && to == "F.md" {
					if p, ok := link.Locate(n, it.Subpath); ok {
						for i, h := range n.Headings {
							if h.Line == p.Line {
								place = i
							}
						}
					}
				}
				all = append(all, place)
			}
			return all
		}
		was := places()
		r, err := Heading(m, "F.md", n.Headings[at].Line, title)
		if err != nil {
			if e, ok := errors.AsType[*fault.Error](err); !ok || e.Code == fault.Internal {
				t.Fatal(err, errors.Unwrap(err))
			}
			return
		}
		if err := m.apply(r.Edits); err != nil {
			t.Fatal(err)
		}
		is := places()
		if len(is) != len(was) {
			t.Fatalf("%d links became %d", len(was), len(is))
		}
		wrong := 0
		for i := range was {
			if was[i] >= 0 && was[i] != is[i] {
				wrong++
			}
		}
		if wrong > len(r.Report.Left) {
			t.Fatalf("%d links lead elsewhere, %d are named: %q", wrong, len(r.Report.Left), m.now())
		}
	})
}
