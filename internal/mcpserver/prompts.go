package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"vault-mcp/internal/fault"
	"vault-mcp/internal/mcpserver/stdio"
	"vault-mcp/internal/prompts"
	"vault-mcp/tools"
)

// addPrompts serves the prompts. Their list never changes.
func (e *edge) addPrompts(s *server.MCPServer) {
	for i := range e.Prompts {
		p := &e.Prompts[i]
		w := mcp.Prompt{Name: p.Name, Title: p.Title, Description: p.Doc}
		for _, a := range p.Arguments {
			w.Arguments = append(w.Arguments, mcp.PromptArgument{Name: a.Name, Title: a.Title, Description: a.Doc, Required: a.Required})
		}
		s.AddPrompt(w, func(ctx context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return e.getPrompt(ctx, p, r)
		})
	}
}

func (e *edge) beforeListPrompts(ctx context.Context, _ any, r *mcp.ListPromptsRequest) {
	refuseCursor(ctx, r.Params.Cursor)
}

// beforeGetPrompt answers for prompts that there are none of, which no handler
// sees.
func (e *edge) beforeGetPrompt(ctx context.Context, _ any, r *mcp.GetPromptRequest) {
	if e.prompt(r.Params.Name) == nil {
		stdio.SetError(ctx, e.unknownPrompt(r.Params.Name))
	}
}

func (e *edge) prompt(name string) *prompts.Prompt {
	for i := range e.Prompts {
		if e.Prompts[i].Name == name {
			return &e.Prompts[i]
		}
	}
	return nil
}

// unknownPrompt is the protocol's own fault for a name that is no prompt. There
// are few, so it names them all.
func (e *edge) unknownPrompt(name string) stdio.RPCError {
	var names []string
	for _, p := range e.Prompts {
		names = append(names, p.Name)
	}
	return invalidParams(fmt.Sprintf("Unknown prompt: %.100q; there are %s.", name, strings.Join(names, ", ")),
		map[string]any{"code": fault.NotFound, "prompts": names})
}

func (e *edge) getPrompt(ctx context.Context, p *prompts.Prompt, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	texts, err := p.Build(ctx, e.query, r.Params.Arguments)
	if err != nil {
		f := fault.Of(err)
		answer := rpcError(f, "")
		answer.Data.(map[string]any)["recovery"] = f.Advice()
		stdio.SetError(ctx, answer)
		return nil, err
	}
	out := &mcp.GetPromptResult{Description: p.Doc}
	for _, text := range texts {
		out.Messages = append(out.Messages, mcp.PromptMessage{Role: mcp.RoleUser, Content: mcp.NewTextContent(text)})
	}
	return out, nil
}

var _ prompts.Call = (*edge)(nil).query

// decode is what a query that the client cannot call answered.
func decode[T any](r *tools.Result, err error) (T, error) {
	if err != nil {
		var none T
		return none, err
	}
	return r.Out.(T), nil
}
