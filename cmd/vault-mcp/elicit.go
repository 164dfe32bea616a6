package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"vault-mcp/internal/elicit"
)

type elicitCmd struct {
	Answer  elicitAnswerCmd  `cmd:"" default:"withargs" help:"Approve the call that a refusal names, or list what waits."`
	Watch   elicitWatchCmd   `cmd:"" help:"Stay open, and show each call that waits as it comes."`
	Page    elicitPageCmd    `cmd:"" help:"Open a page in the browser to approve and decline, and keep it running."`
	Abandon elicitAbandonCmd `cmd:"" help:"Give a request up."`
}

// place says where to look besides the usual places.
type place struct {
	Config string `placeholder:"PATH" help:"A config file or a vault's folder, for a state folder in a place of its own."`
}

// desk calls f with what answers. What f refuses is reported.
func (c place) desk(p process, f func(*elicit.Desk) error) error {
	if c.Config != "" {
		if _, err := p.env.Load(c.Config); err != nil {
			return err
		}
	}
	d := &elicit.Desk{Env: p.env, Config: c.Config, Terminal: elicit.Open}
	defer d.Close()
	if err := f(d); err != nil {
		say(p.stderr, err.Error())
		return errRefused
	}
	return nil
}

type elicitAnswerCmd struct {
	place
	Hash    string `placeholder:"HASH" help:"The call_hash of the refusal. Without it, what waits is listed."`
	Tool    string `help:"The tool of the call."`
	Vault   string `help:"The vault's id or folder, if the call waits in several."`
	Caller  string `default:"stdio" help:"Who made the call."`
	StateFP string `name:"state-fp" help:"The state_fp of the refusal: refused if the vault has changed since."`
	JSON    bool   `name:"json" help:"Print the token with what it is for."`
}

// Run approves one call and prints its token, or lists what waits.
func (c elicitAnswerCmd) Run(ctx context.Context, p process) error {
	if c.Hash == "" {
		if c.Tool != "" || c.Vault != "" || c.StateFP != "" || c.JSON {
			return fmt.Errorf("--hash is missing; without any flag, what waits is listed")
		}
		return c.desk(p, func(d *elicit.Desk) error { return d.List(ctx) })
	}
	if c.Tool == "" {
		return fmt.Errorf("--tool is missing: copy the whole command of the refusal")
	}
	if len(c.Hash) != 32 || strings.Trim(c.Hash, "0123456789abcdef") != "" {
		return fmt.Errorf("--hash has to have 32 hex digits: copy the whole command of the refusal")
	}
	return c.desk(p, func(d *elicit.Desk) error {
		m, err := d.Mint(ctx, elicit.Named{Hash: c.Hash, Tool: c.Tool, Caller: c.Caller, Vault: c.Vault, StateFP: c.StateFP})
		if err != nil {
			return err
		}
		if c.JSON {
			return json.NewEncoder(p.stdout).Encode(m)
		}
		_, err = fmt.Fprintln(p.stdout, m.Token)
		return err
	})
}

type elicitWatchCmd struct{ place }

// Run shows calls as they come.
func (c elicitWatchCmd) Run(ctx context.Context, p process) error {
	return c.desk(p, func(d *elicit.Desk) error { return d.Watch(ctx) })
}

type elicitAbandonCmd struct {
	place
	ID string `arg:"" help:"The request_id."`
}

// Run gives a request up.
func (c elicitAbandonCmd) Run(ctx context.Context, p process) error {
	return c.desk(p, func(d *elicit.Desk) error { return d.Abandon(ctx, c.ID) })
}
