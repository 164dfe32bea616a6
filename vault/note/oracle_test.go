package note

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// oracleTokens are what texts for the comparison with goldmark are made of. They leave out, on purpose, where Obsidian
// is not CommonMark: %% and $$ (blocks of Obsidian), [^ (footnotes are containers there), | (tables end paragraphs), and
// --- as the first line (properties); and a lone CR, NUL, form feed and U+2028, which goldmark does not treat as
// CommonMark asks.
var oracleTokens = []string{
	"\n", "\n", "\n", "\n\n", " ", "  ", "    ", "\t", "# ", "## ", "#", " #", "###### ", "- ", "-", "* ", "+ ", "1. ",
	"2) ", "> ", ">", "a", "b c", "===", "=", "---", "***", "```", "````", "~~~", "sh", "<div>", "</div>", "<!--", "-->",
	"<b>", "<?", "?>", "<pre>", "</pre>", "<!A", "\\", "[a]: /u", "[a]:", "'t'", "[b](c)", "`", "é", "_ _ _", "\n    ",
	"\n  ", "\n> ", "\n- ", "\n\t", "\n# ", "\n===\n", "\n---\n",
}

// goldmarkDiffers are texts made of these tokens that are not compared, and why.
var goldmarkDiffers = []*regexp.Regexp{
	regexp.MustCompile(`^---`), // may be properties
	// goldmark does not take a tab for a blank behind a complete tag (CommonMark 4.6, condition 7).
	regexp.MustCompile(`>\s*\t`),
	// goldmark takes <…<…> for a link target (4.7 allows no < in it), and [a]: with the target on the next line for text.
	regexp.MustCompile(`\[a\]:\s*<`), regexp.MustCompile(`\[a\]:[ \t]*\n`),
	// goldmark ends an item that starts with an empty line behind the list nested in it (5.2, rule 3 again).
	regexp.MustCompile(`(?:[-*+]|\d[.)])[ \t]*\n[ \t]+(?:[-*+]|\d[.)])`),
	// goldmark counts the column behind a blank and a tab after a marker differently (2.2).
	regexp.MustCompile(`(?:[-*+>]|\d[.)]) +\t`),
	// goldmark ends the outer item of an empty nested item at a blank line (5.2, rule 3 is about the inner one only).
	regexp.MustCompile(`(?:[-*+]|\d[.)]|\n)[ \t]+(?:[-*+]|\d[.)])[ \t]*\n`),
}

// oracleText makes a text of tokens, one for each byte.
func oracleText(data []byte) string {
	var b strings.Builder
	for _, c := range data {
		b.WriteString(oracleTokens[int(c)%len(oracleTokens)])
	}
	return b.String()
}

// goldmarkHeadings is the level and text of each heading at top level as goldmark sees them.
func goldmarkHeadings(src []byte) []string {
	doc := goldmark.DefaultParser().Parse(text.NewReader(src))
	var got []string
	for c := doc.FirstChild(); c != nil; c = c.NextSibling() {
		h, ok := c.(*ast.Heading)
		if !ok {
			continue
		}
		var lines []string
		for i := range h.Lines().Len() {
			seg := h.Lines().At(i)
			lines = append(lines, strings.Trim(string(seg.Value(src)), " \t\n"))
		}
		got = append(got, fmt.Sprintf("%d %s", h.Level, strings.Join(lines, " ")))
	}
	return got
}

func ourHeadings(src []byte) []string {
	var got []string
	for _, h := range Scan(src).Headings {
		got = append(got, fmt.Sprintf("%d %s", h.Level, h.Text))
	}
	return got
}

func TestHeadingsOfGoldmark(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	bad := 0
	for range 20000 {
		data := make([]byte, 1+r.IntN(14))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		if diff := oracleDiff(oracleText(data)); diff != "" {
			t.Error(diff)
			if bad++; bad > 5 {
				return
			}
		}
	}
}

func oracleDiff(s string) string {
	for _, known := range goldmarkDiffers {
		if known.MatchString(s) {
			return ""
		}
	}
	src := []byte(s)
	diff := cmp.Diff(goldmarkHeadings(src), ourHeadings(src))
	if diff == "" {
		return ""
	}
	return fmt.Sprintf("%q\n%s", s, diff)
}
