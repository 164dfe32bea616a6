package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
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

// open opens the state for looking into it.
func (d *deletion) open() *sql.DB {
	d.t.Helper()
	files, _ := filepath.Glob(filepath.Join(d.home, ".local/state/vault-mcp/*/state.db"))
	if len(files) != 1 {
		d.t.Fatalf("%q", files)
	}
	db, err := sql.Open("sqlite", "file:"+files[0]+"?_pragma=busy_timeout(10000)")
	if err != nil {
		d.t.Fatal(err)
	}
	return db
}

// text is the one value that a query finds in the state.
func (d *deletion) text(query string, args ...any) (value string) {
	d.t.Helper()
	db := d.open()
	defer db.Close()
	if err := db.QueryRow(query, args...).Scan(&value); err != nil {
		d.t.Fatal(err)
	}
	return value
}

func (d *deletion) count(query string, args ...any) int {
	d.t.Helper()
	n, err := strconv.Atoi(d.text(query, args...))
	if err != nil {
		d.t.Fatal(err)
	}
	return n
}

// approve is what a person does at a console. It returns the id of the grant.
func (d *deletion) approve(tokenHash []byte) string {
	d.t.Helper()
	s := d.store()
	list, err := s.List(d.t.Context())
	if err != nil || len(list) != 1 {
		d.t.Fatalf("%d requests, %v", len(list), err)
	}
	g, err := s.Requests().Approve(d.t.Context(), list[0].ID, hitl.Approval{Route: hitl.RouteConsole, By: "ana", TokenHash: tokenHash, Life: 5 * time.Minute})
	if err != nil {
		d.t.Fatal(err)
	}
	return g.ID
}

// meta makes a request one of the era since 2026-07-28.
const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}`

// One approval is used once, by whichever of two servers is quicker, however often
// it is redeemed at the same moment and by whatever route it came.
func TestTwoServersSpendOneApprovalOnce(t *testing.T) {
	t.Parallel()
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
			var mu sync.Mutex
			outcomes := map[string]int{}
			for range 2 {
				c := spawn(t, d.home, d.file)
				c.ask(t, 1, "initialize", strings.Replace(initialize, `"capabilities":{}`, `"capabilities":`+capabilities, 1))
				c.ask(t, 2, "tools/call", `{"name":"note_exists","arguments":{"path":"b.md"}}`)
				servers.Go(func() {
					came, err := redeem(c, each, params, barrier, &answered)
					if err != nil {
						t.Errorf("%v; stderr: %s", err, c.stderr.String())
					}
					mu.Lock()
					defer mu.Unlock()
					for o, n := range came {
						outcomes[o] += n
					}
				})
			}
			close(barrier)
			servers.Wait()
			used := "elicit_invalid used " + d.text("SELECT execution_id FROM executions")
			total := 0
			for outcome, n := range outcomes {
				total += n
				// Where the call is a plain one, those that come later ask anew, and may find
				// the note gone.
				later := (way == "console" || way == "shim") && (strings.HasPrefix(outcome, "elicit_required ") || outcome == "note_not_found")
				if outcome != used && !(outcome == "ran" && n == 1) && !later {
					t.Errorf("%d times %q", n, outcome)
				}
			}
			if total != 2*each || outcomes["ran"] != 1 {
				t.Errorf("%d calls: %v", total, outcomes)
			}
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

// came is to what a call came.
type came struct {
	IsError bool
	Content struct {
		Code    string
		Details map[string]any
	} `json:"structuredContent"`
}

// String is "ran", or the code with the reason and the change that it names.
func (r came) String() string {
	if !r.IsError {
		return "ran"
	}
	text := r.Content.Code
	for _, detail := range []string{"reason", "change_id"} {
		if v, ok := r.Content.Details[detail].(string); ok {
			text += " " + v
		}
	}
	return text
}

// inFlight is how many calls a server takes at once: it refuses more before they
// come to the gate.
const inFlight = 256

// redeem makes one call many times, as many at once as the server takes. Of the forms that a server sends, of
// all servers, one is answered, and the others are not.
// It returns how often each outcome came: "ran", or a reason.
func redeem(c *client, times int, params string, barrier <-chan struct{}, answered *sync.Once) (outcomes map[string]int, err error) {
	outcomes = map[string]int{}
	<-barrier
	turns, stop := make(chan struct{}, inFlight), make(chan struct{})
	defer close(stop)
	go func() {
		for i := range times {
			select {
			case turns <- struct{}{}:
			case <-stop:
				return
			}
			fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`+"\n", 100+i, params)
		}
	}()
	for done := 0; done < times; {
		line, err := c.out.ReadBytes('\n')
		if err != nil {
			return outcomes, fmt.Errorf("after %d answers: %w", done, err)
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Error  struct{ Message string }
			Result came
		}
		if err := json.Unmarshal(line, &m); err != nil {
			return outcomes, err
		}
		if m.Method == "" {
			<-turns
			outcomes[m.Result.String()+m.Error.Message]++
			done++
			continue
		}
		reply := `{"action":"cancel"}`
		answered.Do(func() { reply = `{"action":"accept","content":{"approve":true}}` })
		if m.Method == "elicitation/create" {
			fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, reply)
		}
	}
	return outcomes, nil
}

// Wherever a server is killed, an approval is never unspent when what it allowed
// was done: not at that moment, not after the next server has settled what was left,
// and not when the call is made again. The kills are at random moments, as soon as
// the approval is seen to be spent, and as soon as the note is seen to be gone.
func TestAKilledServerNeverActsOnAnUnspentApproval(t *testing.T) {
	t.Parallel()
	kills := 12
	if *soak {
		kills = 150
	}
	d := newDeletion(t)
	rng := rand.New(rand.NewPCG(3, 5))
	span := 40 * time.Millisecond
	stages := map[string]int{} // in which the kills came
	for n := range kills {
		d.replant()
		before := d.deleted()
		c := spawn(t, d.home, d.file)
		c.ask(t, 1, "initialize", initialize)
		c.ask(t, 2, "tools/call", `{"name":"delete_note","arguments":{"path":"a.md"}}`)
		grant := d.approve(nil)
		const uses = "SELECT uses FROM grants WHERE grant_id = ?"
		fmt.Fprintln(c.in, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"delete_note","arguments":{"path":"a.md"}}}`)
		switch n % 3 {
		case 0:
			time.Sleep(time.Duration(rng.Int64N(int64(span))))
		case 1:
			d.spent(grant)
		case 2:
			d.await(func() bool { return d.deleted() > before })
		}
		if err := c.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.cmd.Wait() // it was killed
		spent, done := d.count(uses, grant), d.deleted()-before
		begun := d.count("SELECT count(*) FROM executions WHERE grant_id = ?", grant)
		if done > spent || spent != begun {
			t.Fatalf("at kill %d: %d deletions, %d uses, %d executions", n, done, spent, begun)
		}
		stage := "before it was spent"
		switch {
		case d.count("SELECT count(*) FROM executions WHERE grant_id = ? AND outcome <> ''", grant) == 1:
			stage = "ended"
		case done == 1:
			stage = "done"
		case spent == 1:
			stage = "spent"
		}
		stages[stage]++
		if n%3 == 0 && done == 1 {
			span -= span / 8
		} else if n%3 == 0 {
			span += span / 8
		}

		c = spawn(t, d.home, d.file)
		c.ask(t, 1, "initialize", initialize)
		c.ask(t, 2, "tools/call", `{"name":"note_exists","arguments":{"path":"b.md"}}`) // settles what was left
		spent, done = d.count(uses, grant), d.deleted()-before
		applied := d.count("SELECT count(*) FROM executions WHERE grant_id = ? AND outcome = 'applied'", grant)
		if done != applied || done > spent {
			t.Fatalf("after kill %d, %s: %d deletions, %d executions, %d uses", n, stage, done, applied, spent)
		}
		// With the note there again, the call runs by what is left of the approval, or
		// asks.
		d.replant()
		var answer came
		raw, err := json.Marshal(c.ask(t, 3, "tools/call", `{"name":"delete_note","arguments":{"path":"a.md"}}`)["result"])
		if err != nil || json.Unmarshal(raw, &answer) != nil {
			t.Fatalf("%s, %v", raw, err)
		}
		switch now := d.deleted() - before; {
		case spent == 1 && answer.String() == "elicit_required approval_required" && now == done:
		case spent == 0 && answer.String() == "ran" && now == 1:
		default:
			t.Fatalf("after kill %d, %s: the call again, with %d uses, comes to %+v, and %d deletions", n, stage, spent, answer, now)
		}
		if got := d.text("SELECT g.uses || ' ' || r.status FROM grants g JOIN requests r USING (request_id) WHERE g.grant_id = ?", grant); got != "1 used" {
			t.Fatalf("after kill %d, %s: the approval is %s", n, stage, got)
		}
		c.in.Close()
		_, _ = io.Copy(io.Discard, c.out)
		_ = c.cmd.Wait() // its input has ended
		// What is asked anew must not be taken for the next round.
		s := d.store()
		list, err := s.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list {
			if err := s.Requests().End(t.Context(), r.ID, hitl.Abandoned, hitl.RouteConsole, "ana", hitl.Open); err != nil {
				t.Fatal(err)
			}
		}
		s.Close()
	}
	if n := d.count("SELECT count(*) FROM executions e LEFT JOIN grants g USING (grant_id) LEFT JOIN requests r USING (request_id) WHERE e.outcome = 'applied' AND (g.uses IS NOT 1 OR r.status IS NOT 'used')"); n > 0 {
		t.Errorf("%d executions are applied without a spent approval", n)
	}
	if joined := d.count("SELECT count(DISTINCT grant_id) FROM executions WHERE outcome = 'applied'"); joined != d.deleted() {
		t.Errorf("%d approvals for %d deletions", joined, d.deleted())
	}
	t.Logf("%d kills: %v", kills, stages)
	if late := kills - stages["before it was spent"]; *soak && (late == 0 || late == kills || stages["spent"]+stages["done"] == 0) {
		t.Errorf("the kills came all too early or all too late: %v", stages)
	}
}

// replant puts the note where it was.
func (d *deletion) replant() {
	d.t.Helper()
	if err := os.WriteFile(filepath.Join(d.dir, "a.md"), []byte("text\n"), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// spent looks until an approval is spent.
func (d *deletion) spent(grant string) {
	d.t.Helper()
	db := d.open()
	defer db.Close()
	d.await(func() (is bool) {
		if err := db.QueryRow("SELECT uses = 1 FROM grants WHERE grant_id = ?", grant).Scan(&is); err != nil {
			d.t.Fatal(err)
		}
		return is
	})
}

// await looks, without a pause, until something is so.
func (d *deletion) await(so func() bool) {
	d.t.Helper()
	for giveUp := time.Now().Add(20 * time.Second); !so(); {
		if time.Now().After(giveUp) {
			d.t.Fatal("it never was")
		}
	}
}
