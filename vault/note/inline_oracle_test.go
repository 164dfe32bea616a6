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

// inlineTokens are what paragraphs for the comparison with goldmark are made of. They leave out what Obsidian adds: math,
// comments, tags, footnotes.
var inlineTokens = []string{
	"a", "b c", " ", "\nx", "[", "]", "(", ")", "](", "](d)", "](e.md \"t\")", "![", "`", "``", "`f`", "\\", "<", ">", "</b>",
	"<b>", "<b c=\"", "\"", "'", "<http://d.e>", "<f@g.h>", "](<", "i j>)", "!", "<!--", "-->", "*", "<?", "?>", "<!A ", "_", "é",
	"[k](l)", "![m](n)", "](o(p)q)", "\\]", "\\(", "](r 's')",
}

// inlineDiffers are texts made of these tokens that are not compared, and why.
var inlineDiffers = []*regexp.Regexp{
	regexp.MustCompile(`\[\[`), // wikilinks
	// An image without a target is not recorded, but the code in it is.
	regexp.MustCompile(`(?s)!\[.*\]\(\s*(?:<>)?\s*\)`),
	// goldmark takes <…<…> for a link target (6.3 allows no < in it), <?> for a whole instruction, and wants a capital
	// letter in a declaration (6.6). It needs no blank between <…> and a title (6.3 does).
	regexp.MustCompile(`\]\([ \n]*<[^>]*>["'(]`),
	regexp.MustCompile(`\]\([ \n]*<[^>]*<`), regexp.MustCompile(`<\?>`), regexp.MustCompile(`<![a-z]`),
}

// openTarget reports whether a target has an open parenthesis, which goldmark allows and 6.3 does not.
func openTarget(s string) bool {
	for {
		_, after, ok := strings.Cut(s, "](")
		if !ok {
			return false
		}
		s = after
		dest, _, _ := strings.Cut(strings.ReplaceAll(strings.TrimLeft(after, " \n"), "\n", " "), " ")
		depth := 0
		for i := 0; i < len(dest) && depth >= 0; i++ {
			switch dest[i] {
			case '\\':
				i++
			case '(':
				depth++
			case ')':
				depth--
			}
		}
		if depth > 0 {
			return true
		}
	}
}

func inlineText(data []byte) string {
	var b strings.Builder
	b.WriteString("x")
	for _, c := range data {
		b.WriteString(inlineTokens[int(c)%len(inlineTokens)])
	}
	return b.String()
}

// goldmarkInline is the code spans, links, images and autolinks of the only paragraph.
func goldmarkInline(src []byte) []string {
	got := []string{}
	doc := goldmark.DefaultParser().Parse(text.NewReader(src))
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.CodeSpan:
			got = append(got, "code")
		case *ast.Link:
			if len(n.Destination) > 0 {
				got = append(got, fmt.Sprintf("link %s %t", n.Destination, n.Title != nil))
			}
		case *ast.Image:
			if len(n.Destination) > 0 {
				got = append(got, fmt.Sprintf("image %s %t", n.Destination, n.Title != nil))
			}
			return ast.WalkSkipChildren, nil
		case *ast.AutoLink:
			got = append(got, "auto "+string(n.Label(src)))
		}
		return ast.WalkContinue, nil
	})
	return got
}

// ourInline is the same as Scan and Inline see it.
func ourInline(src []byte) []string {
	in := Scan(src).Inline()
	got := []string{}
	code := in.Code
	flush := func(to int, drop bool) {
		for len(code) > 0 && code[0].Start < to {
			if !drop {
				got = append(got, "code")
			}
			code = code[1:]
		}
	}
	for _, l := range in.Links {
		flush(l.Span.Start, false)
		dest := src[l.TargetSpan.Start:max(l.TargetSpan.End, l.SubpathSpan.End)]
		switch {
		case l.Form == FormAutolink:
			got = append(got, "auto "+l.Target)
		case l.Form == FormMarkdown && l.Embed:
			got = append(got, fmt.Sprintf("image %s %t", dest, l.TitleSpan.Len() > 0))
			flush(l.Span.End, true)
		case l.Form == FormMarkdown:
			got = append(got, fmt.Sprintf("link %s %t", dest, l.TitleSpan.Len() > 0))
		}
	}
	flush(len(src), false)
	return got
}

func inlineDiff(s string) string {
	for _, known := range inlineDiffers {
		if known.MatchString(s) {
			return ""
		}
	}
	if openTarget(s) {
		return ""
	}
	diff := cmp.Diff(goldmarkInline([]byte(s)), ourInline([]byte(s)))
	if diff == "" {
		return ""
	}
	return fmt.Sprintf("%q\n%s", s, diff)
}

func TestInlineOfGoldmark(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	bad := 0
	for range 30000 {
		data := make([]byte, 1+r.IntN(12))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		if diff := inlineDiff(inlineText(data)); diff != "" {
			t.Error(diff)
			if bad++; bad > 5 {
				return
			}
		}
	}
}

// FuzzMarkdownLinks: on texts of plain CommonMark, code spans, links, images and autolinks are those of goldmark.
func FuzzMarkdownLinks(f *testing.F) {
	f.Add([]byte{4, 0, 9})
	f.Add([]byte("abcdefghijklmnopqrstuvwxyz"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 40 {
			return
		}
		if diff := inlineDiff(inlineText(data)); diff != "" {
			t.Error(diff)
		}
	})
}
