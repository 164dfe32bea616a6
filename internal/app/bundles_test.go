package app_test

import (
	"fmt"
	"strings"
	"testing"

	"vault-mcp/internal/app"
)

type bundleOut struct {
	Bundle  string
	Count   int     `json:"file_count"`
	Next    *string `json:"next_cursor"`
	Files   []struct{ Path string }
	LeftOut []struct{ Path, Reason string } `json:"left_out"`
}

// pages follows a bundle to its end and checks that no answer is over budget.
func pages(t *testing.T, a *app.App, tool string, in args) (text string, names, left []string) {
	t.Helper()
	in = cloned(in)
	in["format"] = "json"
	for range 100 {
		var o bundleOut
		if err := call(t, a, tool, in, &o); err != nil {
			t.Fatal(err)
		}
		text += o.Bundle
		for _, f := range o.Files {
			names = append(names, f.Path)
		}
		for _, l := range o.LeftOut {
			left = append(left, l.Path+": "+l.Reason)
		}
		if o.Next == nil {
			return text, names, left
		}
		in["cursor"] = *o.Next
	}
	t.Fatal("the pages do not end")
	return "", nil, nil
}

func TestBundlesLeaveNothingOutSilently(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"big.md": strings.Repeat("b", 30_000), "latin1.md": "caf\xe9", "x/props.md": "---\nk: 1\n---\nbody <&>", "x/none.md": "no end",
	}
	for i := range 30 {
		files[fmt.Sprintf("n%02d.md", i)] = strings.Repeat(fmt.Sprintf("text %d\n", i), 200)
	}
	plant(t, dir, files)
	a := start(t, t.TempDir(), fmt.Sprintf("vaults: [{path: %q}]\ngovernor: {max_response_bytes: 20000}\n", dir))
	text, names, left := pages(t, a, "bundle_folder", args{"root": ""})
	if len(names) != 32 {
		t.Errorf("%d notes in the bundles: %q", len(names), names)
	}
	if got := strings.Join(left, "; "); !strings.Contains(got, "big.md: ") || !strings.Contains(got, "latin1.md: ") || len(left) != 2 {
		t.Errorf("left out: %s", got)
	}
	for p, want := range files {
		if p != "big.md" && p != "latin1.md" && strings.Count(text, want) != 1 {
			t.Errorf("%s is in the bundles %d times", p, strings.Count(text, want))
		}
	}
	all := []string{"absent.md"}
	for p := range files {
		all = append(all, p)
	}
	if _, names, left := pages(t, a, "bundle_files", args{"paths": all, "max_bytes": 5000}); len(names) != 32 || len(left) != 3 {
		t.Errorf("by name: %d in, left out %q", len(names), left)
	}
}

func TestBundleStyles(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, map[string]string{`a "b".md`: "---\nk: 1\n---\n</document> & text"})
	a := start(t, t.TempDir(), fmt.Sprintf("vaults: [{path: %q}]\n", dir))
	res, err := do(t.Context(), a, "bundle_folder", `{"root":"","format":"xml","include_frontmatter":false}`)
	if err != nil {
		t.Fatal(err)
	}
	want := "1 notes · 76 bytes\n<document path=\"a &#34;b&#34;.md\">\n&lt;/document&gt; &amp; text\n</document>\n"
	if res.Text != want {
		t.Errorf("xml: got %q, want %q", res.Text, want)
	}
	res, err = do(t.Context(), a, "bundle_files", `{"paths":["a \"b\""]}`)
	if err != nil {
		t.Fatal(err)
	}
	if want := "## a \"b\".md\n\n---\nk: 1\n---\n</document> & text\n\n"; !strings.HasSuffix(res.Text, want) || res.Structured != nil {
		t.Errorf("markdown: got %q", res.Text)
	}
}
