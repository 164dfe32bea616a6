package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"vault-mcp/cache"
	"vault-mcp/internal/config"
	"vault-mcp/internal/run"
)

// setup is a config with the vaults in it.
type setup struct {
	cfg      *config.Config
	programs *run.Programs
}

// setups are the configs that are looked at: the one that was named, else those of
// the running servers and of the clients' entries, else the vaults that Obsidian
// knows.
func (e *exam) setups() (all []setup) {
	var args []string
	add := func(arg string) {
		if arg != "" && !slices.Contains(args, arg) {
			args = append(args, arg)
		}
	}
	if add(e.o.Config); len(args) == 0 {
		running, _ := cache.List(e.o.Env) // what is wrong with the list is told by servers
		for _, s := range running {
			if add(s.Config); s.Config == "" {
				for _, v := range s.Vaults {
					add(v.Path)
				}
			}
		}
		for _, arg := range e.served() {
			add(arg)
		}
		if len(args) == 0 {
			for _, dir := range e.known() {
				add(dir)
			}
		}
	}
	for _, arg := range args {
		if s := e.load(arg); s != nil && !slices.ContainsFunc(all, func(o setup) bool { return same(o.cfg, s.cfg) }) {
			all = append(all, *s)
		}
	}
	if len(args) == 0 {
		e.general().off("config.none", "no vault was named, no server runs, no client has an entry of this program, and Obsidian knows no vault",
			"name the folder of a vault or a config file: vault-mcp doctor PATH")
	}
	return all
}

// same reports whether two configs are one: a bare folder may be spelled in two ways.
func same(a, b *config.Config) bool {
	return a.File == b.File && (a.File != "" || a.Vaults[0].Real == b.Vaults[0].Real)
}

// load reads one config, or tells every problem in it.
func (e *exam) load(arg string) *setup {
	s := e.general()
	cfg, err := e.o.Env.Load(arg)
	if err != nil {
		id, fix := "config.problem", "correct it, then: vault-mcp config validate "+cache.ShellQuote(arg)
		if info, serr := os.Stat(arg); errors.Is(serr, fs.ErrNotExist) || serr == nil && info.IsDir() {
			id, fix = "vault.open", "give the folder that you open as a vault in Obsidian"
		}
		for line := range strings.Lines(err.Error()) {
			s.broken(id, oneLine(line), fix)
		}
		return nil
	}
	if cfg.File != "" {
		s.ok("config.valid", "%s: %s", cfg.File, plural(len(cfg.Vaults), "vault"))
	}
	var reals []string
	for _, v := range cfg.Vaults {
		reals = append(reals, v.Real)
	}
	return &setup{cfg, run.New(run.Options{Paths: cfg.Programs.Paths(), Vaults: reals})}
}

// setup checks the vaults of a config, with the state of each.
func (e *exam) setup(ctx context.Context, s setup) {
	var reals []string
	for _, v := range s.cfg.Vaults {
		reals = append(reals, v.Real)
	}
	for _, v := range s.cfg.Vaults {
		at := subject{e: e, vault: v.Real}
		count := at.files(ctx, v)
		if count == nil {
			continue
		}
		dir, err := cache.Folder(e.o.Env, s.cfg.StateDir, v.Real)
		if err != nil {
			at.broken("state.usable", oneLine(err.Error()), "set HOME, or state_dir in a config file")
			continue
		}
		at.state(ctx, dir, reals)
		at.index(ctx, s.cfg.Index, dir, count)
		at.repository(s, v)
	}
}
