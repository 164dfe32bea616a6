package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"vault-mcp/internal/racing"
	"vault-mcp/internal/smalldisk"
)

// questions have answers that come from the index if there is one.
var questions = []string{
	`{"name":"search_vault","arguments":{"query":"needle -hay"}}`,
	`{"name":"get_backlinks","arguments":{"path":"Target.md"}}`,
	`{"name":"list_tags","arguments":{}}`,
	`{"name":"list_tasks","arguments":{}}`,
	`{"name":"search_text","arguments":{"query":"needle"}}`,
	`{"name":"list_notes","arguments":{"limit":5}}`,
}

// needles is a vault for the questions.
func needles(t *testing.T, notes int) string {
	files := map[string]string{"Target.md": "target"}
	for i := range notes {
		files[fmt.Sprintf("%d/N%d.md", i%20, i)] = fmt.Sprintf("---\ntags: [t%d]\n---\n[[Target]] needle%d %s\n- [ ] do it\n%s", i%3, i, []string{"hay", ""}[i%2], strings.Repeat(fmt.Sprintf("filler%d ", i), 20))
	}
	return plant(t, files)
}

// says is the text of an answer, without what it says of the index.
func (c *client) says(t *testing.T, call string) string {
	t.Helper()
	m := c.ask(t, 7, "tools/call", call)["result"].(map[string]any)
	if m["isError"] == true {
		t.Fatalf("%s: %v", call, m)
	}
	text := m["content"].([]any)[0].(map[string]any)["text"].(string)
	return ofIndex.ReplaceAllString(text, "")
}

var ofIndex = regexp.MustCompile(`(?m)^(index|next_cursor): .*\n?`)

// answers compares all answers with those of a server that has no fault.
func (c *client) answers(t *testing.T, when string, want []string) {
	t.Helper()
	for i, q := range questions {
		if got := c.says(t, q); got != want[i] {
			t.Errorf("%s, %s\ngot  %s\nwant %s", when, q, got, want[i])
		}
	}
}

func (c *client) status(t *testing.T) string {
	t.Helper()
	return fmt.Sprint(c.ask(t, 8, "tools/call", `{"name":"get_index_status","arguments":{}}`))
}

func (c *client) until(t *testing.T, status string) {
	t.Helper()
	for end := time.Now().Add(25 * time.Second); !strings.Contains(c.status(t), status); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never %q: %s\nstderr: %s", status, c.status(t), c.stderr.String())
		}
	}
}

func (c *client) end(t *testing.T) {
	t.Helper()
	_ = c.in.Close()
	if err := c.cmd.Wait(); err != nil {
		t.Errorf("end: %v; stderr: %s", err, c.stderr.String())
	}
}

// wanted are the answers of a server without fault.
func wanted(t *testing.T, dir string) (want []string) {
	c := spawn(t, t.TempDir(), dir)
	c.ask(t, 1, "initialize", initialize)
	c.until(t, "index:ready")
	for _, q := range questions {
		want = append(want, c.says(t, q))
	}
	c.end(t)
	return want
}

// The disk with the state is full from before the first call, or from then on.
func TestAFullDiskCostsSpeedNotAnswers(t *testing.T) {
	racing.Skips(t)
	t.Parallel()
	smalldisk.Run(t, func(t *testing.T) {
		dir := needles(t, 1500)
		want := wanted(t, dir)
		before := contents(t, dir)
		for _, warm := range []bool{false, true} {
			for _, room := range []int64{0, 4 << 10, 12 << 10, 64 << 10} {
				disk := smalldisk.New(t, 16<<20)
				if warm {
					c := spawn(t, disk.Dir, dir)
					c.ask(t, 1, "initialize", initialize)
					c.until(t, "index:ready")
					c.end(t)
				}
				disk.Fill(t, room)
				c := spawn(t, disk.Dir, dir)
				c.ask(t, 1, "initialize", initialize)
				when := fmt.Sprintf("warm %v, %d bytes left", warm, room)
				c.answers(t, when, want)
				if !warm || room == 0 {
					c.until(t, "the disk with the state folder is full: make room there")
					c.answers(t, when, want)
				}
				disk.Free(t)
				c.until(t, "index:ready")
				c.answers(t, when+", then room", want)
				c.end(t)
				stderr := c.stderr.String()
				if n := strings.Count(stderr, "no index for now"); n > 1 || n == 0 && (!warm || room == 0) {
					t.Errorf("%s: it is told %d times on stderr:\n%s", when, n, stderr)
				}
				if n := strings.Count(stderr, "\n"); n > 6 {
					t.Errorf("%s: %d lines on stderr:\n%s", when, n, stderr)
				}
				// The next server finds nothing that is damaged or half written.
				c = spawn(t, disk.Dir, dir)
				c.ask(t, 1, "initialize", initialize)
				c.until(t, "index:ready")
				c.answers(t, when+", the next server", want)
				c.end(t)
				if s := c.stderr.String(); strings.Contains(s, "WARN") {
					t.Errorf("%s, the next server:\n%s", when, s)
				}
			}
		}
		if after := contents(t, dir); after != before {
			t.Error("the vault was touched")
		}
	})
}

// contents is every file of a folder with its bytes and time.
func contents(t *testing.T, dir string) string {
	t.Helper()
	var b bytes.Buffer
	for p := range strings.Lines(tree(t, dir)) {
		p = strings.TrimSuffix(p, "\n")
		info, err := os.Lstat(p)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := os.ReadFile(p)
		fmt.Fprintln(&b, p, info.Size(), info.ModTime().UnixNano(), info.Mode(), string(text))
	}
	return b.String()
}

// The state folder is taken away under a server, or becomes read-only.
func TestAStateFolderThatIsLostWhileServing(t *testing.T) {
	t.Parallel()
	dir := needles(t, 50)
	want := wanted(t, dir)
	home := t.TempDir()
	c := spawn(t, home, dir)
	c.ask(t, 1, "initialize", initialize)
	c.until(t, "index:ready")
	if err := os.RemoveAll(filepath.Join(home, ".local")); err != nil {
		t.Fatal(err)
	}
	c.answers(t, "removed", want)
	again := func() bool {
		found, err := filepath.Glob(filepath.Join(home, ".local", "state", "vault-mcp", "vault-*", "index-*.db"))
		return err == nil && len(found) == 1
	}
	for end := time.Now().Add(20 * time.Second); !again(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the index is not made again; stderr: %s", c.stderr.String())
		}
	}
	c.until(t, "index:ready")
	c.answers(t, "made again", want)
	c.end(t)
}

func TestAReadOnlyStateFolderCostsSpeedNotAnswers(t *testing.T) {
	smalldisk.Run(t, func(t *testing.T) {
		dir := needles(t, 50)
		want := wanted(t, dir)
		disk := smalldisk.New(t, 16<<20)
		for _, first := range []bool{true, false} {
			disk.ReadOnly(t, first)
			c := spawn(t, disk.Dir, dir)
			c.ask(t, 1, "initialize", initialize)
			c.answers(t, "read-only", want)
			if first {
				c.until(t, "the state folder cannot be written to")
			} else {
				c.until(t, "index:ready")
			}
			c.end(t)
		}
	})
}

// What a person runs to have an index heals a damaged one, too.
func TestIndexCommandOverADamagedIndex(t *testing.T) {
	dir, home := needles(t, 20), t.TempDir()
	if got := command(t, home, "", "index", dir); got.code != 0 {
		t.Fatalf("%+v", got)
	}
	found, err := filepath.Glob(filepath.Join(home, ".local", "state", "vault-mcp", "vault-*", "index-*.db"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%q, %v", found, err)
	}
	for _, rebuild := range [][]string{nil, {"--rebuild"}} {
		if err := os.WriteFile(found[0], bytes.Repeat([]byte("no database "), 1000), 0o600); err != nil {
			t.Fatal(err)
		}
		got := command(t, home, "", append([]string{"index", dir}, rebuild...)...)
		if got.code != 0 || got.stdout != "the index is complete\n" {
			t.Errorf("%q: %+v", rebuild, got)
		}
	}
}
