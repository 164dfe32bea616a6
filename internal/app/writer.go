package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"vault-mcp/cache"
	"vault-mcp/cache/index"
	kept "vault-mcp/cache/state"
	"vault-mcp/hitl"
	"vault-mcp/internal/acl"
	"vault-mcp/internal/dispatch"
	"vault-mcp/internal/fault"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/internal/secrets"
	"vault-mcp/vault/change"
	"vault-mcp/vault/rename"
	"vault-mcp/vault/trash"
)

// writer applies the plans of one vault. Its state is opened with the first
// change.
type writer struct {
	app  *App
	at   int // which vault
	stop chan struct{}
	end  sync.Once

	mu      sync.Mutex
	store   *kept.Store
	applier *change.Applier
	gate    *hitl.Gate
}

// open opens the state of the vault, and takes back what a dead process left.
func (w *writer) open(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.store != nil {
		return nil
	}
	dir, err := w.app.state.folder(w.at)
	if err == nil {
		err = cache.Prepare(dir, w.app.reals()...)
	}
	if err != nil {
		return fault.New(fault.ReadOnly, "There is no state folder that can be written, so nothing can be changed.").Because(err)
	}
	// Not the server's own ring, which is in the first vault's folder: each state is
	// audited under one ring, whichever servers write it.
	keys, err := secrets.Open(dir)
	var s *kept.Store
	if err == nil {
		s, err = kept.Open(context.WithoutCancel(ctx), dir, keys)
	}
	if err != nil {
		return fault.New(fault.ReadOnly, "The state of the vault cannot be used, so nothing can be changed; the server's log has the reason.").Because(err)
	}
	if w.app.opts.Clock != nil {
		s.At(w.app.opts.Clock)
	}
	s.Tell(w.app.told)
	w.store, w.gate = s, w.app.gateOf(w.at, s)
	go w.prune(s)
	w.applier = &change.Applier{
		Disk: w.disk(), Journal: s.Journal(), Lock: s.Lock, Now: time.Now, Stop: w.stop,
	}
	return nil
}

// disk is where the files of the vault are.
func (w *writer) disk() change.Disk { return trash.Disk(w.app.vaults[w.at], w.app.bins[w.at]) }

func (w *writer) close() {
	w.end.Do(func() { close(w.stop) })
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.store != nil {
		_ = w.store.Close() // every transaction is on the disk
		w.store = nil
	}
}

// settle takes back what a dead process left, if nobody changes anything just
// now and there is a state at all.
func (w *writer) settle(ctx context.Context) error {
	dir, err := w.app.state.folder(w.at)
	if err != nil || !kept.Exists(dir) {
		return nil
	}
	if err := w.open(ctx); err != nil {
		return err
	}
	release, ok := w.store.TryLock()
	if !ok {
		return nil
	}
	defer release()
	if err := w.applier.Settle(ctx); err != nil {
		return err
	}
	acted, ok := w.store.TryLockEffects()
	if !ok {
		return nil
	}
	defer acted()
	return w.settleEffects(ctx)
}

// idle is how long after the first change of a process old versions are dropped:
// that looks through all of the state, and no call should have to wait for it.
const idle = time.Minute

// prune drops versions that are too old or too many, once in the life of a server.
func (w *writer) prune(s *kept.Store) {
	select {
	case <-time.After(idle):
	case <-w.stop:
		return
	}
	keep := w.app.cfg.Snapshots
	err := s.Prune(context.Background(), kept.Retention{
		Versions: keep.Versions, Age: time.Duration(keep.Days) * 24 * time.Hour, Bytes: int64(keep.MaxBytes),
	}, time.Now())
	select {
	case <-w.stop: // the server ends, and another one will do it
		return
	default:
	}
	if err != nil {
		w.app.opts.Log.Warn("old versions could not be dropped", "err", err)
	}
}

// recall implements acl.Recall over the journal.
func (w *writer) recall(ctx context.Context, moves []rename.Move) func(string, fingerprint.Content) ([]byte, bool) {
	dir, err := w.app.state.folder(w.at)
	if err != nil || !kept.Exists(dir) || w.open(ctx) != nil {
		return nil
	}
	id := ""
	for _, m := range moves {
		made, err := w.store.WayBack(ctx, m.To, m.From, m.Dir)
		if err != nil || made == "" || id != "" && made != id {
			return nil
		}
		id = made
	}
	return func(path string, now fingerprint.Content) ([]byte, bool) {
		before, ok, err := w.store.Before(ctx, id, path, now)
		return before, ok && err == nil
	}
}

// past is the state of a vault, for the tools of history.
func (a *App) past(ctx context.Context, view *acl.View) (*kept.Store, error) {
	w := a.writers[view.ID]
	if err := w.open(ctx); err != nil {
		return nil, err
	}
	return w.store, nil
}

// Apply implements dispatch.Applier.
func (a *App) Apply(ctx context.Context, c *dispatch.Call) (string, error) {
	w := a.writers[c.View.ID]
	if err := w.open(ctx); err != nil {
		return "", err
	}
	r := &change.Record{
		ID: change.NewID(), Tool: c.Tool.Name, Caller: c.Caller.ID, Vault: c.View.ID, Call: c.Hash, Key: c.Key(), Permit: c.Permit, Undoes: c.Plan.Undoes,
	}
	ix := c.View.Index()
	var written func()
	defer func() {
		if written != nil {
			written()
		}
	}()
	err := w.applier.Apply(ctx, r, c.Plan, func(ctx context.Context) (change.Plan, error) {
		if ix != nil && written == nil {
			written = ix.Expect(ctx, coming(c.Plan))
		}
		// Where the index says which files there are to edit, it must not be behind.
		if ix != nil && c.Plan.Searched {
			if err := ix.Current(ctx); err != nil && !errors.Is(err, index.ErrNotReady) { // without it the files are read
				return change.Plan{}, err
			}
		}
		p, err := c.Again(ctx)
		if err == nil {
			p.Warnings = append(p.Warnings, a.Foresee(c, p)...)
			r.Receipt, err = c.Complete(p, r.ID)
		}
		return p, err
	})
	if err == nil || r.Outcome != "" && r.Outcome != change.NotApplied {
		a.changed(ctx, c.View, r)
	}
	switch {
	case err == kept.ErrKeyTaken:
		err = fault.New(fault.IdempotencyInFlight, "Another call with this idempotency key came first.")
	case err == change.ErrNoGrant:
		err = w.gate.Unspent(ctx, c.Asked, c.Permit)
	case c.Permit != nil && r.Outcome == change.NotApplied && fault.Of(err).Code == fault.ConcurrentModification:
		err = a.drifted(ctx, c) // found between the plan and the first byte
	case err != nil && c.Permit != nil && r.Outcome == "":
		err = a.Lost(ctx, c, err) // it can no longer be planned
	}
	return r.ID, err
}

// coming are the texts that a plan writes.
func coming(p change.Plan) (files []index.Coming) {
	for i := range p.Edits {
		if e := &p.Edits[i]; e.Content != nil && !trash.Is(e.Path) {
			files = append(files, index.Coming{Path: e.Path, Content: e.Content})
		}
	}
	return files
}

// Foresee implements dispatch.Applier: it warns of files that will no longer be
// the same as another name of theirs, as far as the caller may read them.
func (a *App) Foresee(c *dispatch.Call, p change.Plan) []string {
	w := a.writers[c.View.ID]
	paths := slices.DeleteFunc(change.OtherNames(w.disk(), p.Edits), func(p string) bool { return !c.View.Sees(p) })
	switch n := len(paths); n {
	case 0:
		return nil
	case 1:
		return []string{fmt.Sprintf("%q has another name (a hard link), which keeps the old content.", paths[0])}
	default:
		return []string{fmt.Sprintf("%d files have other names (hard links), which keep the old content: %q and others.", n, paths[0])}
	}
}

// changed lets the index know what was written before the call returns.
func (a *App) changed(ctx context.Context, view *acl.View, r *change.Record) {
	ix := view.Index()
	if ix == nil {
		return
	}
	paths := slices.DeleteFunc((change.Plan{Edits: r.Edits}).Paths(), trash.Is)
	if err := ix.Changed(ctx, paths); err != nil {
		a.opts.Log.Warn("the index could not take in a change and compares all files", "vault", view.ID, "err", err)
	}
}

// Seen implements dispatch.Applier.
func (a *App) Seen(ctx context.Context, c *dispatch.Call) (json.RawMessage, error) {
	w := a.writers[c.View.ID]
	if err := w.open(ctx); err != nil {
		return nil, err
	}
	seen := func() (*change.Record, error) {
		return w.store.Seen(ctx, c.Caller.ID, c.Key(), c.Tool.Name, c.Hash, time.Now())
	}
	r, err := seen()
	if err != nil && fault.Of(err).Code == fault.IdempotencyInFlight {
		// Its process may be dead.
		if err = w.settle(ctx); err == nil {
			r, err = seen()
		}
	}
	if err != nil || r == nil {
		return nil, err
	}
	named := slices.DeleteFunc(slices.Clone(r.Edits), func(e change.Edit) bool { return e.Upkeep })
	for _, p := range (change.Plan{Edits: named}).Paths() {
		// What a person has approved the caller was told then.
		if !c.View.Knows(p) && (r.Permit == nil || c.View.Judge(acl.Read, p).Verb != acl.Ask) {
			return nil, fault.New(fault.ACLDenied, "The folder rules no longer let the answer be seen.")
		}
	}
	return r.Receipt, nil
}
