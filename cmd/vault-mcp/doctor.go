package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"vault-mcp/internal/clients"
	"vault-mcp/internal/config"
	"vault-mcp/internal/doctor"
)

type doctorCmd struct {
	Path    string `arg:"" optional:"" help:"A vault's folder or a config file. Without it: what the running servers and your clients serve, else the vaults that Obsidian knows."`
	Client  string `placeholder:"NAME" help:"Look at this client alone."`
	NoStart bool   `name:"no-start" help:"Start no server: only look at files."`
	JSON    bool   `name:"json" help:"Print one JSON object."`
}

// Run looks for what does not work, and fails if something is broken.
func (c doctorCmd) Run(ctx context.Context, p process) error {
	if _, known := clients.Named(c.Client); c.Client != "" && !known {
		return fmt.Errorf("there is no client %q; there are %s", c.Client, strings.Join(clients.IDs(), ", "))
	}
	program, err := os.Executable()
	if err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
	if err != nil {
		program = "" // which is told
	}
	folder, err := os.Getwd()
	if err != nil {
		folder = p.env.Home()
	}
	r, err := doctor.Examine(ctx, doctor.Options{
		Env: p.env, Environ: config.Variables(), Config: c.Path, Client: c.Client, Version: Version, Program: program,
		Folder: folder, NoStart: c.NoStart, Now: time.Now(),
	})
	if err != nil {
		return err
	}
	show := r.Print
	if c.JSON {
		show = r.PrintJSON
	}
	if err := show(p.stdout); err != nil {
		return err
	}
	if r.Status == doctor.Broken {
		return errRefused
	}
	return nil
}
