package dispatch

import (
	"context"
	"time"

	"vault-mcp/hitl"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
)

// Explain takes a call as far as its plan: nobody is asked, nothing is spent,
// counted or kept. It tells the call as it is known then, the stage that it came to
// and, if it would be refused there, why.
func (d *Dispatcher) Explain(ctx context.Context, req Request) (c *Call, at string, err error) {
	c = &Call{Request: req}
	c.Caller, c.Began = req.Caller, time.Now()
	c.Budget, c.Soft, c.Cursors = d.MaxResponseBytes, d.Soft, d.Cursors
	for _, s := range []stage{
		{"bind", d.bind}, {"caller", d.caller}, {"folders", d.folders}, {"title", d.onlyTitle}, {"plan", d.onlyPlan}, {"folders", d.planFolders},
	} {
		if at, err = s.name, s.check(ctx, c); err != nil {
			return c, at, fault.Of(err)
		}
	}
	if c.readsOnly() {
		if err := c.reading(ctx); err != nil {
			return c, "confirm", fault.Of(err)
		}
	}
	return c, "confirm", nil
}

// onlyTitle is title, but several notes with it are no question yet.
func (d *Dispatcher) onlyTitle(ctx context.Context, c *Call) error {
	title := c.Titled()
	if title == "" || c.View == nil {
		return nil
	}
	paths, err := c.View.Titled(ctx, title, c.Tool.Kind == tools.KindChange)
	if e := fault.Of(err); e != nil && e.Code == fault.NoteNotFound {
		c.Unnamed(e)
		return nil
	} else if err != nil {
		return err
	}
	if len(paths) > 1 {
		return hitl.Ambiguous(title, paths)
	}
	c.Name(paths[0])
	return c.Resolve(ctx)
}

func (d *Dispatcher) onlyPlan(ctx context.Context, c *Call) error {
	err := d.planned(ctx, c)
	if c.withhold(ctx, err) {
		return nil
	}
	return err
}

// Withheld is why the call cannot be planned, which its caller learns once a
// person has approved the read; nil if it can.
func (c *Call) Withheld() error { return c.withheld }
