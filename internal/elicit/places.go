// Package elicit is the way by which a person answers from a terminal: it finds
// the state folders of this account, decides whether this process may answer
// for a person, shows requests, and keeps what the person says. Nothing here is
// reachable by a tool.
package elicit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"vault-mcp/cache"
	"vault-mcp/cache/state"
	"vault-mcp/internal/audit"
	"vault-mcp/internal/config"
	"vault-mcp/internal/secrets"
	"vault-mcp/internal/telemetry"
)

// Desk is where a person answers. Close ends its use.
type Desk struct {
	// Env is the environment, and Config a further config file or vault folder, or
	// "".
	Env    config.Env
	Config string
	// Terminal opens the person's terminal; it fails with ErrNoTerminal.
	Terminal func() (*Terminal, error)

	// From are the processes from which the person's answer descends besides this one,
	// where they answer by another one.
	From []cache.Process

	places map[string]*place // by their folder
	house  func()            // ends the watch of the list of servers, if it is watched
}

// place is a state folder with what is known of it.
type place struct {
	desk  *Desk
	dir   string
	store *state.Store // nil while there is no state
	// vaults are those whose state it is, as the servers' list and configs tell.
	vaults []cache.ServedVault
	// source is what commands take as --vault for them, or "" if nobody said so.
	source string
	// rules are the configs in effect, and parents who spawned servers with them.
	rules   []config.Elicit
	parents []parent
	// meter keeps events where a server of these vaults does, or is nil.
	meter *telemetry.Meter
	// wrong is why it cannot be used, or nil.
	wrong error
	watch func() // ends the watch, if it is watched
}

type parent struct {
	cache.Process
	shell bool // allow_client_shell of its server
}

// Account is the name of the person's account, which attests what they answer.
func Account() string {
	u, err := user.Current()
	if err != nil {
		return fmt.Sprintf("uid %d", os.Getuid())
	}
	return u.Username
}

// Look finds the state folders there are now: those of running servers, that of
// the config, and all in the usual places. It can be called again and again.
func (d *Desk) Look(ctx context.Context) error {
	if d.places == nil {
		d.places = map[string]*place{}
	}
	for _, p := range d.places {
		p.vaults, p.source, p.rules, p.parents, p.meter, p.wrong = nil, "", nil, nil, nil, nil
	}
	servers, err := cache.List(d.Env)
	if err != nil {
		return err
	}
	for _, s := range servers {
		d.server(s)
	}
	if err := d.configured(); err != nil {
		return err
	}
	for _, dir := range cache.Folders(d.Env) {
		if state.Exists(dir) {
			d.at(dir)
		}
	}
	for _, p := range d.places {
		p.open(ctx)
	}
	return nil
}

// server adds what a running server says of its vaults.
func (d *Desk) server(s cache.Entry) {
	cfg := config.Default()
	var wrong error
	if s.Config != "" {
		if is, err := d.Env.Load(s.Config); err == nil {
			cfg = *is
		} else { // what it forbids is not known
			cfg, wrong = config.Config{}, fmt.Errorf("the config of a server cannot be read: %w", err)
		}
	}
	for _, v := range s.Vaults {
		if v.StateDir == "" {
			continue
		}
		p := d.at(v.StateDir)
		p.vaults = append(p.vaults, v)
		p.source = cmp.Or(p.source, s.Config, v.Path)
		p.parents = append(p.parents, parent{s.Parent, cfg.Elicit.AllowClientShell})
		p.rules = append(p.rules, cfg.Elicit)
		p.tell(s.StateDir, cfg.Events)
		p.wrong = errors.Join(p.wrong, wrong)
	}
}

// configured adds the vaults of the config that was named.
func (d *Desk) configured() error {
	if d.Config == "" {
		return nil
	}
	cfg, err := d.Env.Load(d.Config)
	if err != nil {
		return err
	}
	own := "" // the folder of the first vault
	for _, v := range cfg.Vaults {
		dir, err := cache.Folder(d.Env, cfg.StateDir, v.Real)
		if err != nil {
			return err
		}
		p := d.at(dir)
		p.vaults = append(p.vaults, cache.ServedVault{ID: v.ID, Path: v.Real, StateDir: dir})
		p.source = cmp.Or(p.source, cfg.File, v.Real)
		p.rules = append(p.rules, cfg.Elicit)
		if own == "" {
			own = dir
		}
		p.tell(own, cfg.Events)
	}
	return nil
}

// tell keeps events of a place in a server's own state folder, if its config wants
// that. An answer is one event, so of several servers it is the first.
func (p *place) tell(dir string, events config.Events) {
	if p.meter == nil && events.Spool {
		p.meter = &telemetry.Meter{Sink: func(line []byte) error {
			return cache.AppendLine(filepath.Join(dir, cache.EventsFile), line, int64(events.MaxBytes))
		}}
	}
}

// told keeps the events of what was written.
func (p *place) told(rows []state.AuditRow) {
	if p.meter != nil {
		audit.Answers(p.meter, rows)
	}
}

// at is the place of a folder, however it is spelled.
func (d *Desk) at(dir string) *place {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	p := d.places[dir]
	if p == nil {
		p = &place{desk: d, dir: dir}
		d.places[dir] = p
	}
	return p
}

// open opens the state of a place, if there is one and it is this account's.
func (p *place) open(ctx context.Context) {
	err := cache.Private(p.dir)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		p.wrong = errors.Join(p.wrong, err)
		return
	case p.store != nil || !state.Exists(p.dir):
		return
	}
	keys, err := secrets.Open(p.dir)
	if err == nil {
		p.store, err = state.Open(ctx, p.dir, keys)
	}
	if err != nil {
		p.wrong = errors.Join(p.wrong, err)
		return
	}
	p.store.Tell(p.told)
}

// Close ends the use of all states.
func (d *Desk) Close() {
	d.leaveHouse()
	for _, p := range d.places {
		if p.watch != nil {
			p.watch()
		}
		if p.store != nil {
			_ = p.store.Close() // every transaction is on the disk
		}
	}
}

// inOrder are the places, ordered by their folders.
func (d *Desk) inOrder() []*place {
	var all []*place
	for _, p := range d.places {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *place) int { return strings.Compare(a.dir, b.dir) })
	return all
}

// lineage does not change while a process runs, as far as it matters here.
var lineage = sync.OnceValue(cache.Lineage)

// Vaults are the folders of the vaults that the last Look has found.
func (d *Desk) Vaults() (list []string) {
	for _, p := range d.inOrder() {
		for _, v := range p.vaults {
			list = append(list, v.Path)
		}
	}
	return list
}

// ByClient reports whether this process descends from what spawned one of the
// servers that the last Look has found, whose configs do not allow that.
func (d *Desk) ByClient() bool {
	for _, p := range d.places {
		if p.byClient() {
			return true
		}
	}
	return false
}

func (p *place) byClient() bool {
	return slices.ContainsFunc(p.parents, func(from parent) bool {
		return !from.shell && (below(from.Process) || slices.ContainsFunc(p.desk.From, from.Is))
	})
}

// ErrByClient says why a command does not answer for a person.
var ErrByClient = errors.New("this command runs below the program that started the server, so it may not answer for a person: run it in a terminal of your own, or set elicit.allow_client_shell")

// below reports whether this process descends from another one.
func below(other cache.Process) bool { return slices.ContainsFunc(lineage(), other.Is) }

// refused says why nobody may answer by a route here, or nil. All configs that
// are in effect have to allow it.
func (p *place) refused(route config.Route) error {
	if p.wrong != nil {
		return p.wrong
	}
	if p.byClient() {
		return ErrByClient
	}
	for _, r := range p.rules {
		if !r.Takes(route) {
			return fmt.Errorf("the config does not have %q in elicit.routes", route)
		}
	}
	return nil
}

// unattended reports whether every config in effect lets the command approve
// without a terminal.
func (p *place) unattended() bool {
	return len(p.rules) > 0 && !slices.ContainsFunc(p.rules, func(r config.Elicit) bool { return !r.Unattended })
}

// life is how long an approval is good here.
func (p *place) life() time.Duration {
	life := config.Default().Elicit.TTL.Duration()
	for i, r := range p.rules {
		if t := r.TTL.Duration(); i == 0 || t < life {
			life = t
		}
	}
	return life
}

// holds reports whether a vault, named by its id or its folder, may have its
// state here; real is the folder's real path, or "" if it names none.
func (p *place) holds(real string) bool {
	if slices.ContainsFunc(p.vaults, func(v cache.ServedVault) bool { return v.Path == real }) {
		return true
	}
	return cache.Belongs(p.dir, real)
}
