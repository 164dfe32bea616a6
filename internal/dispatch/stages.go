package dispatch

import (
	"context"
	"time"

	"vault-mcp/governor"
	"vault-mcp/internal/acl"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/vault/change"
)

// bind finds the tool and decodes its arguments strictly.
func (d *Dispatcher) bind(_ context.Context, c *Call) error {
	t := d.Registry.Tool(c.Request.Tool)
	if t == nil {
		e := fault.New(fault.NotFound, "There is no tool %.100q.", c.Request.Tool)
		if near := d.Registry.Nearest(c.Request.Tool); near != "" {
			e = e.With("nearest", near)
		}
		return e
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
	if view.ReadOnly && c.Tool.Kind == tools.KindChange {
		return fault.New(fault.ReadOnly, "The vault %q is read-only.", id)
	}
	c.View = view
	return nil
}

// folders judges the paths that the arguments name.
func (d *Dispatcher) folders(ctx context.Context, c *Call) error { return c.Resolve(ctx) }

// replay answers a call again whose idempotency key was seen. A query has no
// key, and no tool with one is registered yet.
func (d *Dispatcher) replay(context.Context, *Call) error { return nil }

// throttle draws one call from the caller's bucket.
func (d *Dispatcher) throttle(_ context.Context, c *Call) error {
	return d.Throttle.Take(c.Caller.ID, c.Tool.Scope.Class(), c.VaultID())
}

// plan makes a change's plan, or lists an effect's targets.
func (d *Dispatcher) plan(ctx context.Context, c *Call) (err error) {
	switch c.Tool.Kind {
	case tools.KindChange:
		c.Plan, c.outcome, err = c.Tool.Plan(ctx, &c.Call)
	case tools.KindEffect:
		c.Targets, err = c.Tool.Targets(ctx, &c.Call)
	}
	return err
}

// planFolders judges every path of the plan, whichever tool made it.
func (d *Dispatcher) planFolders(_ context.Context, c *Call) error {
	for _, e := range c.Plan.Edits {
		op := acl.Write
		if e.Kind == change.Remove || e.Kind == change.Move {
			op = acl.Delete
		}
		if e.Upkeep {
			continue // reaches beyond the caller's folders: the floor's business
		}
		if err := c.View.Check(op, e.Path); err != nil {
			return err
		}
		if e.Kind == change.Move {
			if err := c.View.Check(acl.Write, e.To); err != nil {
				return err
			}
		}
	}
	return nil
}

// confirm runs on, asks a person, or refuses.
func (d *Dispatcher) confirm(ctx context.Context, c *Call) error {
	if c.Tool.Kind == tools.KindQuery {
		return nil
	}
	return d.Gate.Confirm(ctx, c)
}

// run reads, applies the plan, or acts.
func (d *Dispatcher) run(ctx context.Context, c *Call) error {
	out := c.outcome
	var err error
	switch c.Tool.Kind {
	case tools.KindChange:
		err = d.Applier.Apply(ctx, c)
	case tools.KindEffect:
		out, err = c.Tool.Run(ctx, &c.Call)
	default:
		out, err = query(ctx, c)
	}
	if err != nil {
		return err
	}
	c.result, err = c.Call.Render(out)
	return err
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
