package canvas

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEmptyFilesAreEmptyCanvases(t *testing.T) {
	for _, text := range []string{"", " \n", "\ufeff", "{}", "\ufeff{}", `{"nodes":[],"edges":[]}`, `{"nodes":null}`, `{"metadata":{"version":"1.0-1.0"}}`} {
		c, err := Read([]byte(text))
		if err != nil || len(c.Nodes)+len(c.Edges) > 0 {
			t.Errorf("%q: %v, %v", text, c, err)
		}
	}
}

func TestWhatIsNoCanvasIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{"nodes":[{"text":"a "quoted" word"}]}`: "no valid JSON",
		`[]`:                                     "no JSON object",
		`null`:                                   "no JSON object",
		`{"nodes":{}}`:                           "its nodes are no list",
		`{"edges":3}`:                            "its edges are no list",
		`{} {}`:                                  "no valid JSON",
		strings.Repeat(`{"a":`, 20_000):          "no valid JSON",
		`{"nodes":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + "}": "no valid JSON",
	} {
		if _, err := Read([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
	if _, err := Read(make([]byte, MaxBytes+1)); err == nil {
		t.Error("a canvas beyond MaxBytes is read")
	}
}

func TestRead(t *testing.T) {
	c, err := Read([]byte("{\n\t\"nodes\":[\n" +
		"\t\t{\"id\":\"g\",\"type\":\"group\",\"x\":-40,\"y\":-4.9,\"width\":700,\"height\":1e300,\"label\":\"Shop\",\"backgroundStyle\":\"ratio\"},\n" +
		"\t\t7, {\"id\":\"f\",\"type\":\"file\",\"file\":\"a/Lathe.md\",\"File\":\"other.md\",\"subpath\":\"#Setup\",\"x\":\"0\",\"styleAttributes\":{\"border\":1}},\n" +
		"\t\t{\"id\":\"t😀\",\"type\":\"text\",\"text\":\"a < b\\n[[x]]\",\"color\":\"4\"},{\"id\":9,\"type\":\"sticker\"}\n" +
		"\t],\n\t\"edges\":[{\"id\":\"e\",\"fromNode\":\"f\",\"toNode\":\"g\",\"fromSide\":\"top\",\"label\":\"to\"}],\n\t\"metadata\":{}\n}"))
	if err != nil {
		t.Fatal(err)
	}
	want := &Canvas{
		Nodes: []Node{
			{ID: "g", Type: Group, X: -40, Y: -4, Width: 700, Label: "Shop", BackgroundStyle: "ratio", Line: 3, Column: 3},
			{ID: "f", Type: File, File: "a/Lathe.md", Subpath: "#Setup", Line: 4, Column: 6},
			{ID: "t😀", Type: Text, Text: "a < b\n[[x]]", Color: "4", Line: 5, Column: 3},
			{Type: "sticker", Line: 5, Column: 64},
		},
		Edges: []Edge{{ID: "e", FromNode: "f", ToNode: "g", FromSide: "top", FromEnd: None, ToEnd: Arrow, Label: "to"}},
	}
	if d := cmp.Diff(want, c); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if d := cmp.Diff(want.Nodes[1:2], c.Files()); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if d := cmp.Diff([]string{"a < b\n[[x]]"}, c.Texts()); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// The cases say what the app makes of canvases.
func TestFieldCases(t *testing.T) {
	raw, err := os.ReadFile("../../testdata/field/canvas.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		ID    string
		Files map[string]string
		Op    struct {
			What string
			Args struct{ Path string }
		}
		Expect json.RawMessage
	}
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	ran := map[string]int{}
	for _, c := range cases {
		ran[c.Op.What]++
		switch c.Op.What {
		case "canvas_edges":
			var want struct {
				Edges []struct{ ID, From, To, From_End, To_End string }
			}
			if err := json.Unmarshal(c.Expect, &want); err != nil {
				t.Fatal(err)
			}
			got, err := Read([]byte(c.Files[c.Op.Args.Path]))
			if err != nil || len(got.Edges) != len(want.Edges) {
				t.Fatalf("%s: %v, %v", c.ID, got, err)
			}
			for i, w := range want.Edges {
				if e := got.Edges[i]; e.ID != w.ID || e.FromNode != w.From || e.ToNode != w.To || e.FromEnd != w.From_End || e.ToEnd != w.To_End {
					t.Errorf("%s: %+v, want %+v", c.ID, e, w)
				}
			}
		case "search":
			got, err := Read([]byte(c.Files["wall.canvas"]))
			if err != nil {
				t.Fatal(err)
			}
			if all := strings.Join(got.Texts(), "\n"); !strings.Contains(all, "walnut\nplanks") || strings.Contains(all, "height") {
				t.Errorf("%s: %q", c.ID, all)
			}
		case "canvas_add_node":
			_, err := Read([]byte(c.Files[c.Op.Args.Path]))
			if broken := strings.Contains(string(c.Expect), `"error"`) && c.ID == "cv-invalid-json-untouched"; broken != (err != nil) {
				t.Errorf("%s: %v", c.ID, err)
			}
		}
	}
	if ran["canvas_edges"] == 0 || ran["search"] == 0 {
		t.Errorf("cases ran: %v", ran)
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"", "{}", `{"nodes":[{"type":"file","file":"a.md"},[],null],"edges":[{}]}`, "\ufeff{\r\n\"nodes\": [ {} , {\"x\":1e999}]}", `{"nodes":[],"nodes":[{"id":"😀"}]}`, `[[[`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Read(text)
		if (c == nil) != (err != nil) {
			t.Fatalf("%v, %v", c, err)
		}
		if err != nil {
			return
		}
		line := 1
		for _, n := range c.Nodes {
			if n.Line < line || n.Column < 1 {
				t.Fatalf("a node at %d:%d behind line %d", n.Line, n.Column, line)
			}
			line = n.Line
		}
		if len(c.Files())+len(c.Texts()) > len(c.Nodes) {
			t.Fatal("more cards than nodes")
		}
	})
}
