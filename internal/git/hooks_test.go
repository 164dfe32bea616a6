//go:build unix

package git

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault-mcp/internal/run"
)

var allHooks = []string{"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-index-change", "reference-transaction", "pre-auto-gc"}

// tells makes hooks that leave a file behind, and tells whether there is one.
func (r *repo) tells(dir string, names ...string) func() bool {
	said := filepath.Join(r.home, "said")
	for _, n := range names {
		executable(r.t, filepath.Join(dir, n), "#!/bin/sh\necho "+n+" >>'"+said+"'\n")
	}
	return func() bool {
		_, err := os.Stat(said)
		return err == nil
	}
}

// With hooks off nothing of what a repository brings along runs.
func TestHooksOff(t *testing.T) {
	for name, make := range map[string]func(r *repo) func() bool{
		"in the git folder": func(r *repo) func() bool { return r.tells(filepath.Join(r.dir, ".git/hooks"), allHooks...) },
		"core.hooksPath": func(r *repo) func() bool {
			r.git("config", "core.hooksPath", "hooks")
			return r.tells(filepath.Join(r.dir, "hooks"), allHooks...)
		},
		"fsmonitor": func(r *repo) func() bool {
			ran := r.tells(r.home, "watch")
			r.git("config", "core.fsmonitor", filepath.Join(r.home, "watch"))
			return ran
		},
		"external diff, textconv and pager": func(r *repo) func() bool {
			ran := r.tells(r.home, "show")
			for _, key := range []string{"diff.external", "diff.x.command", "diff.x.textconv", "core.pager", "core.editor"} {
				r.git("config", key, filepath.Join(r.home, "show"))
			}
			r.must(os.WriteFile(filepath.Join(r.dir, ".git/info/attributes"), []byte("*.md diff=x\n"), 0o644))
			return ran
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			ran := make(r)
			r.write("a.md", "a\n")
			c := r.changer("")
			r.must(c.Stage(t.Context(), []string{"a.md"}))
			r.must(c.Unstage(t.Context(), []string{"a.md"}))
			r.must(c.Stage(t.Context(), []string{"a.md"}))
			if _, err := commitNow(t, c, "first"); err != nil {
				t.Error(err)
			}
			r.write("a.md", "b\n")
			_, err := c.Status(t.Context())
			r.must(err)
			if d, err := c.Diff(t.Context(), DiffOptions{}, 1<<20); err != nil || len(d.Files) != 1 || d.Files[0].Added != 1 {
				t.Errorf("got %+v, %v", d, err)
			}
			if ran() {
				t.Error("a program of the repository ran")
			}
			_, _ = r.try("-c", "core.pager=", "diff")
			_, _ = r.try("commit", "-aqm", "second")
			if !ran() {
				t.Error("the test shows nothing: git does not start it either")
			}
		})
	}
}

func TestHooksOn(t *testing.T) {
	staged := func(t *testing.T) (*repo, string) {
		r := newRepo(t)
		r.write("a.md", "a\n")
		r.commit("first")
		r.write("a.md", "b\n")
		r.write("n.md", "n\n")
		r.git("add", "a.md")
		return r, filepath.Join(r.dir, ".git/hooks")
	}
	t.Run("run", func(t *testing.T) {
		r, dir := staged(t)
		ran := r.tells(dir, "pre-commit")
		executable(t, filepath.Join(dir, "commit-msg"), "#!/bin/sh\necho 'Signed: hook' >>\"$1\"\n")
		made, err := commitNow(t, r.changer("", hooksOn), "second")
		if err != nil || !ran() {
			t.Errorf("%v, ran %v", err, ran())
		}
		if got := r.git("log", "-1", "--format=%H %B"); got != string(made.ID)+" second\nSigned: hook" {
			t.Errorf("got %q", got)
		}
		if got := r.git("status", "--porcelain"); got != "?? n.md" {
			t.Errorf("got %q", got)
		}
		r.whole()
	})
	t.Run("unborn", func(t *testing.T) {
		r := newRepo(t)
		r.write("a.md", "a\n")
		r.git("add", "a.md")
		made, err := commitNow(t, r.changer("", hooksOn), "first")
		if err != nil || string(made.ID) != r.git("rev-parse", "HEAD") || made.Parent != "" {
			t.Errorf("got %+v, %v", made, err)
		}
	})
	t.Run("refuse", func(t *testing.T) {
		r, dir := staged(t)
		executable(t, filepath.Join(dir, "pre-commit"), "#!/bin/sh\necho 'too long' >&2\nexit 1\n")
		before := r.state()
		_, err := commitNow(t, r.changer("", hooksOn), "second")
		if e, ok := errors.AsType[*HookError](err); !ok || e.Output != "too long" {
			t.Errorf("got %v", err)
		}
		if diff := cmp.Diff(before, r.state()); diff != "" {
			t.Error(diff)
		}
		r.whole()
	})
	t.Run("stage more", func(t *testing.T) {
		r, dir := staged(t)
		executable(t, filepath.Join(dir, "pre-commit"), "#!/bin/sh\ngit add n.md\n")
		_, err := commitNow(t, r.changer("", hooksOn), "second")
		if e, ok := errors.AsType[*OtherCommitError](err); !ok || string(e.Commit) != r.git("rev-parse", "HEAD") {
			t.Errorf("got %v", err)
		}
		if got := r.git("status", "--porcelain"); got != "" {
			t.Errorf("the index lacks what the hook staged: %q", got)
		}
		r.whole()
	})
	t.Run("commit first", func(t *testing.T) {
		r, dir := staged(t)
		executable(t, filepath.Join(dir, "post-commit"), "#!/bin/sh\n[ -e \"$HOME/once\" ] && exit\ntouch \"$HOME/once\"\ngit commit -q --amend --no-verify -m other\ngit commit -q --allow-empty -m one\n")
		_, err := commitNow(t, r.changer("", hooksOn), "second")
		if _, ok := errors.AsType[*OtherCommitError](err); !ok {
			t.Errorf("got %v", err)
		}
		r.whole()
	})
	t.Run("in the vault", func(t *testing.T) {
		for name, put := range map[string]func(r *repo, dir string){
			"hooksPath": func(r *repo, dir string) {
				r.git("config", "core.hooksPath", "tools")
				executable(t, filepath.Join(r.dir, "tools/pre-commit"), "#!/bin/sh\n")
			},
			"link to a hook": func(r *repo, dir string) {
				executable(t, filepath.Join(r.dir, "tools/x"), "#!/bin/sh\n")
				r.must(os.Symlink(filepath.Join(r.dir, "tools/x"), filepath.Join(dir, "pre-commit")))
			},
			"link to a folder": func(r *repo, dir string) {
				r.must(os.RemoveAll(dir))
				r.must(os.Mkdir(filepath.Join(r.dir, "tools"), 0o755))
				r.must(os.Symlink(filepath.Join(r.dir, "tools"), dir))
			},
			"in the config": func(r *repo, dir string) {
				r.git("config", "hook.lint.command", "tools/x")
				r.git("config", "hook.lint.event", "pre-commit")
			},
		} {
			r, dir := staged(t)
			put(r, dir)
			before := r.state()
			_, err := commitNow(t, r.changer("", hooksOn), "second")
			wantKind(t, err, "hooks")
			if diff := cmp.Diff(before, r.state()); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	})
}

// What git sees of this process is a list, and nothing in it leads elsewhere.
func TestEnvironmentOfGit(t *testing.T) {
	r := newRepo(t)
	vault := filepath.Join(r.dir, "vault")
	program := filepath.Join(r.home, "git")
	executable(t, program, "#!/bin/sh\nexport\nfor a; do echo \"arg $a\"; done\n")
	vars := map[string]string{
		"HOME": r.home, "GIT_AUTHOR_NAME": "Ada", "PATH": vault + ":/opt/x:.", "SECRET": "secret",
		"GIT_DIR": "/evil", "GIT_INDEX_FILE": "/evil", "GIT_WORK_TREE": "/evil", "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "evil",
		"GIT_CONFIG_PARAMETERS": "'evil=1'", "GIT_OBJECT_DIRECTORY": "/evil", "GIT_EXTERNAL_DIFF": "/evil", "GIT_SSH_COMMAND": "/evil",
		"GIT_EXEC_PATH": "/evil", "GIT_TRACE": "/evil", "GIT_EDITOR": "/evil", "LD_PRELOAD": "/evil", "GIT_COMMON_DIR": "/evil", "GIT_NAMESPACE": "evil",
	}
	r.must(os.Mkdir(vault, 0o755))
	c, err := Open(vault, Options{
		Programs: run.New(run.Options{Paths: map[string]string{"git": program}, Vaults: []string{vault}}),
		Env:      func(name string) string { return vars[name] },
	})
	r.must(err)
	out, err := c.git(t.Context(), call{args: []string{"x"}, off: []string{"a=b\n"}, index: "/private"})
	r.must(err)
	text := string(out)
	for _, bad := range []string{"evil", "secret", "GIT_DIR", vault + ":"} {
		if strings.Contains(text, bad) {
			t.Errorf("%s is known: %s", bad, text)
		}
	}
	for _, want := range []string{
		"HOME='" + r.home, "GIT_AUTHOR_NAME='Ada'", "/opt/x'", "GIT_OPTIONAL_LOCKS='0'", "GIT_TERMINAL_PROMPT='0'", "GIT_LITERAL_PATHSPECS='1'",
		"GIT_INDEX_FILE='/private'", "GIT_CONFIG_COUNT='1'", "LC_ALL='C'", "arg core.fsmonitor=false\n", "arg core.hooksPath=/dev/null\n", "arg -C\narg " + r.dir + "\n",
	} {
		if !strings.Contains(strings.ReplaceAll(text, "\"", "'"), want) {
			t.Errorf("%s is missing: %s", want, text)
		}
	}
}

// What the config signs is signed, by the key of whose it is.
func TestSigned(t *testing.T) {
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("this machine has no ssh-keygen")
	}
	ours, theirs := twins(t, func(r *repo) {
		r.git("config", "commit.gpgSign", "true")
		r.git("config", "gpg.format", "ssh")
		r.git("config", "user.signingKey", filepath.Join(r.home, "key"))
		r.write("a.md", "a\n")
		r.git("add", "a.md")
	})
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", filepath.Join(ours.home, "key")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, n := range []string{"key", "key.pub"} {
		b, err := os.ReadFile(filepath.Join(ours.home, n))
		ours.must(err)
		ours.must(os.WriteFile(filepath.Join(theirs.home, n), b, 0o600))
	}
	c := ours.changer("")
	theirs.clock = 10_000
	if _, err := commitNow(t, c, "first\n\nbody"); err != nil {
		t.Fatal(err)
	}
	theirs.git("commit", "-q", "-m", "first", "-m", "body")
	if diff := cmp.Diff(theirs.state(), ours.state()); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(ours.git("cat-file", "commit", "HEAD"), "gpgsig -----BEGIN SSH SIGNATURE") {
		t.Error("it is not signed")
	}
	ours.write("a.md", "b\n")
	ours.git("add", "a.md")
	before := ours.state()
	ours.must(os.Remove(filepath.Join(ours.home, "key")))
	for _, f := range []string{"ssh", "openpgp"} {
		ours.git("config", "gpg.format", f)
		ours.git("config", "gpg.program", "false")
		_, err := commitNow(t, ours.changer(""), "x")
		wantKind(t, err, "signing")
		if diff := cmp.Diff(before, ours.state()); diff != "" {
			t.Error(diff)
		}
	}
	ours.whole()
}
