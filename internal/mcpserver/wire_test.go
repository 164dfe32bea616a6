package mcpserver_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"vault-mcp/internal/app"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/dispatch"
)

// TestWire plays testdata/wire/*.txtar over the real transport against a copy
// of the garden vault: each client section is sent line by line, and what the
// server writes until it has nothing more to do is the server section after
// it. Time stands still at the beginning of the year 2000.
//
// In a client section $meta stands for the metadata of a request of the era
// without a handshake, $next for the last cursor that the server gave, and
// $long for 9,000 characters. A line that is no JSON tells the test what to do:
//
//	together            send the rest of the section at once
//	hold                from now on calls that run wait, deaf to everything
//	release             they go on
//	sleep 10m           let time pass
//	giant NAME          make a note of two lines, of which the second is larger
//	                    than the budget
//	cli TOOL ARGUMENTS  make a call from the command line; $next is its cursor
func TestWire(t *testing.T) {
	files, err := filepath.Glob("testdata/wire/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			dir := copyGarden(t)
			synctest.Test(t, func(t *testing.T) { play(t, dir, ar) })
			if *update {
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func play(t *testing.T, dir string, ar *txtar.Archive) {
	c := connect(t, dir)
	c.dir = dir
	defer c.close()
	for i := 0; i+1 < len(ar.Files); i += 2 {
		in, out := ar.Files[i], &ar.Files[i+1]
		if in.Name != "client" || out.Name != "server" {
			t.Fatalf("sections %q and %q, want client and server", in.Name, out.Name)
		}
		together := false
		for line := range strings.Lines(string(in.Data)) {
			line = strings.TrimSuffix(line, "\n")
			if line == "together" {
				together = true
			} else if !c.directive(line) {
				c.send(line)
			}
			if !together {
				synctest.Wait()
			}
		}
		synctest.Wait()
		got := c.received()
		if *update {
			out.Data = []byte(got)
		} else if diff := cmp.Diff(string(out.Data), got); diff != "" {
			t.Errorf("step %d, after %s(-want +got)\n%s", i/2+1, in.Data, diff)
		}
	}
}

// client is the other end of a served connection.
type client struct {
	t    *testing.T
	app  *app.App
	dir  string // of the vault
	in   *io.PipeWriter
	done chan error
	held atomic.Pointer[chan struct{}] // closed by release

	mu   sync.Mutex
	out  bytes.Buffer
	next string
}

// connect serves the vault to a client.
func connect(t *testing.T, dir string) *client {
	return connectTo(t, newApp(t, slog.New(slog.DiscardHandler), dir))
}

func connectTo(t *testing.T, a *app.App) *client {
	in, w := io.Pipe()
	c := &client{t: t, app: a, in: w, done: make(chan error, 1)}
	a.Dispatcher.Entered = func(string) {
		if held := c.held.Load(); held != nil {
			<-*held
		}
	}
	go func() { c.done <- a.Serve(t.Context(), in, c) }()
	return c
}

// Write takes a message of the server.
func (c *client) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.Write(b)
}

func (c *client) send(line string) {
	line = strings.NewReplacer("$meta", modernMeta, "$next", c.next, "$long", strings.Repeat("x", 9000)).Replace(line)
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

const modernMeta = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

// directive obeys a line that is no message.
func (c *client) directive(line string) bool {
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "hold":
		held := make(chan struct{})
		c.held.Store(&held)
	case "release":
		close(*c.held.Swap(nil))
	case "sleep":
		d, err := time.ParseDuration(rest)
		if err != nil {
			c.t.Fatal(err)
		}
		time.Sleep(d)
	case "giant":
		path := filepath.Join(c.dir, filepath.FromSlash(rest))
		text := "The next line is long.\n" + strings.Repeat("x", budget) + "\n"
		at := time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC)
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o644), os.Chtimes(path, at, at)); err != nil {
			c.t.Fatal(err)
		}
	case "cli":
		tool, args, _ := strings.Cut(rest, " ")
		res, err := c.app.Dispatcher.Do(c.t.Context(), dispatch.Request{
			Caller: auth.Caller{ID: "cli", Scopes: auth.All}, Tool: tool, Args: json.RawMessage(args),
		})
		if err != nil {
			c.t.Fatal(err)
		}
		c.see(string(res.Structured))
	default:
		return false
	}
	return true
}

var cursor = regexp.MustCompile(`"(?:next_cursor|nextCursor)":"([^"]+)"`)

// see remembers the last cursor in what the server sent.
func (c *client) see(sent string) {
	if found := cursor.FindAllStringSubmatch(sent, -1); found != nil {
		c.next = found[len(found)-1][1]
	}
}

// received is what came since it was last called.
func (c *client) received() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	got := c.out.String()
	c.out.Reset()
	c.see(got)
	return got
}

func (c *client) close() {
	c.in.Close()
	if err := <-c.done; err != nil {
		c.t.Error(err)
	}
}
