package main

import (
	"fmt"

	"vault-mcp/internal/app"
)

type configCmd struct {
	Show     configShowCmd     `cmd:"" help:"Print the effective config with every default; secrets are redacted."`
	Validate configValidateCmd `cmd:"" help:"Check a config and say every problem in it."`
}

type configShowCmd struct{ source }

// Run prints the config.
func (c configShowCmd) Run(p process) error {
	cfg, err := p.env.Load(c.Path)
	if err != nil {
		return err
	}
	return cfg.Show(p.stdout)
}

type configValidateCmd struct{ source }

// Run checks the config.
func (c configValidateCmd) Run(p process) error {
	cfg, err := p.env.Load(c.Path)
	if err != nil {
		return err
	}
	if err := app.CheckTools(cfg.Tools); err != nil {
		return err
	}
	n := "1 vault"
	if len(cfg.Vaults) > 1 {
		n = fmt.Sprintf("%d vaults", len(cfg.Vaults))
	}
	_, err = fmt.Fprintf(p.stdout, "ok: %s\n", n)
	return err
}

type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run(p process) error {
	_, err := fmt.Fprintln(p.stdout, "vault-mcp", Version)
	return err
}
