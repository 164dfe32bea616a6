package main

import (
	"bufio"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"vault-mcp/cache/state"
	"vault-mcp/hitl"
	"vault-mcp/internal/secrets"
)

// deletion is a vault whose note a.md is deleted with a person's approval. Each
// deletion leaves a file in .trash, and the note comes back at once with the text
// that it had: what was approved could be done again and again.
type deletion struct {
	t          *testing.T
	home, file string
	dir        string
	stop       chan struct{}
	restoring  sync.WaitGroup
}

func newDeletion(t *testing.T) *deletion {
	d := &deletion{t: t, home: t.TempDir(), stop: make(chan struct{})}
	d.dir = plant(t, map[string]string{"a.md": "text\n", "b.md": "other\n", ".obsidian/app.json": `{"trashOption":"local"}`})
	d.file = filepath.Join(d.home, "vault.yaml")
	yaml := fmt.Sprintf("vaults: [{path: %q}]\nthrottle: {delete: {per_minute: 1000000, burst: 100000}}\n", d.dir)
	if err := os.WriteFile(d.file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	return d
}

// restore brings the note back whenever it is gone.
func (d *deletion) restore() {
	d.restoring.Go(func() {
		for {
			select {
			case <-d.stop:
				return
			case <-time.After(time.Millisecond):
			}
			if _, err := os.Lstat(filepath.Join(d.dir, "a.md")); os.IsNotExist(err) {
				_ = os.WriteFile(filepath.Join(d.dir, "a.md"), []byte("text\n"), 0o600) // the next turn tries again
			}
		}
	})
	d.t.Cleanup(func() { close(d.stop); d.restoring.Wait() })
}

// deleted is how often the note was deleted.
func (d *deletion) deleted() int {
	entries, _ := os.ReadDir(filepath.Join(d.dir, ".trash")) // none: not there
	return len(entries)
}

func (d *deletion) store() *state.Store {
	d.t.Helper()
	dirs, _ := filepath.Glob(filepath.Join(d.home, ".local/state/vault-mcp/*/state.db"))
	if len(dirs) != 1 {
		d.t.Fatalf("%q", dirs)
	}
	ring, err := secrets.Open(filepath.Dir(dirs[0]))
	if err != nil {
		d.t.Fatal(err)
	}
	s, err := state.Open(d.t.Context(), filepath.Dir(dirs[0]), ring)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { s.Close() })
	return s
}

func (d *deletion) count(query string) (n int) {
	d.t.Helper()
	files, _ := filepath.Glob(filepath.Join(d.home, ".local/state/vault-mcp/*/state.db"))
	db, err := sql.Open("sqlite", "file:"+files[0]+"?_pragma=busy_timeout(10000)")
	if err != nil {
		d.t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow(query).Scan(&n); err != nil {
		d.t.Fatal(err)
	}
	return n
}

// approve is what a person does at a console.
func (d *deletion) approve(tokenHash []byte) {
	d.t.Helper()
	s := d.store()
	list, err := s.List(d.t.Context())
	if err != nil || len(list) != 1 {
		d.t.Fatalf("%d requests, %v", len(list), err)
	}
	_, err = s.Requests().Approve(d.t.Context(), list[0].ID, hitl.Approval{Route: hitl.RouteConsole, By: "ana", TokenHash: tokenHash, Life: 5 * time.Minute})
	if err != nil {
		d.t.Fatal(err)
	}
}

// meta makes a request one of the era since 2026-07-28.
const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}`

// One approval is used once, by whichever of two servers is quicker, however often
// it is redeemed at the same moment and by whatever route it came.
func TestTwoServersSpendOneApprovalOnce(t *testing.T) {
	const each = 500
	const token = "00112233445566778899aabbccddeeff"
	old := `{"name":"delete_note","arguments":{"path":"a.md"}}`
	for way, prepare := range map[string]func(*deletion, *client) (params, capabilities string){
		"state": func(d *deletion, c *client) (string, string) {
			m := c.ask(d.t, 2, "tools/call", `{"name":"delete_note","arguments":{"path":"a.md"},`+meta+`}`)
			s, _ := m["result"].(map[string]any)["requestState"].(string)
			if s == "" {
				d.t.Fatalf("no state in %v", m)
			}
			return fmt.Sprintf(`{"name":"delete_note","arguments":{"path":"a.md"},"requestState":%q,"inputResponses":{"confirm":{"action":"accept","content":{"approve":true}}},%s}`, s, meta), `{}`
		},
		"token": func(d *deletion, c *client) (string, string) {
			c.ask(d.t, 2, "tools/call", old)
			d.approve(hitl.TokenHash(token))
			return strings.Replace(old, `"path"`, `"elicit_token":"`+token+`","path"`, 1), `{}`
		},
		"console": func(d *deletion, c *client) (string, string) {
			c.ask(d.t, 2, "tools/call", old)
			d.approve(nil)
			return old, `{}`
		},
		"shim": func(*deletion, *client) (string, string) { return old, `{"elicitation":{}}` },
	} {
		t.Run(way, func(t *testing.T) {
			d := newDeletion(t)
			first := spawn(t, d.home, d.file)
			first.ask(t, 1, "initialize", initialize)
			params, capabilities := prepare(d, first)
			d.restore()
			var servers sync.WaitGroup
			barrier := make(chan struct{})
			var answered sync.Once
			for range 2 {
				c := spawn(t, d.home, d.file)
				c.ask(t, 1, "initialize", strings.Replace(initialize, `"capabilities":{}`, `"capabilities":`+capabilities, 1))
				c.ask(t, 2, "tools/call", `{"name":"note_exists","arguments":{"path":"b.md"}}`)
				servers.Go(func() {
					if err := redeem(c, each, params, barrier, &answered); err != nil {
						t.Errorf("%v; stderr: %s", err, c.stderr.String())
					}
				})
			}
			close(barrier)
			servers.Wait()
			if n := d.deleted(); n != 1 {
				t.Errorf("the note was deleted %d times", n)
			}
			// A call that nobody answers asks for itself; what was approved was spent once.
			if n := d.count("SELECT count(*) FROM requests r JOIN grants g USING (request_id) JOIN executions e ON e.grant_id = g.grant_id WHERE r.status = 'used' AND g.uses = 1 AND e.outcome = 'applied'"); n != 1 {
				t.Errorf("%d requests, grants and executions join", n)
			}
			if n := d.count("SELECT (SELECT count(*) FROM grants) * 100 + (SELECT count(*) FROM executions)"); n != 101 {
				t.Errorf("%d grants, %d executions", n/100, n%100)
			}
		})
	}
}

// redeem makes one call many times at once. Of the forms that a server sends, of
// all servers, one is answered, and the others are not.
func redeem(c *client, times int, params string, barrier <-chan struct{}, answered *sync.Once) error {
	<-barrier
	go func() {
		for i := range times {
			fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`+"\n", 100+i, params)
		}
	}()
	for done := 0; done < times; {
		line, err := c.out.ReadBytes('\n')
		if err != nil {
			return fmt.Errorf("after %d answers: %w", done, err)
		}
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if err := json.Unmarshal(line, &m); err != nil {
			return err
		}
		if m.Method == "" {
			done++
			continue
		}
		reply := `{"action":"cancel"}`
		answered.Do(func() { reply = `{"action":"accept","content":{"approve":true}}` })
		if m.Method == "elicitation/create" {
			fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, reply)
		}
	}
	return nil
}

// Wherever a server is killed, an approval is never unspent when what it allowed
// was done.
func TestAKilledServerNeverActsOnAnUnspentApproval(t *testing.T) {
	kills := 12
	if *soak {
		kills = 150
	}
	d := newDeletion(t)
	rng := rand.New(rand.NewPCG(3, 5))
	span := 40 * time.Millisecond
	whole := 0
	for n := range kills {
		if err := os.WriteFile(filepath.Join(d.dir, "a.md"), []byte("text\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		before := d.deleted()
		c := spawn(t, d.home, d.file)
		c.ask(t, 1, "initialize", initialize)
		c.ask(t, 2, "tools/call", `{"name":"delete_note","arguments":{"path":"a.md"}}`)
		d.approve(nil)
		fmt.Fprintln(c.in, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"delete_note","arguments":{"path":"a.md"}}}`)
		time.Sleep(time.Duration(rng.Int64N(int64(span))))
		if err := c.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.cmd.Wait() // it was killed
		c = spawn(t, d.home, d.file)
		c.ask(t, 1, "initialize", initialize)
		c.ask(t, 2, "tools/call", `{"name":"note_exists","arguments":{"path":"b.md"}}`) // settles what was left
		c.in.Close()
		_, _ = io.Copy(io.Discard, bufio.NewReader(c.out))
		_ = c.cmd.Wait() // its input has ended
		spent := d.count("SELECT count(*) FROM grants WHERE uses = 1 AND consumed_at > 0")
		applied := d.count("SELECT count(*) FROM executions WHERE outcome = 'applied'")
		if d.deleted() != applied || spent < applied {
			t.Fatalf("after kill %d: %d deletions, %d executions, %d spent grants", n, d.deleted(), applied, spent)
		}
		if d.deleted() > before {
			whole++
			span -= span / 8
		} else {
			span += span / 8
		}
		// What is left open of this round must not be taken for the next one.
		s := d.store()
		list, err := s.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list {
			_ = s.Requests().End(t.Context(), r.ID, hitl.Abandoned, hitl.RouteConsole, "ana", hitl.Open, hitl.Approved)
		}
		if n := d.count("SELECT count(*) FROM requests WHERE status = 'approved'"); n > 0 {
			for range n {
				id := latestApproved(t, d)
				_ = s.Requests().End(t.Context(), id, hitl.Abandoned, hitl.RouteConsole, "ana", hitl.Approved)
			}
		}
		s.Close()
	}
	t.Logf("%d kills: %d deletions", kills, whole)
	if whole == 0 || whole == kills {
		t.Error("the kills came all too early or all too late")
	}
}

func latestApproved(t *testing.T, d *deletion) (id string) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(d.home, ".local/state/vault-mcp/*/state.db"))
	db, err := sql.Open("sqlite", "file:"+files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow("SELECT request_id FROM requests WHERE status = 'approved' ORDER BY seq DESC LIMIT 1").Scan(&id); err != nil {
		t.Fatal(err)
	}
	return id
}
