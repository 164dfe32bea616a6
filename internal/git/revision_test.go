package git

import (
	"crypto/sha1"
	"fmt"
	"strings"
	"testing"
)

func TestResolveIsWhatGitSays(t *testing.T) {
	r := branchy(t)
	r.git("tag", "light", "HEAD~1")
	r.git("tag", "-a", "-m", "x", "v1.0", "HEAD~2")
	r.git("tag", "-a", "-m", "y", "nested", "v1.0")
	r.git("branch", "feature/ünï@x", "HEAD~3")
	r.git("branch", "both", "HEAD~3")
	r.git("tag", "both", "HEAD~1")
	r.git("update-ref", "refs/remotes/origin/main", "HEAD~2")
	r.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
	r.git("tag", "onblob", "HEAD:a.md")
	full := r.git("rev-parse", "HEAD~2")
	r.git("branch", r.git("rev-parse", "HEAD~1")[:7], "HEAD")
	check := func() {
		t.Helper()
		repo := r.open(".")
		for _, rev := range []string{
			"HEAD", "main", "side", "light", "v1.0", "nested", "feature/ünï@x", "both", "heads/both", "tags/both", "refs/heads/both", "origin", "origin/main",
			"remotes/origin/main", full, full[:4], full[:7], full[:39], strings.ToUpper(full[:9]), "HEAD~", "HEAD~1", "HEAD~3", "HEAD^", "HEAD^2", "HEAD^3", "HEAD^0", "HEAD~0",
			"HEAD^2~1^1", "v1.0^", "nested~2", full[:6] + "~1", "HEAD^^", "HEAD~~", r.git("rev-parse", "HEAD~1")[:7],
		} {
			want, err := r.try("rev-parse", "-q", "--verify", rev+"^{commit}")
			if err != nil {
				t.Errorf("git does not know %q", rev)
			}
			if got, err := repo.Resolve(rev); err != nil || string(got) != trimLine(want) {
				t.Errorf("%q: %s %v, want %s", rev, got, err, want)
			}
		}
		for _, rev := range []string{
			"", "@", "none", "HEAD^4", "HEAD~100", "onblob", full[:3], "HEAD^{tree}", "HEAD@{1}", "main..side", "HEAD:a.md", ":/main", "-q", "--all", "HEAD ",
			"../config", "refs/../HEAD", "HEAD~99999999999999999999", "HEAD~x", "HEAD^-1", "^HEAD", "main.lock", "a\x00b", "ORIG_HEAD", "config", "stash@{0}",
			r.git("rev-parse", "HEAD:a.md")[:10], "v1.0-3-g" + full[:7],
		} {
			if got, err := repo.Resolve(rev); kind(err) != "revision" {
				t.Errorf("%q: %s %v", rev, got, err)
			}
		}
		if _, err := repo.Resolve("0123456789012345678901234567890123456789"); kind(err) != "missing" {
			t.Error(err)
		}
	}
	check()
	r.git("gc", "-q")
	check()
	r.git("checkout", "-q", "--orphan", "empty")
	if got, err := r.open(".").Resolve("HEAD"); kind(err) != "revision" {
		t.Errorf("unborn: %s %v", got, err)
	}
}

// collide adds an object of a type whose id begins as another's does. Its text is
// what comes from make for some number.
func (r *repo) collide(with ID, digits int, kind string, make func(n int) string) {
	r.t.Helper()
	for n := range 10_000_000 {
		text := make(n)
		sum := sha1.Sum(fmt.Appendf(nil, "%s %d\x00%s", kind, len(text), text))
		if id := oid(sum).id(); id[:digits] == with[:digits] {
			r.write("../object", text)
			if got := r.git("hash-object", "-t", kind, "-w", "../object"); got != string(id) {
				r.t.Fatalf("%s, not %s", got, id)
			}
			return
		}
	}
	r.t.Fatal("none was found")
}

// A short id that several commits share names none of them; other objects do not
// matter.
func TestResolveAmbiguous(t *testing.T) {
	r := newRepo(t)
	r.write("a.md", "a\n")
	id := r.commit("one")
	tree := r.git("rev-parse", "HEAD^{tree}")
	r.collide(id, 4, "blob", func(n int) string { return fmt.Sprint(n) })
	r.collide(id, 5, "blob", func(n int) string { return fmt.Sprint(n) })
	for range 2 {
		if got, err := r.open(".").Resolve(string(id[:4])); err != nil || got != id {
			t.Errorf("%s %v", got, err)
		}
		r.git("repack", "-q", "-a", "-d")
	}
	r.collide(id, 4, "commit", func(n int) string {
		return fmt.Sprintf("tree %s\nauthor A <a@b.c> %d +0000\ncommitter A <a@b.c> 1 +0000\n\nx\n", tree, n)
	})
	if got, err := r.open(".").Resolve(string(id[:4])); kind(err) != "revision" || !strings.Contains(err.Error(), "Several") {
		t.Errorf("%s %v", got, err)
	}
	if got, err := r.open(".").Resolve(string(id[:12])); err != nil || got != id {
		t.Errorf("%s %v", got, err)
	}
}

func FuzzRevision(f *testing.F) {
	for _, rev := range []string{"HEAD", "main~2^3", "v1.0^0~", "@{u}", "a..b", "HEAD~99999999999", "~", "feature/x^^^"} {
		f.Add(rev)
	}
	f.Fuzz(func(t *testing.T, rev string) {
		p, err := parseRevision(rev)
		if err != nil {
			if kind(err) != "revision" {
				t.Error(err)
			}
			return
		}
		if !strings.HasPrefix(rev, p.base) || !refName("refs/heads/"+p.base) {
			t.Errorf("%q: base %q", rev, p.base)
		}
		total := 0
		for _, s := range p.steps {
			if s.back < 0 || s.parent < 0 || s.back > 0 && s.parent < 1 {
				t.Errorf("%q: %+v", rev, p)
			}
			total += s.back
		}
		if total > maxBack || len(p.steps) > len(rev) {
			t.Errorf("%q goes back %d", rev, total)
		}
	})
}
