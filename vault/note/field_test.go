package note

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fieldCase is one case of testdata/cases.json: files, an operation on them, and what the app does.
type fieldCase struct {
	ID    string
	Why   string
	Files map[string]string
	Op    struct {
		What string
		Args struct {
			Path, Block, Mode, Tag, Filter, Status string
			Line                                   int
			Heading                                []string
			Target                                 struct {
				Type, Block string
				Heading     []string
			}
			Content string
		}
	}
	Expect struct {
		State          string
		Data           map[string]any
		BodyStartsWith string `json:"body_starts_with"`
		Headings       []struct {
			Level, Line int
			Text        string
		}
		Blocks map[string]struct {
			StartLine int `json:"start_line"`
			EndLine   int `json:"end_line"`
		}
		Content string
		Lines   []string
		Aliases map[string][]string
		Error   bool
		Tags    any
		inlineExpect
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
			text := []byte(c.Files[c.Op.Args.Path])
			switch c.Op.What {
			case "frontmatter":
				c.frontmatter(t, text)
			case "aliases":
				c.aliases(t)
			case "headings":
				c.headings(t, text)
			case "blocks":
				c.blocks(t, text)
			case "read_section":
				found := Scan(text).FindSection(c.Op.Args.Heading)
				if len(found) != 1 {
					t.Fatalf("%d sections, want 1", len(found))
				}
				got, want := string(found[0].Section.Of(text)), c.Expect.Content
				if strings.TrimRight(got, "\n") != strings.TrimRight(want, "\n") {
					t.Error(cmp.Diff(want, got))
				}
			case "read_block":
				found := Scan(text).FindBlock(c.Op.Args.Block)
				if len(found) != 1 {
					t.Fatalf("%d blocks, want 1", len(found))
				}
				got := strings.Split(strings.TrimRight(string(found[0].Span.Of(text)), "\n"), "\n")
				if diff := cmp.Diff(c.Expect.Lines, got); diff != "" {
					t.Error(diff)
				}
			case "patch":
				c.patchTarget(t, text)
			case "links":
				c.links(t, text)
			case "tags", "tag_counts":
				c.tags(t)
			case "notes_with_tag":
				c.notesWithTag(t)
			case "tasks":
				c.tasks(t)
			case "toggle_task":
				c.toggle(t, text)
			case "callouts":
				c.callouts(t, text)
			case "tables":
				c.tables(t, text)
			case "kanban":
				c.kanban(t, text)
			default:
				t.Fatalf("operation %q is not run here", c.Op.What)
			}
		})
	}
}

func (c fieldCase) frontmatter(t *testing.T, text []byte) {
	p := ParseProperties(text)
	if got := p.State.String(); got != c.Expect.State {
		t.Fatalf("state %s (%+v), want %s", got, p.Problem, c.Expect.State)
	}
	if c.Expect.BodyStartsWith != "" && !strings.HasPrefix(string(text[p.Body:]), c.Expect.BodyStartsWith) {
		t.Errorf("body %q", text[p.Body:])
	}
	if c.Expect.Data != nil {
		if diff := cmp.Diff(c.Expect.Data, plainData(t, p)); diff != "" {
			t.Error(diff)
		}
	}
}

// plainData is the properties after a round through JSON.
func plainData(t *testing.T, p Properties) map[string]any {
	t.Helper()
	b, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var data map[string]any
	if err := json.Unmarshal(b, &data); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	return data
}

func (c fieldCase) aliases(t *testing.T) {
	got := map[string][]string{}
	for path, text := range c.Files {
		p := ParseProperties([]byte(text))
		prop, _ := p.Find("aliases")
		switch v := prop.Value.(type) {
		case string:
			got[path] = []string{v}
		case []any:
			for _, item := range v {
				got[path] = append(got[path], item.(string))
			}
		}
	}
	if diff := cmp.Diff(c.Expect.Aliases, got); diff != "" {
		t.Error(diff)
	}
}

func (c fieldCase) headings(t *testing.T, text []byte) {
	got := Scan(text).Headings
	if len(got) != len(c.Expect.Headings) {
		t.Fatalf("%d headings, want %d: %+v", len(got), len(c.Expect.Headings), got)
	}
	for i, want := range c.Expect.Headings {
		if h := got[i]; h.Level != want.Level || h.Line != want.Line || h.Text != want.Text {
			t.Errorf("heading %d is %+v, want %+v", i, h, want)
		}
	}
}

func (c fieldCase) blocks(t *testing.T, text []byte) {
	got := Scan(text).Blocks
	if len(got) != len(c.Expect.Blocks) {
		t.Errorf("%d blocks, want %d: %+v", len(got), len(c.Expect.Blocks), got)
	}
	for _, b := range got {
		want, ok := c.Expect.Blocks[b.ID]
		if !ok || b.Line != want.StartLine || want.EndLine != 0 && b.EndLine != want.EndLine {
			t.Errorf("block %+v, want %+v", b, want)
		}
	}
}

// patchTarget checks that a target is found exactly when it can be edited. The edits themselves are made elsewhere.
func (c fieldCase) patchTarget(t *testing.T, text []byte) {
	target := c.Op.Args.Target
	n, found := Scan(text), 0
	if target.Type == "block" {
		found = len(n.FindBlock(target.Block))
	} else {
		found = len(n.FindSection(target.Heading))
	}
	want := 1
	switch {
	case c.Expect.Error:
		want = 0
	case c.ID == "pt-ambiguous-leaf":
		want = 2
	}
	if found != want {
		t.Errorf("%d targets, want %d", found, want)
	}
}
