package match

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"vault-mcp/internal/fault"
)

func mustCompile(t testing.TB, source, flags string) *Pattern {
	t.Helper()
	p, err := Compile(source, flags)
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	return p
}

func regexHits(t testing.TB, source, flags, text string) (found []string) {
	n := mustCompile(t, source, flags).Find(t.Context(), new(Workspace), []byte(text), 1000)
	for _, h := range n.Lines {
		found = append(found, fmt.Sprintf("%d:%d %s", h.Line, h.Column(n.Text), h.Match(n.Text)))
	}
	return found
}

func TestRegex(t *testing.T) {
	tests := []struct {
		name, pattern, flags, text string
		want                       []string
	}{
		{"line start and end in LF", `^b$`, "", "a\nb\nc", []string{"2:1 b"}},
		{"line start and end in CRLF", `^b$`, "", "a\r\nb\r\nc", []string{"2:1 b"}},
		{"line start and end in CR", `^b$`, "", "a\rb\rc", []string{"2:1 b"}},
		{"end of every line", `$`, "", "a\r\nb\r\n", []string{"1:2 ", "2:2 "}},
		{"a match with its line end", `B\.md\n`, "i", "x b.md\r\ny", []string{"1:3 b.md\n"}},
		{"CRLF in the pattern", `a\r\nb`, "", "a\nb a\r\nb", []string{"1:1 a\nb", "2:3 a\nb"}},
		{"CR that is optional", `a\r?\nb`, "", "a\r\nb", []string{"1:1 a\nb"}},
		{"over several lines, another on the last", `a\s+b`, "", "a\n\nb a\n b x", []string{"1:1 a\n\nb", "3:3 a\n b"}},
		{"border at the end of a match over lines", `\ba[^]*?b`, "s", "a\nbab", []string{"1:1 a\nb"}},
		{"dot passes no line", `a.b`, "", "a\nb", nil},
		{"dot passes lines with s", `a.b`, "s", "a\r\nb", []string{"1:1 a\nb"}},
		{"case by default of the flag i", `straße`, "i", "STRA\u1e9eE", []string{"1:1 STRA\u1e9eE"}},
		{"case without flags", `foo`, "", "FOO foo", []string{"1:5 foo"}},
		{"one hit for each line", `o`, "", "oo\noo", []string{"1:1 o", "2:1 o"}},
		{"columns in UTF-16", `x`, "", "😀x", []string{"1:3 x"}},
		{"blank of JavaScript", `a\sb`, "", "a\u00a0b", []string{"1:1 a\u00a0b"}},
		{"no blank in a class", `a[\S]b`, "", "a\u00a0b a\u200bb", []string{"1:5 a\u200bb"}},
		{"bracket in a class", `[[]x[\]]`, "", "[x]", []string{"1:1 [x]"}},
		{"class of everything", `a[^]b`, "", "a\nb", []string{"1:1 a\nb"}},
		{"class of nothing", `a[]|b`, "", "ab", []string{"1:2 b"}},
		{"named group", `(?<year>\d{4})-(?<größe>\d)`, "", "2024-1", []string{"1:1 2024-1"}},
		{"surrogate pair", `\ud83d\ude00`, "", "x😀", []string{"1:2 😀"}},
		{"code point", `\u{1F600}`, "", "x😀", []string{"1:2 😀"}},
		{"property", `^\p{Script=Greek}+$`, "", "abc\nλόγος", []string{"2:1 λόγος"}},
		{"long name of a category", `\p{Lowercase_Letter}\P{gc=Letter}`, "", "A1b2", []string{"1:3 b2"}},
		{"alternatives", `\b(alpha|beta)\b`, "i", "alphabet Beta\nx ALPHA", []string{"1:10 Beta", "2:3 ALPHA"}},
		{"flag in a group", `a(?i:b)`, "", "aB AB", []string{"1:1 aB"}},
		{"flag of other dialects", `(?i)ab`, "", "AB", []string{"1:1 AB"}},
		{"empty text", `^$`, "", "", []string{"1:1 "}},
		{"empty lines", `^$`, "", "a\n\n\nb\n", []string{"2:1 ", "3:1 "}},
		{"Kelvin sign and prefilter", `kelvin`, "i", "\u212aelvin", []string{"1:1 \u212aelvin"}},
		{"replacement character matches a broken byte", `ab\ufffd`, "", "xab\xff", []string{"1:2 ab\ufffd"}},
		{"lone surrogate matches no letter", `ab\ud83dc`, "", "abc", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := regexHits(t, tt.pattern, tt.flags, tt.text); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestPatternsThatAreRefused(t *testing.T) {
	tests := []struct{ pattern, says, name string }{
		{`a(?=b)`, "look-ahead", "look-ahead"},
		{`a(?!b)`, "negative look-ahead", "negative look-ahead"},
		{`(?<=a)b`, "look-behind", "look-behind"},
		{`(?<!a)b`, "negative look-behind", "negative look-behind"},
		{`(a)\1`, "back-reference", "a back-reference"},
		{`(?<x>a)\k<x>`, "back-reference", "a back-reference"},
		{`a{1001}`, "more than 1000", ""},
		{`(a{100}){100}`, "more than 1000", ""},
		{`a{99999999999999999999}`, "more than 1000", ""},
		{`\w{1000}\w{1000}\w{1000}\w{1000}\w{1000}\w{1000}`, "too large", ""},
		{`(`, "missing closing )", ""},
		{`a)(b`, "unexpected )", ""},
		{`[a`, "missing closing ]", ""},
		{`[z-a]`, "range", ""},
		{`*a`, "repetition", ""},
		{`a**`, "repetition", ""},
		{`a++`, "repetition", ""},
		{`(?>a)`, "(?>", ""},
		{`a\`, `single \`, ""},
		{`\Afoo`, "use ^", ""},
		{`foo\Z`, "use $", ""},
		{`\Qa\E`, `\Q`, ""},
		{`\x{41}`, `\x`, ""},
		{`\u12`, `\u`, ""},
		{`\u{110000}`, "", ""},
		{`\01`, "octal", ""},
		{`[\1]`, "octal", ""},
		{`\p{Klingon}`, "no such", ""},
		{`\pL`, "braces", ""},
		{`(?-m:^a)`, "cannot be turned off", ""},
		{`(?U:a+)`, "not JavaScript", ""},
		{strings.Repeat("(", 500) + strings.Repeat(")", 500), "", "ok"},
	}
	for _, tt := range tests {
		_, err := Compile(tt.pattern, "i")
		if tt.name == "ok" {
			if err != nil {
				t.Errorf("%.20s…: %v", tt.pattern, err)
			}
			continue
		}
		if err == nil {
			t.Errorf("%s is accepted", tt.pattern)
			continue
		}
		e := fault.Of(err)
		if e.Code != fault.InvalidInput || !strings.Contains(e.Message, tt.says) || e.Details["argument"] != "pattern" {
			t.Errorf("%s: got %s %q %v, want %q", tt.pattern, e.Code, e.Message, e.Details, tt.says)
		}
		if tt.name != "" && (e.Details["name"] != tt.name || !strings.Contains(tt.pattern, fmt.Sprint(e.Details["construct"]))) {
			t.Errorf("%s: details %v", tt.pattern, e.Details)
		}
	}
	if _, err := Compile("a", "iy"); err == nil || fault.Of(err).Code != fault.InvalidInput {
		t.Errorf("flag y: %v", err)
	}
}

func TestNoPropertyOrFlagIsTakenForALetter(t *testing.T) {
	for _, p := range []string{`\e`, `\h`, `\R`, `\X`, `\K`, `\G`, `\y`, `\c1`} {
		if _, err := Compile(p, ""); err == nil {
			t.Errorf("%s is accepted", p)
		}
	}
}

func TestLiteralsOfAPattern(t *testing.T) {
	tests := []struct {
		pattern    string
		lead, must string
		oneLine    bool
	}{
		{`\b(alpha|beta)\b`, "alpha beta", "alpha beta", true},
		{`word\s+word`, "word", "word", false},
		{`colou?r`, "colour color", "colo", true},
		{`[ab]cd`, "acd bcd", "cd", true},
		{`\w+ing\b`, "", "ing", true},
		{`\d{4}-\d\d`, "", "-", true},
		{`(?:foo)+bar`, "foo", "foo", true},
		{`x*foo`, "", "foo", true},
		{`a|b`, "", "", true},
		{`foo|.*`, "", "", true},
		{`foo\nbarbaz`, "foo\nbarbaz", "barbaz", false},
		{`foo[^]*bar`, "foo", "foo", false},
		{`^#+ `, "#", "#", true},
		{`\[\[`, "[[", "[[", true},
		{`a\ufffdbc`, "", "bc", true},
	}
	texts := func(f *finder) string {
		if f == nil {
			return ""
		}
		var all []string
		for i := range f.forms {
			all = append(all, string(f.forms[i].text))
		}
		return strings.Join(all, " ")
	}
	for _, tt := range tests {
		p := mustCompile(t, tt.pattern, "")
		if got := texts(p.lead); got != tt.lead {
			t.Errorf("%s: begins with %q, want %q", tt.pattern, got, tt.lead)
		}
		if got := texts(p.must); got != tt.must {
			t.Errorf("%s: holds %q, want %q", tt.pattern, got, tt.must)
		}
		if p.oneLine != tt.oneLine {
			t.Errorf("%s: one line %v", tt.pattern, p.oneLine)
		}
	}
}

// The literals that are looked for first change nothing but the time.
func FuzzPrefilter(f *testing.F) {
	f.Add(`\b(alpha|beta)\b`, "i", "alphabet Beta\nx ALPHA\r\n alpha_ ſ", 3)
	f.Add(`word\s+word`, "", "word\n word word\rwordword", 1)
	f.Add(`[ks]+elvin$`, "i", "\u212aelvin\r\nſelvin \xff", 2)
	f.Add(`(?:ab)+c|\Bab`, "", "ababc\nxab", 5)
	f.Add(`a[^]*?b|a`, "s", "a\na b a\nb", 5)
	f.Add(`^-+$`, "", "---\nx\n-\n", 5)
	f.Add(`ab\ufffd`, "", "ab\xffab\ufffd", 5)
	f.Add(`\w+ing\b`, "i", "Kingship going\nING", 5)
	f.Add(`ab(?:.|\n)*yz`, "", strings.Repeat("ab ", 30), 5)
	f.Fuzz(func(t *testing.T, source, flags, text string, limit int) {
		if _, err := goFlags(flags); err != nil || len(source) > 100 || len(text) > 1000 || limit < 1 {
			t.Skip()
		}
		sameWithoutLiterals(t, source, flags, text, limit)
	})
}

// The same with patterns and texts that are made to meet.
func TestRandomPatternsWithoutLiterals(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	var pattern func(depth int) string
	pattern = func(depth int) string {
		switch n := r.IntN(12); {
		case depth == 0 || n < 4:
			return pick("ab", "k", "s", "foo", "[ab]", "[^a]", ".", `\w`, `\s`, `\n`, "-", "é", `\b`, "^", "$", `\B`, "K", `\ufffd`)
		case n < 7:
			return pattern(depth-1) + pattern(depth-1)
		case n < 9:
			return "(?:" + pattern(depth-1) + "|" + pattern(depth-1) + ")"
		default:
			return "(" + pattern(depth-1) + ")" + pick("*", "+", "?", "{2}", "{0,2}", "+?", "*?")
		}
	}
	for range 6_000 {
		var text strings.Builder
		for range r.IntN(40) {
			text.WriteString(pick("ab", "k", "s", "foo", "a", "b", "-", " ", "\n", "\r\n", "\r", "é", "\u212a", "ſ", "\xff", "F", "OO", "\ufffd"))
		}
		sameWithoutLiterals(t, pattern(4), pick("", "i", "s", "is"), text.String(), 1+r.IntN(5))
	}
}

// sameWithoutLiterals checks that a pattern finds the same with and without
// the literals that are looked for first, and what package regexp finds.
func sameWithoutLiterals(t *testing.T, source, flags, text string, limit int) {
	t.Helper()
	p, err := Compile(source, flags)
	if err != nil {
		if e := fault.Of(err); e.Code != fault.InvalidInput {
			t.Fatalf("%q is refused with %v", source, err)
		}
		return
	}
	if p.size > 1000 {
		return
	}
	show := func(p *Pattern) string {
		n := p.Find(t.Context(), new(Workspace), []byte(text), limit)
		return fmt.Sprint(n.Lines, n.More)
	}
	plain := *p
	plain.lead, plain.must = nil, nil
	got, want := show(p), show(&plain)
	if got != want {
		t.Errorf("%q (%s) in %q: got %s, without literals %s", source, flags, text, got, want)
	}
	w := new(Workspace)
	unix := w.unixLines([]byte(text))
	s := p.over(t.Context(), w, unix)
	s.budget = 0
	if lines, more := s.lines(limit); p.lead != nil && fmt.Sprint(lines, more) != want {
		t.Errorf("%q (%s) in %q: got %v %v when literals are given up, want %s", source, flags, text, lines, more, want)
	}
	if all := firstOfLines(p.re, unix, limit); p.oneLine && all != want {
		t.Errorf("%q (%s) in %q: got %s, all matches are on %s", source, flags, text, want, all)
	}
}

// firstOfLines lists the first match of each line by package regexp alone.
func firstOfLines(re *regexp.Regexp, text []byte, limit int) string {
	var lines []Hit
	for _, loc := range re.FindAllIndex(text, -1) {
		if loc[0] == len(text) && loc[0] > 0 && text[loc[0]-1] == '\n' {
			continue
		}
		line, _ := naiveLine(text, loc[0])
		if n := len(lines); n == 0 || lines[n-1].Line != line {
			start := strings.LastIndexByte(string(text[:loc[0]]), '\n') + 1
			lines = append(lines, Hit{line, start, loc[0], loc[1]})
		}
	}
	return fmt.Sprint(lines[:min(len(lines), limit)], len(lines) > limit)
}

func FuzzTranslate(f *testing.F) {
	f.Add(`(?<x>[^\s\S]|\u{41}\ud83d\ude00)`, "a-]^\\")
	f.Add(`[[\]]\cA(?-i:x)\p{L}`, "\r\n\x00é😀")
	f.Fuzz(func(t *testing.T, source, text string) {
		if re2, err := translate(source); err == nil {
			if _, err := Compile(source, ""); err == nil {
				if _, err := regexp.Compile(re2); err != nil {
					t.Errorf("%q: %q: %v", source, re2, err)
				}
			}
		} else if fault.Of(err).Code != fault.InvalidInput {
			t.Errorf("%q: %v", source, err)
		}
		// Every character can be written as an escape, which means it alone.
		text = strings.ToValidUTF8(text, "")
		if len(text) > 200 || strings.Contains(text, "\r") {
			return
		}
		for i, escaped := range escapes(text) {
			re2, err := translate(escaped)
			if err != nil {
				t.Fatalf("%q: %v", escaped, err)
			}
			re, err := regexp.Compile(`\A(?:` + re2 + `)\z`)
			if err != nil {
				t.Fatalf("%q: %v", escaped, err)
			}
			if !re.MatchString(text) || re.MatchString(text+"x") || text != "" && re.MatchString(text[:len(text)-1]) {
				t.Errorf("way %d of writing %q matches something else: %s", i, text, re2)
			}
		}
	})
}

// escapes are ways to write a text as a pattern of JavaScript.
func escapes(text string) []string {
	var plain, points, units, classes strings.Builder
	for _, r := range text {
		if strings.ContainsRune(`\^$.*+?()[]{}|/-`, r) {
			plain.WriteByte('\\')
		}
		plain.WriteRune(r)
		fmt.Fprintf(&points, `\u{%x}`, r)
		fmt.Fprintf(&classes, `[\u{%x}]`, r)
		if r > 0xffff {
			fmt.Fprintf(&units, `\u%04x\u%04X`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
		} else {
			fmt.Fprintf(&units, `\u%04x`, r)
		}
	}
	return []string{plain.String(), points.String(), units.String(), classes.String()}
}

func TestCancelledRegexEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := mustCompile(t, `(?:\w+\s?){1,400}!`, "")
	p.must = nil
	text := []byte(strings.Repeat("word ", 1<<20)) // minutes, if it went on
	if n := p.Find(ctx, new(Workspace), text, 10); len(n.Lines) > 0 {
		t.Errorf("got %d lines", len(n.Lines))
	}
}
