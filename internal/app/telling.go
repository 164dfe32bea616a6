package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"vault-mcp/cache"
	kept "vault-mcp/cache/state"
	"vault-mcp/hitl"
)

// told makes events of what was kept: an approval is spent once for each run,
// whoever made it, and given back by whoever found that nothing was written.
func (a *App) told(rows []kept.AuditRow) {
	for _, r := range rows {
		name := ""
		switch {
		case r.Kind == kept.AuditBegin && r.Grant != "":
			name = hitl.EventConsumed
		case r.Kind == kept.AuditRelease:
			name = hitl.EventReleased
		default:
			continue
		}
		a.meter.Event(context.Background(), name, "tool", r.Tool, "caller", r.Caller, "vault", r.Vault, "change_id", r.Change)
	}
}

// spool keeps an event in the state folder of the first vault.
func (a *App) spool(line []byte) error {
	a.state.keys()
	if a.state.dir == "" {
		return errors.New("there is no state folder")
	}
	return cache.AppendLine(filepath.Join(a.state.dir, cache.EventsFile), line, int64(a.cfg.Events.MaxBytes))
}

// refused audits that the gate has refused a call.
func (a *App) refused(ctx context.Context, row kept.AuditRow) error {
	w := a.writers[row.Vault]
	if w == nil {
		return nil
	}
	if err := w.open(ctx); err != nil {
		return err
	}
	return w.store.Refused(ctx, row)
}

// Vaults are the ids of the vaults in the order of the config.
func (a *App) Vaults() []string {
	ids := make([]string, len(a.views))
	for i, v := range a.views {
		ids[i] = v.ID
	}
	return ids
}

// Kept is the state of the vault with an id, for the commands that look into it;
// nil where nothing was kept yet.
func (a *App) Kept(ctx context.Context, id string) (*kept.Store, error) {
	w := a.writers[id]
	if w == nil {
		return nil, fmt.Errorf("there is no vault %q", id)
	}
	dir, err := a.state.folder(w.at)
	if err != nil || !kept.Exists(dir) {
		return nil, err
	}
	if err := w.open(ctx); err != nil {
		return nil, errors.Join(err, errors.Unwrap(err)) // the reason as well: it is a person who reads it
	}
	return w.store, nil
}
