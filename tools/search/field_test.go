package search_test

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault-mcp/internal/dispatch"
)

// fieldCase is one case of what the app finds: files, queries, and the paths
// for each.
type fieldCase struct {
	ID, Why string
	Files   map[string]json.RawMessage
	Op      struct {
		Args struct {
			Queries    []string
			EmbeddedIn string `json:"embedded_in"`
		}
	}
	Expect struct {
		outcome
		OneOf []outcome `json:"one_of"`
	}
}

type outcome struct {
	Results [][]string
	Error   bool
}

// What the app finds is found, with an index and without.
func TestFieldCases(t *testing.T) {
	raw, err := os.ReadFile("../../testdata/field/search.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []fieldCase
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			files := map[string]string{}
			for p, raw := range c.Files {
				files[p] = fieldFile(t, raw)
			}
			dir := plant(t, files)
			for name, d := range map[string]*dispatch.Dispatcher{"files": serve(t, dir, 1<<20), "index": serveIndexed(t, dir, 1<<20)} {
				got := c.ask(t, d)
				if len(c.Expect.OneOf) == 0 {
					if d := cmp.Diff(c.Expect.outcome, got); d != "" {
						t.Errorf("%s: %s\n%s", name, c.Why, d)
					}
				} else if !slices.ContainsFunc(c.Expect.OneOf, func(o outcome) bool { return cmp.Equal(o, got) }) {
					t.Errorf("%s: %s\ngot %v", name, c.Why, got)
				}
			}
		})
	}
}

func (c *fieldCase) ask(t *testing.T, d *dispatch.Dispatcher) (o outcome) {
	for _, q := range c.Op.Args.Queries {
		in := args{"query": q}
		if c.Op.Args.EmbeddedIn != "" {
			in["embedded_in"] = c.Op.Args.EmbeddedIn
		}
		if _, err := do(t.Context(), d, "search_vault", in); err != nil {
			return outcome{Error: true}
		}
		items, _ := all(t, d, "search_vault", in)
		found := []string{}
		for _, it := range items {
			found = append(found, it.Path)
		}
		slices.Sort(found)
		o.Results = append(o.Results, slices.Compact(found))
	}
	return o
}

func fieldFile(t *testing.T, raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var file struct{ Base64 string }
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	b, err := base64.StdEncoding.DecodeString(file.Base64)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
