// Package app builds everything from a config. It is the only package that
// knows everyone.
package app

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"

	"vault-mcp/cache"
	"vault-mcp/cache/index"
	"vault-mcp/governor"
	"vault-mcp/hitl"
	"vault-mcp/internal/acl"
	"vault-mcp/internal/audit"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/config"
	"vault-mcp/internal/dispatch"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/internal/mcpserver"
	"vault-mcp/internal/mcpserver/stdio"
	"vault-mcp/internal/prompts"
	"vault-mcp/internal/run"
	"vault-mcp/internal/telemetry"
	"vault-mcp/internal/updates"
	"vault-mcp/tools"
	"vault-mcp/tools/facade"
	"vault-mcp/vault"
	"vault-mcp/vault/rename"
	"vault-mcp/vault/trash"
)

// Options are what the config does not say.
type Options struct {
	// Env is the environment.
	Env config.Env
	// Version is the program's version.
	Version string
	Log     *slog.Logger
	// EveryTool is set for a command of the person, whom the config denies no tool.
	EveryTool bool
	// NoIndex is set if queries read the files, always.
	NoIndex bool
	// Clock is the time by which requests and approvals expire; nil is the wall
	// clock.
	Clock func() time.Time
	// Patience is how long a call waits for a person at most; 0 is hitl.Patience.
	Patience time.Duration
	// Listen opens the listener of this server's own page, for people whose clients
	// open addresses and show no forms; nil is no page. page.Listen is the real one.
	Listen func(address string) (net.Listener, error)
}

// App is a configured server that has not done anything yet: nothing is
// created before the first call.
type App struct {
	Registry   *tools.Registry
	Dispatcher *dispatch.Dispatcher

	// all are the tools with those that the config denies: an effect of one may have
	// been interrupted before it did.
	all    *tools.Registry
	cfg    *config.Config
	opts   Options
	vaults []*vault.Vault
	views  []*acl.View
	bins   []trash.Bin
	// writers apply plans, by the id of their vault.
	writers map[string]*writer
	state   *state
	// memory is what this process remembers of answers.
	memory hitl.Memory
	page   *ownPage
	meter  *telemetry.Meter
	rules  *rulebook
	begin  sync.Once
}

// New opens the vaults and builds the stages. Its errors are for the person
// who started the program.
func New(cfg *config.Config, o Options) (*App, error) {
	a := &App{cfg: cfg, opts: o, writers: map[string]*writer{}}
	a.page = &ownPage{app: a}
	byID := map[string]*acl.View{}
	var ids []string
	for _, vc := range cfg.Vaults {
		v, err := vault.Open(vc.Path)
		if err != nil {
			a.Close()
			return nil, err
		}
		a.vaults = append(a.vaults, v)
		rules, err := acl.Compile(rulesOf(vc))
		if err != nil {
			a.Close()
			return nil, fmt.Errorf("vault %s: %w", vc.ID, err)
		}
		view := acl.NewView(vc.ID, v, rules, vc.ReadOnly)
		if dir, err := cache.Folder(o.Env, cfg.StateDir, v.Dir()); err == nil && !o.NoIndex {
			// Opened, not started: nothing is read or created before a call.
			view.Indexed(index.Open(v, dir, index.Options{
				NoWatch: !cfg.Index.Watch,
				Folder:  func() error { return cache.Prepare(dir, a.reals()...) },
				Report:  func(err error) { a.report(vc.ID, err) },
			}))
		}
		bin := trash.Find(v, o.Env.Home(), o.Env("XDG_DATA_HOME"))
		a.bins = append(a.bins, bin)
		view.Discards(bin)
		view.Recalls(func(ctx context.Context, moves []rename.Move) func(string, fingerprint.Content) ([]byte, bool) {
			return a.writers[vc.ID].recall(ctx, moves)
		})
		a.writers[vc.ID] = &writer{app: a, at: len(a.views), stop: make(chan struct{})}
		a.views = append(a.views, view)
		byID[vc.ID] = view
		ids = append(ids, vc.ID)
	}
	a.state, a.rules = &state{app: a}, newRulebook(a)
	meter := &telemetry.Meter{Log: o.Log}
	if a.meter = meter; cfg.Events.Spool {
		meter.Sink = a.spool
	}
	programs := run.New(run.Options{Paths: cfg.Programs.Paths(), Vaults: a.reals()})
	var err error
	a.all, err = tools.NewRegistry(domains(needs{
		config: cfg, views: a.views, version: o.Version, started: time.Now(), meter: meter, programs: programs, past: a.past, repos: a.repos(programs),
		served: func() *tools.Registry { return a.Registry },
	})...)
	if a.Registry = a.all; err == nil && !o.EveryTool {
		a.Registry, err = a.all.Only(lists(cfg.Tools))
	}
	if err == nil {
		a.Dispatcher, err = dispatch.New(dispatch.Config{
			Registry: a.Registry, Views: byID, Vaults: ids,
			MaxResponseBytes: cfg.Governor.MaxResponseBytes,
			Soft:             governor.Soft{ListBytes: cfg.Governor.SoftListBytes, NoteChars: cfg.Governor.SoftNoteChars},
			RequireCAS:       cfg.Writes.RequireCAS,
			Throttle:         &governor.Throttle{Limits: limits(cfg.Throttle)},
			Cursors:          governor.Cursors{Signer: a.state},
			Audit:            &audit.Log{Meter: meter, Log: o.Log, Keep: a.refused},
			Meter:            meter,
			Gate:             a,
			Applier:          a,
			Refresh:          a.rules.refresh,
			Log:              o.Log,
		})
	}
	if err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// Close closes the vaults and takes the server off the per-user list.
func (a *App) Close() {
	a.page.close()
	if a.state != nil {
		a.state.leave()
	}
	for _, w := range a.views {
		if ix := w.Index(); ix != nil {
			_ = ix.Close() // what it has not written it finds again
		}
	}
	for _, w := range a.writers {
		w.close()
	}
	for _, v := range a.vaults {
		_ = v.Close() // only open folders
	}
}

// Begin starts the vaults' indexes with the first call that is made; ctx is
// how long they work. Where there is no place for one, queries read the files.
func (a *App) Begin(ctx context.Context) {
	a.begin.Do(func() {
		for _, w := range a.writers {
			if err := w.settle(ctx); err != nil {
				a.opts.Log.Warn("a change that was interrupted could not be taken back yet", "err", err)
			}
		}
		for _, w := range a.views {
			if ix := w.Index(); ix != nil {
				ix.Start(ctx)
				go tidy(ctx, ix)
			}
		}
	})
}

// report says on stderr what the answers do not always tell.
func (a *App) report(vault string, err error) {
	if err == nil {
		a.opts.Log.Info("the index can be used again", "vault", vault)
		return
	}
	a.opts.Log.Warn("no index for now: queries read the files", "vault", vault, "reason", index.Reason(err), "err", err)
}

// reals are the real folders of the vaults.
func (a *App) reals() []string {
	reals := make([]string, len(a.vaults))
	for i, v := range a.vaults {
		reals[i] = v.Dir()
	}
	return reals
}

// Serve speaks MCP with the client that spawned this process until it closes
// its end or ctx ends. With its first call the server makes its secrets and
// lists itself for the companion commands.
func (a *App) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	life, end := context.WithCancel(ctx)
	defer end()
	hub := updates.NewHub(a.views, a.rules.refresh)
	if !hub.Serves() {
		hub = nil
	}
	s := mcpserver.New(mcpserver.Options{
		Version:  a.opts.Version,
		Registry: a.Registry,
		Surface:  facade.Surface(a.cfg.Surface),
		Do: func(ctx context.Context, r dispatch.Request) (*tools.Result, error) {
			entered := a.state.enter()
			a.Begin(life)
			defer entered()
			return a.Dispatcher.Do(ctx, r)
		},
		Caller:        auth.Caller{ID: "stdio", Scopes: auth.All},
		SeveralVaults: len(a.views) > 1,
		Prompts:       prompts.All(len(a.views) > 1),
		Updates:       hub,
		Instructions:  a.instructions(),
	})
	return stdio.Serve(ctx, s, in, out, stdio.Options{Log: a.opts.Log})
}

func rulesOf(vc config.Vault) []acl.Rule {
	rules := make([]acl.Rule, len(vc.Rules))
	for i, r := range vc.Rules {
		rules[i] = acl.Rule{
			Glob: r.Glob, Read: acl.Verb(r.Verbs.Read), Write: acl.Verb(r.Verbs.Write), Delete: acl.Verb(r.Verbs.Delete),
		}
	}
	return rules
}

func limits(t config.Throttle) map[string]governor.Limit {
	of := func(r config.Rate) governor.Limit { return governor.Limit{PerMinute: r.PerMinute, Burst: r.Burst} }
	return map[string]governor.Limit{
		"read": of(t.Read), "write": of(t.Write), "delete": of(t.Delete),
		"bulk": of(t.Bulk), "execute": of(t.Execute), "admin": of(t.Admin),
	}
}
