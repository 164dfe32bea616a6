package query

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fieldCase is one case of testdata/cases.json: files, queries and which files the app finds.
type fieldCase struct {
	ID    string
	Why   string
	Files map[string]json.RawMessage
	Op    struct {
		Args struct {
			Queries    []string
			EmbeddedIn string `json:"embedded_in"`
		}
	}
	Expect struct {
		answer
		OneOf []answer `json:"one_of"`
	}
}

type answer struct {
	Results [][]string
	Error   bool
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
			got := c.run(t)
			if len(c.Expect.OneOf) == 0 {
				if diff := cmp.Diff(c.Expect.answer, got); diff != "" {
					t.Errorf("%s\n%s", c.Why, diff)
				}
				return
			}
			if !slices.ContainsFunc(c.Expect.OneOf, func(a answer) bool { return cmp.Equal(a, got) }) {
				t.Errorf("%s\ngot %v", c.Why, got)
			}
		})
	}
}

func (c fieldCase) run(t *testing.T) answer {
	var docs []*memory
	for path, raw := range c.Files {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			var file struct{ Base64 string }
			if err := json.Unmarshal(raw, &file); err != nil {
				t.Fatal(err)
			}
			b, err := base64.StdEncoding.DecodeString(file.Base64)
			if err != nil {
				t.Fatal(err)
			}
			text = string(b)
		}
		docs = append(docs, newMemory(path, text))
	}
	var a answer
	for _, text := range c.Op.Args.Queries {
		q, err := Parse(text)
		if err != nil {
			return answer{Error: true}
		}
		m, err := q.Prepare(plain)
		if err != nil {
			return answer{Error: true}
		}
		found := []string{}
		for _, d := range docs {
			if _, ok := m.Match(d, Options{Limit: 3, EmbeddedIn: c.Op.Args.EmbeddedIn}); ok {
				found = append(found, d.path)
			}
		}
		slices.Sort(found)
		a.Results = append(a.Results, found)
	}
	return a
}
