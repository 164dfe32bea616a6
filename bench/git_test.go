package bench

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"vault-mcp/bench/vaultgen"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/dispatch"
)

// BenchmarkGitStatus asks the tool and git itself, by turns, about 10,000 notes of
// which three have changed; ratio is the one median by the other.
func BenchmarkGitStatus(b *testing.B) {
	program, err := exec.LookPath("git")
	if err != nil {
		b.Skip("this machine has no git program")
	}
	v, err := vaultgen.Write(filepath.Join(b.TempDir(), "vault"), 10_000, 1)
	if err != nil {
		b.Fatal(err)
	}
	git := func(args ...string) {
		c := exec.Command(program, append([]string{"-C", v.Dir, "-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
		c.Env = []string{"HOME=" + b.TempDir(), "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1"}
		if out, err := c.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	}
	git("init", "-q")
	git("add", "-A")
	git("commit", "-q", "-m", "all")
	for _, name := range []string{"New 1.md", "New 2.md", "New 3.md"} {
		if err := os.WriteFile(filepath.Join(v.Dir, name), []byte("new\n"), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	a := newSite(b, v).open(b)
	defer a.Close()
	var tool, own []time.Duration
	for b.Loop() {
		began := time.Now()
		if _, err := a.Dispatcher.Do(b.Context(), dispatch.Request{Caller: auth.Caller{ID: "bench", Scopes: auth.All}, Tool: "git_status", Args: json.RawMessage("{}")}); err != nil {
			b.Fatal(err)
		}
		tool = append(tool, time.Since(began))
		began = time.Now()
		git("status", "--porcelain=v2", "--untracked-files=all")
		own = append(own, time.Since(began))
	}
	slices.Sort(tool)
	slices.Sort(own)
	b.ReportMetric(float64(tool[len(tool)/2])/float64(own[len(own)/2]), "ratio")
}
