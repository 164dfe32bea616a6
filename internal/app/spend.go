package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"vault-mcp/hitl"
	"vault-mcp/internal/acl"
	"vault-mcp/internal/dispatch"
	"vault-mcp/tools"
	"vault-mcp/vault/change"
)

// Spend implements dispatch.Applier.
func (a *App) Spend(ctx context.Context, c *dispatch.Call) (ended func(error), err error) {
	w := a.writers[c.View.ID]
	if err := w.open(ctx); err != nil {
		return nil, err
	}
	r := &change.Record{
		ID: change.NewID(), Tool: c.Tool.Name, Caller: c.Caller.ID, Vault: c.View.ID, Call: c.Hash, Permit: c.Permit, Began: time.Now(), Summary: c.Asked.Summary,
	}
	err = w.store.Spend(ctx, r)
	if err == change.ErrNoGrant {
		return nil, w.gate.Unspent(ctx, c.Asked, c.Permit)
	}
	if err != nil {
		return nil, err
	}
	return func(err error) {
		r.Outcome, r.Ended = change.Applied, time.Now()
		if err != nil {
			r.Outcome = change.Failed
		}
		if err := w.store.Ended(context.WithoutCancel(ctx), r); err != nil {
			a.opts.Log.Warn("what became of an approved call could not be kept", "tool", r.Tool, "err", err)
		}
	}, nil
}

// aboutReading tells the gate what a call would read. Nothing of what is there
// passes through the client, not even whether there is something.
func aboutReading(h *hitl.Call, c *dispatch.Call) {
	h.Summary, h.Undo, h.Notes = readingSummary(c), "", nil
	h.Parts, h.Marks = [][]byte{fmt.Appendf(nil, "read dry=%t", c.DryRun())}, nil
	for _, b := range c.Bound {
		h.Parts = append(h.Parts, []byte(b.Named), []byte(b.Real), b.State)
		h.Marks = append(h.Marks, hitl.MarkOf(b.Named, append([]byte(b.Real+"\x00"), b.State...)))
	}
	aboutTargets(h, c.Targets)
	h.Preview = func(whole bool) string {
		if !whole {
			return ""
		}
		var s strings.Builder
		for _, b := range c.Bound {
			switch {
			case b.Real == "":
				fmt.Fprintf(&s, "%q: nothing is there\n", b.Named)
			case b.Dir:
				fmt.Fprintf(&s, "%q: the folder %q with %s, %d bytes\n", b.Named, b.Real, tools.Many(b.Files, "file", "files"), b.Size)
			default:
				fmt.Fprintf(&s, "%q: the file %q, %d bytes\n", b.Named, b.Real, b.Size)
			}
		}
		return s.String()
	}
}

// readingSummary says what a call does by what its caller knows of it already.
func readingSummary(c *dispatch.Call) string {
	what := "Run " + c.Tool.Name
	if c.DryRun() {
		what += " as a dry run"
	}
	for _, k := range c.View.Asked() {
		if k.Op == acl.Read && k.Named != "" {
			return fmt.Sprintf("%s on %q", what, k.Named)
		}
	}
	return what
}

// withheld keeps what a change would do to something that the rules want a person
// to read from its caller: only who decides sees it.
func withheld(h *hitl.Call, c *dispatch.Call) {
	whole, notes := h.Preview, append([]string{h.Summary, h.Undo}, h.Notes...)
	besides := c.Plan
	besides.Ask = nil
	h.Summary, h.Undo, h.Notes = readingSummary(c), "", nil
	h.Preview = func(all bool) string {
		if !all {
			return ""
		}
		lines := slices.Clone(notes)
		if reason := hitl.FloorOf(besides, c.Began, nil); reason != "" {
			lines = append(lines, "You would be asked in any case: "+reason+".")
		}
		return strings.Join(lines, "\n") + "\n" + whole(true)
	}
}
