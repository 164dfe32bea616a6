package dispatch

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"vault-mcp/internal/acl"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/vault/change"
)

// moreAsked marks a plan that was made anew and meets more for which the folder
// rules want a person.
var moreAsked = []byte("more asked")

func withoutMore(bound [][]byte) [][]byte {
	return slices.DeleteFunc(slices.Clone(bound), func(b []byte) bool { return bytes.Equal(b, moreAsked) })
}

func (c *Call) seal() {
	if c.View != nil {
		c.View.Seal()
	}
}

// withhold keeps back why a call cannot be done where that would tell what is in a
// note, or whether it exists, that a person has to approve the read of.
func (c *Call) withhold(ctx context.Context, err error) bool {
	if err == nil || ctx.Err() != nil || c.View == nil || !c.View.AsksToRead() {
		return false
	}
	if _, ok := errors.AsType[*fault.Error](err); !ok {
		return false
	}
	c.withheld, c.Plan = err, change.Plan{}
	return true
}

// readsOnly reports whether all that a person has to approve is that the call
// reads what it names. A dry run shows text, and so does a plan that comes to
// nothing.
func (c *Call) readsOnly() bool {
	if c.View == nil || !c.View.AsksToRead() {
		return false
	}
	return c.Tool.Kind != tools.KindChange || c.DryRun() || c.Plan.Empty()
}

// confirmReading asks a person about what the call names, as it is now.
func (d *Dispatcher) confirmReading(ctx context.Context, c *Call) (err error) {
	if err := c.reading(ctx); err != nil {
		return err
	}
	if err := d.Gate.Confirm(ctx, c); err != nil {
		return err
	}
	// The person may have taken their time.
	now, err := c.View.Bind(ctx)
	if err != nil {
		return err
	}
	if !slices.EqualFunc(c.Bound, now, acl.Bound.Same) {
		c.Bound = now
		return d.Gate.Drifted(ctx, c, c.Plan)
	}
	return nil
}

// reading finds out what a person has to approve the read of, and why.
func (c *Call) reading(ctx context.Context) (err error) {
	if c.Bound, err = c.View.Bind(ctx); err != nil {
		return err
	}
	reasons := c.View.Reasons(c.Tool.Kind == tools.KindChange)
	if floor := c.Tool.Floor.Reason(); floor != "" {
		reasons = append([]string{floor}, reasons...)
	}
	c.Reading = strings.Join(reasons, ", and ")
	return nil
}

// spending runs a call. A permit that is spent neither by applying a plan nor by an effect is spent
// first: whatever becomes of the call, it is good for once.
func (d *Dispatcher) spending(ctx context.Context, c *Call, run func() (any, error)) (out any, err error) {
	if c.Permit == nil || c.Acts() {
		return run()
	}
	ended, err := d.Applier.Spend(ctx, c)
	if err != nil {
		return nil, err
	}
	err = errors.New("it did not come back") // of a panic
	defer func() { ended(err) }()
	if err = c.Reveal(ctx); err != nil {
		return nil, err
	}
	out, err = run()
	return out, err
}

// Reveal finds what a call names once more that a person has let read it, now
// that its caller may know, and with it why the call could not be planned.
func (c *Call) Reveal(ctx context.Context) error {
	if c.Reading == "" {
		return nil
	}
	if c.Tool.Kind != tools.KindChange {
		return c.Resolve(ctx)
	}
	before := c.Plan
	plan, err := c.Again(ctx)
	if err != nil {
		return err
	}
	if c.withheld != nil {
		return c.withheld
	}
	if !c.DryRun() && !plan.Empty() {
		return fault.New(fault.ConcurrentModification, "The vault has changed since the call was planned; nothing was changed.")
	}
	plan.Ask = before.Ask
	c.Plan = plan
	return nil
}
