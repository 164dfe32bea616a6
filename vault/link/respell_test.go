package link

import (
	"slices"
	"testing"
	"unicode/utf8"

	"vault-mcp/vault/settings"
)

func TestRespell(t *testing.T) {
	x := NewIndex([]string{"New.md", "a/b/New.md", "a/Own.md", "a/pic.png", "a/b/pic.png", "a/v1.2.md", "z/v1.2", "a/b/from.md"})
	tests := []struct {
		name                        string
		from, target, before, after string
		format                      settings.LinkFormat
		want                        []string
	}{
		{"a name", "n.md", "Old", "a/Old.md", "a/Own.md", settings.Shortest, []string{"Own", "a/Own", "/a/Own", "Own.md", "a/Own.md", "/a/Own.md"}},
		{"a name with .md", "n.md", "Old.md", "a/Old.md", "a/Own.md", settings.Shortest, []string{"Own.md", "a/Own.md", "/a/Own.md"}},
		{"a name with a namesake", "n.md", "Old", "a/b/Old.md", "a/b/New.md", settings.Shortest, []string{"a/b/New", "/a/b/New", "a/b/New.md", "/a/b/New.md"}},
		{"a path from the root", "n.md", "a/Old", "a/Old.md", "a/Own.md", settings.Shortest, []string{"a/Own", "a/Own", "/a/Own", "a/Own.md", "a/Own.md", "/a/Own.md"}},
		{"some of the folders", "n.md", "b/Old", "a/b/Old.md", "a/b/New.md", settings.Shortest, []string{"b/New", "b/New", "a/b/New", "/a/b/New", "b/New.md", "b/New.md", "a/b/New.md", "/a/b/New.md"}},
		{"the relative form", "a/b/from.md", "Old", "a/Old.md", "a/Own.md", settings.Relative, []string{"../Own", "../Own", "a/Own", "/a/Own", "../Own.md", "../Own.md", "a/Own.md", "/a/Own.md"}},
		{"the absolute form", "a/n.md", "Old", "a/Old.md", "a/Own.md", settings.Absolute, []string{"a/Own", "/a/Own", "a/Own.md", "/a/Own.md"}},
		{"a slash in front", "n.md", "/x/Old", "x/Old.md", "a/Own.md", settings.Relative, []string{"/a/Own", "/a/Own.md"}},
		{"from the note's folder", "a/n.md", "./Old", "a/Old.md", "a/b/New.md", settings.Absolute, []string{"./b/New", "a/b/New", "/a/b/New", "./b/New.md", "a/b/New.md", "/a/b/New.md"}},
		{"up", "n.md", "../Old", "Old.md", "a/Own.md", settings.Shortest, []string{"./a/Own", "a/Own", "/a/Own", "./a/Own.md", "a/Own.md", "/a/Own.md"}},
		{"a picture", "n.md", "old.png", "old.png", "a/b/pic.png", settings.Shortest, []string{"a/b/pic.png", "/a/b/pic.png"}},
		{"a name that is another file without .md", "z/n.md", "Old", "a/Old.md", "a/v1.2.md", settings.Shortest, []string{"a/v1.2", "/a/v1.2", "v1.2.md", "a/v1.2.md", "/a/v1.2.md"}},
		{"another case, and more behind it", "n.md", "OW", "a/Ow.md", "a/Own.md", settings.Shortest, []string{"OWn", "a/OWn", "/a/OWn", "OWn.md", "a/OWn.md", "/a/OWn.md"}},
		{"another case, and less", "n.md", "oWNER.MD", "a/Owner.md", "a/Own.md", settings.Shortest, []string{"oWN.md", "a/oWN.md", "/a/oWN.md"}},
		{"another case of a folder that stays", "n.md", "A/Old", "a/Old.md", "a/Own.md", settings.Shortest, []string{"A/Own", "A/Own", "/A/Own", "A/Own.md", "A/Own.md", "/A/Own.md"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := x.Respell(tt.from, tt.target, tt.before, tt.after, tt.format)
			if want := slices.Compact(tt.want); !slices.Equal(got, want) {
				t.Errorf("%q, not %q", got, want)
			}
		})
	}
}

func TestDestinationLike(t *testing.T) {
	for _, tt := range []struct{ written, target, want string }{
		{"a.md", "x (y) é.md", "x%20(y)%20é.md"},
		{"a.md", "x(y.md", "x%28y.md"},
		{"a%28b%29.md", "x(y).md", "x%28y%29.md"},
		{"%c3%a9.md", "é ü.md", "%c3%a9%20%c3%bc.md"},
		{"a%2Fb.md", "x/y.md#h i", "x%2Fy.md#h%20i"},
		{"a.md", "100%.md", "100%.md"},
		{"a.md", "100%20.md", "100%2520.md"},
		{"a.md", "a&amp;b.md", "a%26amp;b.md"},
		{"<a b.md>", "x <y>(.md", "x %3Cy%3E(.md"},
	} {
		written, angle := tt.written, tt.written[0] == '<'
		if angle {
			written = written[1 : len(written)-1]
		}
		if got := DestinationLike(written, angle).Encode(tt.target); got != tt.want {
			t.Errorf("%q like %q: %q, not %q", tt.target, tt.written, got, tt.want)
		}
	}
}

func TestSame(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"Missing", "missing", true}, {"/a//B", "a/b#h", true}, {"./a", "a", false}, {"a", "b", false}, {"", " ", true}, {"a^", "a^", false},
	} {
		if Same(tt.a, tt.b) != tt.want || Same(tt.b, tt.a) != tt.want {
			t.Errorf("%q and %q: %v", tt.a, tt.b, !tt.want)
		}
	}
}

// FuzzDestination writes any target like any destination: it is decoded to the target, and is one whole destination.
func FuzzDestination(f *testing.F) {
	f.Add("a%20b.md", "c d.md", false)
	f.Add("%C3%A9(", "é)(%41&amp;<", true)
	f.Add("a%29", "b (c)", false)
	f.Fuzz(func(t *testing.T, written, target string, angle bool) {
		encoded := DestinationLike(written, angle).Encode(target)
		if got := Decode(encoded); got != target && utf8.ValidString(target) {
			t.Fatalf("%q is decoded to %q by way of %q", target, got, encoded)
		}
		whole := encoded
		if angle {
			whole = "<" + encoded + ">"
		}
		if dest, rest, ok := cutDestination(whole); target != "" && (!ok || rest != "" || dest != encoded) {
			t.Fatalf("%q is no whole destination", whole)
		}
	})
}
