package mcpserver

import (
	"context"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"vault-mcp/internal/fault"
	"vault-mcp/internal/mcpserver/stdio"
	"vault-mcp/internal/uri"
	"vault-mcp/tools/complete"
)

// completions answers completion/complete.
type completions struct{ *edge }

// CompletePromptArgument completes an argument of a prompt.
func (c completions) CompletePromptArgument(ctx context.Context, name string, arg mcp.CompleteArgument, known mcp.CompleteContext) (*mcp.Completion, error) {
	p := c.prompt(name)
	if p == nil {
		stdio.SetError(ctx, c.unknownPrompt(name))
		return nil, nil
	}
	a, ok := p.Argument(arg.Name)
	if !ok {
		stdio.SetError(ctx, invalidParams(fmt.Sprintf("The prompt %s has no argument %.100q.", name, arg.Name),
			map[string]any{"code": fault.NotFound, "argument": "argument.name"}))
		return nil, nil
	}
	args := map[string]any{"what": a.Complete, "value": arg.Value}
	switch a.Complete {
	case "":
		return &mcp.Completion{}, nil
	case complete.Vault:
		return c.answer(ctx, complete.Overall, args)
	}
	if vault := known.Arguments["vault"]; vault != "" {
		args["vault"] = vault
	} else if c.SeveralVaults {
		return &mcp.Completion{}, nil // it is not known yet in which
	}
	return c.answer(ctx, complete.InVault, args)
}

// CompleteResourceArgument completes the path in the template of resources.
func (c completions) CompleteResourceArgument(ctx context.Context, template string, arg mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	if !uri.IsTemplate(template) || arg.Name != uri.Variable {
		stdio.SetError(ctx, invalidParams(fmt.Sprintf("The only template is %s, with the variable %s.", uri.Template, uri.Variable),
			map[string]any{"code": fault.NotFound}))
		return nil, nil
	}
	return c.answer(ctx, complete.Overall, map[string]any{"what": complete.Resource, "value": arg.Value})
}

func (c completions) answer(ctx context.Context, query string, args map[string]any) (*mcp.Completion, error) {
	found, err := decode[complete.Values](c.query(ctx, query, args))
	if err != nil {
		stdio.SetError(ctx, rpcError(fault.Of(err), ""))
		return nil, nil
	}
	return &mcp.Completion{Values: found.Values, Total: found.Total, HasMore: found.Total > len(found.Values)}, nil
}
