package mcpserver

import (
	"context"
	"encoding/json"
	"time"

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
		reach.Ask, reach.Visit = ask, visit
		reach.URLs = reach.URLs && peer.Version >= hitl.URLRequiredVersion
		if reach.URLs {
			reach.Follow = followOf(ctx)
		}
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

// addressParams are the params of elicitation/create with an address. The id by
// itself exists in one version alone.
type addressParams struct {
	Mode    hitl.Mode `json:"mode"`
	Message string    `json:"message"`
	URL     string    `json:"url"`
	ID      string    `json:"elicitationId,omitempty"`
}

// visit sends an address by a request of the server's own.
func visit(ctx context.Context, a hitl.Address) (json.RawMessage, error) {
	return stdio.Elicit(ctx, addressParams{hitl.ModeURL, a.Message, a.URL, a.ID})
}

// followEvery is how often somebody who has left for an address is looked for.
const followEvery = time.Second

// followOf tells the client when a person has answered at an address, also when the
// call that it was for is over. It stops with the time in which they can.
func followOf(ctx context.Context) func(id string, over func(context.Context) bool) {
	connection, client, ok := stdio.Later(ctx)
	if !ok {
		return nil
	}
	return func(id string, over func(context.Context) bool) {
		complete := func() {
			client.Notify(connection, string(mcp.MethodNotificationElicitationComplete), map[string]any{"elicitationId": id}, func() bool { return true })
		}
		if over(ctx) {
			complete()
			return
		}
		go func() {
			ctx, cancel := context.WithTimeout(connection, hitl.ConsentWindow)
			defer cancel()
			look := time.NewTicker(followEvery)
			defer look.Stop()
			for {
				select {
				case <-look.C:
				case <-ctx.Done():
					return
				}
				if over(ctx) {
					complete()
					return
				}
			}
		}()
	}
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
// person says to a form, or after they have opened an address.
func (e *edge) inputRequired(n *hitl.NeedsInput) (json.RawMessage, error) {
	type inputRequest struct {
		Method string `json:"method"`
		Params any    `json:"params"`
	}
	var params any = formParams{n.Form.Message, n.Form.Schema}
	if n.Address != nil {
		params = addressParams{Mode: hitl.ModeURL, Message: n.Address.Message, URL: n.Address.URL}
	}
	b, err := plainJSON(struct {
		Requests map[string]inputRequest `json:"inputRequests"`
		State    string                  `json:"requestState,omitempty"`
	}{
		map[string]inputRequest{n.Key: {string(mcp.MethodElicitationCreate), params}}, n.State,
	})
	if err != nil {
		return nil, err
	}
	return append(append(b[:len(b)-1], e.asking...), '}'), nil
}
