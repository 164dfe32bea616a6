package hitl

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"vault-mcp/vault/change"
)

func put(path, old, now string) change.Edit { return change.NewPut(path, []byte(old), []byte(now)) }

// lines are n different lines.
func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

// What a change does decides whether a person has to approve it, whichever tool
// made it.
func TestFloorOf(t *testing.T) {
	whole := put("a.md", "old\n", "new\n")
	whole.Whole = true
	fromEmpty := put("a.md", "\n", "new\n")
	fromEmpty.Whole = true
	upkeep := func(n int) (edits []change.Edit) {
		for i := range n {
			e := put(fmt.Sprintf("%d.md", i), "[[a]]", "[[b]]")
			e.Upkeep = true
			edits = append(edits, e)
		}
		return edits
	}
	long := "# Title\n" + lines(300)
	for _, tt := range []struct {
		what  string
		edits []change.Edit
		want  string // a part of the reason; "" if none is needed
	}{
		{"a new note", []change.Edit{change.NewCreate("a.md", []byte("text\n"))}, ""},
		{"a few words more", []change.Edit{put("a.md", "one\n", "one\ntwo\n")}, ""},
		{"a few words less", []change.Edit{put("a.md", long, strings.Replace(long, "line 7\n", "", 1))}, ""},
		{"a removal", []change.Edit{change.NewRemove("a.md", []byte("x"))}, "removes"},
		{"a whole note replaced", []change.Edit{whole}, "whole"},
		{"an empty note filled", []change.Edit{fromEmpty}, ""},
		{"a body emptied", []change.Edit{put("a.md", "---\nk: 1\n---\ntext\n", "---\nk: 1\n---\n\n")}, "empty"},
		{"properties emptied", []change.Edit{put("a.md", "---\nk: 1\n---\ntext\n", "text\n")}, ""},
		{"more than half", []change.Edit{put("a.md", long, long[:len(long)/3])}, "half"},
		{"a hundred lines", []change.Edit{put("a.md", long, strings.Replace(long, lines(120), "", 1))}, "lines"},
		{"a hundred lines in another order", []change.Edit{put("a.md", long, "# Title\n"+strings.Join(reversed(strings.SplitAfter(lines(300), "\n")), ""))}, ""},
		{"a new name", []change.Edit{{Kind: change.Move, Path: "F/a.md", To: "F/b.md"}}, ""},
		{"another folder", []change.Edit{{Kind: change.Move, Path: "F/a.md", To: "G/a.md"}}, "another folder"},
		{"links in ten files", upkeep(10), ""},
		{"links in eleven files", upkeep(11), "11 other files"},
		{"code for Dataview", []change.Edit{put("a.md", "x\n", "x\n```dataviewjs\ndv.pages()\n```\n")}, "plugins run"},
		{"code for Dataview in a callout", []change.Edit{put("a.md", "x\n", "> ~~~ dataviewjs\n> 1\n> ~~~\n")}, "plugins run"},
		{"inline code for Dataview", []change.Edit{put("a.md", "x\n", "x `$= dv.current()`\n")}, "plugins run"},
		{"code for Templater", []change.Edit{change.NewCreate("a.md", []byte("<% tp.date.now() %>\n"))}, "plugins run"},
		{"other code for Templater", []change.Edit{put("a.md", "<% a %>\n", "<% b %>\n")}, "plugins run"},
		{"other code for Dataview", []change.Edit{put("a.md", "```dataviewjs\n1\n```\nx\n", "```dataviewjs\n2\n```\nx\n")}, "plugins run"},
		{"words below code", []change.Edit{put("a.md", "```dataviewjs\n1\n```\nx\n", "```dataviewjs\n1\n```\nyx\n")}, ""},
		{"code that was there", []change.Edit{put("a.md", "<% a %>\n", "<% a %>\nmore\n")}, ""},
	} {
		t.Run(tt.what, func(t *testing.T) {
			got := FloorOf(change.Plan{Edits: tt.edits}, today, nil)
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
	if got := FloorOf(change.Plan{Ask: []string{"it is a bulk run"}}, today, nil); !strings.Contains(got, "bulk") {
		t.Errorf("%q", got)
	}
}

func reversed(s []string) []string {
	out := make([]string, len(s))
	for i := range s {
		out[len(s)-1-i] = s[i]
	}
	return out
}

// A note that is taken away in ten small steps is taken away.
func TestSmallStepsAddUp(t *testing.T) {
	was := "# Title\n" + lines(300)
	now := was
	for i := 0; i < 300; i += 20 {
		var next strings.Builder
		for line := range strings.Lines(now) {
			var n int
			if _, err := fmt.Sscanf(line, "line %d", &n); err != nil || n < i || n >= i+20 {
				next.WriteString(line)
			}
		}
		step := change.Plan{Edits: []change.Edit{put("a.md", now, next.String())}}
		alone := FloorOf(step, today, nil)
		together := FloorOf(step, today, func(string) ([]byte, bool) { return []byte(was), true })
		if i+20 > muchLines && together == "" {
			t.Fatalf("%d lines are gone, and nobody is asked", i+20)
		}
		if i < 100 && (alone != "" || i+20 <= muchLines && together != "") {
			t.Fatalf("after %d lines: %q, %q", i, alone, together)
		}
		now = next.String()
	}
}

// TestWhatIsCommonIsNotCounted: leaving out what two texts start and end with
// does not change how many lines are missing.
func TestWhatIsCommonIsNotCounted(t *testing.T) {
	all := func(was, is string) (n int) {
		there := map[string]int{}
		for line := range strings.Lines(is) {
			there[strings.TrimSpace(line)]++
		}
		for line := range strings.Lines(was) {
			if l := strings.TrimSpace(line); l != "" {
				if there[l]--; there[l] < 0 {
					n++
				}
			}
		}
		return n
	}
	r := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		var b strings.Builder
		for range r.IntN(8) {
			b.WriteString([]string{"a", "b", "ab", "\n", "a\n", "\r\n", " ", strings.Repeat("long ", 900)}[r.IntN(8)])
		}
		return b.String()
	}
	for range 20_000 {
		head, tail := text(), text()
		was, is := head+text()+tail, head+text()+tail
		if got := missing([]byte(was), []byte(is)); got != all(was, is) {
			t.Fatalf("%d lines of %q are missing in %q, not %d", all(was, is), was, is, got)
		}
	}
}
