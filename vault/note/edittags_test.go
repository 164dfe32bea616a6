package note

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestTagsAreAdded(t *testing.T) {
	tests := []struct {
		name, text, tag string
		place           TagPlace
		want            string
	}{
		{"a number in the list stays", "---\ntags: [2024, a]\n---\n", "b", TagsInProperties, "---\ntags: [2024, a, b]\n---\n"},
		{"no second one by case", "---\ntags: [z]\n---\n", "#Z", TagsInProperties, "---\ntags: [z]\n---\n"},
		{"no properties yet", "x\r\n", "a/b", TagsEverywhere, "---\r\ntags:\r\n  - a/b\r\n---\r\nx\r\n"},
		{"in the text", "# T\n\nx\n", "a", TagsInText, "# T\n\nx\n\n#a\n"},
		{"in a text that does not end its line", "x", "a", TagsInText, "x\n\n#a"},
		{"behind a line of tags", "x\r\n\r\n#b #c  \r\n\r\n", "a", TagsInText, "x\r\n\r\n#b #c #a  \r\n\r\n"},
		{"not behind a tag in prose", "x #b\n", "a", TagsInText, "x #b\n\n#a\n"},
		{"in the text already", "x #A.\n", "a", TagsInText, "x #A.\n"},
		{"an empty note", "", "a", TagsInText, "#a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := AddTag([]byte(tt.text), tt.tag, tt.place)
			if err != nil || string(got) != tt.want {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
	if got, err := AddTag([]byte("```\ncode\n"), "a", TagsInText); !isSpoil(err) {
		t.Errorf("in a code block that is open: %q, %v", got, err)
	}
	for _, tag := range []string{"", "#", "1984", "a b", "a.b", "a#b", "a,b", "/", "a//b", "/a", "a/"} {
		_, err := AddTag([]byte("x"), tag, TagsInProperties)
		if _, ok := errors.AsType[*TagNameError](err); !ok {
			t.Errorf("%q: %v", tag, err)
		}
	}
}

func isSpoil(err error) bool {
	_, ok := errors.AsType[*SpoilError](err)
	return ok
}

func TestTagsAreRemoved(t *testing.T) {
	const kept = "`#b` #bb #b/c [[x#b]] <!-- #b --> $#b$ https://x.y/#b x#b \\#b\n\n```\n#b\n```\n\n    #b\n"
	tests := []struct {
		name, text, want string
		count            int
	}{
		{"never in code, links and the like", kept, kept, 0},
		{"in prose", "x #b y, (see #B), z #b.\n#b at start\nat end #b\nhard #b  \nbreak\n", "x y, (see), z.\nat start\nat end\nhard  \nbreak\n", 6},
		{"on lines of its own", "x\n\n#b\n\ny\n#b\nz\n", "x\n\n\ny\nz\n", 2},
		{"at the end of the file", "x\r\n#b", "x", 1},
		{"among tags", "#a #b #c\n#b #a\n#a #b\n#b #b\n", "#a #c\n#a\n#a\n\n", 5},
		{"without a blank between", "x #b#c #a#b\n", "x #c #a\n", 2},
		{"in lists and tasks", "- #b x\n- [ ] #b\n- #b\n> #b q\n", "- x\n- [ ] \n- \n> q\n", 4},
		{"in headings", "# T #b\n## #b U\nV #b\n===\n", "# T\n## U\nV\n===\n", 3},
		{"in cells", "| #b | x #b |\n| --- | --- |\n|#b|y|\n", "| | x |\n| --- | --- |\n||y|\n", 3},
		{"in comments that the app counts", "%% #b x %%\n", "%% x %%\n", 1},
		{"what would become a heading", "#b # x\n", "", -1},
		{"what would become properties", "#b\n---\na: 1\n---\n", "", -1},
		{"in properties", "---\ntags:\n  - a # c\n  - \"#B\" # d\n  - b/c\n  - 2024\nTag: b\nother: [b]\n---\n", "---\ntags:\n  - a # c\n  - b/c\n  - 2024\nTag: []\nother: [b]\n---\n", 2},
		{"in broken properties", "---\ntags: [b\n---\nx #b\n", "---\ntags: [b\n---\nx\n", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, n, err := RemoveTag([]byte(tt.text), "b", TagsEverywhere)
			if tt.count < 0 {
				if !isSpoil(err) || got != nil {
					t.Fatalf("got %q, %v", got, err)
				}
				return
			}
			if err != nil || string(got) != tt.want || n != tt.count {
				t.Errorf("got %d: %q, %v", n, got, err)
			}
		})
	}
	for what, edit := range map[string]func([]byte) ([]byte, int, error){
		"remove": func(b []byte) ([]byte, int, error) { return RemoveTag(b, "b", TagsInProperties) },
		"rename": func(b []byte) ([]byte, int, error) { return RenameTag(b, "b", "c", TagsInProperties) },
	} {
		_, _, err := edit([]byte("---\ntags: [b\n---\n"))
		if e, ok := errors.AsType[*PropertyError](err); !ok || e.Fault != FaultInvalid {
			t.Errorf("%s in broken properties: %v", what, err)
		}
	}
	const both = "---\ntags: [b]\n---\n#b x\n"
	if got, n, _ := RemoveTag([]byte(both), "b", TagsInProperties); n != 1 || string(got) != "---\ntags: []\n---\n#b x\n" {
		t.Errorf("in properties: %q", got)
	}
	if got, n, _ := RemoveTag([]byte(both), "b", TagsInText); n != 1 || string(got) != "---\ntags: [b]\n---\nx\n" {
		t.Errorf("in the text: %q", got)
	}
}

func TestTagsAreRenamed(t *testing.T) {
	tests := []struct {
		name, text, from, to, want string
		count                      int
	}{
		{"with those below", "#a #A/b, #ab #b/a _#a_\n`#a` [[#a]]\n", "a", "new/x", "#new/x #new/x/b, #ab #b/a _#new/x_\n`#a` [[#a]]\n", 3},
		{"to another case", "#tag #TAG\n", "tag", "Tag", "#Tag #Tag\n", 2},
		{"nested ones", "#a/b/c #a/bc #a\n", "a/b", "z", "#z/c #a/bc #a\n", 1},
		{"in properties", "---\ntags:\n  - a # c\n  - '#a/b' # d\n  - 007\n  - \"x\"\n---\n", "A", "yes", "---\ntags:\n  - \"yes\" # c\n  - \"#yes/b\" # d\n  - 007\n  - \"x\"\n---\n", 2},
		{"one text", "---\nTags: a/b # c\n---\n", "a", "z", "---\nTags: z/b # c\n---\n", 1},
		{"into one that is there", "---\ntags: [a, 007, Z, a/b, 'q']\n---\n", "a", "z", "---\ntags: [007, Z, z/b, 'q']\n---\n", 2},
		{"spellings of other lengths", "#ſ #S/x #straße/y\n", "S", "t", "#t #t/x #straße/y\n", 2},
		{"spellings with other letters", "#STRASSE #straße/y #cafe\u0301\n", "straße", "t", "#t #t/y #cafe\u0301\n", 2},
		{"nothing to do", "---\ntags: x\n---\n#b\n", "a", "z", "---\ntags: x\n---\n#b\n", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, n, err := RenameTag([]byte(tt.text), tt.from, tt.to, TagsEverywhere)
			if err != nil || string(got) != tt.want || n != tt.count {
				t.Errorf("got %d: %q, %v", n, got, err)
			}
		})
	}
}

// FuzzEditTags: an edit of tags is refused, or changes the tags that it should and no others, and only bytes of tags and
// the blanks round them.
func FuzzEditTags(f *testing.F) {
	for _, s := range fuzzTexts {
		f.Add([]byte(s+"\n#a x #b/c"), uint8(0))
	}
	for op := range uint8(4) {
		f.Add([]byte("---\ntags: [a, B]\n---\n# T #a\n- [ ] #a\n> #a\n> #a/b\n\n| #a |\n|-|\n|#a#b|\n_#a_ *#a* ~#a~\n%%\n#a\n%%\n"), op)
		f.Add([]byte("#a\n===\n#a - x\n#a\n\n    code\n#a #a#a\r\n#A"), op)
	}
	f.Fuzz(func(t *testing.T, text []byte, op uint8) {
		before := allTags(text)
		var got []byte
		var err error
		switch op % 4 {
		case 0:
			got, err = AddTag(text, "a", TagsInText)
		case 1:
			got, _, err = RemoveTag(text, "a", TagsEverywhere)
		case 2:
			got, _, err = RenameTag(text, "a", "new", TagsEverywhere)
		case 3:
			got, err = AddTag(text, "a", TagsInProperties)
		}
		if err != nil {
			return
		}
		after := allTags(got)
		has := func(tags []string, name string) bool {
			return slices.ContainsFunc(tags, func(s string) bool { return sameTag(s, name) })
		}
		switch op % 4 {
		case 0, 3:
			if !has(after, "a") {
				t.Fatalf("no #a in %q", got)
			}
			if len(after) > len(before)+1 {
				t.Fatalf("%q became %q", before, after)
			}
		case 1:
			want := slices.DeleteFunc(slices.Clone(before), func(s string) bool { return sameTag(s, "a") })
			if !slices.Equal(after, want) {
				t.Fatalf("%q became %q: %q, %q", before, after, text, got)
			}
			squeeze := strings.NewReplacer(" ", "", "\t", "", "\n", "", "\r", "")
			if body := func(b []byte) string { return squeeze.Replace(string(b[BodyStart(b):])) }; len(body(text))-len(body(got)) > 3*(len(before)-len(after)) {
				t.Fatalf("too much went from %q: %q", text, got)
			}
		case 2:
			if has(after, "a") || len(after) > len(before) {
				t.Fatalf("%q became %q", before, after)
			}
		}
		again, _, err := RemoveTag(got, "a", TagsEverywhere)
		if op%4 == 1 && (err != nil || string(again) != string(got)) {
			t.Fatalf("again: %q %v", again, err)
		}
	})
}
