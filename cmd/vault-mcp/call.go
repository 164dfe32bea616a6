package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"vault-mcp/internal/app"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/config"
	"vault-mcp/internal/dispatch"
	"vault-mcp/internal/docgen"
	"vault-mcp/internal/elicit"
	"vault-mcp/internal/fault"
	"vault-mcp/internal/mcpserver"
	"vault-mcp/tools"
)

type callCmd struct {
	Vault string `short:"v" required:"" placeholder:"PATH" help:"A vault's folder, or a config file."`
	JSON  bool   `name:"json" help:"Print the raw result."`
	Tool  string `arg:"" help:"The tool's name; vault-mcp tools lists them."`
	Args  string `arg:"" optional:"" default:"{}" help:"The arguments as a JSON object, or - to read them from stdin."`
}

// Run makes one call as the person at the terminal.
func (c callCmd) Run(ctx context.Context, p process) error {
	cfg, err := p.env.Load(c.Vault)
	if err != nil {
		return err
	}
	args := []byte(c.Args)
	if c.Args == "-" {
		if args, err = io.ReadAll(p.stdin); err != nil {
			return fmt.Errorf("read the arguments from stdin: %w", err)
		}
	}
	return c.make(ctx, p, cfg, c.Tool, args, false)
}

// atTerminal is how long the person at a terminal may look at what would be done.
const atTerminal = 10 * time.Minute

// make makes a call, for which the person is asked here if there is a terminal. every
// says that the tool is there whatever the config says of tools.
func (c callCmd) make(ctx context.Context, p process, cfg *config.Config, tool string, args []byte, every bool) error {
	reach := elicit.Reach(p.env, cfg)
	patience := p.patience
	if patience == 0 && reach.Forms {
		patience = atTerminal
	}
	a, err := app.New(cfg, app.Options{Env: p.env, Version: Version, Log: brief(p.stderr, cfg), Patience: patience, EveryTool: every})
	if err != nil {
		return err
	}
	defer a.Close()
	a.Begin(ctx)
	res, err := a.Dispatcher.Do(ctx, dispatch.Request{
		Caller: auth.Caller{ID: "cli", Scopes: auth.All}, Tool: tool, Args: args, Reach: reach,
	})
	return c.print(p, res, err)
}

func (c callCmd) print(p process, res *tools.Result, err error) error {
	switch {
	case c.JSON:
		if _, werr := fmt.Fprintf(p.stdout, "%s\n", mcpserver.ResultJSON(res, err)); werr != nil {
			return werr
		}
	case err != nil:
		fmt.Fprintln(p.stderr, mcpserver.ErrorText(fault.Of(err)))
	default:
		fmt.Fprintln(p.stdout, res.Text)
		for _, im := range res.Images {
			fmt.Fprintf(p.stdout, "(%s, %d bytes; --json prints it as base64)\n", im.MIME, len(im.Data))
		}
	}
	if err != nil {
		return errRefused
	}
	return nil
}

type toolsCmd struct {
	JSON     bool   `name:"json" help:"Print the input schemas too."`
	Markdown bool   `help:"Print what docs/tools.md has."`
	Name     string `arg:"" optional:"" help:"The tool to describe."`
}

// Run lists the tools that a server with one vault has.
func (c toolsCmd) Run(p process) error {
	r, err := app.Registry()
	if err != nil {
		return err
	}
	all := r.All()
	if c.Name != "" {
		t := r.Tool(c.Name)
		if t == nil {
			return fmt.Errorf("there is no tool %q; vault-mcp tools lists them", c.Name)
		}
		all = []*tools.Tool{t}
	}
	if c.Markdown {
		text := docgen.Tools(r)
		if c.Name != "" {
			text = docgen.Tool(all[0])
		}
		_, err := io.WriteString(p.stdout, text)
		return err
	}
	for _, t := range all {
		if c.JSON {
			if err := json.NewEncoder(p.stdout).Encode(described(t)); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(p.stdout, "%-18s %s\n", t.Name, t.Doc)
		if c.Name != "" {
			fmt.Fprintf(p.stdout, "\ndomain %s, scope %s\n\narguments:\n", t.Domain, t.Scope)
			for _, a := range t.Arguments() {
				fmt.Fprintf(p.stdout, "  %s\n", a)
			}
		}
	}
	return nil
}

func described(t *tools.Tool) any {
	return struct {
		Name        string          `json:"name"`
		Title       string          `json:"title"`
		Description string          `json:"description"`
		Domain      string          `json:"domain"`
		InputSchema json.RawMessage `json:"inputSchema"`
	}{t.Name, t.Title, t.Doc, t.Domain, t.InputSchema(false)}
}
