package mcpserver

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"vault-mcp/hitl"
	"vault-mcp/internal/mcpserver/stdio"
)

// reachOf is how the person behind a call can be reached. mcp-go's own way to ask
// is never used: it looks at no capability, has no deadline, and runs the call
// again whatever was answered.
func reachOf(ctx context.Context, r mcp.CallToolRequest, peer stdio.Peer) hitl.Reach {
	reach := hitl.Reach{
		Modern: peer.Modern, Forms: peer.CanShowForms(), URLs: peer.CanOpenURLs(),
		Idle: func() func() { return stdio.YieldWorker(ctx) }, Progress: progressOf(ctx, r.Params.Meta),
	}
	if !peer.Modern {
		reach.Ask = ask
		return reach
	}
	reach.State = r.Params.RequestState
	for key, a := range r.Params.InputResponses {
		raw, err := json.Marshal(a) // as it came, a key that is there twice as well
		if err != nil {
			raw = nil // which is no answer
		}
		if reach.Answers == nil {
			reach.Answers = map[string]json.RawMessage{}
		}
		reach.Answers[key] = raw
	}
	return reach
}

// formParams are the params of elicitation/create, in each era. There is no mode
// in them: the oldest protocol that has forms knows none, and the others take
// that for a form.
type formParams struct {
	Message string          `json:"message"`
	Schema  json.RawMessage `json:"requestedSchema"`
}

// ask shows a form by a request of the server's own.
func ask(ctx context.Context, f hitl.Form) (json.RawMessage, error) {
	return stdio.Elicit(ctx, formParams{f.Message, f.Schema})
}

// progressOf tells the client of a call that it still runs, if the client wants
// to know; else it is nil.
func progressOf(ctx context.Context, meta *mcp.Meta) func(string) {
	if meta == nil || meta.ProgressToken == nil {
		return nil
	}
	sent := 0
	return func(message string) {
		sent++
		// What cannot be sent is not missed.
		_ = server.ServerFromContext(ctx).SendNotificationToClient(ctx, string(mcp.MethodNotificationProgress), map[string]any{
			"progressToken": meta.ProgressToken, "progress": sent, "message": message,
		})
	}
}

// inputRequired is the answer to a call that has to come again with what a
// person says to a form.
func (e *edge) inputRequired(n *hitl.NeedsInput) (json.RawMessage, error) {
	type inputRequest struct {
		Method string     `json:"method"`
		Params formParams `json:"params"`
	}
	b, err := plainJSON(struct {
		Requests map[string]inputRequest `json:"inputRequests"`
		State    string                  `json:"requestState,omitempty"`
	}{
		map[string]inputRequest{n.Key: {string(mcp.MethodElicitationCreate), formParams{n.Form.Message, n.Form.Schema}}}, n.State,
	})
	if err != nil {
		return nil, err
	}
	return append(append(b[:len(b)-1], e.asking...), '}'), nil
}
