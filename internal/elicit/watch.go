package elicit

import (
	"context"
	"fmt"
	"time"

	"vault-mcp/hitl"
)

// pollEvery is how often a console looks for requests. Each second look is for
// servers that are new, too.
const pollEvery = 250 * time.Millisecond

// Watch shows each call that is blocked and takes the person's answers, until
// they leave or ctx ends.
func (d *Desk) Watch(ctx context.Context) error {
	t, err := d.Terminal()
	if err != nil {
		return err
	}
	defer t.Close()
	if err := d.Look(ctx); err != nil {
		return err
	}
	if err := t.single(); err != nil {
		return fmt.Errorf("%w: %w", ErrNoTerminal, err)
	}
	c := &console{ctx: ctx, out: t, flush: t.flush, told: map[string]bool{}}
	d.KeepWatch(hitl.RouteConsole, c.tell) // before anything says so
	c.idle()
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for n := 0; ; n++ {
		if n%2 == 0 {
			if err := d.Look(ctx); err != nil {
				c.tell(err)
			}
			d.KeepWatch(hitl.RouteConsole, c.tell)
		}
		list, wrong := d.Waiting(ctx, hitl.RouteConsole)
		for _, err := range wrong {
			c.tell(err)
		}
		c.update(list, time.Now())
		for ticked := false; !ticked; {
			select {
			case <-ctx.Done():
				fmt.Fprintln(t)
				return nil
			case typed, ok := <-t.input:
				if !ok || c.key(keyOf(typed), time.Now()) {
					fmt.Fprintln(t)
					return nil
				}
			case <-poll.C:
				ticked = true
			}
		}
	}
}
