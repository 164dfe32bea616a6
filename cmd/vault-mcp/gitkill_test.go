package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"vault-mcp/internal/racing"
)

// Wherever a server is killed that commits, the commit is there or it is not, git
// finds nothing wrong, the next server knows which of the two it is, and it can go
// on staging and committing.
func TestAKilledServerLeavesACommitOrNone(t *testing.T) {
	racing.Skips(t)
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("this machine has no git program")
	}
	kills := 6
	if *soak {
		kills = 60
	}
	d := newDeletion(t)
	yaml := fmt.Sprintf("vaults: [{path: %q}]\nthrottle: {execute: {per_minute: 1000000, burst: 100000}}\n", d.dir)
	if err := os.WriteFile(d.file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	config := "[user]\n\tname = Ada Example\n\temail = ada@example.org\n"
	if err := os.WriteFile(filepath.Join(d.home, ".gitconfig"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	git := func(args ...string) string {
		t.Helper()
		c := exec.Command("git", append([]string{"-C", d.dir}, args...)...)
		c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + d.home, "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1"}
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q", "-b", "main")
	git("add", "-A")
	git("commit", "-q", "-m", "first")
	commits := func() int {
		n, err := strconv.Atoi(git("rev-list", "--count", "HEAD"))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	rng := rand.New(rand.NewPCG(7, 9))
	made := 0
	for n := range kills {
		if err := os.WriteFile(filepath.Join(d.dir, "b.md"), fmt.Appendf(nil, "text %d\n", n), 0o600); err != nil {
			t.Fatal(err)
		}
		params := fmt.Sprintf(`{"name":"git_commit","arguments":{"message":"commit %d"}}`, n)
		c := spawn(t, d.home, d.file)
		c.ask(t, 1, "initialize", initialize)
		c.ask(t, 2, "tools/call", `{"name":"git_stage","arguments":{"paths":["b.md"]}}`)
		if staged := git("diff", "--cached", "--name-only"); staged != "b.md" {
			t.Fatalf("at kill %d: staged is %q", n, staged)
		}
		before := commits()
		c.ask(t, 3, "tools/call", params)
		grant := d.approve(nil)
		fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":%s}`+"\n", params)
		time.Sleep(time.Duration(rng.Int64N(int64(120 * time.Millisecond))))
		if err := c.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.cmd.Wait() // it was killed
		// What git was doing for it ends with it, or a moment later.
		time.Sleep(500 * time.Millisecond)
		if got := git("fsck", "--strict", "--no-dangling"); got != "" {
			t.Errorf("at kill %d: %s", n, got)
		}
		if now := commits(); (now == before) != (git("diff", "--cached", "--name-only") == "b.md") {
			t.Errorf("at kill %d: %d commits were made, and staged is %q", n, now-before, git("diff", "--cached", "--name-only"))
		}
		next := spawn(t, d.home, d.file)
		next.ask(t, 1, "initialize", initialize)
		next.ask(t, 2, "tools/call", `{"name":"git_stage","arguments":{"paths":["b.md"]}}`) // settles
		done := commits() - before
		made += done
		applied := d.count("SELECT count(*) FROM executions WHERE grant_id = ? AND outcome = 'applied'", grant)
		open := d.count("SELECT count(*) FROM executions WHERE outcome = 'indeterminate'")
		if done > 1 || applied != done || open > 0 || done > d.count("SELECT uses FROM grants WHERE grant_id = ?", grant) {
			t.Fatalf("at kill %d: %d commits, %d applied, %d indeterminate", n, done, applied, open)
		}
		if err := next.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = next.cmd.Wait()
		git("commit", "-q", "--allow-empty", "-m", "theirs") // no lock is left
	}
	t.Logf("%d kills: %d commits made, %d not", kills, made, kills-made)
}
