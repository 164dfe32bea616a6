package main

import (
	"context"
	"fmt"
	"slices"

	"vault-mcp/cache/state"
	"vault-mcp/internal/app"
	"vault-mcp/internal/audit"
	"vault-mcp/vault"
)

type auditCmd struct {
	List   auditListCmd   `cmd:"" default:"withargs" help:"List what was asked, approved, refused and done, the newest first."`
	Verify auditVerifyCmd `cmd:"" help:"Tell whether the audit was changed or cut off."`
}

// audited says which audits a command is about.
type audited struct {
	Vault string `short:"v" required:"" placeholder:"PATH" help:"The vault's folder, or a config file."`
	ID    string `name:"in" placeholder:"ID" help:"The vault's id; without it, all vaults of the config file."`
}

// each calls f with the state of each vault that has one.
func (c audited) each(ctx context.Context, p process, f func(id string, s *state.Store) error) error {
	cfg, err := p.env.Load(c.Vault)
	if err != nil {
		return err
	}
	a, err := app.New(cfg, app.Options{Env: p.env, Version: Version, Log: brief(p.stderr, cfg), NoIndex: true})
	if err != nil {
		return err
	}
	defer a.Close()
	ids := a.Vaults()
	if c.ID != "" {
		if !slices.Contains(ids, c.ID) {
			return fmt.Errorf("there is no vault %q", c.ID)
		}
		ids = []string{c.ID}
	}
	for _, id := range ids {
		s, err := a.Kept(ctx, id)
		if err == nil && s != nil {
			err = f(id, s)
		}
		if err != nil {
			say(p.stderr, id+": "+err.Error())
			return errRefused
		}
	}
	return nil
}

type auditListCmd struct {
	audited
	Tool    string `help:"Only of this tool."`
	Caller  string `help:"Only of this caller."`
	Path    string `help:"Only what was about this note, file or folder, by its path then."`
	Outcome string `help:"Only with this outcome: request, approved, declined, applied, refused and so on."`
	Since   string `placeholder:"TIME" help:"Only from this date or RFC 3339 time on."`
	Until   string `placeholder:"TIME" help:"Only before this date or RFC 3339 time."`
	Limit   int    `default:"50" help:"How many rows of each vault; 0 for all."`
	JSON    bool   `name:"json" help:"Print one JSON object a line."`
}

// Run lists rows.
func (c auditListCmd) Run(ctx context.Context, p process) error {
	f := state.AuditFilter{Tool: c.Tool, Caller: c.Caller, Outcome: c.Outcome, Limit: c.Limit}
	var err error
	if f.Since, err = audit.Time(c.Since); err != nil {
		return err
	}
	if f.Until, err = audit.Time(c.Until); err != nil {
		return err
	}
	if c.Path != "" {
		if f.Path, err = vault.Clean(c.Path); err != nil {
			return err
		}
	}
	return c.each(ctx, p, func(_ string, s *state.Store) error {
		rows, err := s.Audit(ctx, f)
		if err != nil {
			return err
		}
		if c.JSON {
			return audit.PrintJSON(p.stdout, rows)
		}
		return audit.Print(p.stdout, rows)
	})
}

type auditVerifyCmd struct{ audited }

// Run looks through the audits, and fails if one is not whole.
func (c auditVerifyCmd) Run(ctx context.Context, p process) error {
	broken, looked := false, false
	err := c.each(ctx, p, func(id string, s *state.Store) error {
		looked = true
		r, err := s.Verify(ctx)
		if err != nil {
			return err
		}
		whole, err := audit.PrintReport(p.stdout, id, r)
		broken = broken || !whole
		return err
	})
	switch {
	case err != nil:
		return err
	case broken:
		return errRefused
	case !looked:
		_, err = fmt.Fprintln(p.stdout, "nothing was audited yet")
	}
	return err
}
