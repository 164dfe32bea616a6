package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"vault-mcp/internal/app"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/dispatch"
)

type explainCmd struct {
	Vault  string `short:"v" required:"" placeholder:"PATH" help:"A vault's folder, or a config file."`
	Caller string `default:"stdio" help:"Who would make the call."`
	JSON   bool   `name:"json" help:"Print the explanation as JSON."`
	Tool   string `arg:"" help:"The tool's name; vault-mcp tools lists them."`
	Args   string `arg:"" optional:"" default:"{}" help:"The arguments as a JSON object, or - to read them from stdin."`
}

// Run says what would become of the call. It ends as refused if the call would be.
func (c explainCmd) Run(ctx context.Context, p process) error {
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
	a, err := app.New(cfg, app.Options{Env: p.env, Version: Version, Log: brief(p.stderr, cfg)})
	if err != nil {
		return err
	}
	defer a.Close()
	x := a.Explain(ctx, dispatch.Request{Caller: auth.Caller{ID: c.Caller, Scopes: auth.All}, Tool: c.Tool, Args: args})
	if c.JSON {
		err = json.NewEncoder(p.stdout).Encode(x)
	} else {
		_, err = io.WriteString(p.stdout, x.Text())
	}
	if err == nil && x.Outcome == app.WouldFail {
		err = errRefused
	}
	return err
}
