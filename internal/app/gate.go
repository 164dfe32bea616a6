package app

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"vault-mcp/cache"
	kept "vault-mcp/cache/state"
	"vault-mcp/hitl"
	"vault-mcp/internal/config"
	"vault-mcp/internal/dispatch"
	"vault-mcp/tools"
	"vault-mcp/vault/change"
)

// lately is how far back small steps count as one.
const lately = 10 * time.Minute

// lookEvery is how often a call that waits looks whether somebody has answered
// at a console: a person does not notice it.
const lookEvery = 200 * time.Millisecond

// gateOf is the gate before the calls on a vault.
func (a *App) gateOf(vault int, s *kept.Store) *hitl.Gate {
	e := a.cfg.Elicit
	return &hitl.Gate{
		Store: s.Requests(), Keys: ring{a.state}, Memory: &a.memory, Life: e.TTL.Duration(),
		Takes: func(r hitl.Route) bool { return e.Takes(wayOf(r)) }, Shim: e.LegacyShim, Watched: a.watched(s), Patience: cmp.Or(a.opts.Patience, hitl.Patience), Pause: lookEvery,
		Pages: a.pagesOf(s),
		Event: a.meter.Event,
	}
}

// wayOf is the way of approving, as the config calls it, that a route is.
func wayOf(r hitl.Route) config.Route {
	if r.Person() {
		return config.Route(r)
	}
	return "form"
}

// watched tells whether a console or page is open that shows the requests of a
// vault. One that watches the list of servers will show them in a moment.
func (a *App) watched(s *kept.Store) func() bool {
	home, err := cache.Home(a.opts.Env)
	answers := err == nil && (a.cfg.Elicit.Takes("console") || a.cfg.Elicit.Takes("page"))
	return func() bool { return s.Watched() || answers && cache.Watched(home) }
}

// ring is the key ring, opened when it is first used.
type ring struct{ *state }

// Key implements hitl.Keys.
func (r ring) Key(label string) (kid string, key [32]byte) { return r.keys().Key(label) }

// KeyOf implements hitl.Keys.
func (r ring) KeyOf(label, kid string) ([32]byte, bool) { return r.keys().KeyOf(label, kid) }

// asked is a call as the gate sees it. It is made once for a call, so that what
// came back with a retry is kept.
func (a *App) asked(c *dispatch.Call) *hitl.Call {
	if c.Asked == nil {
		c.Asked = &hitl.Call{
			Vault: c.View.ID, Tool: c.Tool.Name, Caller: c.Caller.ID, Hash: c.Hash, Token: c.Token(), Client: c.Request.Reach,
			Knows: func(name string) bool { return c.Targets.Word(name) || c.View.Knows(name) }, Dry: c.DryRun(),
		}
	}
	return c.Asked
}

// Answered implements dispatch.Gate.
func (a *App) Answered(ctx context.Context, c *dispatch.Call) error {
	if c.Request.Reach.State == "" && c.Token() == "" || c.DryRun() && c.Titled() == "" && !c.View.MayAskToRead() {
		return nil // nearly always: the state is not even opened
	}
	w := a.writers[c.View.ID]
	if err := w.open(ctx); err != nil {
		return err
	}
	return w.gate.Answered(ctx, a.asked(c))
}

// Confirm implements dispatch.Gate.
func (a *App) Confirm(ctx context.Context, c *dispatch.Call) error {
	reason := c.Reading
	if reason == "" && c.Acts() {
		reason = a.floor(ctx, c)
	}
	chosen := c.Asked.Chosen()
	if reason == "" && chosen == "" {
		return nil
	}
	w := a.writers[c.View.ID]
	if err := w.open(ctx); err != nil {
		return err
	}
	h := a.asked(c)
	h.Floor = reason
	about(h, c)
	if chosen != "" {
		h.Parts = chosenParts(c, chosen, h.Parts, nil)
	}
	permit, err := w.gate.Confirm(ctx, h)
	c.Permit = permit
	return err
}

// floor says why a call needs a person, or "".
func (a *App) floor(ctx context.Context, c *dispatch.Call) string {
	if reason := c.Tool.Floor.Reason(); reason != "" {
		return reason
	}
	w := a.writers[c.View.ID]
	return hitl.FloorOf(c.Plan, c.Began, func(path string) ([]byte, bool) {
		if dir, err := a.state.folder(w.at); err != nil || !kept.Exists(dir) || w.open(ctx) != nil {
			return nil, false
		}
		text, ok, err := w.store.Earlier(ctx, path, time.Now().Add(-lately))
		return text, ok && err == nil
	})
}

// about tells the gate what a call would do.
func about(h *hitl.Call, c *dispatch.Call) {
	if c.Reading != "" {
		aboutReading(h, c)
		return
	}
	if c.View.AsksToRead() {
		defer withheld(h, c)
	}
	if c.Tool.Kind == tools.KindEffect {
		aboutEffect(h, c)
		return
	}
	p := c.Plan
	h.Summary, h.Undo = p.Summary, "It can be taken back with undo_change."
	h.Parts, h.Marks, h.Notes = p.Fingerprint(), nil, nil
	for i, e := range p.Essential() {
		name := e.Path
		if strings.HasPrefix(name, "/") {
			name = "" // outside the vault: of this machine, and for nobody to see
		}
		h.Marks = append(h.Marks, hitl.MarkOf(name, h.Parts[i]))
		if e.Kind == change.Remove && !e.Dir && e.To == "" && e.Old == nil {
			h.Undo = "It cannot be taken back."
		}
	}
	for _, b := range p.Bound {
		h.Marks = append(h.Marks, hitl.MarkOf("", b))
	}
	// What the system's trash notes beside a file has a path of this machine in it.
	// A folder that has to be made has nothing to show.
	edits := slices.DeleteFunc(slices.Clone(p.Edits), func(e change.Edit) bool { return strings.HasPrefix(e.Path, "/") || e.Kind == change.Mkdir })
	show := preview(edits)
	h.Preview = func(whole bool) string {
		return show(func(path string) bool { return whole || c.View.Sees(path) })
	}
	if len(edits) > 1 {
		added, removed, links := 0, 0, 0
		for i := range edits {
			if edits[i].Upkeep {
				links++
				continue
			}
			f, _ := tools.FileOf(&edits[i])
			added, removed = added+f.Added, removed+f.Removed
		}
		text := fmt.Sprintf("%d files; %d lines added and %d removed.", len(edits), added, removed)
		if links > 0 {
			text = fmt.Sprintf("%d files, of which %d only have links kept right; %d lines added and %d removed in the others.", len(edits), links, added, removed)
		}
		h.Notes = append(h.Notes, text)
	}
	h.Notes = append(h.Notes, p.Warnings...)
	if p.Aside != "" {
		h.Notes = append(h.Notes, p.Aside)
	}
}

// aboutEffect tells the gate what an effect would do, by its own word.
func aboutEffect(h *hitl.Call, c *dispatch.Call) {
	t := c.Targets
	h.Summary, h.Undo, h.Notes = cmp.Or(t.Summary, "Run "+c.Tool.Name), t.Undo, append(slices.Clone(t.Notes), c.Plan.Warnings...)
	h.Parts, h.Marks = [][]byte{[]byte(c.Tool.Name)}, nil
	aboutTargets(h, t)
	h.Preview = func(whole bool) string {
		if t.Preview == nil {
			return ""
		}
		return t.Preview(func(path string) bool { return whole || path != "" && c.View.Sees(path) })
	}
}

// aboutTargets binds a confirmation to targets.
func aboutTargets(h *hitl.Call, t hitl.Targets) {
	for _, i := range t.Items {
		h.Parts = append(h.Parts, []byte(i.Name), i.State)
		h.Marks = append(h.Marks, hitl.MarkOf(i.Name, i.State))
	}
}

// preview shows the edits of files that may be shown, one diff after the other, and
// no more of them than are kept. The diffs are made once, when first shown.
func preview(edits []change.Edit) func(shown func(path string) bool) string {
	diffs := make([]*string, len(edits))
	return func(shown func(path string) bool) string {
		var b strings.Builder
		for i := range edits {
			if b.Len() > hitl.MaxPreview {
				break
			}
			if !shown(edits[i].Path) {
				continue
			}
			if diffs[i] == nil {
				diffs[i] = new(tools.DiffOf(&edits[i]))
			}
			b.WriteString(*diffs[i])
		}
		return b.String()
	}
}

// Drifted implements dispatch.Gate.
func (a *App) Drifted(ctx context.Context, c *dispatch.Call, now change.Plan) error {
	h := a.asked(c)
	was := h.Marks
	c.Plan = now
	about(h, c)
	return a.writers[c.View.ID].gate.Drifted(ctx, h, c.Permit, was)
}

// drifted is Drifted for a change that another program has disturbed after it
// was planned, and before anything was written.
func (a *App) drifted(ctx context.Context, c *dispatch.Call) error {
	now, err := c.Again(ctx)
	if err != nil {
		return a.Lost(ctx, c, err)
	}
	return a.Drifted(ctx, c, now)
}

// Lost implements dispatch.Gate.
func (a *App) Lost(ctx context.Context, c *dispatch.Call, err error) error {
	w := a.writers[c.View.ID]
	if w.store == nil && c.Token() == "" && c.Request.Reach.State == "" {
		if dir, e := a.state.folder(w.at); e != nil || !kept.Exists(dir) {
			return err // nobody was ever asked
		}
	}
	if e := w.open(ctx); e != nil {
		return err
	}
	h := a.asked(c)
	if chosen := h.Chosen(); chosen != "" {
		h.Parts = chosenParts(c, chosen, nil, err)
	}
	return w.gate.Lost(ctx, h, c.Permit, err)
}
