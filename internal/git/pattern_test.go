package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// odd are patterns of every form, and names that they may be about. Not among them
// is a**/b, of which git before 2.41 tells by chance how deep it goes.
var (
	oddPatterns = []string{
		"*.log", "!keep.log", "/root.md", "dir/", "!dir/keep.md", "a/b", "a/*/c", "**/deep", "deep/**", "x/**/y", "[!a]z.md", "[^b]q.md",
		"\\#hash", "\\!bang", "#comment", "sp\\ ", "sp2 ", "?.one", "[a-c]?.two", "[[:digit:]].num", "[]x].set", "[a\\]b].esc", "no[end", "st*r*s.md",
		"foo**bar", "***/three", "*", "!*/", "!*.md", "sub/*.txt", "/**/any.txt", "back\\\\slash", "trail\\", "crlf.md\r", "é*.md", "[x-]d", "**", "!**/open/**", "/", "//", "a//b",
	}
	oddNames = []string{
		"x.log", "keep.log", "d/keep.log", "root.md", "d/root.md", "dir/keep.md", "dir/other.md", "e/dir/x.md", "a/b", "a/b2", "c/a/b", "a/x/c", "a/x/y/c",
		"deep", "p/deep", "p/q/deep/r", "deep/s", "x/y", "x/1/y", "x/1/2/y", "az.md", "bz.md", "aq.md", "bq.md", "#hash", "!bang", "sp ", "sp", "sp2", "p.one", "pp.one",
		"bx.two", "dx.two", "7.num", "n.num", "].set", "x.set", "].esc", "a.esc", "no[end", "stars.md", "st/r.s.md", "fooXbar", "foo/bar", "fooX/Ybar", "a1/c2", "a1/z/c2", "three", "t/three",
		"sub/f.txt", "sub/g/f.txt", "any.txt", "u/any.txt", "back\\slash", "crlf.md", "été.md", "-d", "xd", "open/1.x", "v/open/2.x",
	}
)

// What is ignored and untracked is what git says, for each pattern, and after all of
// those before it.
func TestIgnoredAsGitSays(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	for _, n := range oddNames {
		if info, err := os.Stat(filepath.Join(r.dir, n)); err == nil && info.IsDir() || strings.HasPrefix(n, "deep/") {
			continue // beside a file of its name
		}
		r.write(n, "x\n")
	}
	r.write("tracked/x.log", "x\n")
	r.git("add", "-f", "tracked/x.log")
	r.write("tracked/y.log", "y\n")
	c := r.changer("", noProgram)
	check := func(name string) {
		t.Helper()
		s, err := c.Status(t.Context())
		r.must(err)
		if diff := cmp.Diff(r.short(), s.short()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	check("no pattern")
	for i, p := range oddPatterns {
		for _, where := range []string{".git/info/exclude", ".gitignore", "d/.gitignore"} {
			r.write(where, p+"\n")
			check(where + ": " + p)
			r.write(where, "*\n"+p+"\n")
			check(where + ": all, then " + p)
			r.write(where, "\ufeff"+strings.Join(oddPatterns[:i+1], "\n"))
			check(where + ": up to " + p)
			r.remove(where)
		}
	}
	// Which list is stronger.
	r.write(".gitignore", "!x.log\n*.one\n")
	r.write("d/.gitignore", "*\n!root.md\n")
	r.write(".git/info/exclude", "*.log\n!p.one\n")
	r.write("../home/.config/git/ignore", "*.md\n!bz.md\n")
	check("all lists")
	r.git("config", "core.ignoreCase", "true")
	r.write(".gitignore", "X.LOG\n[A-B]Z.MD\n")
	check("letters of any case")
}

func TestAttributesAsGitSays(t *testing.T) {
	r := newRepo(t)
	names := []string{"a.md", "d/a.md", "d/e/b.bin", "q q.md", "c.txt", "d/c.txt", "z", "d/z"}
	for path, text := range map[string]string{
		".gitattributes":                 "* text=auto\n*.bin binary\n\"q q.md\" text=input ident\n[attr]mine filter=x -text eol=lf\n*.txt mine !eol\nd/ text\n!z text\n/z -text crlf eol=crlf\n# c\n  d/*.md   -ident\tdiff=y\n",
		"d/.gitattributes":               "c.txt !filter -mine\n[attr]not text\n**/b.bin text diff\n",
		".git/info/attributes":           "z text=no working-tree-encoding=UTF-16\n",
		"../home/.config/git/attributes": "* ident\n*.md eol=crlf\n",
	} {
		r.write(path, text)
	}
	ix, err := r.changer("", noProgram).Index()
	r.must(err)
	a, err := r.changer("", noProgram).alone(ix)
	r.must(err)
	defer a.close()
	for _, n := range names {
		known, err := a.attributes(n)
		r.must(err)
		for _, name := range []string{"text", "eol", "crlf", "filter", "ident", "diff", "merge", "working-tree-encoding", "mine", "not"} {
			out := r.git("check-attr", "-z", name, "--", n)
			want := strings.Split(out, "\x00")[2]
			got := map[string]string{on: "set", off: "unset", "": "unspecified"}[known[name]]
			if v, ok := strings.CutPrefix(known[name], "="); ok {
				got = v
			}
			if got != want {
				t.Errorf("%s of %s is %q, git says %q", name, n, got, want)
			}
		}
	}
}

// Stars without end are given up.
func TestPatternsEnd(t *testing.T) {
	r := newRepo(t)
	r.write(".gitignore", strings.Repeat("*a", 40)+"b\n")
	r.write(strings.Repeat("a", 200), "x\n")
	_, err := r.changer("", noProgram).Status(t.Context())
	wantKind(t, err, "excludes")
}

func FuzzPattern(f *testing.F) {
	for i, p := range oddPatterns {
		f.Add(p, oddNames[i%len(oddNames)])
	}
	f.Fuzz(func(t *testing.T, line, path string) {
		a := &alone{}
		p, ok := parsePattern(trimBlanks(line), "")
		if !ok || len(line)+len(path) > 200 {
			return
		}
		got := a.matches(p, path, true)
		if plain := strings.Trim(p.glob, "abcdefghij./"); plain == "" && p.whole && !p.folders && got != (p.glob == path) {
			t.Errorf("%q and %q: %v", line, path, got)
		}
	})
}
