package elicit

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"vault-mcp/cache"
	"vault-mcp/hitl"
	"vault-mcp/internal/config"
)

// Reach is how the person is asked who makes a call at this terminal. Without a
// terminal, where cli is not in elicit.routes, and below a client that started a
// server of one of the vaults, there is no way: it is the zero value then.
func Reach(env config.Env, cfg *config.Config) hitl.Reach {
	in, out, err := openTerminal()
	if err != nil {
		return hitl.Reach{}
	}
	in.Close()
	out.Close() // again, where it is the same
	if !cfg.Elicit.Takes(config.Route(hitl.RouteCommand)) || !cfg.Elicit.AllowClientShell && ofClient(env, cfg) {
		return hitl.Reach{}
	}
	return hitl.Reach{Forms: true, Terminal: Account(), Ask: ask}
}

// ofClient reports whether this process descends from what spawned a server of
// one of the vaults.
func ofClient(env config.Env, cfg *config.Config) bool {
	servers, err := cache.List(env)
	if err != nil {
		return true // nobody knows
	}
	return slices.ContainsFunc(servers, func(s cache.Entry) bool {
		return below(s.Parent) && slices.ContainsFunc(s.Vaults, func(v cache.ServedVault) bool {
			return slices.ContainsFunc(cfg.Vaults, func(c config.Vault) bool { return c.Real == v.Path })
		})
	})
}

// ask shows a form at the terminal. No leaves the request open, as elsewhere.
func ask(ctx context.Context, f hitl.Form) (json.RawMessage, error) {
	t, err := Open()
	if err != nil {
		return nil, err
	}
	defer t.Close()
	fmt.Fprintf(t, "\n%s\n\n%s", hitl.Text(f.Message), choices(f.Candidates))
	switch path, said := decide(ctx, t, f.Candidates, f.Approve); {
	case said == yes:
		return accept(path, f.Approve)
	case said == decline:
		return json.RawMessage(`{"action":"decline"}`), nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return json.RawMessage(`{"action":"cancel"}`), nil
}

// accept is the form filled in: the note that was chosen, "" where there was
// nothing to choose, and the approval, where that was asked for.
func accept(path string, approve bool) (json.RawMessage, error) {
	type content struct {
		Approve bool   `json:"approve,omitempty"`
		Note    string `json:"note_id,omitempty"`
	}
	return json.Marshal(struct {
		Action  hitl.Action `json:"action"`
		Content content     `json:"content"`
	}{hitl.Accept, content{approve, path}})
}
