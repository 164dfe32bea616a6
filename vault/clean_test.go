package vault

import (
	"path"
	"strings"
	"testing"

	"vault-mcp/internal/fault"
)

func TestClean(t *testing.T) {
	tests := []struct{ arg, want string }{
		{"", ""},
		{".", ""},
		{"./", ""},
		{"a.md", "a.md"},
		{"./a.md", "a.md"},
		{"a//b/./c.md", "a/b/c.md"},
		{"Projects/", "Projects"},
		{"what?: a|b.md", "what?: a|b.md"},
		{"x..y/a...b.md", "x..y/a...b.md"}, // names that hold .. are names
		{"C:notes.md", "C:notes.md"},
		{"a/C:/x.md", "a/C:/x.md"},
		{"Cafe\u0301.md", "Cafe\u0301.md"},
		{" a .md", " a .md"},
		{strings.Repeat("a", 1024), strings.Repeat("a", 1024)},
	}
	for _, tt := range tests {
		if got, err := Clean(tt.arg); err != nil || got != tt.want {
			t.Errorf("%q: got %q, %v, want %q", tt.arg, got, err, tt.want)
		}
	}
}

func TestCleanRefuses(t *testing.T) {
	tests := []struct{ arg, why string }{
		{"/etc/passwd", "absolute"},
		{"/", "absolute"},
		{"//server/share", "absolute"},
		{"C:", "drive letter"},
		{"c:/x.md", "drive letter"},
		{`C:\x.md`, "drive letter"},
		{"./C:/x.md", "drive letter"},
		{`a\b.md`, "put / between"},
		{`\\server\share`, "put / between"},
		{"..", ".."},
		{"../outside.md", ".."},
		{"a/../../evil.md", ".."},
		{"a/..", ".."},
		{".obsidian/app.json", "dot"},
		{"a/.git/config", "dot"},
		{"...", "dot"},
		{"a\x00.md", "control"},
		{"a\n.md", "control"},
		{"a\u0085.md", "control"},
		{"a\xff.md", "UTF-8"},
		{strings.Repeat("a", 1025), "at most 1024"},
	}
	for _, tt := range tests {
		got, err := Clean(tt.arg)
		if codeOf(err) != fault.PathInvalid || !strings.Contains(err.Error(), tt.why) {
			t.Errorf("%q: got %q, %v, want path_invalid with %q", tt.arg, got, err, tt.why)
		}
	}
}

func TestCheckNew(t *testing.T) {
	for _, p := range []string{"a.md", "C# notes [1].md", "CONSOLE.md", "COM.md", "COM0.md", "COM10.md", "a.b/c.d", "Ünïcode 日本.md", ""} {
		if err := CheckNew(p); err != nil {
			t.Errorf("%q: %v", p, err)
		}
	}
	for _, p := range []string{
		"a:b.md", "what?.md", "a*b.md", `a"b.md`, "a<b", "a>b", "a|b", `a\b`,
		"dot./x.md", "dot.", "blank ", "blank /x.md",
		"CON", "con.md", "x/Aux.tar.gz", "NUL", "prn.md", "COM1.md", "lpt9", "COM².md", "CON .md", "CONIN$",
		strings.Repeat("a", 256), "x/" + strings.Repeat("ä", 128),
	} {
		if err := CheckNew(p); codeOf(err) != fault.PathInvalid {
			t.Errorf("%q: got %v", p, err)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"", "a/b.md", "../x", "/x", "./C:/x", `a\b`, "a/./b//", ".x", "a\x00", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, arg string) {
		got, err := Clean(arg)
		if err != nil {
			if codeOf(err) != fault.PathInvalid {
				t.Fatalf("%q: %v", arg, err)
			}
			return
		}
		again, err := Clean(got)
		if err != nil || again != got {
			t.Fatalf("%q: cleaned %q, then %q, %v", arg, got, again, err)
		}
		if got == "" {
			return
		}
		if path.IsAbs(got) || path.Clean(got) != got {
			t.Fatalf("%q: cleaned to %q", arg, got)
		}
		for s := range strings.SplitSeq(got, "/") {
			if s == "" || s[0] == '.' || !nameable(s) {
				t.Fatalf("%q: cleaned to %q", arg, got)
			}
		}
	})
}

func TestKindAndMIME(t *testing.T) {
	tests := []struct {
		name string
		kind FileKind
		mime string
	}{
		{"a.md", Note, "text/markdown"},
		{"x/A.MD", Note, "text/markdown"},
		{"a.markdown", Other, "application/octet-stream"},
		{"a.txt", Other, "application/octet-stream"},
		{"x.md/a", Other, "application/octet-stream"},
		{"x/.md", Other, "application/octet-stream"},
		{".md", Other, "application/octet-stream"},
		{"a.", Other, "application/octet-stream"},
		{"b.canvas", Canvas, "application/json"},
		{"b.base", Base, "application/yaml"},
		{"a.b.JPEG", Image, "image/jpeg"},
		{"a.m4a", Audio, "audio/mp4"},
		{"a.webm", Video, "video/webm"},
		{"a.pdf", PDF, "application/pdf"},
	}
	for _, tt := range tests {
		if k, m := Kind(tt.name), MIME(tt.name); k != tt.kind || m != tt.mime {
			t.Errorf("%q: got %s %s, want %s %s", tt.name, k, m, tt.kind, tt.mime)
		}
	}
}
