package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"vault-mcp/hitl"
	"vault-mcp/internal/run"
)

// modernVersion is the protocol that needs no handshake.
const modernVersion = "2026-07-28"

// maxPages is how many pages of tools are asked for.
const maxPages = 100

// conversation speaks MCP with a server as a client does.
type conversation struct {
	talk   *run.Talk
	habit  habit
	modern bool
	id     int
	// asked is set once the server has sent a form.
	asked bool
}

// notProtocol is a line on stdout that is no message.
type notProtocol struct{ line string }

func (e *notProtocol) Error() string {
	return "it writes what is no protocol to stdout: " + strconv.Quote(e.line)
}

// refusal is an error of the protocol.
type refusal struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *refusal) Error() string { return fmt.Sprintf("error %d: %s", e.Code, hitl.Display(e.Message)) }

// message is any message.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Result  json.RawMessage `json:"result"`
	Error   *refusal        `json:"error"`
}

// ask makes a request and waits for its answer. What the server asks meanwhile is
// answered as nobody would.
func (c *conversation) ask(ctx context.Context, method string, params map[string]any) (json.RawMessage, error) {
	c.id++
	var id any = c.id
	if method == "server/discover" {
		id = "server-discover-probe-1"
	}
	if params == nil {
		params = map[string]any{}
	}
	if c.modern {
		params["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion":    modernVersion,
			"io.modelcontextprotocol/clientInfo":         c.info(),
			"io.modelcontextprotocol/clientCapabilities": json.RawMessage(c.habit.capabilities),
		}
	}
	if err := c.send(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params}); err != nil {
		return nil, err
	}
	mine, err := json.Marshal(id)
	if err != nil {
		return nil, err
	}
	for {
		m, err := c.next(ctx)
		switch {
		case err != nil:
			return nil, err
		case m.Method != "" && m.ID != nil:
			if err := c.reply(m); err != nil {
				return nil, err
			}
		case m.Method == "" && string(m.ID) == string(mine):
			if m.Error != nil {
				return nil, m.Error
			}
			return m.Result, nil
		}
	}
}

// next is the next message of the server.
func (c *conversation) next(ctx context.Context) (m message, err error) {
	line, err := c.talk.Next(ctx)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(line, &m); err != nil || m.JSONRPC != "2.0" {
		return m, &notProtocol{hitl.Display(string(line[:min(len(line), maxShown)]))}
	}
	return m, nil
}

// reply answers a request of the server.
func (c *conversation) reply(m message) error {
	answer := map[string]any{"jsonrpc": "2.0", "id": m.ID}
	switch m.Method {
	case "ping":
		answer["result"] = map[string]any{}
	case "roots/list":
		answer["result"] = map[string]any{"roots": []any{}}
	case "elicitation/create":
		c.asked = true
		answer["result"] = map[string]any{"action": "cancel"}
	default:
		answer["error"] = map[string]any{"code": -32601, "message": "Method not found"}
	}
	return c.send(answer)
}

func (c *conversation) send(m map[string]any) error {
	line, err := json.Marshal(m)
	if err == nil {
		err = c.talk.Send(line)
	}
	return err
}

func (c *conversation) info() map[string]any {
	return map[string]any{"name": c.habit.info, "version": "1.0.0"}
}

// shake shakes hands as the client does, and tells the protocol that both speak.
func (c *conversation) shake(ctx context.Context) (protocol string, err error) {
	if c.habit.modern {
		c.modern = true
		_, err := c.ask(ctx, "server/discover", nil)
		if err == nil {
			return modernVersion, nil
		}
		if _, refused := errors.AsType[*refusal](err); !refused {
			return "", err
		}
		c.modern = false
	}
	result, err := c.ask(ctx, "initialize", map[string]any{
		"protocolVersion": c.habit.version, "capabilities": json.RawMessage(c.habit.capabilities), "clientInfo": c.info(),
	})
	if err != nil {
		return "", err
	}
	var said struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	if err := json.Unmarshal(result, &said); err != nil {
		return "", fmt.Errorf("the answer to initialize cannot be read: %w", err)
	}
	return said.ProtocolVersion, c.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
}

// tools lists the tools, and tells how many bytes that takes.
func (c *conversation) tools(ctx context.Context) (names []string, bytes int, err error) {
	params := map[string]any{}
	for range maxPages {
		result, err := c.ask(ctx, "tools/list", params)
		if err != nil {
			return nil, 0, err
		}
		var page struct {
			Tools []struct {
				Name string `json:"name"`
			} `json:"tools"`
			Next string `json:"nextCursor"`
		}
		if err := json.Unmarshal(result, &page); err != nil {
			return nil, 0, fmt.Errorf("the answer to tools/list cannot be read: %w", err)
		}
		bytes += len(result)
		for _, t := range page.Tools {
			names = append(names, t.Name)
		}
		if page.Next == "" {
			return names, bytes, nil
		}
		params = map[string]any{"cursor": page.Next}
	}
	return nil, 0, errors.New("tools/list never comes to an end")
}

// called is the answer of a tool.
type called struct {
	Type    string `json:"resultType"`
	IsError bool   `json:"isError"`
	Content []struct {
		Text string `json:"text"`
	} `json:"content"`
	Requests   map[string]json.RawMessage `json:"inputRequests"`
	Structured struct {
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
		Code string `json:"code"`
	} `json:"structuredContent"`
}

// call calls a tool.
func (c *conversation) call(ctx context.Context, tool string, args map[string]any) (got called, err error) {
	result, err := c.ask(ctx, "tools/call", map[string]any{"name": tool, "arguments": args})
	if err != nil {
		return got, err
	}
	if err := json.Unmarshal(result, &got); err != nil {
		return got, fmt.Errorf("the answer of %s cannot be read: %w", tool, err)
	}
	return got, nil
}

// failure says in a sentence why a server does not answer.
func failure(err error, ended error, step string, waited time.Duration, stderr string) string {
	said := ""
	for line := range strings.Lines(stderr) { // the last one says why
		if strings.TrimSpace(line) != "" {
			said = ": " + hitl.Display(strings.TrimSpace(line))
		}
	}
	exit, exited := errors.AsType[*run.ExitError](ended)
	switch {
	case exited:
		return fmt.Sprintf("it ended with exit code %d at %s%s", exit.Code, step, said)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrClosedPipe):
		return "it ended at " + step + said
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("it did not answer %s within %s%s", step, waited, said)
	}
	return step + ": " + hitl.Display(err.Error())
}

// maxShown is how many bytes of what others write are looked at to show it.
const maxShown = 1000
