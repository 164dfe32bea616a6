package app_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vault-mcp/hitl"
	"vault-mcp/internal/app"
	"vault-mcp/internal/fault"
	"vault-mcp/internal/racing"
)

// repository is a vault in a repository that the real git program made, with one
// commit and one staged change.
type repository struct {
	*gated
	work string // the root of the work tree
}

func newRepository(t *testing.T, more ...string) *repository {
	t.Helper()
	g := newGated(t, more...)
	r := &repository{g, g.dir}
	r.init()
	return r
}

// init makes the repository at the root of the work tree.
func (r *repository) init() {
	r.t.Helper()
	r.begin()
	r.write("a.md", original+"more\n")
	r.git("-C", r.dir, "add", "a.md")
}

func (r *repository) begin() {
	r.t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		r.t.Skip("this machine has no git program")
	}
	config := "[user]\n\tname = Ada Example\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n"
	if err := os.WriteFile(filepath.Join(r.home, ".gitconfig"), []byte(config), 0o600); err != nil {
		r.t.Fatal(err)
	}
	r.git("init", "-q")
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "first")
}

// committed makes a folder a repository with all of its files in one commit.
func committed(t *testing.T, dir string) {
	t.Helper()
	(&repository{&gated{t: t, dir: dir, home: t.TempDir()}, dir}).begin()
}

func (r *repository) git(args ...string) string {
	r.t.Helper()
	c := exec.Command("git", append([]string{"-C", r.work}, args...)...)
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + r.home, "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1"}
	out, err := c.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// head is HEAD with what is staged.
func (r *repository) head() string {
	r.t.Helper()
	return r.git("rev-parse", "HEAD") + "\n" + r.git("symbolic-ref", "-q", "HEAD") + "\n" + r.git("ls-files", "--stage")
}

func commits(message string) request {
	return request{tool: "git_commit", args: fmt.Sprintf(`{"message":%q}`, message), reach: screen}
}

func (r *repository) call(tool string, a args) map[string]any {
	r.t.Helper()
	var out map[string]any
	if err := call(r.t, r.app, tool, a, &out); err != nil {
		r.t.Fatalf("%s: %v", tool, err)
	}
	return out
}

// A commit is made once a person has approved it, by every route, of exactly what
// they were shown, as git itself would make it.
func TestACommitIsMadeOnceItIsApproved(t *testing.T) {
	for way, approve := range ways {
		t.Run(way, func(t *testing.T) {
			r := newRepository(t)
			before, tree := r.git("rev-parse", "HEAD"), r.git("write-tree")
			if err := approve(r.gated, commits("second\n\nbecause"), func() {}); err != nil {
				t.Fatal(err)
			}
			if got := r.git("log", "-1", "--format=%P %T %an %ae%n%B"); got != before+" "+tree+" Ada Example ada@example.org\nsecond\n\nbecause" {
				t.Errorf("the commit is %q", got)
			}
			if got := r.git("fsck", "--strict"); got != "" {
				t.Error(got)
			}
			if got := r.git("status", "--porcelain"); got != "" {
				t.Error(got)
			}
			if n := r.query("SELECT count(*) FROM requests JOIN grants USING (request_id) JOIN executions USING (grant_id) WHERE executions.outcome = 'applied'"); n != "1" {
				t.Errorf("%s executions", n)
			}
			if got := r.do(commits("second\n\nbecause")); !strings.HasPrefix(got, "git_refused") {
				t.Errorf("again: %s", got)
			}
		})
	}
}

// Nothing is committed of a repository that has changed since a person approved it.
func TestACommitOfAnotherStateIsDrift(t *testing.T) {
	for name, change := range map[string]func(r *repository){
		"one more staged":           func(r *repository) { r.write("c.md", "c\n"); r.git("add", "c.md") },
		"one unstaged":              func(r *repository) { r.write("c.md", "c\n"); r.git("add", "c.md"); r.git("reset", "-q", "a.md") },
		"other content":             func(r *repository) { r.write("a.md", "else\n"); r.git("add", "a.md") },
		"mode":                      func(r *repository) { r.git("update-index", "--chmod=+x", "a.md") },
		"a commit":                  func(r *repository) { r.git("commit", "-q", "--allow-empty", "-m", "theirs") },
		"an amend":                  func(r *repository) { r.git("commit", "-q", "--amend", "-m", "else", "--", "b.md") },
		"a checkout":                func(r *repository) { r.git("checkout", "-q", "-b", "other") },
		"a detached HEAD":           func(r *repository) { r.git("checkout", "-q", "--detach") },
		"a new unborn branch":       func(r *repository) { r.git("symbolic-ref", "HEAD", "refs/heads/new") },
		"skip-worktree":             func(r *repository) { r.git("update-index", "--skip-worktree", "b.md") },
		"intended to be added":      func(r *repository) { r.write("c.md", "c\n"); r.git("add", "-N", "c.md") },
		"everything unstaged":       func(r *repository) { r.git("reset", "-q") },
		"the beginning of a merge":  func(r *repository) { r.write(".git/MERGE_HEAD", r.git("rev-parse", "HEAD")+"\n") },
		"the repository is removed": func(r *repository) { _ = os.Rename(filepath.Join(r.work, ".git"), filepath.Join(r.home, "gone")) },
	} {
		by := ways
		if name == "other content" {
			by = everyWay()
		}
		for way, approve := range by {
			t.Run(name+" "+way, func(t *testing.T) {
				t.Parallel()
				r := newRepository(t)
				var before string
				there := func() bool { _, err := os.Stat(filepath.Join(r.work, ".git")); return err == nil }
				err := approve(r.gated, commits("second"), func() {
					change(r)
					if there() && name != "a new unborn branch" && name != "a detached HEAD" {
						before = r.head()
					}
				})
				e, ok := errors.AsType[*fault.Error](err)
				if !ok || e.Code != fault.ReplayDrift {
					t.Fatalf("%v (%v)", err, errors.Unwrap(err))
				}
				if before != "" && r.head() != before {
					t.Errorf("the repository is\n%s\nnot\n%s", r.head(), before)
				}
				if n := r.query("SELECT count(*) FROM grants WHERE uses > 0"); n != "0" {
					t.Errorf("%s grants are spent", n)
				}
			})
		}
	}
}

// What is no other state is no drift.
func TestWhatGitRefreshesIsNoDrift(t *testing.T) {
	for name, change := range map[string]func(r *repository){
		"status refreshes the index": func(r *repository) {
			when := time.Now().Add(time.Hour)
			for _, f := range []string{"a.md", "b.md"} {
				if err := os.Chtimes(filepath.Join(r.dir, f), when, when); err != nil {
					r.t.Fatal(err)
				}
			}
			r.git("status")
		},
		"an unstaged edit":  func(r *repository) { r.write("b.md", "edited\n") },
		"an untracked file": func(r *repository) { r.write("c.md", "c\n") },
		"packed refs":       func(r *repository) { r.git("pack-refs", "--all"); r.git("gc", "-q") },
		"another branch":    func(r *repository) { r.git("branch", "other") },
	} {
		for way, approve := range ways {
			t.Run(name+" "+way, func(t *testing.T) {
				t.Parallel()
				r := newRepository(t)
				if err := approve(r.gated, commits("second"), func() { change(r) }); err != nil {
					t.Fatal(err)
				}
				if got := r.git("log", "-1", "--format=%s"); got != "second" {
					t.Error(got)
				}
			})
		}
	}
}

// What the folder rules hide, and what is outside of the vault, no git tool tells
// its caller; the person who approves a commit is told all of it.
func TestHiddenNotesHaveNoHistory(t *testing.T) {
	g := newGated(t)
	work := g.dir
	g.dir = filepath.Join(work, "Notes")
	plant(t, work, map[string]string{
		"outside-secret.txt": "o\n", "Notes/open.md": "open\n", "Notes/Private/diary.md": "diary\n", "Notes/old.md": "it was open once, and is long enough to be known again\n",
	})
	r := &repository{g, work}
	r.app = start(t, g.home, fmt.Sprintf("vaults: [{path: %q, rules: [{glob: Private/**, verbs: {read: hide}}]}]\n", g.dir), func(o *app.Options) { o.Clock = g.clock.Now })
	plant(t, g.dir, map[string]string{"a.md": original})
	r.init()
	r.write("Private/diary.md", "diary of today\n")
	r.git("commit", "-q", "-m", "about the diary", "--", "Notes/Private/diary.md")
	r.git("mv", "Notes/old.md", "Notes/Private/new.md")
	r.git("commit", "-q", "-m", "put old under new", "--", "Notes/old.md", "Notes/Private/new.md")
	r.write("open.md", "open\nmore of new and diary\n")
	r.write("Private/diary.md", "diary of tomorrow\n")
	plant(t, work, map[string]string{"outside-secret.txt": "changed\n"})
	r.git("add", "-A")
	words := []string{"diary", "Private", "outside-secret", "put old", "new.md"}
	for _, c := range []struct {
		tool string
		args args
	}{
		{"git_status", args{}}, {"git_log", args{}}, {"git_log", args{"path": "open.md"}}, {"git_log", args{"path": "old.md"}},
		{"git_diff", args{"staged": true, "path": "a.md"}}, {"git_show", args{"revision": "HEAD"}}, {"git_show", args{"revision": "HEAD~2"}},
	} {
		text, _ := json.Marshal(r.call(c.tool, c.args))
		for _, w := range words {
			if strings.Contains(string(text), w) {
				t.Errorf("%s %v tells %q: %s", c.tool, c.args, w, text)
			}
		}
	}
	for _, c := range []struct {
		tool string
		args args
		as   args // the same of what does not exist
	}{
		{"git_log", args{"path": "Private/diary.md"}, args{"path": "Private/none.md"}},
		{"git_diff", args{"path": "Private/diary.md"}, args{"path": "Private/none.md"}},
		{"read_note", args{"path": "Private/diary.md", "at": "HEAD"}, args{"path": "Private/none.md", "at": "HEAD"}},
		{"git_stage", args{"paths": []string{"Private/diary.md"}}, args{"paths": []string{"Private/none.md"}}},
		{"git_restore", args{"path": "Private/diary.md"}, args{"path": "Private/none.md"}},
		{"git_show", args{"revision": "HEAD~1"}, args{"revision": "HEAD~1"}},
	} {
		var out any
		hidden, absent := call(t, r.app, c.tool, c.args, &out), call(t, r.app, c.tool, c.as, &out)
		a, _ := json.Marshal(fault.Of(hidden))
		b, _ := json.Marshal(fault.Of(absent))
		if hidden == nil || strings.ReplaceAll(string(a), "diary", "none") != string(b) {
			t.Errorf("%s: %s, but %s", c.tool, a, b)
		}
	}
	// The form passes through the client; the console does not.
	_, err := do1(t.Context(), r.app, commits("third"))
	form, _ := json.Marshal(err.(*hitl.NeedsInput))
	for _, w := range []string{"Private", "outside-secret"} {
		if strings.Contains(string(form), w) {
			t.Errorf("the form tells %q: %s", w, form)
		}
		if preview := r.query("SELECT preview FROM requests"); !strings.Contains(preview, w) {
			t.Errorf("the person is not told %q: %s", w, preview)
		}
	}
}

// A staged file is what git add stages, and leaves it again.
func TestFilesAreStagedAndUnstaged(t *testing.T) {
	r := newRepository(t)
	r.write("c d.md", "new\n")
	r.remove("b.md")
	r.call("git_stage", args{"paths": []string{"c d.md", "b.md"}})
	if got := r.git("status", "--porcelain"); got != "M  a.md\nD  b.md\nA  \"c d.md\"" {
		t.Errorf("staged is %q", got)
	}
	out := r.call("git_status", args{"limit": 2})
	if fmt.Sprint(out["total"]) != "3" || out["next_cursor"] == nil {
		t.Errorf("%v", out)
	}
	out = r.call("git_status", args{"limit": 2, "cursor": out["next_cursor"]})
	if files := fmt.Sprint(out["files"]); files != "[map[path:c d.md staged:A]]" {
		t.Error(files)
	}
	r.call("git_unstage", args{"paths": []string{"b.md", "a.md"}})
	if got := r.git("status", "--porcelain"); got != "M a.md\n D b.md\nA  \"c d.md\"" {
		t.Errorf("staged is %q", got)
	}
	if n := r.query("SELECT count(*) FROM audit WHERE tool = 'git_stage' AND kind = 'end' AND outcome = 'applied'"); n != "1" {
		t.Errorf("%s rows of the audit", n)
	}
	if err := call(t, r.app, "git_stage", args{"paths": []string{"none.md"}}, new(any)); code(err) != fault.GitRefused {
		t.Error(err)
	}
	if n := r.query("SELECT outcome FROM changes ORDER BY seq DESC LIMIT 1"); n != "failed" && n != "not_applied" {
		t.Errorf("what was refused is %s", n)
	}
}

// A note is read, compared and restored as it was at a revision.
func TestANoteAsItWas(t *testing.T) {
	r := newRepository(t)
	res, err := do1(t.Context(), r.app, request{tool: "read_note", args: `{"path":"a","at":"HEAD"}`})
	if err != nil {
		t.Fatal(err)
	}
	if _, text, _ := strings.Cut(res.Text, "\n"); text != original {
		t.Errorf("%q", res.Text)
	}
	if d := r.call("diff_note", args{"path": "a.md", "against": "main"}); !strings.Contains(fmt.Sprint(d["diff"]), "+more") || d["identical"] != false {
		t.Error(d)
	}
	r.remove("a.md")
	restore := request{tool: "git_restore", args: `{"path":"a.md"}`, reach: screen}
	if got := r.do(restore.with(r.ask(restore), yes)); got != "ran" {
		t.Fatal(got)
	}
	holds(t, r.dir, map[string]string{"a.md": original})
	for _, in := range []string{`{"path":"a.md","at":"nothing"}`, `{"path":"a.md","at":"HEAD~9"}`, `{"path":"none.md","at":"HEAD"}`, `{"path":"a.md","at":"HEAD^{/x}"}`} {
		if got := r.do(request{tool: "read_note", args: in}); !strings.HasPrefix(got, "git_refused") && !strings.HasPrefix(got, "not_found") {
			t.Errorf("%s: %s", in, got)
		}
	}
}

// A commit with a key is made once, a dry run makes none, and a vault that is only
// read has no commits made.
func TestACommitWithAKeyIsMadeOnce(t *testing.T) {
	r := newRepository(t)
	c := commits("second")
	c.args = `{"message":"second","idempotency_key":"k"}`
	dry := request{tool: "git_commit", args: `{"message":"second","dry_run":true}`}
	if got := r.do(dry); got != "ran" {
		t.Error(got)
	}
	if got := r.do(c.with(r.ask(c), yes)); got != "ran" {
		t.Fatal(got)
	}
	head := r.git("rev-parse", "HEAD")
	res, err := do1(t.Context(), r.app, c)
	if err != nil || !strings.Contains(res.Text, head) {
		t.Errorf("%v %v", res, err)
	}
	if n := r.git("rev-list", "--count", "HEAD"); n != "2" {
		t.Errorf("%s commits", n)
	}
	id := r.query("SELECT id FROM changes WHERE tool = 'git_commit'")
	if got := r.do(request{tool: "undo_change", args: fmt.Sprintf(`{"change_id":%q}`, id)}); !strings.HasPrefix(got, "invalid_input") {
		t.Errorf("undone: %s", got)
	}
	if changes := r.call("list_changes", args{"all": true}); strings.Contains(fmt.Sprint(changes), "git_commit") {
		t.Errorf("%v", changes)
	}
	r.app = start(t, r.home, fmt.Sprintf("vaults: [{path: %q, read_only: true}]\n", r.dir))
	for _, tool := range []string{"git_commit", "git_stage"} {
		in := map[string]string{"git_commit": `{"message":"third"}`, "git_stage": `{"paths":["a.md"]}`}[tool]
		if got := r.do(request{tool: tool, args: in}); !strings.HasPrefix(got, "read_only") {
			t.Errorf("%s: %s", tool, got)
		}
	}
	r.call("git_status", args{})
}

// What became of a commit whose process died is found out by looking: it is never
// made again.
func TestACommitThatWasInterruptedIsSettled(t *testing.T) {
	for _, made := range []bool{true, false} {
		r := newRepository(t)
		r.do(request{tool: "git_stage", args: `{"paths":["a.md"]}`}) // makes the state
		tree, parent := r.git("write-tree"), r.git("rev-parse", "HEAD")
		id := r.git("commit-tree", tree, "-p", parent, "-m", "second")
		if made {
			r.git("update-ref", "-m", "commit: second", "HEAD", id, parent)
		}
		r.query("UPDATE changes SET tool = 'git_commit', outcome = 'indeterminate', ended = 0, receipt = NULL, intent = ?",
			fmt.Sprintf(`{"tree":%q,"parent":%q,"commit":%q}`, tree, parent, id))
		r.app.Begin(t.Context()) // as a server does with its first call
		want := map[bool]string{true: "applied", false: "failed"}[made]
		r.app = r.server()
		r.app.Begin(t.Context())
		if got := r.query("SELECT outcome FROM changes"); got != want {
			t.Errorf("made %t: it is %s", made, got)
		}
		if n := r.git("rev-list", "--count", "HEAD"); n != map[bool]string{true: "2", false: "1"}[made] {
			t.Errorf("%s commits", n)
		}
	}
}

// Without a repository every tool says so.
func TestAVaultWithoutARepository(t *testing.T) {
	g, tried := newGated(t), 0
	for _, tool := range g.app.Registry.All() {
		if tool.Domain != "git" {
			continue
		}
		tried++
		in := map[string]string{"git_commit": `{"message":"x"}`, "git_stage": `{"paths":["a.md"]}`, "git_unstage": `{"paths":["a.md"]}`, "git_restore": `{"path":"a.md"}`}[tool.Name]
		if in == "" {
			in = "{}"
		}
		_, err := do1(t.Context(), g.app, request{tool: tool.Name, args: in})
		if e := fault.Of(err); e.Code != fault.GitRefused || e.Details["reason"] != "none" {
			t.Errorf("%s: %v %v", tool.Name, err, e.Details)
		}
	}
	if tried != 8 {
		t.Errorf("%d tools", tried)
	}
}

// With hooks that are allowed a hook's no is told, and what a hook has changed is
// no approved commit: nobody says that it went well.
func TestWhatHooksDoToACommit(t *testing.T) {
	hook := func(r *repository, text string) {
		if err := os.WriteFile(filepath.Join(r.work, ".git/hooks/pre-commit"), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r := newRepository(t, "git: {hooks: true}\n")
	before := r.git("rev-parse", "HEAD")
	hook(r, "echo not today >&2; exit 1\n")
	c := commits("second")
	_, err := do1(t.Context(), r.app, c.with(r.ask(c), yes))
	if e := fault.Of(err); e.Code != fault.GitRefused || !strings.Contains(e.Message, "not today") || r.git("rev-parse", "HEAD") != before {
		t.Errorf("%v", err)
	}
	r = newRepository(t, "git: {hooks: true}\n")
	hook(r, "echo more >> b.md; git add b.md\n")
	_, err = do1(t.Context(), r.app, c.with(r.ask(c), yes))
	e := fault.Of(err)
	if e.Code != fault.IndeterminateOutcome || e.Details["commit"] != r.git("rev-parse", "HEAD") {
		t.Errorf("%v %v", err, e.Details)
	}
	if got := r.query("SELECT outcome FROM changes WHERE tool = 'git_commit'"); got != "indeterminate" {
		t.Error(got)
	}
	r = newRepository(t)
	hook(r, "exit 1\n")
	if got := r.do(c.with(r.ask(c), yes)); got != "ran" {
		t.Errorf("with hooks off: %s", got)
	}
}

// No refusal names a folder of this machine.
func TestARefusalOfGitNamesNoFolderOfTheMachine(t *testing.T) {
	racing.Skips(t)
	for name, harm := range map[string]func(r *repository){
		"locked":  func(r *repository) { r.write(".git/index.lock", "") },
		"no HEAD": func(r *repository) { _ = os.Remove(filepath.Join(r.work, ".git/HEAD")) },
		"gitdir": func(r *repository) {
			_ = os.RemoveAll(filepath.Join(r.work, ".git"))
			r.write(".git", "gitdir: /nowhere/at/all\n")
		},
		"config":   func(r *repository) { r.write(".git/config", "[core\n") },
		"index":    func(r *repository) { r.write(".git/index", "DIRC") },
		"worktree": func(r *repository) { r.git("config", "core.worktree", r.home) },
	} {
		r := newRepository(t)
		harm(r)
		for _, c := range []request{{tool: "git_status", args: "{}"}, {tool: "git_stage", args: `{"paths":["a.md"]}`}, {tool: "git_diff", args: "{}"}, {tool: "git_commit", args: `{"message":"x","dry_run":true}`}} {
			_, err := do1(t.Context(), r.app, c)
			if err == nil {
				continue
			}
			text, _ := json.Marshal(fault.Of(err))
			for _, dir := range []string{r.work, r.home, "/nowhere", os.TempDir()} {
				if strings.Contains(string(text), dir) {
					t.Errorf("%s, %s: %s", name, c.tool, text)
				}
			}
		}
	}
}

// Each commit that the caller may know of is on one page, and the others are on
// none.
func TestEachCommitIsOnOnePage(t *testing.T) {
	r := newRepository(t)
	r.app = r.under(", rules: [{glob: Private/**, verbs: {read: hide}}]")
	for i := range 6 {
		path := []string{"b.md", "Private/x.md", "Private/x.md"}[i%3]
		plant(t, r.dir, map[string]string{path: strings.Repeat("text\n", i+1)})
		r.git("add", path)
		r.git("commit", "-q", "-m", fmt.Sprintf("commit %d", i), "--", path)
	}
	var subjects []string
	for in, pages := (args{"limit": 1}), 0; ; pages++ {
		out := r.call("git_log", in)
		for _, c := range out["commits"].([]any) {
			subjects = append(subjects, c.(map[string]any)["subject"].(string))
		}
		if in["cursor"] = out["next_cursor"]; in["cursor"] == nil || pages > 9 {
			break
		}
	}
	if got := strings.Join(subjects, ", "); got != "commit 3, commit 0, first" {
		t.Error(got)
	}
}

// Where a rule wants a person for a write, staging asks, and is bound to the text
// that they were asked about.
func TestStagingUnderARuleThatAsks(t *testing.T) {
	for _, changed := range []bool{false, true} {
		r := newRepository(t)
		r.git("reset", "-q")
		r.app = r.under(", rules: [{glob: a.md, verbs: {write: ask}}]")
		stage := request{tool: "git_stage", args: `{"paths":["a.md"]}`, reach: screen}
		state := r.ask(stage)
		if changed {
			r.write("a.md", "else\n")
		}
		got, staged := r.do(stage.with(state, yes)), r.git("diff", "--cached", "--name-only")
		if want := map[bool]string{false: "ran", true: "replay_drift drift"}[changed]; got != want || (staged == "a.md") == changed {
			t.Errorf("changed %t: %s, staged is %q", changed, got, staged)
		}
	}
}
