package main

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"vault-mcp/internal/app"
	"vault-mcp/internal/config"
	"vault-mcp/internal/page"
)

// source names what is served.
type source struct {
	Path string `arg:"" help:"A vault's folder, or a config file (YAML or JSON)."`
}

type serveCmd struct {
	source
	LogLevel string `enum:"debug,info,warn,error,"  default:"" help:"How much is logged on stderr: debug, info, warn or error. Overrides the config and VAULT_MCP_LOG."`
}

// Run serves until the client closes stdin or a signal comes.
func (c serveCmd) Run(ctx context.Context, p process) error {
	cfg, err := p.env.Load(c.Path)
	if err != nil {
		return err
	}
	log := logger(p.stderr, c.LogLevel, cfg)
	a, err := app.New(cfg, app.Options{Env: p.env, Version: Version, Log: log, Patience: p.patience, Listen: page.Listen})
	if err != nil {
		return err
	}
	defer a.Close()
	err = a.Serve(ctx, p.stdin, p.stdout)
	if err != nil && !errors.Is(err, context.Canceled) {
		log.Error("the connection ended", "err", err)
		return errRefused
	}
	return nil
}

// logger writes to stderr only: stdout carries the protocol.
func logger(w io.Writer, flag string, cfg *config.Config) *slog.Logger {
	level := cfg.Log.Slog()
	if flag != "" {
		level = config.Log{Level: flag}.Slog()
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}))
}

// brief is the log of a command that a person runs: what a server tells at level
// info is no answer to them.
func brief(w io.Writer, cfg *config.Config) *slog.Logger {
	level := cfg.Log.Level
	if level == "info" {
		level = "warn"
	}
	return logger(w, level, cfg)
}
