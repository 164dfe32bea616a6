// Package mcpserver is the MCP edge: it speaks the protocol's two eras through
// mcp-go, turns requests into dispatch calls and their outcomes into wire form,
// and decides nothing itself.
package mcpserver

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"vault-mcp/hitl"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/dispatch"
	"vault-mcp/internal/fault"
	"vault-mcp/internal/mcpserver/stdio"
	"vault-mcp/internal/prompts"
	"vault-mcp/internal/updates"
	"vault-mcp/internal/uri"
	"vault-mcp/tools"
	"vault-mcp/tools/facade"
	"vault-mcp/tools/resources"
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
	// Surface is how much of the tools is listed.
	Surface facade.Surface
	// SeveralVaults says that a call has to name its vault.
	SeveralVaults bool
	// Prompts are what a person can begin with.
	Prompts []prompts.Prompt
	// Updates tells of changes of resources; nil if nobody knows of any.
	Updates *updates.Hub
	// Instructions tell the model how to work with this server, in at most
	// 2,000 bytes; they go out in both eras.
	Instructions string
}

// edge answers requests.
type edge struct {
	Options
	// modern is what the era from 2026-07-28 on wants in every result, ready
	// to be appended to an object, and asking the same for one that asks back.
	modern, asking []byte
	followers      followers
}

// staticTTL is how long a client may keep what never changes while the server
// runs, such as the list of tools, in milliseconds.
const staticTTL = 3_600_000

// longResult is the most characters that a tool's answer may have because the
// caller asked for that much. Claude Code cuts others at 50,000.
const longResult = 500_000

// New builds the protocol server. It has no transport yet.
func New(o Options) *server.MCPServer {
	e := &edge{Options: o, modern: modernFields(o.Version, mcp.ResultTypeComplete), asking: modernFields(o.Version, mcp.ResultTypeInputRequired)}
	hooks := &server.Hooks{}
	hooks.AddBeforeCallTool(e.beforeCall)
	hooks.AddBeforeListTools(e.beforeListTools)
	hooks.AddAfterListTools(e.afterListTools)
	hooks.AddBeforeListResources(e.beforeListResources)
	hooks.AddAfterListResources(e.listResources)
	hooks.AddBeforeListResourceTemplates(e.beforeListTemplates)
	hooks.AddBeforeReadResource(e.beforeRead)
	hooks.AddOnError(e.onError)
	if o.Updates != nil {
		e.addSubscriptions(hooks)
	}
	if len(o.Prompts) > 0 {
		hooks.AddBeforeListPrompts(e.beforeListPrompts)
		hooks.AddBeforeGetPrompt(e.beforeGetPrompt)
	}
	options := []server.ServerOption{
		// The lists of tools, prompts and templates never change. That of resources
		// does with every note, and is not told: see DESIGN.
		server.WithToolCapabilities(false),
		server.WithPromptCapabilities(false),
		server.WithCompletions(),
		server.WithPromptCompletionProvider(completions{e}),
		server.WithResourceCompletionProvider(completions{e}),
		server.WithHooks(hooks),
		server.WithInstructions(o.Instructions),
		server.WithCacheHints(0, mcp.CacheScopePrivate),
		server.WithMethodCacheHints(mcp.MethodToolsList, staticTTL, mcp.CacheScopePrivate),
		server.WithMethodCacheHints(mcp.MethodPromptsList, staticTTL, mcp.CacheScopePrivate),
		server.WithMethodCacheHints(mcp.MethodResourcesTemplatesList, staticTTL, mcp.CacheScopePrivate),
		server.WithMethodCacheHints(mcp.MethodServerDiscover, staticTTL, mcp.CacheScopePrivate),
	}
	if o.Registry.Tool(resources.Read) != nil { // else it is denied
		options = append(options, server.WithResourceCapabilities(o.Updates != nil, false))
	}
	s := server.NewMCPServer(Name, o.Version, options...)
	for _, t := range facade.Callable(o.Registry) {
		s.AddTool(wireTool(t), e.call)
	}
	if o.Registry.Tool(resources.Read) != nil {
		s.AddResourceTemplate(
			mcp.NewResourceTemplate(uri.Template, "file",
				mcp.WithTemplateTitle("A file of a vault"),
				mcp.WithTemplateDescription("vault://<vault id>/<percent-encoded path from the vault's root>")),
			e.readResource,
		)
	}
	e.addPrompts(s)
	return s
}

// wireTool is a tool as the client sees it.
func wireTool(t facade.Entry) mcp.Tool {
	w := mcp.Tool{
		Name: t.Name, Title: t.Title, Description: t.Doc,
		RawInputSchema: t.Input, RawOutputSchema: t.Output,
		Annotations: mcp.ToolAnnotation{
			ReadOnlyHint: &t.Hints.ReadOnly, DestructiveHint: &t.Hints.Destructive,
			IdempotentHint: &t.Hints.Idempotent, OpenWorldHint: &t.Hints.OpenWorld,
		},
	}
	if t.Input == nil {
		w.RawInputSchema = anyObject
	}
	if t.Long {
		w.Meta = &mcp.Meta{AdditionalFields: map[string]any{"anthropic/maxResultSizeChars": longResult}}
	}
	return w
}

// anyObject stands for a tool's schema until somebody lists the tools.
var anyObject = json.RawMessage(`{"type":"object"}`)

// afterListTools lists the surface in place of all that can be called. Rendering the
// schemas at registration, where mcp-go parses each again, took a third of a
// start.
func (e *edge) afterListTools(ctx context.Context, _ any, _ *mcp.ListToolsRequest, r *mcp.ListToolsResult) {
	onlyText := knowsOnlyText(stdio.PeerFrom(ctx))
	r.Tools = []mcp.Tool{}
	for _, t := range facade.List(e.Surface, e.Registry, e.Caller, e.SeveralVaults) {
		if onlyText {
			t.Output = nil // there is no structured answer that it could be of
		}
		r.Tools = append(r.Tools, wireTool(t))
	}
}

// beforeCall answers calls of unknown tools, which no handler sees, and drops
// from requests of older protocols the fields that those do not have: a forged
// answer to a question that was never asked.
func (e *edge) beforeCall(ctx context.Context, _ any, r *mcp.CallToolRequest) {
	if !stdio.PeerFrom(ctx).Modern {
		r.Params.MultiRoundTripParams = mcp.MultiRoundTripParams{}
	}
	if t := e.Registry.Tool(r.Params.Name); t == nil && !facade.Shape(e.Registry, r.Params.Name) || t != nil && t.Hidden {
		stdio.SetError(ctx, e.unknownTool(r.Params.Name))
	}
}

// The lists of tools and of templates have one page, so every cursor is none
// of theirs. mcp-go would take those that are base64.
func (e *edge) beforeListTools(ctx context.Context, _ any, r *mcp.ListToolsRequest) {
	refuseCursor(ctx, r.Params.Cursor)
}

func (e *edge) beforeListTemplates(ctx context.Context, _ any, r *mcp.ListResourceTemplatesRequest) {
	refuseCursor(ctx, r.Params.Cursor)
}

func refuseCursor(ctx context.Context, c mcp.Cursor) {
	if c != "" {
		stdio.SetError(ctx, invalidParams("The cursor is none that this server made.",
			map[string]any{"code": fault.InvalidInput, "argument": "cursor", "reason": "invalid"}))
	}
}

// onError answers malformed params in the words of the protocol instead of
// those of mcp-go's types.
func (e *edge) onError(ctx context.Context, _ any, _ mcp.MCPMethod, _ any, err error) {
	if u, ok := errors.AsType[*server.UnparsableMessageError](err); ok {
		stdio.SetError(ctx, malformed(u))
	}
}

// call runs a tool.
func (e *edge) call(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	peer := stdio.PeerFrom(ctx)
	res, err := e.run(ctx, r, peer)
	if p, ok := errors.AsType[*hitl.ProtocolError](err); ok {
		return answered(stdio.SetError(ctx, stdio.RPCError{Code: p.Code, Message: p.Message, Data: p.Data}))
	}
	var raw json.RawMessage
	if n, ok := errors.AsType[*hitl.NeedsInput](err); ok {
		if raw, err = e.inputRequired(n); err != nil {
			return nil, err
		}
	} else if err != nil {
		raw = e.renderError(err, peer)
	} else {
		raw = e.renderResult(res, peer)
	}
	return answered(stdio.SetResult(ctx, raw))
}

// answered is what a handler returns whose answer is in the slot: that one goes
// out instead.
func answered(ok bool) (*mcp.CallToolResult, error) {
	if !ok {
		return nil, errNoSlot
	}
	return &mcp.CallToolResult{}, nil
}

// run passes the arguments on as they were sent, so that no number is rounded
// on the way. Dispatch takes null for no arguments; on the wire it is a
// mistake that its sender has to learn of.
func (e *edge) run(ctx context.Context, r mcp.CallToolRequest, peer stdio.Peer) (*tools.Result, error) {
	if string(r.Params.RawArguments) == "null" {
		return nil, fault.New(fault.ValidationError, "The arguments are null; they must be an object.")
	}
	return e.Do(ctx, dispatch.Request{
		Caller: e.Caller, Tool: r.Params.Name, Args: r.Params.RawArguments, TextOnly: knowsOnlyText(peer),
		Reach: reachOf(ctx, r, peer),
	})
}

// structuredSince is the protocol version that brought structured content.
const structuredSince = "2025-06-18"

func knowsOnlyText(p stdio.Peer) bool { return p.Version != "" && p.Version < structuredSince }
