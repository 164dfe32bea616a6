package page

import (
	"strings"
	"testing"
)

func plain(l line) string {
	var b strings.Builder
	b.WriteString(l.Kind + "|" + l.Mark + "|")
	for _, p := range l.Text {
		if p.Odd {
			b.WriteString("<" + p.Text + ">")
		} else {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// A removed line that begins with "-- " looks like the head of a file, and an
// added one like that of a hunk: whoever writes notes could hide lines behind it.
func TestNoLineOfANotePassesForTheHeadOfADiff(t *testing.T) {
	d := diffOf("--- a.md\n+++ a.md\n@@ -1,2 +1,3 @@\n same\n--- b.md\n+++ b.md\n+@@ -1,9 +1,9 @@\n--- c.md\n+++ c.md\n@@ -4 +4,0 @@\n-gone\n\\ No newline at end of file\n")
	var got []string
	for _, l := range d.Lines {
		got = append(got, plain(l))
	}
	want := []string{
		"file||--- a.md", "file||+++ a.md", "hunk||@@ -1,2 +1,3 @@", "| |same", "del|−|-- b.md", "add|+|++ b.md", "add|+|@@ -1,9 +1,9 @@",
		"file||--- c.md", "file||+++ c.md", "hunk||@@ -4 +4,0 @@", "del|−|gone", "||\\ No newline at end of file",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") || d.Added != 2 || d.Removed != 2 {
		t.Errorf("got %d and %d,\n%s", d.Added, d.Removed, strings.Join(got, "\n"))
	}
}

// What cannot be seen is named: a person must not approve text that they cannot see.
func TestWhatCannotBeSeenIsNamed(t *testing.T) {
	for text, want := range map[string]string{
		"a\u202Eb":            "a<U+202E>b",
		"\x1b[31mred\x1b[0m":  "<U+001B>[31mred<U+001B>[0m",
		"tab\tand\r":          "tab\tand<U+000D>",
		"\u2066x\u2069\u200B": "<U+2066>x<U+2069><U+200B>",
		"bad \xff":            "bad \uFFFD",
		"\u3164":              "<U+3164>",
		"größer — 日本語 שלום 😀": "größer — 日本語 שלום 😀",
		"":                    "",
	} {
		if got := plain(line{Text: pieces(text)}); got != "||"+want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestALongDiffIsWholeAndFolded(t *testing.T) {
	d := diffOf("--- /dev/null\n+++ a.md\n@@ -0,0 +1,500 @@\n" + strings.Repeat("+x\n", 500))
	if len(d.Lines) != firstLines || len(d.Lines)+len(d.Rest) != 503 || d.Added != 500 {
		t.Errorf("%d, %d, %d", len(d.Lines), len(d.Rest), d.Added)
	}
	if d := diffOf(""); d.Lines != nil {
		t.Errorf("nothing: %+v", d)
	}
}
