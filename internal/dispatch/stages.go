package dispatch

import (
	"context"
	"errors"
	"slices"
	"time"

	"vault-mcp/governor"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/vault/change"
)

// bind finds the tool and decodes its arguments strictly.
func (d *Dispatcher) bind(_ context.Context, c *Call) error {
	if err := d.unwrap(c); err != nil {
		return err
	}
	t := d.Registry.Tool(c.Request.Tool)
	if t == nil {
		return d.noTool(c.Request.Tool)
	}
	only := ""
	if len(d.Vaults) == 1 {
		only = d.Vaults[0]
	}
	return t.Bind(&c.Call, c.Request.Args, only)
}

// caller refuses what this caller may never do, and finds its vault.
func (d *Dispatcher) caller(_ context.Context, c *Call) error {
	if !c.Caller.Scopes.Has(c.Tool.Scope) {
		return fault.New(fault.Forbidden, "The tool needs the scope %s.", c.Tool.Scope)
	}
	if d.Registry.ReadOnly && c.Tool.Mutates() {
		return fault.New(fault.ReadOnly, "The server is read-only.")
	}
	if d.Refresh != nil {
		d.Refresh()
	}
	if !c.Tool.NeedsVault() {
		return nil
	}
	id := c.VaultID()
	view := d.Views[id]
	if view == nil || !c.Caller.MayUse(id) {
		if id == "" {
			return fault.New(fault.ValidationError, `The argument "vault" is missing: more than one vault is configured.`).With("argument", "vault")
		}
		return fault.New(fault.VaultNotFound, "There is no vault %.100q.", id)
	}
	c.View = view.ForCall()
	if c.View.ReadOnly && c.Tool.Mutates() && c.Tool.Scope != auth.Admin {
		return fault.New(fault.ReadOnly, "The vault %q is read-only.", id)
	}
	return nil
}

// answer looks at what a person answered to an earlier round of the call.
func (d *Dispatcher) answer(ctx context.Context, c *Call) error {
	if c.View == nil || d.Gate == nil {
		return nil
	}
	return d.Gate.Answered(ctx, c)
}

// folders judges the paths that the arguments name.
func (d *Dispatcher) folders(ctx context.Context, c *Call) error { return c.Resolve(ctx) }

// replay answers a call again whose idempotency key was seen: without a second
// effect, cost or confirmation.
func (d *Dispatcher) replay(ctx context.Context, c *Call) error {
	if c.Tool.Kind == tools.KindQuery || c.Key() == "" || c.DryRun() {
		return nil
	}
	receipt, err := d.Applier.Seen(ctx, c)
	if err != nil || receipt == nil {
		return err
	}
	if c.result, err = c.Call.Render(receipt); err == nil {
		err = errAnswered
	}
	return err
}

// errAnswered ends a call that has its answer before the last stage.
var errAnswered = errors.New("answered")

// throttle draws one call from the caller's bucket.
func (d *Dispatcher) throttle(_ context.Context, c *Call) error {
	vault := "" // one that a call names and nobody has checked would be a bucket of its own
	if c.View != nil {
		vault = c.View.ID
	}
	return d.Throttle.Take(c.Caller.ID, c.Tool.Scope.Class(), vault)
}

// plan makes a change's plan, or lists an effect's targets.
func (d *Dispatcher) plan(ctx context.Context, c *Call) error {
	err := d.planned(ctx, c)
	if c.withhold(ctx, err) {
		return nil
	}
	if err != nil && c.Tool.Kind != tools.KindQuery && !c.DryRun() {
		return d.Gate.Lost(ctx, c, err)
	}
	return err
}

func (d *Dispatcher) planned(ctx context.Context, c *Call) (err error) {
	switch c.Tool.Kind {
	case tools.KindChange:
		if c.Plan, c.outcome, err = c.Tool.Plan(ctx, &c.Call); err == nil {
			err = d.versioned(c)
		}
	case tools.KindEffect:
		c.Targets, err = c.Tool.Targets(ctx, &c.Call)
	}
	return err
}

// versioned refuses a change that replaces text and does not say of which
// version, where the config wants that.
func (d *Dispatcher) versioned(c *Call) error {
	if !d.RequireCAS || !c.Tool.Takes("prev_hash") || c.Has("prev_hash") {
		return nil
	}
	for _, e := range c.Plan.Edits {
		if (e.Kind == change.Put || e.Kind == change.Remove) && !e.Upkeep {
			return fault.New(fault.InvalidInput, "The server wants prev_hash for every change of an existing file: read %q first.", e.Path).With("argument", "prev_hash")
		}
	}
	return nil
}

// confirm runs on, asks a person, or refuses.
func (d *Dispatcher) confirm(ctx context.Context, c *Call) error {
	defer c.seal()
	if c.readsOnly() {
		return d.confirmReading(ctx, c)
	}
	if !c.Acts() && c.Asked.Chosen() == "" {
		return nil
	}
	return d.Gate.Confirm(ctx, c)
}

// run reads, applies the plan, or acts.
func (d *Dispatcher) run(ctx context.Context, c *Call) error {
	out, err := d.spending(ctx, c, func() (any, error) {
		switch c.Tool.Kind {
		case tools.KindChange:
			return d.change(ctx, c)
		case tools.KindEffect:
			if !c.DryRun() {
				return d.Applier.Act(ctx, c)
			}
		}
		return query(ctx, c)
	})
	if err != nil {
		return err
	}
	c.result, err = c.Call.Render(out)
	return err
}

// tries is how often a change is planned anew because the vault has changed in
// between.
const tries = 5

// change applies a plan. One that needs no person is simply made again when the
// vault has changed since; one that a person approved is not.
func (d *Dispatcher) change(ctx context.Context, c *Call) (any, error) {
	id := ""
	if !c.DryRun() && !c.Plan.Empty() {
		var err error
		for try := 1; ; try++ {
			if id, err = d.Applier.Apply(ctx, c); err == nil {
				break
			}
			moved, ok := errors.AsType[*change.DriftError](err)
			if !ok {
				return nil, err
			}
			moved.Plan.Bound = withoutMore(moved.Plan.Bound)
			if c.Permit != nil || c.Asked.Chosen() != "" {
				return nil, d.Gate.Drifted(ctx, c, moved.Plan)
			}
			if try == tries {
				return nil, drifted(c, moved)
			}
			c.Plan = moved.Plan
			c.View.Reopen() // until confirm
			if err := d.planFolders(ctx, c); err != nil {
				return nil, err
			}
			if c.withheld != nil {
				return nil, drifted(c, moved)
			}
			if err := d.confirm(ctx, c); err != nil {
				return nil, err
			}
			if c.Plan.Empty() {
				break
			}
		}
	}
	if id == "" {
		c.Plan.Warnings = append(c.Plan.Warnings, d.Applier.Foresee(c, c.Plan)...)
		_, err := c.Complete(c.Plan, "")
		return c.outcome, err
	}
	return c.outcome, nil
}

// drifted is the fault of a vault that does not keep still.
func drifted(c *Call, moved *change.DriftError) error {
	paths := slices.DeleteFunc(slices.Clone(moved.Paths), func(p string) bool { return !c.View.Sees(p) })
	return fault.New(fault.ConcurrentModification, "The notes were changed by another program while the change was being planned; nothing was changed.").
		With("paths", paths).Because(moved)
}

// queryTime is how long a query may take: clients give up after 60 seconds.
const queryTime = 50 * time.Second

// query runs a query within its time.
func query(ctx context.Context, c *Call) (any, error) {
	in, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	out, err := c.Tool.Run(in, &c.Call)
	if err != nil && in.Err() != nil && ctx.Err() == nil {
		return nil, fault.New(fault.OperationTimeout, "The call was not done after %d seconds.", int(queryTime.Seconds())).Because(err)
	}
	return out, err
}

// govern refuses an answer over the budget. What a change or an effect did is
// never turned into an error: its answer is cut to the fact.
func (d *Dispatcher) govern(_ context.Context, c *Call) error {
	size := c.result.Size()
	if size <= c.Budget {
		return nil
	}
	if c.Tool.Kind != tools.KindQuery {
		out := struct {
			Done       bool `json:"done"`
			ResultSize int  `json:"result_size"`
			Limit      int  `json:"limit"`
		}{true, size, c.Budget}
		var err error
		c.result, err = c.Call.Render(out)
		return err
	}
	c.result = nil
	return governor.Overflow(size, c.Budget, c.Tool.Narrow)
}
