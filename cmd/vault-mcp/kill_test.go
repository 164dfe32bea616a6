package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var soak = flag.Bool("soak", false, "run the long tests whole")

// Whenever the server is killed, a change is afterwards there wholly or not at
// all. The change is a new name for a note and the links to it in eight others.
func TestAKilledServerLeavesAChangeWholeOrUndone(t *testing.T) {
	t.Parallel()
	kills := 25
	if *soak {
		kills = 250
	}
	vaultAs := func(name string) map[string]string {
		files := map[string]string{name + ".md": "the text\n", "other.md": "nothing\n"}
		for i := range 8 {
			files[fmt.Sprintf("F%d/linking %d.md", i%3, i)] = strings.Repeat("line\n", 50*i) + "[[" + name + "]]\n"
		}
		return files
	}
	home := t.TempDir()
	before, after := vaultAs("Topic one"), vaultAs("Topic two")
	dir := plant(t, before)
	rng := rand.New(rand.NewPCG(uint64(kills), 7))
	whole, undone := 0, 0
	span := 30 * time.Millisecond // within which a change ends about every second time
	for n := range kills {
		c := spawn(t, home, dir)
		c.ask(t, 1, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
		// With its first call the server takes back what the one before has left.
		c.ask(t, 2, "tools/call", `{"name":"note_exists","arguments":{"path":"other.md"}}`)
		switch got := everything(t, dir); {
		case same(got, after):
			whole++
			span -= span / 8
			before, after = after, before
		case same(got, before):
			undone++
			span += span / 8
		default:
			t.Fatalf("after kill %d the vault is neither as before nor as after: %v\nstderr: %s", n, got, c.stderr.String())
		}
		from, to := "Topic one", "Topic two"
		if _, ok := before["Topic one.md"]; !ok {
			from, to = to, from
		}
		call := fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"move_note","arguments":{"from":"%s.md","to":"%s.md"}}}`+"\n", from, to)
		if _, err := c.in.Write([]byte(call)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rng.Int64N(int64(span))))
		if err := c.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.cmd.Wait() // it was killed
	}
	t.Logf("%d kills: %d changes whole, %d undone", kills, whole, undone)
	if whole < 2 || undone < 3 {
		t.Errorf("the kills came all too early or all too late: %d whole, %d undone", whole, undone)
	}
}

// everything is all that is in a vault, also what is hidden.
func everything(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		files[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func same(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for p, text := range a {
		if other, ok := b[p]; !ok || other != text {
			return false
		}
	}
	return true
}
