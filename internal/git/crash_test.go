//go:build unix

package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A copy of the test program does the change and ends itself, as kill -9 does,
// at the step that DIES_AT names; with WAIT it stays there until it is killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("CHANGE_IN"); dir != "" {
		os.Exit(child(dir))
	}
	os.Exit(m.Run())
}

func child(dir string) int {
	ctx := context.Background()
	r := &repo{t: &testing.T{}, dir: dir, home: os.Getenv("HOME"), clock: 10_000}
	c := r.changer("", func(o *Options) {
		o.Hooks = os.Getenv("HOOKS") != ""
		if os.Getenv("ALONE") != "" {
			noProgram(o)
		}
		o.at = func(step string) {
			if step != os.Getenv("DIES_AT") {
				return
			}
			if os.Getenv("WAIT") != "" {
				_, _ = io.WriteString(os.Stdout, "there\n")
				_, _ = io.ReadAll(os.Stdin)
				return
			}
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	})
	var err error
	switch os.Getenv("CHANGE") {
	case "stage":
		err = c.Stage(ctx, []string{"a.md", "n.md", "gone.md"})
	case "unstage":
		err = c.Unstage(ctx, []string{"staged.md"})
	case "commit":
		var h *Held
		if h, err = c.Hold(ctx); err == nil {
			_, err = h.Commit(ctx, "message", func(tree, parent, commit ID) error {
				return os.WriteFile(filepath.Join(dir, "..", "intent"), []byte(string(tree)+" "+string(parent)+" "+string(commit)), 0o600)
			})
		}
	}
	if err != nil {
		_, _ = io.WriteString(os.Stderr, kindOf(err)+": "+err.Error())
		return 1
	}
	return 0
}

// start starts a copy of the test program.
func (r *repo) start(change string, env ...string) *exec.Cmd {
	r.t.Helper()
	exe, err := os.Executable()
	r.must(err)
	c := exec.Command(exe)
	c.Env = append([]string{"CHANGE_IN=" + r.dir, "CHANGE=" + change, "HOME=" + r.home, "PATH=" + os.Getenv("PATH")}, env...)
	return c
}

func mixed(r *repo) {
	for _, n := range []string{"a.md", "gone.md", "other.md", "staged.md"} {
		r.write(n, n+"\n")
	}
	r.commit("first")
	r.write("staged.md", "staged\n")
	r.write("other.md", "staged too\n")
	r.git("add", "staged.md", "other.md")
	r.write("other.md", "and more\n")
	r.write("a.md", "aa\n")
	r.write("n.md", "n\n")
	r.remove("gone.md")
}

// Killed at any step, the repository is as before or as after, and the next
// change goes on as if nothing had been.
func TestKilledAtAnyStep(t *testing.T) {
	t.Parallel()
	edits := []string{"alone", "held", "copied", "edited", "before install", "installed", "released"}
	commits := []string{"alone", "held", "copied", "tree", "commit", "intended", "moved", "released"}
	for change, steps := range map[string][]string{
		"stage": edits, "unstage": edits, "commit": commits,
		"commit with hooks": {"alone", "held", "copied", "tree", "intended", "moved", "released"},
		"stage alone":       edits, "unstage alone": edits,
		"commit alone": {"alone", "held", "tree", "commit", "intended", "ref locked", "ref moved", "moved", "released"},
	} {
		after := newRepo(t)
		mixed(after)
		change, hooks := strings.CutSuffix(change, " with hooks")
		env := []string{}
		if hooks {
			env = append(env, "HOOKS=1")
		}
		change, alone := strings.CutSuffix(change, " alone")
		if alone {
			env = append(env, "ALONE=1")
		}
		if out, err := after.start(change, env...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", change, err, out)
		}
		for _, step := range steps {
			t.Run(fmt.Sprintf("%s %s %v", change, step, env), func(t *testing.T) {
				r := newRepo(t)
				mixed(r)
				before := r.state()
				out, err := r.start(change, append(env, "DIES_AT="+step)...).CombinedOutput()
				if e, ok := errors.AsType[*exec.ExitError](err); !ok || e.ExitCode() != -1 {
					t.Fatalf("it was not killed: %v: %s", err, out)
				}
				r.git("fsck", "--strict", "--no-dangling")
				got, want := r.state(), after.state()
				if step == "ref moved" { // the branch comes before its log
					got, _, _ = strings.Cut(got, "\nlog\n")
					want, _, _ = strings.Cut(want, "\nlog\n")
				}
				committed := got == want
				if !committed && got != before {
					t.Fatalf("neither before nor after: %s", cmp.Diff(before, got))
				}
				c := r.changer("")
				if alone {
					c = r.changer("", noProgram)
				}
				if change == "commit" {
					settles(t, c, committed, step)
				}
				h, err := c.Hold(t.Context())
				r.must(err)
				h.Release()
				r.whole()
				if got != before {
					return
				}
				if out, err := r.start(change, env...).CombinedOutput(); err != nil {
					t.Fatalf("again: %v: %s", err, out)
				}
				if diff := cmp.Diff(after.state(), r.state()); diff != "" {
					t.Error(diff)
				}
				r.whole()
			})
		}
	}
}

// settles checks what is found out about the commit that the child intended.
func settles(t *testing.T, c *Repo, committed bool, step string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(c.Work, "..", "intent"))
	if err != nil {
		if step == "intended" || committed {
			t.Error(err)
		}
		return
	}
	f := strings.Split(string(text), " ")
	done, known, err := c.Settle(t.Context(), ID(f[0]), ID(f[1]), ID(f[2]))
	if err != nil || done != committed || !known {
		t.Errorf("done %v, known %v, %v; it is %v", done, known, err, committed)
	}
}

// git itself is killed in the midst of staging: by the filter that it runs.
func TestGitKilledWhileStaging(t *testing.T) {
	r := newRepo(t)
	mixed(r)
	r.write(".gitattributes", "n.md filter=deadly\n")
	r.git("config", "filter.deadly.clean", "kill -9 $PPID")
	r.git("config", "filter.deadly.required", "true")
	before := r.state()
	c := r.changer("")
	if err := c.Stage(t.Context(), []string{"a.md", "n.md"}); err == nil {
		t.Error("it ended well")
	}
	if diff := cmp.Diff(before, r.state()); diff != "" {
		t.Error(diff)
	}
	r.must(c.Stage(t.Context(), []string{"a.md"}))
	r.whole()
}

// Two processes commit at the same time: the one that holds the index wins, the
// other is refused, and all that was staged is in the one commit.
func TestTwoCommitAtOnce(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	mixed(r)
	first := r.start("commit", "DIES_AT=intended", "WAIT=1")
	in, err := first.StdinPipe()
	r.must(err)
	out, err := first.StdoutPipe()
	r.must(err)
	r.must(first.Start())
	line := make([]byte, 6)
	_, err = io.ReadFull(out, line)
	r.must(err)
	said, err := r.start("commit").CombinedOutput()
	if err == nil || !strings.HasPrefix(string(said), "locked: ") {
		t.Errorf("the second got %v: %s", err, said)
	}
	r.must(in.Close())
	r.must(first.Wait())
	if got := r.git("log", "--format=%s", "--name-only"); got != "message\n\nother.md\nstaged.md\nfirst\n\na.md\ngone.md\nother.md\nstaged.md" {
		t.Errorf("got %q", got)
	}
	r.whole()
}
