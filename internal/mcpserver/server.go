// Package mcpserver is the MCP edge: it speaks the protocol's two eras through
// mcp-go, turns requests into dispatch calls and their outcomes into wire form,
// and decides nothing itself.
package mcpserver

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"vault-mcp/internal/auth"
	"vault-mcp/internal/dispatch"
	"vault-mcp/internal/mcpserver/stdio"
	"vault-mcp/tools"
)

// Name is the server's name on the wire.
const Name = "vault-mcp"

// Options is what the edge serves.
type Options struct {
	Version  string
	Registry *tools.Registry
	// Do runs a call; Dispatcher.Do does.
	Do func(context.Context, dispatch.Request) (*tools.Result, error)
	// Caller is who is at the other end.
	Caller auth.Caller
	// SeveralVaults says that a call has to name its vault.
	SeveralVaults bool
	// Instructions tell the model how to work with this server, in at most
	// 2,000 bytes; they go out in both eras.
	Instructions string
}

// edge answers requests.
type edge struct {
	Options
	// modern is what the era from 2026-07-28 on wants in every result, ready
	// to be appended to an object.
	modern []byte
}

// toolListTTL is how long a client may keep the list of tools, which never
// changes while the server runs, in milliseconds.
const toolListTTL = 3_600_000

// longResult is the most characters that a tool's answer may have because the
// caller asked for that much. Claude Code cuts others at 50,000.
const longResult = 500_000

// New builds the protocol server. It has no transport yet.
func New(o Options) *server.MCPServer {
	e := &edge{Options: o, modern: modernFields(o.Version)}
	hooks := &server.Hooks{}
	hooks.AddBeforeCallTool(e.beforeCall)
	hooks.AddBeforeReadResource(e.beforeRead)
	hooks.AddAfterListResources(e.listResources)
	s := server.NewMCPServer(Name, o.Version,
		server.WithToolCapabilities(false),
		server.WithResourceCapabilities(false, false),
		server.WithHooks(hooks),
		server.WithInstructions(o.Instructions),
		server.WithCacheHints(0, mcp.CacheScopePrivate),
		server.WithMethodCacheHints(mcp.MethodToolsList, toolListTTL, mcp.CacheScopePrivate),
		server.WithMethodCacheHints(mcp.MethodServerDiscover, toolListTTL, mcp.CacheScopePrivate),
	)
	for _, t := range o.Registry.All() {
		s.AddTool(wireTool(t, o.SeveralVaults), e.call)
	}
	s.AddResourceTemplate(
		mcp.NewResourceTemplate("vault://{+path}", "A file of a vault",
			mcp.WithTemplateDescription("vault://<vault id>/<percent-encoded path from the vault's root>")),
		e.readResource,
	)
	return s
}

// wireTool is a tool as the client sees it.
func wireTool(t *tools.Tool, several bool) mcp.Tool {
	w := mcp.Tool{
		Name: t.Name, Title: t.Title, Description: t.Doc,
		RawInputSchema: t.InputSchema(several),
		Annotations: mcp.ToolAnnotation{
			ReadOnlyHint: &t.Hints.ReadOnly, DestructiveHint: &t.Hints.Destructive,
			IdempotentHint: &t.Hints.Idempotent, OpenWorldHint: &t.Hints.OpenWorld,
		},
	}
	if t.Long {
		w.Meta = &mcp.Meta{AdditionalFields: map[string]any{"anthropic/maxResultSizeChars": longResult}}
	}
	return w
}

// beforeCall answers calls of unknown tools, which no handler sees, and drops
// from requests of older protocols the fields that those do not have: a forged
// answer to a question that was never asked.
func (e *edge) beforeCall(ctx context.Context, _ any, r *mcp.CallToolRequest) {
	if !stdio.PeerFrom(ctx).Modern {
		r.Params.MultiRoundTripParams = mcp.MultiRoundTripParams{}
	}
	if t := e.Registry.Tool(r.Params.Name); t == nil || t.Hidden {
		stdio.SetError(ctx, e.unknownTool(r.Params.Name))
	}
}

// call runs a tool.
func (e *edge) call(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	peer := stdio.PeerFrom(ctx)
	res, err := e.Do(ctx, dispatch.Request{
		Caller: e.Caller, Tool: r.Params.Name, Args: arguments(r), TextOnly: knowsOnlyText(peer),
	})
	var raw json.RawMessage
	if err != nil {
		raw = e.renderError(err, peer)
	} else {
		raw = e.renderResult(res, peer)
	}
	if !stdio.SetResult(ctx, raw) {
		return nil, errNoSlot
	}
	return &mcp.CallToolResult{}, nil // the slot's answer goes out instead
}

// arguments are the call's arguments as they were sent, so that no number is
// rounded on the way.
func arguments(r mcp.CallToolRequest) json.RawMessage { return r.Params.RawArguments }

// structuredSince is the protocol version that brought structured content.
const structuredSince = "2025-06-18"

func knowsOnlyText(p stdio.Peer) bool { return p.Version != "" && p.Version < structuredSince }
