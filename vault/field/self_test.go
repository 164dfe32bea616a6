package field

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The runner itself: a wrong answer fails, and what it does not know never
// passes.
func TestFieldRunnerJudges(t *testing.T) {
	want := map[string]string{
		"right":                    "passed",
		"right in any order":       "passed",
		"right in one way":         "passed",
		"right, refused":           "passed",
		"files of every form":      "passed",
		"wrong":                    "failed, breaks",
		"wrong, one row too few":   "failed, breaks",
		"wrong, but only medium":   "failed",
		"wrong, but optional":      "failed",
		"wrong order":              "failed, breaks",
		"wrong, not refused":       "failed, breaks",
		"wrong, refused":           "failed, breaks",
		"wrong in every way":       "failed, breaks",
		"wrong file":               "failed, breaks",
		"unknown key":              "unsupported: unknown key colour",
		"unknown key in a way":     "unsupported: unknown key colour",
		"unknown key in a row":     "unsupported: unknown key colour in headings",
		"unknown argument":         "unsupported: unknown argument colour",
		"unknown comparison":       "unsupported: compare: colour",
		"unknown operation":        "unsupported: unknown operation paint",
		"unknown operation inside": "unsupported: unknown operation paint",
		"nothing expected":         "unsupported: nothing is expected",
	}
	got := map[string]string{}
	for _, r := range runFolder(t, "testdata/fake") {
		got[r.ID] = r.verdict.String()
		switch {
		case r.verdict == notSupported:
			got[r.ID] += ": " + r.detail
		case r.breaks():
			got[r.ID] += ", breaks"
		}
		if r.verdict == failed && r.detail == "" {
			t.Errorf("%s fails and does not say why", r.ID)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// The files of the folder that FIELD_CASES names are run, every one, and are
// counted by kind.
func TestFieldCasesFromAnotherFolder(t *testing.T) {
	dir := t.TempDir()
	for kind, text := range map[string]string{"one": "# A\n", "two": "# B\n"} {
		raw, err := json.Marshal([]values{{
			"id": kind, "certainty": "high", "files": values{"n.md": text},
			"op":     values{"what": "headings", "args": values{"path": "n.md"}},
			"expect": values{"headings": []values{{"text": "A", "level": 1}}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, kind+".json"), raw, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("FIELD_CASES", dir)
	results := runFolder(t, folder(os.Getenv))
	got := map[string]string{}
	for _, r := range results {
		got[r.kind] = r.verdict.String()
	}
	if want := (map[string]string{"one": "passed", "two": "failed"}); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if text := table(results); !strings.Contains(strings.Join(strings.Fields(text), " "), "one 1/0/0 - - two 0/1/0 - - all 1/1/0") {
		t.Errorf("the table is\n%s", text)
	}
	t.Setenv("FIELD_CASES", "testdata/field")
	if got, want := folder(os.Getenv), "../../testdata/field"; got != want {
		t.Errorf("a path from the root is %q, want %q", got, want)
	}
	if got := folder(func(string) string { return "" }); got != "../../testdata/field" {
		t.Errorf("without FIELD_CASES it is %q", got)
	}
}
