package stdio

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// testServer has one tool for each thing that a handler can do to a transport.
func testServer() *server.MCPServer {
	s := server.NewMCPServer("test", "1", server.WithToolCapabilities(true),
		server.WithResourceCapabilities(true, true), server.WithPromptCapabilities(true), server.WithLogging())
	tool := func(name string, run server.ToolHandlerFunc) { s.AddTool(mcp.NewTool(name), run) }
	text := mcp.NewToolResultText

	tool("echo", func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text(r.GetString("text", "")), nil
	})
	tool("sleep", func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		d := time.Duration(r.GetInt("ms", 0)) * time.Millisecond
		if r.GetBool("deaf", false) {
			time.Sleep(d)
			return text("slept"), nil
		}
		select {
		case <-time.After(d):
			return text("slept"), nil
		case <-ctx.Done():
			return text(fmt.Sprint("woken: ", context.Cause(ctx))), nil
		}
	})
	tool("panic", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		panic("the secret text of a note")
	})
	tool("progress", func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for i := range min(r.GetInt("n", 3), 10_000) {
			_ = s.SendNotificationToClient(ctx, "notifications/progress", map[string]any{
				"progressToken": r.Params.Meta.ProgressToken, "progress": i + 1,
			})
		}
		<-time.After(time.Duration(r.GetInt("ms", 0)) * time.Millisecond)
		return text("done"), nil
	})
	tool("ask", func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if ms := r.GetInt("patience", 0); ms > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, time.Duration(ms)*time.Millisecond)
			defer cancel()
		}
		result, err := Elicit(ctx, map[string]any{"message": "Delete <it>?", "requestedSchema": map[string]any{"type": "object"}})
		if err != nil {
			return text("no answer: " + err.Error()), nil
		}
		return text(string(result)), nil
	})
	tool("wait_yielded", func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		resume := YieldWorker(ctx)
		<-time.After(time.Duration(r.GetInt("ms", 0)) * time.Millisecond)
		resume()
		return text("resumed"), nil
	})
	tool("who", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		p := PeerFrom(ctx)
		return text(fmt.Sprintf("modern=%v version=%q name=%q forms=%v urls=%v",
			p.Modern, p.Version, p.Info.Name, p.CanShowForms(), p.CanOpenURLs())), nil
	})
	tool("add_tool", func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.AddTool(mcp.NewTool("another"), nil)
		time.Sleep(time.Millisecond) // the notice goes out before the answer
		return text("added"), nil
	})
	tool("slot", func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		// Valid as SetResult asks for, except where the transport looks itself.
		if raw := r.GetString("raw", ""); json.Valid([]byte(raw)) || strings.Contains(raw, "\n") {
			SetResult(ctx, json.RawMessage(raw))
		}
		if code := r.GetInt("code", 0); code != 0 {
			SetError(ctx, RPCError{Code: code, Message: "needs <it>", Data: map[string]any{"requiredCapabilities": map[string]any{}}})
		}
		if r.GetBool("panic", false) {
			panic("too late")
		}
		return text("not this"), nil
	})
	tool("log", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		err := s.SendLogMessageToClient(ctx, mcp.NewLoggingMessageNotification(mcp.LoggingLevelInfo, "test", "x"))
		return text(fmt.Sprint(err)), nil
	})
	tool("unencodable", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{StructuredContent: make(chan int)}, nil
	})
	s.AddResourceTemplate(mcp.NewResourceTemplate("note:///{+path}", "note"),
		func(_ context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			<-time.After(10 * time.Millisecond)
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: r.Params.URI, Text: "the note"}}, nil
		})
	return s
}

// client is the other end of a served connection.
type client struct {
	t      testing.TB
	in     *io.PipeWriter
	out    *io.PipeReader
	cancel context.CancelFunc // of Serve's context
	served chan error
	log    bytes.Buffer

	mu    sync.Mutex
	lines []string
	open  sync.WaitGroup
}

// connect serves s, or the test server, to a client.
func connect(t testing.TB, s *server.MCPServer, o Options) *client {
	if s == nil {
		s = testServer()
	}
	inR, in := io.Pipe()
	out, outW := io.Pipe()
	c := &client{t: t, in: in, out: out, served: make(chan error, 1)}
	o.Log = slog.New(slog.NewTextHandler(&c.log, nil))
	var ctx context.Context
	ctx, c.cancel = context.WithCancel(t.Context())
	go func() {
		c.served <- Serve(ctx, s, inR, outW, o)
		outW.Close()
	}()
	c.open.Go(func() {
		r := bufio.NewReader(out)
		for {
			line, err := r.ReadString('\n')
			if line != "" {
				c.mu.Lock()
				c.lines = append(c.lines, strings.TrimSuffix(line, "\n"))
				c.mu.Unlock()
			}
			if err != nil {
				return
			}
		}
	})
	return c
}

// bubble runs a test with a connection in a synctest bubble: time passes only
// when everything waits. The connection ends with the test.
func bubble(t *testing.T, o Options, test func(t *testing.T, c *client)) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, nil, o)
		test(t, c)
		c.in.Close()
		c.cancel()
		c.open.Wait()
	})
}

// send writes lines.
func (c *client) send(lines ...string) {
	c.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(c.in, l+"\n"); err != nil {
			c.t.Fatalf("send: %v", err)
		}
	}
}

// call sends a legacy tools/call; id and arguments are JSON.
func (c *client) call(id, tool, arguments string) {
	c.t.Helper()
	c.send(callLine(id, tool, arguments))
}

func callLine(id, tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, arguments)
}

// hello makes a legacy handshake.
func (c *client) hello(capabilities string) {
	c.t.Helper()
	c.send(helloLine(capabilities), `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if got := c.received(); len(got) != 1 {
		c.t.Fatalf("handshake answered with %q", got)
	}
}

func helloLine(capabilities string) string {
	return `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":` +
		capabilities + `,"clientInfo":{"name":"old","version":"1"}}}`
}

// received waits until nothing moves any more, and takes the lines received.
// Only in a bubble.
func (c *client) received() []string {
	synctest.Wait()
	return c.take()
}

func (c *client) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	lines := c.lines
	c.lines = nil
	return lines
}

// wait returns what Serve returned, and how long that took from now.
func (c *client) wait() (time.Duration, error) {
	start := time.Now()
	err := <-c.served
	return time.Since(start), err
}

// message is any line of the server.
type message struct {
	ID     json.RawMessage
	Method string
	Params map[string]any
	Result map[string]any
	Error  *RPCError
}

func decode(t testing.TB, line string) message {
	t.Helper()
	var m message
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		t.Fatalf("not a message: %q: %v", line, err)
	}
	return m
}

// text is the first text of a tool's result.
func (m message) text() string {
	content, _ := m.Result["content"].([]any)
	if len(content) == 0 {
		return ""
	}
	block, _ := content[0].(map[string]any)
	s, _ := block["text"].(string)
	return s
}

// texts are the answers of lines by id: their text, or their error.
func texts(t testing.TB, lines []string) map[string]string {
	t.Helper()
	got := map[string]string{}
	for _, l := range lines {
		m := decode(t, l)
		if m.Method != "" {
			continue
		}
		if _, ok := got[string(m.ID)]; ok {
			t.Errorf("id %s is answered twice", m.ID)
		}
		got[string(m.ID)] = m.text()
		if m.Error != nil {
			got[string(m.ID)] = m.Error.Error()
		}
	}
	return got
}
