package note

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// editCase is a case of testdata/field whose operation edits the text of one note.
type editCase struct {
	ID    string
	Files map[string]json.RawMessage
	Op    struct {
		What string
		Args struct {
			Path, Mode, Content, Status string
			Line                        int
			Target                      struct {
				Type, Block string
				Heading     []string
			}
		}
	}
	Expect    editExpect
	Certainty string
}

type editExpect struct {
	Error        bool
	Content      *string
	ContentOneOf []string `json:"content_one_of"`
	Nonblank     []string `json:"nonblank_lines"`
	Base64       string
	Prefix       string
	Suffix       string
	OneOf        []editExpect `json:"one_of"`
}

// The field cases whose write is an edit of one note's text.
func TestEditFieldCases(t *testing.T) {
	ran := 0
	for _, kind := range []string{"patch", "tasks", "files", "structures"} {
		raw, err := os.ReadFile("../../testdata/field/" + kind + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var cases []editCase
		if err := json.Unmarshal(raw, &cases); err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			if c.Op.What != "patch" && c.Op.What != "toggle_task" {
				continue
			}
			ran++
			t.Run(c.ID, func(t *testing.T) {
				text := fileText(t, c.Files[c.Op.Args.Path])
				e, err := c.run(t, text)
				if diff := c.Expect.diff(text, e, err); diff != "" {
					t.Error(diff)
				}
				if err == nil {
					checkEdited(t, text, e)
				}
			})
		}
	}
	if ran < 20 {
		t.Errorf("only %d cases", ran)
	}
}

func fileText(t *testing.T, raw json.RawMessage) []byte {
	t.Helper()
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return []byte(s)
	}
	var f struct{ Base64, Content string }
	if err := json.Unmarshal(raw, &f); err != nil {
		t.Fatal(err)
	}
	if f.Base64 == "" {
		return []byte(f.Content)
	}
	b, err := base64.StdEncoding.DecodeString(f.Base64)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (c editCase) run(t *testing.T, text []byte) (Edited, error) {
	a := c.Op.Args
	if c.Op.What == "toggle_task" {
		edit := TaskEdit{Line: a.Line, Toggle: a.Status == ""}
		for _, r := range a.Status {
			edit.Status = r
		}
		return edit.Apply(text)
	}
	return Patch{
		Target: Target{
			Kind:    map[string]TargetKind{"heading": TargetHeading, "block": TargetBlock, "document": TargetDocument}[a.Target.Type],
			Heading: a.Target.Heading, Block: a.Target.Block,
		},
		Mode:    map[string]PatchMode{"append": PatchAppend, "prepend": PatchPrepend, "replace": PatchReplace}[a.Mode],
		Content: a.Content,
	}.Apply(text)
}

func (x editExpect) diff(old []byte, e Edited, err error) string {
	for _, one := range x.OneOf {
		if one.diff(old, e, err) == "" {
			return ""
		}
	}
	got := string(e.Text)
	switch {
	case x.OneOf != nil:
		return "none of the alternatives: " + got
	case x.Error != (err != nil):
		return "error " + errText(err) + ", text " + got
	case x.Content != nil && got != *x.Content:
		return cmp.Diff(*x.Content, got)
	case x.ContentOneOf != nil && !slices.Contains(x.ContentOneOf, got):
		return cmp.Diff(x.ContentOneOf[0], got)
	case x.Base64 != "" && base64.StdEncoding.EncodeToString(e.Text) != x.Base64:
		return "bytes " + got
	case !strings.HasPrefix(got, x.Prefix) || !strings.HasSuffix(got, x.Suffix):
		return "prefix or suffix: " + got
	case x.Nonblank != nil:
		var lines []string
		for line := range strings.SplitSeq(strings.ReplaceAll(got, "\r", ""), "\n") {
			if strings.TrimSpace(line) != "" {
				lines = append(lines, line)
			}
		}
		return cmp.Diff(x.Nonblank, lines)
	}
	return ""
}

func errText(err error) string {
	if err == nil {
		return "none"
	}
	return err.Error()
}

// checkEdited fails if an edit changed a byte outside of what it says that it changed.
func checkEdited(t *testing.T, old []byte, e Edited) {
	t.Helper()
	if e.Removed.Start != e.Added.Start || e.Removed.Len() < 0 || e.Added.Len() < 0 || e.Removed.End > len(old) || e.Added.End > len(e.Text) {
		t.Fatalf("removed %v, added %v", e.Removed, e.Added)
	}
	if string(old[:e.Removed.Start]) != string(e.Text[:e.Added.Start]) || string(old[e.Removed.End:]) != string(e.Text[e.Added.End:]) {
		t.Fatalf("bytes outside of the edit changed:\n%q\n%q", old, e.Text)
	}
}

func TestPatchSection(t *testing.T) {
	under := func(titles ...string) Target { return Target{Kind: TargetHeading, Heading: titles} }
	for _, tt := range []struct {
		name, text string
		target     Target
		mode       PatchMode
		content    string
		want       string
	}{
		{"a comment in a shell block is no heading", "# Setup\n```bash\n# Setup\nx\n```\ntext\n# B\nb\n", under("Setup"), PatchReplace, "new", "# Setup\nnew\n# B\nb\n"},
		{"sub-sections belong to the section", "# A\na\n## B\nb\n\n# C\n", under("A"), PatchAppend, "x\n", "# A\na\n## B\nb\nx\n\n# C\n"},
		{"replacing takes the sub-sections too", "# A\na\n## B\nb\n\n# C\n", under("A"), PatchReplace, "x\n", "# A\nx\n\n# C\n"},
		{"case and punctuation do not count", "## What's (next)?\nold\n", under("what's next"), PatchReplace, "x\n", "## What's (next)?\nx\n"},
		{"a path in one title", "# A\n## B\nb\n# C\n## B\nc\n", under("C#B"), PatchAppend, "x\n", "# A\n## B\nb\n# C\n## B\nc\nx\n"},
		{"the line says which", "## B\nb\n## B\nc\n", Target{Kind: TargetHeading, Heading: []string{"B"}, Line: 3}, PatchReplace, "x\n", "## B\nb\n## B\nx\n"},
		{"a line is enough", "## B\nb\n## B\nc\n", Target{Kind: TargetHeading, Line: 3}, PatchReplace, "x\n", "## B\nb\n## B\nx\n"},
		{"blank lines around a section stay", "# A\n\nold\n\n\n# B\n", under("A"), PatchReplace, "new", "# A\n\nnew\n\n\n# B\n"},
		{"more blank lines if asked for", "# A\nold\n# B\n", under("A"), PatchReplace, "\nnew\n\n", "# A\n\nnew\n\n# B\n"},
		{"an emptied section keeps one gap", "# A\n\nold\n\n# B\n", under("A"), PatchReplace, "", "# A\n\n# B\n"},
		{"an empty section between blank lines", "# A\n\n\n\n# B\n", under("A"), PatchAppend, "- x", "# A\n\n- x\n\n\n# B\n"},
		{"an empty section with one", "# A\n\n# B\n", under("A"), PatchAppend, "- x", "# A\n- x\n\n# B\n"},
		{"a heading at the end without line end", "# A", under("A"), PatchAppend, "x", "# A\nx"},
		{"a heading at the end", "# A\n", under("A"), PatchPrepend, "x", "# A\nx\n"},
		{"no lazy line of a list", "# A\n- a\n\n# B\n", under("A"), PatchAppend, "text", "# A\n- a\n\ntext\n\n# B\n"},
		{"an indented line goes on with the item", "# A\n- a\n", under("A"), PatchAppend, "  more", "# A\n- a\n  more\n"},
		{"no row of a table", "# A\n| a |\n| - |\n| 1 |\n", under("A"), PatchAppend, "text", "# A\n| a |\n| - |\n| 1 |\n\ntext\n"},
		{"a row of a table", "# A\n| a |\n| - |\n| 1 |\n", under("A"), PatchAppend, "| 2 |", "# A\n| a |\n| - |\n| 1 |\n| 2 |\n"},
		{"a callout does not join a quote", "# A\n> a\n", under("A"), PatchAppend, "> [!tip]\n> b", "# A\n> a\n\n> [!tip]\n> b\n"},
		{"a quote does not join a callout below", "# A\n> [!tip]\n> b\n", under("A"), PatchPrepend, "> a", "# A\n> a\n\n> [!tip]\n> b\n"},
		{"a quote goes on", "# A\n> a\n", under("A"), PatchAppend, "> b", "# A\n> a\n> b\n"},
		{"blanks in code stay", "# A\n", under("A"), PatchAppend, "```\na\n  \nb\n```", "# A\n```\na\n  \nb\n```\n"},
		{"no underline", "# A\na\n", under("A"), PatchAppend, "---\nb", "# A\na\n\n---\nb\n"},
		{"an id stays an id", "# A\na ^one\n", under("A"), PatchAppend, "b", "# A\na ^one\n\nb\n"},
		{"an underlined heading below is not drawn in", "# A\n\nB\n===\n", under("A"), PatchReplace, "x", "# A\nx\n\nB\n===\n"},
		{"a list before a numbered one", "# A\n2. b\n", under("A"), PatchPrepend, "text", "# A\ntext\n\n2. b\n"},
		{"a list joins", "# A\n\n- b\n", under("A"), PatchPrepend, "- a", "# A\n\n- a\n- b\n"},
		{"CRLF", "# A\r\na\r\n# B\r\n", under("A"), PatchReplace, "x\ny\rz\r\n", "# A\r\nx\r\ny\r\nz\r\n# B\r\n"},
		{"byte order mark", "\ufeff# A\na\n", under("A"), PatchReplace, "x", "\ufeff# A\nx\n"},
		{"cards stay above the archive", "---\nkanban-plugin: board\n---\n## A\n- [ ] a\n\n***\n\n## Archive\n- [x] b\n", under("A"), PatchAppend, "- [ ] c", "---\nkanban-plugin: board\n---\n## A\n- [ ] a\n- [ ] c\n\n***\n\n## Archive\n- [x] b\n"},
		{"board settings survive", "---\nkanban-plugin: board\n---\n## A\n- [ ] a\n\n%% kanban:settings\nx\n%%", under("A"), PatchReplace, "- [ ] c", "---\nkanban-plugin: board\n---\n## A\n- [ ] c\n\n%% kanban:settings\nx\n%%"},
		{"preamble", "---\na: 1\n---\nintro\n\n# A\n", Target{Kind: TargetPreamble}, PatchReplace, "x", "---\na: 1\n---\nx\n\n# A\n"},
		{"no preamble yet", "# A\n", Target{Kind: TargetPreamble}, PatchAppend, "x", "x\n# A\n"},
		{"a preamble beside an underlined title", "T\n===\n", Target{Kind: TargetPreamble}, PatchPrepend, "x", "x\n\nT\n===\n"},
		{"document", "---\na: 1\n---\nold\n", Target{}, PatchReplace, "x", "---\na: 1\n---\nx\n"},
		{"document with properties", "---\na: 1\n---\nold\n", Target{}, PatchReplace, "---\nb: 2\n---\nx\n", "---\nb: 2\n---\nx\n"},
		{"document of a board", "---\nkanban-plugin: board\n---\n## A\n\n%% kanban:settings\nx\n%%", Target{}, PatchAppend, "- [ ] c", "---\nkanban-plugin: board\n---\n## A\n- [ ] c\n\n%% kanban:settings\nx\n%%"},
		{"a rule makes no properties", "a: b\n\n---\n", Target{}, PatchPrepend, "---", "\n---\na: b\n\n---\n"},
		{"properties without a line end", "---\na: 1\n---", Target{}, PatchPrepend, "x", "---\na: 1\n---\nx"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, err := Patch{Target: tt.target, Mode: tt.mode, Content: tt.content}.Apply([]byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(e.Text)); diff != "" {
				t.Error(diff)
			}
			checkEdited(t, []byte(tt.text), e)
		})
	}
}

func TestPatchBlock(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		mode       PatchMode
		content    string
		want       string
	}{
		{"only the item, and its id stays", "- a\n- b ^k\n- c\n", PatchReplace, "- B", "- a\n- B ^k\n- c\n"},
		{"an item with sub-items", "- a\n- b ^k\n  - sub\n- c\n", PatchReplace, "- B\n  - new", "- a\n- B ^k\n  - new\n- c\n"},
		{"the text of an item", "- a\n- [ ] b ^k\n  - sub\n", PatchReplace, "B", "- a\n- [ ] B ^k\n  - sub\n"},
		{"a nested item", "- a\n\t- b ^k\n\t\t- sub\n- c\n", PatchReplace, "- B\n\t- new", "- a\n\t- B ^k\n\t\t- new\n- c\n"},
		{"a nested item as it was read", "- a\n  - b ^k\n- c\n", PatchReplace, "  - b ^k", "- a\n  - b ^k\n- c\n"},
		{"a paragraph", "a\n\none\ntwo ^k\n\nb\n", PatchReplace, "new\nlines", "a\n\nnew\nlines ^k\n\nb\n"},
		{"a paragraph by a list", "one ^k\n\nb\n", PatchReplace, "- x\n- y", "- x\n- y\n\n^k\n\nb\n"},
		{"a paragraph by code", "one ^k\n\nz\n", PatchReplace, "```\nx\n```", "```\nx\n```\n\n^k\n\nz\n"},
		{"a table", "| a |\n| - |\n| 1 |\n\n^k\n", PatchReplace, "| b |\n| - |", "| b |\n| - |\n\n^k\n"},
		{"a callout", "> [!note] T\n> old\n\n^k\n", PatchReplace, "> [!tip] T\n> new", "> [!tip] T\n> new\n\n^k\n"},
		{"a quote with the id inside", "> old ^k\n\nb\n", PatchReplace, "> new", "> new ^k\n\nb\n"},
		{"code", "```\nx\n```\n\n^k\n", PatchReplace, "```go\ny\n```", "```go\ny\n```\n\n^k\n"},
		{"append to a paragraph", "one ^k\n\nb\n", PatchAppend, "two", "one\ntwo ^k\n\nb\n"},
		{"append a list to a paragraph", "one ^k\n\nb\n", PatchAppend, "- x", "one ^k\n- x\n\nb\n"},
		{"append an item", "- a ^k\n- b\n", PatchAppend, "- x", "- a ^k\n- x\n- b\n"},
		{"append a sub-item", "- a ^k\n- b\n", PatchAppend, "  - x", "- a ^k\n  - x\n- b\n"},
		{"append to an item's text", "- a ^k\n- b\n", PatchAppend, "more", "- a\n  more ^k\n- b\n"},
		{"append behind the sub-items", "- a ^k\n  - sub\n- b\n", PatchAppend, "more", "- a ^k\n  - sub\n\n  more\n- b\n"},
		{"a further paragraph of an item", "- a\n\n  b ^k\n- c\n", PatchReplace, "new\nlines", "- a\n\n  new\n  lines ^k\n- c\n"},
		{"two paragraphs for one", "one ^k\n\nb\n", PatchReplace, "x\n\ny", "x\n\ny ^k\n\nb\n"},
		{"append a row", "| a |\n| - |\n| 1 |\n\n^k\n", PatchAppend, "| 2 |", "| a |\n| - |\n| 1 |\n| 2 |\n\n^k\n"},
		{"append text to a table", "| a |\n| - |\n\n^k\n", PatchAppend, "text", "| a |\n| - |\n\n^k\n\ntext\n"},
		{"append text to a list", "- a\n\n^k\n\nb\n", PatchAppend, "text", "- a\n\n^k\n\ntext\n\nb\n"},
		{"append to a callout", "> [!note] T\n> old\n\n^k\n", PatchAppend, "new", "> [!note] T\n> old\n> new\n\n^k\n"},
		{"append to code", "```\nx\n```\n\n^k\n", PatchAppend, "y", "```\nx\ny\n```\n\n^k\n"},
		{"append in a quote", "> a ^k\n", PatchAppend, "b", "> a\n> b ^k\n"},
		{"append to an item in a quote", "> - a ^k\n> - b\n", PatchAppend, "- x", "> - a ^k\n> - x\n> - b\n"},
		{"prepend to a paragraph", "one ^k\n", PatchPrepend, "zero", "zero\none ^k\n"},
		{"prepend an item", "- a\n- b ^k\n", PatchPrepend, "- x", "- a\n- x\n- b ^k\n"},
		{"prepend to an item's text", "- [ ] b ^k\n", PatchPrepend, "x", "- [ ] x\n  b ^k\n"},
		{"prepend a row", "| a |\n| - |\n| 1 |\n\n^k\n", PatchPrepend, "| 0 |", "| a |\n| - |\n| 0 |\n| 1 |\n\n^k\n"},
		{"prepend to a table", "| a |\n| - |\n\n^k\n", PatchPrepend, "text", "text\n\n| a |\n| - |\n\n^k\n"},
		{"prepend to a callout", "> [!note] T\n> old\n\n^k\n", PatchPrepend, "new", "> [!note] T\n> new\n> old\n\n^k\n"},
		{"prepend to code", "```\nx\n```\n\n^k\n", PatchPrepend, "w", "```\nw\nx\n```\n\n^k\n"},
		{"CRLF", "- a\r\n- b ^k\r\n  - c\r\n", PatchReplace, "- B\n  - d\n", "- a\r\n- B ^k\r\n  - d\r\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, err := Patch{Target: Target{Kind: TargetBlock, Block: "K"}, Mode: tt.mode, Content: tt.content}.Apply([]byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(e.Text)); diff != "" {
				t.Error(diff)
			}
			checkEdited(t, []byte(tt.text), e)
			if len(Scan(e.Text).FindBlock("k")) != 1 {
				t.Error("the id is lost")
			}
		})
	}
}

func TestPatchErrors(t *testing.T) {
	text := []byte("# A\n## B\nb ^one\n# C\n## B\n")
	_, err := Patch{Target: Target{Kind: TargetHeading, Heading: []string{"A", "Z"}}, Content: "x"}.Apply(text)
	missing, ok := errors.AsType[*NoTargetError](err)
	if !ok {
		t.Fatal(err)
	}
	want := []HeadingPath{{[]string{"A"}, 1}, {[]string{"A", "B"}, 2}, {[]string{"C"}, 4}, {[]string{"C", "B"}, 5}}
	if diff := cmp.Diff(want, missing.Headings); diff != "" || len(missing.Blocks) != 1 || missing.Blocks[0].ID != "one" {
		t.Error(diff, missing.Blocks)
	}
	_, err = Patch{Target: Target{Kind: TargetHeading, Heading: []string{"b"}}, Content: "x"}.Apply(text)
	if twice, ok := errors.AsType[*AmbiguousError](err); !ok || !slices.Equal(twice.Lines, []int{2, 5}) {
		t.Error(err)
	}
	_, err = Patch{Target: Target{Kind: TargetHeading, Heading: []string{"A"}}, Content: "```\nx"}.Apply(text)
	if _, ok := errors.AsType[*SpoilError](err); !ok {
		t.Errorf("a fence that swallows the headings below: %v", err)
	}
	if _, err = (Patch{Content: " \n"}).Apply(text); err != ErrNothing {
		t.Error(err)
	}
}

func TestCreateHeading(t *testing.T) {
	for _, tt := range []struct{ name, text, path, content, want string }{
		{"empty note", "", "Log", "x", "## Log\nx\n"},
		{"below its parent", "# T\n## A\na\n\n## B\nb\n", "A|S", "x", "# T\n## A\na\n\n### S\nx\n\n## B\nb\n"},
		{"at the level of the others", "# A\na\n# B\nb\n", "C", "x\n", "# A\na\n# B\nb\n\n# C\nx\n"},
		{"below the title", "# T\n\n## A\na\n", "C", "\nx", "# T\n\n## A\na\n\n## C\n\nx\n"},
		{"with its hashes", "# T\n", "### C", "x", "# T\n\n### C\nx\n"},
		{"two levels", "# T\n", "A|B", "x", "# T\n\n## A\n\n### B\nx\n"},
		{"CRLF without end", "a\r\nb", "C", "x\n", "a\r\nb\r\n\r\n## C\r\nx\r\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := Patch{Target: Target{Kind: TargetHeading, Heading: strings.Split(tt.path, "|")}, Content: tt.content, CreateHeading: true}
			e, err := p.Apply([]byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(e.Text)); diff != "" {
				t.Error(diff)
			}
			checkEdited(t, []byte(tt.text), e)
		})
	}
	p := Patch{Target: Target{Kind: TargetHeading, Heading: []string{"A"}}, Content: "x", CreateHeading: true}
	if e, err := p.Apply([]byte("```\nopen")); err == nil {
		t.Errorf("a heading in code: %q", e.Text)
	}
}

func TestAppendPrepend(t *testing.T) {
	for _, tt := range []struct {
		text, content    string
		blank            bool
		appended, before string
	}{
		{"", "x", false, "x", "x"},
		{"\ufeff", "x\n", true, "\ufeffx\n", "\ufeffx\n"},
		{"a\n", "x", false, "a\nx\n", "x\na\n"},
		{"a", "x", false, "a\nx", "x\na"},
		{"a\r\nb", "x\ny\n", false, "a\r\nb\r\nx\r\ny\r\n", "x\r\ny\r\na\r\nb"},
		{"a\n", "x\n", true, "a\n\nx\n", "x\n\na\n"},
		{"\na\n\n", "x\n", true, "\na\n\nx\n", "x\n\na\n\n"},
		{"---\nk: v\n---\na\n", "x\n", false, "---\nk: v\n---\na\nx\n", "---\nk: v\n---\nx\na\n"},
		{"---\nk: v\n---", "x\n", false, "---\nk: v\n---\nx\n", "---\nk: v\n---\nx\n"},
		{"a\n", "", true, "a\n", "a\n"},
		{"a: b\n---\n", "---\n", false, "a: b\n---\n---\n", "\n---\na: b\n---\n"},
	} {
		e, err := Append([]byte(tt.text), tt.content, tt.blank)
		if err != nil || string(e.Text) != tt.appended {
			t.Errorf("append %q to %q: %q %v", tt.content, tt.text, e.Text, err)
		}
		checkEdited(t, []byte(tt.text), e)
		e, err = Prepend([]byte(tt.text), tt.content, tt.blank)
		if err != nil || string(e.Text) != tt.before {
			t.Errorf("prepend %q to %q: %q %v", tt.content, tt.text, e.Text, err)
		}
		checkEdited(t, []byte(tt.text), e)
	}
	if _, err := Append([]byte("\xff\xfe#\x00"), "x", false); err != ErrNotText {
		t.Error(err)
	}
}

// BenchmarkPatch appends to the last section of a note of about a megabyte.
func BenchmarkPatch(b *testing.B) {
	text := append(bytes.Repeat(sample()[200:], 250), "\n# Last\n- a ^last\n"...)
	for _, target := range []Target{{Kind: TargetHeading, Heading: []string{"Last"}}, {Kind: TargetBlock, Block: "last"}} {
		b.Run([]string{"document", "preamble", "heading", "block"}[target.Kind], func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := (Patch{Target: target, Content: "- b"}).Apply(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
