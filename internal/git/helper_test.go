package git

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// repo is a repository that the real git program made.
type repo struct {
	t testing.TB
	// dir is the root of its work tree, home the folder of a config of its own.
	dir, home string
	// clock goes on by a minute with each run, so that commits have an order
	// and the same ids each time.
	clock int
	// extra are further variables of its environment.
	extra []string
}

// newRepo makes an empty repository on branch main, in a folder of its own.
func newRepo(t testing.TB, args ...string) *repo {
	t.Helper()
	r := bareRepo(t)
	r.git(append([]string{"init", "-q", "-b", "main"}, args...)...)
	return r
}

// bareRepo is the folder for a repository that the test makes itself.
func bareRepo(t testing.TB) *repo {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("this machine has no git program")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &repo{t: t, dir: filepath.Join(root, "work"), home: filepath.Join(root, "home")}
	for _, d := range []string{r.dir, r.home} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	config := "[user]\n\tname = Ada Example\n\temail = ada@example.org\n[protocol \"file\"]\n\tallow = always\n[advice]\n\tdetachedHead = false\n[gc]\n\tauto = 0\n"
	if err := os.WriteFile(filepath.Join(r.home, ".gitconfig"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	return r
}

// env is the environment of each run: nothing of this machine's git counts.
func (r *repo) env() []string {
	r.clock++
	at := fmt.Sprintf("%d +0100", 1700000000+60*r.clock)
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + r.home, "LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + filepath.Join(r.home, ".gitconfig"),
		"GIT_AUTHOR_DATE=" + at, "GIT_COMMITTER_DATE=" + at,
		"GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=true",
	}, r.extra...)
}

// try runs git in the work tree and returns what it wrote.
func (r *repo) try(args ...string) (string, error) {
	r.t.Helper()
	c := exec.Command("git", append([]string{"-C", r.dir}, args...)...)
	c.Env = r.env()
	var out, messages bytes.Buffer
	c.Stdout, c.Stderr = &out, &messages
	if err := c.Run(); err != nil {
		return out.String(), fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, messages.String())
	}
	return out.String(), nil
}

// git is try for what must succeed, without the line end.
func (r *repo) git(args ...string) string {
	r.t.Helper()
	out, err := r.try(args...)
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.TrimRight(out, "\n")
}

// write makes or replaces a file of the work tree, with its folders.
func (r *repo) write(path, text string) {
	r.t.Helper()
	full := filepath.Join(r.dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// commit stages all there is and commits it.
func (r *repo) commit(message string) ID {
	r.t.Helper()
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", message)
	return ID(r.git("rev-parse", "HEAD"))
}

// open is Open for a vault in the work tree's folder sub.
func (r *repo) open(sub string) *Repo {
	r.t.Helper()
	got, err := Open(filepath.Join(r.dir, sub), Options{})
	if err != nil {
		r.t.Fatal(err)
	}
	return got
}
