package app_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"unicode/utf8"

	"vault-mcp/internal/app"
	"vault-mcp/internal/fault"
)

// restRow is what an answer says of a text that goes on.
type restRow struct {
	From  int `json:"from_line"`
	Lines int
	Chars int
}

type partRow struct {
	Content, Diff string
	From          int `json:"from_line"`
	Lines         int
	Total         int      `json:"total_lines"`
	Rest          *restRow `json:"rest"`
	DiffRest      *restRow `json:"diff_rest"`
	Files         []struct {
		Diff string
		Rest *restRow `json:"diff_rest"`
	}
	Bundle string
	Next   *string `json:"next_cursor"`
}

// parts reads a text by what each answer says of the rest, with the tool that
// gives it.
func parts(t *testing.T, a *app.App, tool, goesOn string, in args) []string {
	t.Helper()
	var list []string
	in = maps.Clone(in)
	for {
		var out partRow
		if err := call(t, a, tool, in, &out); err != nil {
			t.Fatalf("%s %v: %v", tool, in, err)
		}
		text, rest := out.Content+out.Diff, out.Rest
		if out.DiffRest != nil {
			rest = out.DiffRest
		}
		if len(out.Files) == 1 && out.Files[0].Diff != "" {
			text, rest = out.Files[0].Diff, out.Files[0].Rest
		}
		list = append(list, text)
		if rest == nil || len(list) > 1000 {
			return list
		}
		if goesOn != tool {
			in, tool = args{"path": in["path"], "format": "json"}, goesOn
		}
		in["from_line"], in["lines"] = rest.From, rest.Lines
	}
}

func soft(t *testing.T, chars int, files map[string]string) *app.App {
	t.Helper()
	dir := t.TempDir()
	plant(t, dir, files)
	return start(t, t.TempDir(), fmt.Sprintf("vaults: [{path: %q}]\ngovernor: {soft_note_chars: %d}\n", dir, chars))
}

// A long note filled the context of a model, or was refused.
func TestLongNotesEndEarlyAndGoOn(t *testing.T) {
	line := "Ein Satz mit Umläuten äöü, \"quotes\" and a \\.\n"
	files := map[string]string{
		"plain.md": strings.Repeat(line, 300), "crlf.md": strings.ReplaceAll(strings.Repeat(line, 300), "\n", "\r\n"),
		"cr.md": strings.ReplaceAll(strings.Repeat(line, 300), "\n", "\r"), "open.md": strings.Repeat(line, 300) + "no end", "blank.md": strings.Repeat("\n", 9000),
		"giant.md": strings.Repeat(line, 20) + strings.Repeat("y", 9000) + "\n" + strings.Repeat(line, 20), "short.md": line, "empty.md": "",
		"one.md": strings.Repeat("z", 9000), "wide.md": strings.Repeat("日本語\n", 3000),
	}
	a := soft(t, 2000, files)
	for path, text := range files {
		got := parts(t, a, "read_note", "read_note", args{"path": path, "format": "json"})
		if strings.Join(got, "") != text {
			t.Errorf("%s: its %d parts do not make the note", path, len(got))
		}
		if long := utf8.RuneCountInString(text) > 2000 && path != "one.md"; long != (len(got) > 1) {
			t.Errorf("%s: %d parts", path, len(got))
		}
		for _, p := range got {
			if n := utf8.RuneCountInString(p); n > 2000 && strings.Count(p, "\n") > 1 {
				t.Errorf("%s: a part has %d characters", path, n)
			}
		}
	}
	// As a text, the header says all of it.
	res, err := do(t.Context(), a, "read_note", `{"path":"plain.md"}`)
	if err != nil {
		t.Fatal(err)
	}
	header, body, _ := strings.Cut(res.Text, "\n")
	n := strings.Count(body, "\n")
	left := utf8.RuneCountInString(files["plain.md"]) - utf8.RuneCountInString(body)
	want := fmt.Sprintf(" · lines 1-%d of 300 · %d characters left: read_note from_line=%d lines=%d; read_note view=outline lists the headings", n, left, n+1, 300-n)
	if !strings.Contains(header, want) || res.Structured != nil {
		t.Errorf("got %q, want %q", header, want)
	}
	// An explicit number of lines is cut too, and goes on to its own end.
	if got := strings.Join(parts(t, a, "read_note", "read_note", args{"path": "plain.md", "format": "json", "from_line": 11, "lines": 100}), ""); got != strings.Repeat(line, 100) {
		t.Errorf("100 lines from line 11 on are %d", strings.Count(got, "\n"))
	}
}

func TestALineLargerThanAnyAnswerIsRefused(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, map[string]string{"a.md": "first\n" + strings.Repeat("x", 30_000) + "\nlast\n"})
	a := start(t, t.TempDir(), fmt.Sprintf("vaults: [{path: %q}]\ngovernor: {max_response_bytes: 20000}\n", dir))
	var out partRow
	if err := call(t, a, "read_note", args{"path": "a", "format": "json"}, &out); err != nil || out.Content != "first\n" || out.Rest == nil || out.Rest.From != 2 {
		t.Fatalf("got %+v, %v", out, err)
	}
	e := fault.Of(call(t, a, "read_note", args{"path": "a", "format": "json", "from_line": 2}, &out))
	if e == nil || e.Code != fault.Overflow || !strings.Contains(fmt.Sprint(e.Details["narrow"]), "from_line") {
		t.Errorf("got %v", e)
	}
}

// A note was cut in the middle of a section although the next heading was near.
func TestALongNoteIsCutAtAHeading(t *testing.T) {
	section := func(i int) string { return fmt.Sprintf("## Part %d\n\n%s\n", i, strings.Repeat("words\n", 100)) }
	var text strings.Builder
	for i := range 12 {
		text.WriteString(section(i))
	}
	fenced := "```\n## no heading\n" + strings.Repeat("code\n", 350) + "## none\n" + strings.Repeat("code\n", 350) + "```\n"
	a := soft(t, 2000, map[string]string{"a.md": text.String(), "code.md": fenced})
	for i, p := range parts(t, a, "read_note", "read_note", args{"path": "a", "format": "json"}) {
		if !strings.HasPrefix(p, "## Part") {
			t.Errorf("part %d begins with %.20q", i, p)
		}
	}
	if got := parts(t, a, "read_note", "read_note", args{"path": "code", "format": "json"}); strings.HasPrefix(got[1], "#") {
		t.Errorf("cut at a line in code: %.20q", got[1])
	}
	// A section is cut alike, and read_note gives its rest, not more.
	whole := strings.Repeat("- item\n", 1000)
	a = soft(t, 2000, map[string]string{"b.md": "# A\n\n## B\n" + whole + "\n## C\nother\n"})
	if got := strings.Join(parts(t, a, "read_section", "read_note", args{"path": "b", "heading": "B", "format": "json"}), ""); got != "## B\n"+whole+"\n" {
		t.Errorf("%d bytes of %d", len(got), len(whole)+6)
	}
}

type outlineOut struct {
	Outline []struct {
		Line, Level  int
		Title, Block string
		Lines, Chars int
	}
	Rest *restRow
}

// The outline of a note tells what reading a section of it costs, before it is
// read.
func TestTheOutlineTellsWhatASectionCosts(t *testing.T) {
	text := "---\nk: 1\n---\nIntro\n\n# Überschrift\ntext äöü ^b1\n\n## Same\none\n\n# Other\n\n## Same\ntwo\n- item ^b2\n\n```\n# code\n```\n\nSetext\n======\nend"
	a := soft(t, 2000, map[string]string{"a.md": text, "none.md": "words\n"})
	var out outlineOut
	if err := call(t, a, "read_note", args{"path": "a", "view": "outline", "format": "json"}, &out); err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, r := range out.Outline {
		names = append(names, fmt.Sprint(r.Line, " ", r.Level, " ", r.Title, r.Block))
		in := args{"path": "a", "line": r.Line, "format": "json"}
		if r.Block != "" {
			in = args{"path": "a", "block": r.Block, "format": "json"}
		}
		var part partRow
		if err := call(t, a, "read_section", in, &part); err != nil {
			t.Fatal(err)
		}
		if n := utf8.RuneCountInString(part.Content); n != r.Chars || part.Lines != r.Lines || part.From != r.Line {
			t.Errorf("%+v: the section has %d characters and %d lines from %d", r, n, part.Lines, part.From)
		}
	}
	if got := strings.Join(names, ", "); got != "6 1 Überschrift, 7 0 b1, 9 2 Same, 12 1 Other, 14 2 Same, 16 0 b2, 22 1 Setext" {
		t.Errorf("got %s", got)
	}
	res, err := do(t.Context(), a, "read_note", `{"path":"a","view":"outline"}`)
	if err != nil || !strings.Contains(res.Text, "\nline 9: ## Same (3 lines, 13 characters)\n") || !strings.Contains(res.Text, "\nline 7: ^b1 (1 lines, 13 characters)\n") || res.Structured != nil {
		t.Errorf("got %v, %s", err, res.Text)
	}
	if err := call(t, a, "read_note", args{"path": "none", "view": "outline", "format": "json"}, &out); err != nil || out.Outline == nil || len(out.Outline) != 0 {
		t.Errorf("a note without headings: %+v, %v", out, err)
	}
}

// The outline of a huge note is a list that goes on.
func TestTheOutlineGoesOn(t *testing.T) {
	var text strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&text, "# Heading ^b%d\n## H\n", i)
	}
	a := soft(t, 2000, map[string]string{"a.md": text.String()})
	in := args{"path": "a", "view": "outline", "format": "json"}
	rows, pages, last := 0, 0, 0
	for {
		var out outlineOut
		if err := call(t, a, "read_note", in, &out); err != nil {
			t.Fatal(err)
		}
		for _, r := range out.Outline {
			if r.Line < last {
				t.Fatalf("line %d behind %d", r.Line, last)
			}
			last = r.Line
		}
		rows += len(out.Outline)
		if pages++; out.Rest == nil {
			break
		}
		if out.Rest.From <= last {
			t.Fatalf("goes on in line %d, behind %d", out.Rest.From, last)
		}
		in["from_line"], in["lines"] = out.Rest.From, out.Rest.Lines
	}
	if rows < 4000 || pages < 10 {
		t.Errorf("%d rows on %d pages", rows, pages)
	}
	if raw, _ := json.Marshal(in); pages > 1000 {
		t.Errorf("%s", raw)
	}
}

func TestSeveralLongNotesComeInParts(t *testing.T) {
	long := strings.Repeat("a line of the note\n", 300)
	a := soft(t, 2000, map[string]string{"a.md": "short\n", "b.md": long, "c.md": "short too\n", "d.md": strings.Repeat("1", 1500), "e.md": strings.Repeat("2", 1500)})
	paths := []string{"a.md", "b.md", "c.md", "d.md", "e.md"}
	in := args{"paths": paths}
	got := map[string]string{}
	pages := 0
	for {
		var out struct {
			Notes []struct {
				Path, Content string
				Rest          *restRow
			}
			Errors []problemRow
			Next   *string `json:"next_cursor"`
		}
		if err := call(t, a, "read_notes", in, &out); err != nil || len(out.Errors) > 0 {
			t.Fatal(err, out.Errors)
		}
		chars := 0
		for _, n := range out.Notes {
			chars += len(n.Content)
			if got[n.Path] = n.Content; n.Rest != nil {
				got[n.Path] += strings.Join(parts(t, a, "read_note", "read_note", args{"path": n.Path, "format": "json", "from_line": n.Rest.From, "lines": n.Rest.Lines}), "")
			}
		}
		if chars > 2000 {
			t.Errorf("a page has %d characters", chars)
		}
		if pages++; out.Next == nil {
			break
		}
		in["cursor"] = *out.Next
	}
	if got["b.md"] != long || len(got) != 5 || pages < 3 {
		t.Errorf("%d notes on %d pages; %d of %d bytes", len(got), pages, len(got["b.md"]), len(long))
	}
}

// A bundle is as long as a note may be, unless its caller says how long.
func TestABundleEndsEarlyUnlessToldHowLongItMayBe(t *testing.T) {
	files := map[string]string{"F/long.md": strings.Repeat("more than enough\n", 400)}
	for i := range 20 {
		files[fmt.Sprintf("F/n%02d.md", i)] = strings.Repeat("words\n", 60)
	}
	a := soft(t, 2000, files)
	bundles := func(in args) (n int, text string) {
		for in["format"] = "json"; ; n++ {
			var out partRow
			if err := call(t, a, "bundle_folder", in, &out); err != nil {
				t.Fatal(err)
			}
			if text += out.Bundle; in["max_bytes"] == nil && len(out.Bundle) > 2000 && len(out.Bundle) < 6000 {
				t.Errorf("a bundle of small notes has %d bytes", len(out.Bundle))
			}
			if out.Next == nil {
				return n + 1, text
			}
			in["cursor"] = *out.Next
		}
	}
	n, text := bundles(args{"root": "F"})
	one, all := bundles(args{"root": "F", "max_bytes": 500000})
	if n < 5 || one != 1 || text != all || strings.Count(all, "more than enough") != 400 {
		t.Errorf("%d bundles, %d if told; equal: %v", n, one, text == all)
	}
}

// A long diff is cut between hunks, or at least lines, and goes on.
func TestLongDiffsGoOn(t *testing.T) {
	r := newRepository(t)
	var before, after strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&before, "line %d\n", i)
		if i%20 == 0 {
			fmt.Fprintf(&after, "another %d\n", i)
		} else {
			fmt.Fprintf(&after, "line %d\n", i)
		}
	}
	r.write("long.md", before.String())
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "before")
	r.write("long.md", after.String())
	yaml := fmt.Sprintf("vaults: [{path: %q}]\n", r.dir)
	run := func(governor string) map[string][]string {
		a := start(t, r.home, yaml+"governor: "+governor+"\n")
		defer a.Close()
		return map[string][]string{
			"git_diff":  parts(t, a, "git_diff", "git_diff", args{"path": "long.md"}),
			"diff_note": parts(t, a, "diff_note", "diff_note", args{"path": "long.md", "against": "HEAD"}),
			"git_show":  parts(t, a, "git_show", "git_show", args{"path": "long.md"}),
			"at":        parts(t, a, "read_note", "read_note", args{"path": "long.md", "at": "HEAD", "format": "json"}),
		}
	}
	whole, cut := run("{soft_note_chars: 50000000, max_response_bytes: 50000000}"), run("{soft_note_chars: 8000}")
	for tool, parts := range cut {
		if len(whole[tool]) != 1 || len(parts) < 3 || strings.Join(parts, "") != whole[tool][0] {
			t.Errorf("%s: %d parts, %d bytes of %d", tool, len(parts), len(strings.Join(parts, "")), len(whole[tool][0]))
		}
		for i, p := range parts[1:] {
			if (tool == "git_diff" || tool == "diff_note") && !strings.HasPrefix(p, "@@ ") {
				t.Errorf("%s: part %d begins with %.30q", tool, i+1, p)
			}
		}
	}
}
