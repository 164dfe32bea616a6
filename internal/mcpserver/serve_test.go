package mcpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"vault-mcp/internal/app"
	"vault-mcp/internal/dispatch"
	"vault-mcp/internal/mcpserver"
	"vault-mcp/internal/mcpserver/stdio"
	"vault-mcp/tools"
)

// session is a served connection in real time, one request after the other.
type session struct {
	t   testing.TB
	in  io.Writer
	out *bufio.Reader
}

func serve(t testing.TB, a *app.App) *session {
	in, w := io.Pipe()
	r, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- a.Serve(context.WithoutCancel(t.Context()), in, out); out.Close() }()
	t.Cleanup(func() {
		w.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return &session{t, w, bufio.NewReader(r)}
}

// request sends one request and decodes its result, or returns its error.
func (s *session) request(line string, result any) *stdio.RPCError {
	s.t.Helper()
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		s.t.Fatal(err)
	}
	got, err := s.out.ReadBytes('\n')
	if err != nil {
		s.t.Fatal(err)
	}
	var answer struct {
		Result json.RawMessage
		Error  *stdio.RPCError
	}
	if err := json.Unmarshal(got, &answer); err != nil {
		s.t.Fatal(err)
	}
	if answer.Error == nil {
		if err := json.Unmarshal(answer.Result, result); err != nil {
			s.t.Fatal(err)
		}
	}
	return answer.Error
}

// Every file is listed exactly once, however many pages that takes.
func TestResourceListPagesToTheEnd(t *testing.T) {
	dir := copyGarden(t)
	want := map[string]bool{}
	for i := range 1_201 {
		name := fmt.Sprintf("Log/%04d.md", i)
		want["vault://garden/"+name] = true
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s := serve(t, newAppWith(t, slog.New(slog.DiscardHandler), dir, 1_000_000))
	seen := map[string]bool{}
	pages := 0
	for cursor := ""; pages == 0 || cursor != ""; pages++ {
		var page struct {
			Resources  []struct{ URI string }
			NextCursor string
		}
		params := "{}"
		if cursor != "" {
			params = fmt.Sprintf(`{"cursor":%q}`, cursor)
		}
		if err := s.request(`{"jsonrpc":"2.0","id":1,"method":"resources/list","params":`+params+`}`, &page); err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Resources {
			if seen[r.URI] {
				t.Errorf("%s is there twice", r.URI)
			}
			seen[r.URI] = true
		}
		cursor = page.NextCursor
	}
	for uri := range want {
		if !seen[uri] {
			t.Errorf("%s is not there", uri)
		}
	}
	if pages < 3 {
		t.Errorf("%d pages, want several", pages)
	}
}

// Every resource that is listed can be read under its URI, an empty one too.
func TestEveryResourceCanBeRead(t *testing.T) {
	dir := copyGarden(t)
	for _, name := range []string{"empty.md", "50%25.md", "a b.md", "a+b&c=d.md", "what's #1 [draft]?.md", "\u00e9 e\u0301.md", "\U0001f331.md", "(x);,@!$*~.md"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil && runtime.GOOS != "windows" { // which has no such names
			t.Fatal(err)
		}
	}
	s := serve(t, newAppWith(t, slog.New(slog.DiscardHandler), dir, 1_000_000))
	var list struct {
		Resources []struct {
			URI  string
			Size int64
		}
	}
	s.request(`{"jsonrpc":"2.0","id":1,"method":"resources/list"}`, &list)
	if len(list.Resources) < 20 {
		t.Fatalf("only %d resources", len(list.Resources))
	}
	for _, r := range list.Resources {
		for _, uri := range []string{r.URI, "obsidian-tc" + strings.TrimPrefix(r.URI, "vault")} {
			var got struct {
				Contents []struct {
					URI  string
					Text *string
					Blob []byte
				}
			}
			line := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":%q}}`, uri)
			if err := s.request(line, &got); err != nil {
				t.Errorf("%s: %v", uri, err)
				continue
			}
			if len(got.Contents) != 1 || got.Contents[0].URI != r.URI {
				t.Fatalf("%s: contents %+v", uri, got.Contents)
			}
			size := int64(len(got.Contents[0].Blob))
			if text := got.Contents[0].Text; text != nil {
				size = int64(len(*text))
			}
			if size != r.Size {
				t.Errorf("%s: %d bytes, listed with %d", uri, size, r.Size)
			}
		}
	}
}

// A transport that cannot take answers as they are gets an error instead of an
// empty result.
func TestNoSlotIsAnError(t *testing.T) {
	registry, err := app.Registry()
	if err != nil {
		t.Fatal(err)
	}
	s := mcpserver.New(mcpserver.Options{
		Version: "0.0.0", Registry: registry,
		Do: func(context.Context, dispatch.Request) (*tools.Result, error) { return &tools.Result{Text: "x"}, nil },
	})
	line := json.RawMessage(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_vaults"}}`)
	if got, ok := s.HandleMessage(t.Context(), line).(mcp.JSONRPCError); !ok || got.Error.Code != mcp.INTERNAL_ERROR {
		t.Errorf("got %#v, want an internal error", got)
	}
	ctx, slot := stdio.WithSlot(t.Context())
	s.HandleMessage(ctx, line)
	if want := `{"content":[{"type":"text","text":"x"}]}`; string(slot.Result()) != want {
		t.Errorf("got %s, want %s", slot.Result(), want)
	}
}

// Nothing but messages comes out of the built program, whatever it logs.
func TestStdoutCarriesMessagesOnly(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	dir, home := copyGarden(t), t.TempDir()
	program := filepath.Join(home, "vault-mcp")
	if out, err := exec.Command("go", "build", "-o", program, "vault-mcp/cmd/vault-mcp").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "serve", "--log-level", "debug", dir)
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_STATE_HOME="+filepath.Join(home, "state"))
	cmd.Stdin = strings.NewReader(strings.Join([]string{
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`garbage`, ``,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read_note","arguments":{"path":"Garden"}}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"read_note","arguments":{"path":"Nowhere"}}}`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"search_regex","arguments":{"pattern":"("}}}`,
		`{"jsonrpc":"2.0","id":5,"method":"resources/list"}`,
		`{"jsonrpc":"2.0","id":6,"method":"nobody/knows"}`,
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"_meta":` + modernMeta + `,"name":"server_health"}}`,
	}, "\n")) // the last line has no end
	var logged strings.Builder
	cmd.Stderr = &logged
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &logged)
	}
	answers := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		var m struct {
			JSONRPC       string
			ID            json.RawMessage
			Result, Error json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.JSONRPC != "2.0" || !strings.HasSuffix(line, "\n") {
			t.Fatalf("no message: %q", line)
		}
		if (m.Result == nil) == (m.Error == nil) {
			t.Errorf("neither a result nor an error: %s", line)
		}
		answers[string(m.ID)] = true
	}
	for _, id := range []string{"null", "0", "1", "2", "3", "4", "5", "6", "7"} {
		if !answers[id] {
			t.Errorf("no answer to %s", id)
		}
	}
	if logged.Len() == 0 {
		t.Error("nothing on stderr, so that nothing was tested")
	}
}
