package git

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// text is the whole patch, and list the files with their letters and counts.
func (d *Diff) text() string {
	var b strings.Builder
	for _, f := range d.Files {
		b.WriteString(f.Text)
	}
	return b.String()
}

func (d *Diff) list() string {
	var b strings.Builder
	for _, f := range d.Files {
		fmt.Fprintf(&b, "%c %s %q %q +%d -%d %v %d\n", f.Status, fmt.Sprintf("%o→%o", f.OldMode, f.NewMode), f.Path, f.From, f.Added, f.Removed, f.Binary, f.Cut)
	}
	return b.String()
}

// many makes a repository with a change of every sort.
func many(r *repo) {
	text := strings.Repeat("a line of some length\n", 20)
	for _, n := range []string{"changed.md", "gone.md", "mode.md", "old.md", "link.md", "é \"x\"\t.md", "touched.md", "+++ b.md"} {
		r.write(n, n+"\n"+text)
	}
	r.write("bin", "\x00\x01")
	r.write("crlf.txt", "one\r\n")
	r.write(".gitattributes", "*.txt text eol=crlf\n")
	r.commit("first")
	r.write("changed.md", "changed.md\n--- a/x\n+++ b/x\n"+text)
	r.write("é \"x\"\t.md", "other\n")
	r.write("+++ b.md", "diff --git a/x b/x\n")
	r.write("bin", "\x00\x02")
	r.write("crlf.txt", "one\r\ntwo\r\n")
	r.remove("gone.md")
	r.must(os.Chmod(filepath.Join(r.dir, "mode.md"), 0o755))
	r.must(os.Rename(filepath.Join(r.dir, "old.md"), filepath.Join(r.dir, "new.md")))
	r.remove("link.md")
	r.must(os.Symlink("elsewhere", filepath.Join(r.dir, "link.md")))
	now := time.Now().Add(-time.Hour)
	r.must(os.Chtimes(filepath.Join(r.dir, "touched.md"), now, now))
}

func TestDiffIsWhatGitShows(t *testing.T) {
	r := newRepo(t)
	many(r)
	for key, value := range map[string]string{"diff.noprefix": "true", "diff.mnemonicPrefix": "true", "color.ui": "always", "diff.context": "0", "diff.renames": "false", "diff.orderFile": "/dev/null"} {
		r.git("config", key, value)
	}
	c := r.changer("")
	want := func(args ...string) string {
		t.Helper()
		args = append([]string{"-c", "core.quotePath=false", "-c", "color.ui=never", "-c", "diff.noprefix=false", "-c", "diff.mnemonicPrefix=false", "-c", "diff.context=3", "-c", "diff.orderFile=/dev/null", "diff", "-M"}, args...)
		out, err := r.try(args...)
		r.must(err)
		return out
	}
	check := func(o DiffOptions, args ...string) *Diff {
		t.Helper()
		d, err := c.Diff(t.Context(), o, 1<<20)
		r.must(err)
		if diff := cmp.Diff(want(args...), d.text()); diff != "" {
			t.Error(diff)
		}
		return d
	}
	d := check(DiffOptions{})
	if diff := cmp.Diff(`M 100644→100644 "+++ b.md" "" +1 -21 false 0
M 100644→100644 "bin" "" +0 -0 true 0
M 100644→100644 "changed.md" "" +2 -0 false 0
M 100644→100644 "crlf.txt" "" +1 -0 false 0
D 100644→0 "gone.md" "" +0 -21 false 0
T 100644→120000 "link.md" "" +1 -21 false 0
M 100644→100755 "mode.md" "" +0 -0 false 0
D 100644→0 "old.md" "" +0 -21 false 0
M 100644→100644 "é \"x\"\t.md" "" +1 -21 false 0
`, d.list()); diff != "" {
		t.Error(diff)
	}
	r.git("add", "-A")
	d = check(DiffOptions{Staged: true}, "--cached")
	if !strings.Contains(d.list(), `R 100644→100644 "new.md" "old.md"`) {
		t.Error(d.list())
	}
	first := ID(r.git("rev-parse", "HEAD"))
	check(DiffOptions{Staged: true, Paths: []string{"bin", "new.md"}}, "--cached", "--", "bin", "new.md")
	r.write("bin", "text\n")
	check(DiffOptions{From: first}, string(first))
	second := r.commit("second")
	check(DiffOptions{From: first, To: second}, string(first), string(second))
	check(DiffOptions{From: second, To: first}, string(second), string(first))
	check(DiffOptions{})
}

func TestDiffInConflict(t *testing.T) { bothWays(t, testDiffInConflict) }

func testDiffInConflict(t *testing.T, way func(*Options)) {
	r := newRepo(t)
	conflicted(r)
	_, _ = r.try("merge", "side")
	c := r.changer("", way)
	d, err := c.Diff(t.Context(), DiffOptions{}, 1<<20)
	if err != nil || len(d.Files) != 1 || d.Files[0].Status != 'U' || !strings.Contains(d.text(), "\n+<<<<<<<") {
		t.Errorf("got %+v, %v", d, err)
	}
	d, err = c.Diff(t.Context(), DiffOptions{Staged: true}, 1<<20)
	if err != nil || len(d.Files) != 1 || d.Files[0].Status != 'U' {
		t.Errorf("got %+v, %v", d, err)
	}
}

func TestDiffIsBounded(t *testing.T) { bothWays(t, testDiffIsBounded) }

func testDiffIsBounded(t *testing.T, way func(*Options)) {
	r := newRepo(t)
	for i := range 5 {
		r.write(fmt.Sprintf("%d.md", i), "x\n")
	}
	r.commit("first")
	for i := range 5 {
		r.write(fmt.Sprintf("%d.md", i), strings.Repeat("twenty bytes a line\n", 50))
	}
	c := r.changer("", way)
	all, err := c.Diff(t.Context(), DiffOptions{}, 1<<20)
	r.must(err)
	for _, tt := range []struct{ max, file int64 }{{2500, 0}, {1 << 20, 300}, {0, 0}, {1000, 300}} {
		d, err := c.Diff(t.Context(), DiffOptions{MaxFile: tt.file}, tt.max)
		r.must(err)
		if n := int64(len(d.text())); n > tt.max || len(d.Files) != 5 {
			t.Errorf("%v: %d bytes of %d files", tt, n, len(d.Files))
		}
		for i, f := range d.Files {
			whole := all.Files[i]
			if tt.file > 0 && int64(len(f.Text)) > tt.file || f.Added != 50 || int64(len(f.Text))+f.Cut != int64(len(whole.Text)) || !strings.HasPrefix(whole.Text, f.Text) || f.Text != "" && !strings.HasSuffix(f.Text, "\n") {
				t.Errorf("%v: %d bytes and %d cut of %d, +%d", tt, len(f.Text), f.Cut, len(whole.Text), f.Added)
			}
		}
	}
	var paths []string
	for i := range 3000 {
		paths = append(paths, fmt.Sprintf("%d.md", i))
	}
	d, err := c.Diff(t.Context(), DiffOptions{Paths: paths}, 1<<20)
	if err != nil || d.list() != all.list() {
		t.Errorf("many paths: %v", err)
	}
	for _, o := range []DiffOptions{{From: "--output=x"}, {From: "HEAD"}, {To: ID(strings.Repeat("a", 40))}, {Paths: []string{"../x"}}} {
		if _, err := c.Diff(t.Context(), o, 1); kindOf(err) == "" {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func FuzzDiff(f *testing.F) {
	f.Add([]byte(":100644 100644 aa bb M\x00a\x00\x00diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n"), 3)
	f.Add([]byte(":100644 100644 aa bb R100\x00a\x00b\x00\x00diff --git a/a b/b\nrename\n"), 100)
	f.Add([]byte(":000000 000000 aa bb U\x00a\x00\x00* Unmerged path a\n"), 1)
	f.Fuzz(func(t *testing.T, out []byte, cut int) {
		read := func(cut int) (*Diff, error) {
			p := &diffReader{left: 1 << 10, maxFile: 100}
			p.begin()
			cut = min(max(cut, 0), len(out))
			_, err := p.Write(out[:cut])
			if err == nil {
				_, err = p.Write(out[cut:])
			}
			if err == nil {
				err = p.end()
			}
			return p.changed(), err
		}
		whole, err := read(len(out))
		parts, errParts := read(cut)
		if (err == nil) != (errParts == nil) || err == nil && !cmp.Equal(whole, parts) {
			t.Errorf("in parts it is another: %v, %v", err, errParts)
		}
	})
}
