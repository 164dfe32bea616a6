package note

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// found writes what a note holds in one line each, in the order of the lists.
func found(text string) string {
	in := Scan([]byte(text)).Inline()
	var w []string
	add := func(format string, args ...any) { w = append(w, fmt.Sprintf(format, args...)) }
	for _, l := range append(in.Links, in.Definitions...) {
		s := l.Form.String()
		for _, flag := range []struct {
			set  bool
			name string
		}{{l.Embed, "embed"}, {l.External, "external"}, {l.Angle, "angle"}, {l.TableEscape, "escape"}} {
			if flag.set {
				s += " " + flag.name
			}
		}
		s += fmt.Sprintf(" %q", l.Target)
		for _, part := range []string{l.Subpath, l.Text} {
			if part != "" {
				s += fmt.Sprintf(" %q", part)
			}
		}
		if l.Width+l.Height > 0 {
			s += fmt.Sprintf(" %dx%d", l.Width, l.Height)
		}
		add("%s", s)
	}
	for _, t := range in.Tags {
		add("#%s", t.Name)
	}
	for _, f := range in.Fields {
		add("%s = %s", f.Key, f.Value)
	}
	for _, kind := range []struct {
		name  string
		spans []Span
	}{{"code", in.Code}, {"math", in.Math}, {"comment", in.Comments}, {"note", in.InlineFootnotes}} {
		for _, s := range kind.spans {
			add("%s %q", kind.name, text[s.Start:s.End])
		}
	}
	for _, r := range in.References {
		add("^%s", r.ID)
	}
	return strings.Join(w, "\n")
}

type inlineCase struct{ name, text, want string }

func runInline(t *testing.T, tests []inlineCase) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, found(tt.text)); diff != "" {
				t.Error(diff)
			}
			checkInline(t, []byte(tt.text))
		})
	}
}

func TestLinksAreFoundInTheirForms(t *testing.T) {
	runInline(t, []inlineCase{
		{"wiki", "[[a/b c#H#I|t]] [[#^x]] [[ n | d ]]", "wiki \"a/b c\" \"#H#I\" \"t\"\nwiki \"\" \"#^x\"\nwiki \"n\" \"d\""},
		{"embed", "![[a.png|cap|40x30]] ![[b.png|4x]] ![[c#h]]", "wiki embed \"a.png\" \"cap|40x30\" 40x30\nwiki embed \"b.png\" \"4x\"\nwiki embed \"c\" \"#h\""},
		{"three brackets", "[[[a]]] ![[[b]]]", "wiki \"a\"\nwiki \"b\""},
		{"backslash in a wikilink is text", `[[a\|b]] \[[c]] [\[d]] !\[[e]] \![[f]]`, `wiki "a\\" "b"` + "\n" + `wiki "f"`},
		{"markdown", `[a](b.md) [](c) ![d](e "t") [f](<g h.md#i j> 'x')`, "markdown \"b.md\" \"a\"\nmarkdown \"c\"\nmarkdown embed \"e\" \"d\"\nmarkdown angle \"g h.md\" \"#i j\" \"f\""},
		{"decoded once", `[a](b%20c%2520d%2.md#e%20f) [g](h\_i&amp;j%FF) [k](%23l#m)`, "markdown \"b c%20d%2.md\" \"#e f\" \"a\"\nmarkdown \"h_i&j%FF\" \"g\"\nmarkdown \"#l\" \"#m\" \"k\""},
		{"external", "[a](https://x.org/%20#b) [c](mailto:a@b.c) [d](obsidian://open?vault=v) [e](c:/f.md)", "markdown external \"https://x.org/%20#b\" \"a\"\nmarkdown external \"mailto:a@b.c\" \"c\"\nmarkdown external \"obsidian://open?vault=v\" \"d\"\nmarkdown \"c:/f.md\" \"e\""},
		{"blanks and parentheses", "[a](b c) [d](e(f)g) [h](i(j) [k]( l ) [m] (n)", "markdown \"e(f)g\" \"d\"\nmarkdown \"l\" \"k\""},
		{"no link in a link", "[a [b](c) d](e) [f [[g]] h](i) [j ![k](l) m](n) [o ![[p]]](q)", "markdown \"c\" \"b\"\nwiki \"g\"\nmarkdown \"n\" \"j ![k](l) m\"\nmarkdown embed \"l\" \"k\"\nmarkdown \"q\" \"o ![[p]]\"\nwiki embed \"p\""},
		{"nothing in an image", "![a [b](c) #d [[e]]](f)", "markdown embed \"f\" \"a [b](c) #d [[e]]\""},
		{"URLs", "<https://x.org/#a> <me@x.org> https://x.org/a_(b)#c, (http://y.org). [https://z.org](https://z.org) **https://v.org**", "autolink external angle \"https://x.org/#a\"\nautolink external angle \"me@x.org\"\nurl external \"https://x.org/a_(b)#c\"\nurl external \"http://y.org\"\nmarkdown external \"https://z.org\" \"https://z.org\"\nurl external \"https://v.org\""},
		{"no URLs", "http:// ://x 1:/2 `https://x.org` [[https://x.org]]", "wiki \"https://x.org\"\ncode \"`https://x.org`\""},
		{"definitions", "[a]: <b c.md#d> 'e'\n[f]: https://x.org\n[a] [t][f]\n\n[^1]: [[n]]", "wiki \"n\"\ndefinition angle \"b c.md\" \"#d\" \"a\"\ndefinition external \"https://x.org\" \"f\""},
		{"code wins", "`[[a]]` ``[b](`c`)`` [d`](e)` `[[f", "code \"`[[a]]`\"\ncode \"``[b](`c`)``\"\ncode \"`](e)`\""},
		{"unmatched code", "`a ``[[b]] ```c``", "code \"``[[b]] ```c``\""},
		{"escaped backtick", "\\`[[a]]` [[b]]", "wiki \"a\"\nwiki \"b\""},
		{"math", "$[[a]]$ $ [[b]] $ $$ [[c]] $$ cost $5 [[d]] or $6 [[e]] \\$[[f]]", "wiki \"b\"\nwiki \"d\"\nwiki \"e\"\nwiki \"f\"\nmath \"$[[a]]$\"\nmath \"$$ [[c]] $$\""},
		{"HTML", "a <b class=\"[[x]]\">[[y]]</b> <!-- [[z]] --> <? [[p]] ?> <!D [[q]]> <![CDATA[ [[r]] ]]> a < b [[s]] <3 [[t]]", "wiki \"y\"\nwiki \"s\"\nwiki \"t\""},
		{"comment over lines", "a <!-- b\n[[c]] --> [[d]]\n<!-- [[e]]\n", "wiki \"d\""},
		{"in quotes and lists", "> [[a]]\n> > - [[b]]\n>   [c\n> d](e)\n", "wiki \"a\"\nwiki \"b\"\nmarkdown \"e\" \"c\\nd\""},
		{"lines in a quote", "> `a\n> b` [[c]] $d\n> e$\n", "wiki \"c\"\ncode \"`a\\n> b`\"\nmath \"$d\\n> e$\""},
		{"headings", "# [[a]] `#b`\n[[c]]\n===\n", "wiki \"a\"\nwiki \"c\"\ncode \"`#b`\""},
		{"tables", "| [[a\\|b\\|c]] | `d\\|[[e]]` |\n|-|-|\n| [[f|g]] | [[h]] | [[i]] |\n", "wiki escape \"a\" \"b|c\"\ncode \"`d\\\\|[[e]]`\""},
		{"footnotes", "a[^1] b^[c [[d]] [^e]] [^f g] [^]\n\n[^1]: h [[i]]", "wiki \"d\"\nwiki \"i\"\nnote \"^[c [[d]] [^e]]\"\n^1\n^e"},
	})
}

func TestTagsStartAndEndWhereObsidianSaysSo(t *testing.T) {
	runInline(t, []inlineCase{
		{"boundaries", "#a\u00a0#b\u3000#c\u2003#d x#e \u201c#f", "#a\n#b\n#c\n#d"},
		{"emphasis", "**#a** *#b* _#c_ __#d_e__ ~~#f~~ ==#g== *not #h a#i", "#a\n#b\n#c\n#d_e\n#f\n#g\n#h"},
		{"underscores of a tag", "#a_ #b_c_ x_y_#z", "#a_\n#b_c_\n#z"},
		{"a single mark", "2*#a\n\n=#b= ~#c~", ""},
		{"behind elements", "[[x]]#a `y`#b <b>#c</b> \\*#d %%#e%%", "wiki \"x\"\n#a\n#b\n#c\n#d\n#e\ncode \"`y`\"\ncomment \"%%#e%%\""},
		{"link text", "[#a](b) [#c]\n[x #d] (#e)", "markdown \"b\" \"#a\"\n#a\n#d"},
		{"characters", "#a/b-c_d #é\u0301 #日本 #x\u2026 #1/2 #1_ #12 #/ #\u200b #👩\u200d🚀", "#a/b-c_d\n#é\u0301\n#日本\n#x\n#1/2\n#1_\n#/\n#👩"},
		{"headings and lone hashes", "# #a\n## b #c ##\n#\n##d\n#e", "#a\n#c\n#e"},
		{"comment blocks", "%%\n#a\n```\n#b\n```\n\n- #c `d\n\n#e` %%\n", "#a\n#c\n#e\ncomment \"%%\\n#a\\n```\\n#b\\n```\\n\\n- #c `d\\n\\n#e` %%\""},
		{"comment in a quote", "> %%\n> #a\n> %% #b", "#a\n#b\ncomment \"%%\\n> #a\\n> %%\""},
		{"text with a URL", "https://x.org/a_#b #c", "url external \"https://x.org/a_#b\"\n#c"},
		{"invalid UTF-8", "#a\xffb \xc2#c", "#a\xffb"},
	})
}

func TestFieldsOfDataview(t *testing.T) {
	runInline(t, []inlineCase{
		{"lines", "a b:: c d\n**Key**:: [[x]]\n- e::f\n- [ ] g:: h\n> i:: j\n\n> [!x] y\n> z:: 1\n\nk l m, n:: o\n# p:: q\n::r\n", "wiki \"x\"\na b = c d\nKey = [[x]]\ne = f\ng = h\ni = j\nz = 1"},
		{"brackets", "a [b:: c] (d:: e (f)) [g:: [[h]]] [i](j::k) [l:: m](n) [o::\np] `[q:: r]`", "wiki \"h\"\nmarkdown \"j::k\" \"i\"\nmarkdown \"n\" \"l:: m\"\nb = c\nd = e (f)\ng = [[h]]\ncode \"`[q:: r]`\""},
		{"nested", "x (a:: b [c:: d])", "a = b [c:: d]\nc = d"},
		{"empty", "a::\n[b::]", "a = \nb = "},
	})
}

func TestTasksWithTheirParentsAndFields(t *testing.T) {
	text := "- [ ] a #x 📅 2031-02-05 ⏫ #y ^id\n  - [x] b 🔁 every day when done ✅ 2031-02-04\n    c\n\n    d\n" +
		"    1) [é] e ⏳2031-1-1\n> - [/] f 🆔 q1 ⛔ q2, q3\n- [ ]\n- [ ]g\n- [] h\n- [  ] i\n- x [ ] j\n* [ ]\t🔺\n- ## [ ] k\n"
	n := Scan([]byte(text))
	var got []string
	for _, task := range n.Inline().Tasks {
		s := fmt.Sprintf("%d-%d in %d/%d [%c] %s", task.Line, task.EndLine, task.Parent, task.Indent, task.Status, task.Text)
		if task.ID != "" {
			s += " ^" + task.ID
		}
		for _, f := range task.Fields {
			s += fmt.Sprintf(" {%s %s}", f.Kind, f.Value)
			if f.Kind != TaskPriority && text[f.ValueSpan.Start:f.ValueSpan.End] != f.Value {
				t.Errorf("%q stands at %v", f.Value, f.ValueSpan)
			}
		}
		got = append(got, s)
	}
	want := []string{
		"1-1 in 0/0 [ ] a #x 📅 2031-02-05 ⏫ #y ^id {due 2031-02-05} {priority high}",
		"2-5 in 1/1 [x] b 🔁 every day when done ✅ 2031-02-04 {recurrence every day when done} {done 2031-02-04}",
		"6-6 in 2/2 [é] e ⏳2031-1-1",
		"7-7 in 0/0 [/] f 🆔 q1 ⛔ q2, q3 {id q1} {depends q2, q3}",
		"8-8 in 0/0 [ ] ",
		"13-13 in 0/0 [ ] 🔺 {priority highest}",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	checkInline(t, []byte(text))
}

func TestCalloutsNest(t *testing.T) {
	text := "> [!Note|wide]+ A [[b]] title\n> x\n> > [!tip]-\n> > y\n> >> [! custom kind ]z\n\n> [!x]\n\n> [!]\n> a\n\n> b\n> [!no]\n"
	var got []string
	for _, c := range Scan([]byte(text)).Inline().Callouts {
		got = append(got, fmt.Sprintf("%d-%d in %d %s|%s %q %q", c.Line, c.EndLine, c.Parent, c.Type, c.Metadata, c.Fold, c.Title))
	}
	want := []string{
		`1-5 in -1 note|wide '+' "A [[b]] title"`, `3-5 in 0 tip| '-' ""`, `5-5 in 1 custom kind| '\x00' "z"`, `7-7 in -1 x| '\x00' ""`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	checkInline(t, []byte(text))
}

func TestLinksOfProperties(t *testing.T) {
	text := "---\na: \"[[b#c|d]]\"\nl:\n  - \"[[e]] f\"\n  - '[g](h%20i.md)'\n  - \"![[j.png]]\"\nm: {n: \"[[o]]\", p: [\"[[q]]\"]}\nr: \"[[\\u0073]]\"\nt: [[u]]\nv: [[[w]]\n---\n"
	text = strings.Replace(text, "v: [[[w]]\n", "v: '[x](https://y.org)'\n", 1)
	p := ParseProperties([]byte(text))
	var got []string
	for _, l := range p.Links([]byte(text)) {
		got = append(got, fmt.Sprintf("%d %s %d %q %q %v %q", l.Line, l.Property, l.Item, l.Target, l.Text, l.External, text[l.TargetSpan.Start:l.TargetSpan.End]))
	}
	want := []string{
		`2 a -1 "b" "d" false "b"`, `5 l 1 "h i.md" "g" false "h%20i.md"`, `6 l 2 "j.png" "" false "j.png"`, `7 m -1 "o" "" false "o"`,
		`7 m 0 "q" "" false "q"`, `8 r -1 "s" "" false ""`, `10 v -1 "https://y.org" "x" true "https://y.org"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTagsAndAliasesOfProperties(t *testing.T) {
	for text, want := range map[string]string{
		"tags: [a, '#b/c', 2024, 2024x, d e, 'f,g', true, [h]]": "a b/c 2024x",
		"a: &x [b]\ntags: *x": "b", "Tags: '#a'": "a", "tags: a b": "", "tags: 12": "", "tag: a": "", "tags: {a: b}": "", "tags: [' a ']": "a", "tags: ''": "",
	} {
		p := ParseProperties([]byte("---\n" + text + "\n---\n"))
		var got []string
		for _, tag := range p.Tags() {
			got = append(got, tag.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	p := ParseProperties([]byte("---\naliases: [a, ' b ', '', 3]\n---\n"))
	if diff := cmp.Diff([]string{"a", "b"}, p.Aliases()); diff != "" {
		t.Error(diff)
	}
}
