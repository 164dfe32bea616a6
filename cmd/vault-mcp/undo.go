package main

import (
	"context"
	"encoding/json"
)

type undoCmd struct {
	Vault   string `short:"v" required:"" placeholder:"PATH" help:"The vault's folder, or a config file."`
	ID      string `name:"in" placeholder:"ID" help:"The vault's id, if the config file has several."`
	Partial bool   `help:"Take back what was not changed since, and leave the rest."`
	DryRun  bool   `help:"Only show what would be done."`
	JSON    bool   `name:"json" help:"Print the raw result."`
	Change  string `arg:"" optional:"" help:"The change; without one, the last changes are listed."`
}

// Run takes a change back, through every stage that an agent's call passes.
func (c undoCmd) Run(ctx context.Context, p process) error {
	cfg, err := p.env.Load(c.Vault)
	if err != nil {
		return err
	}
	tool, args := "undo_change", map[string]any{"change_id": c.Change, "partial": c.Partial, "dry_run": c.DryRun}
	if c.Change == "" {
		tool, args = "list_changes", map[string]any{}
	}
	if c.ID != "" {
		args["vault"] = c.ID
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return err
	}
	return callCmd{JSON: c.JSON}.make(ctx, p, cfg, tool, raw, true)
}
