package main

import (
	"fmt"

	"vault-mcp/cache"
	"vault-mcp/internal/secrets"
)

type secretsCmd struct {
	Rotate secretsRotateCmd `cmd:"" help:"Make a new key that signs from now on; the older ones still verify."`
}

type secretsRotateCmd struct{ source }

// Run gives the ring of each vault a new key: that of the first is the server's
// own, and each signs the audit of its vault.
func (c secretsRotateCmd) Run(p process) error {
	cfg, err := p.env.Load(c.Path)
	if err != nil {
		return err
	}
	var reals []string
	for _, v := range cfg.Vaults {
		reals = append(reals, v.Real)
	}
	for _, v := range cfg.Vaults {
		dir, err := cache.Folder(p.env, cfg.StateDir, v.Real)
		if err == nil {
			err = cache.Prepare(dir, reals...)
		}
		var kid string
		var old int
		if err == nil {
			kid, old, err = secrets.Rotate(dir)
		}
		if err != nil {
			say(p.stderr, v.ID+": "+err.Error())
			return errRefused
		}
		if _, err := fmt.Fprintf(p.stdout, "%s: %s signs now; %d older keys still verify\n", v.ID, kid, old); err != nil {
			return err
		}
	}
	return nil
}
