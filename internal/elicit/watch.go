package elicit

import (
	"context"
	"fmt"
	"os"
	"time"

	"vault-mcp/cache"
	"vault-mcp/hitl"
	"vault-mcp/internal/config"
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
	if err := d.look(ctx); err != nil {
		return err
	}
	if err := t.single(); err != nil {
		return fmt.Errorf("%w: %w", ErrNoTerminal, err)
	}
	house := &home{env: d.Env}
	defer house.leave()
	c := &console{ctx: ctx, out: t, flush: t.flush, told: map[string]bool{}}
	house.watch(d.watched(c)) // before anything says so
	c.idle()
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for n := 0; ; n++ {
		if n%2 == 0 {
			if err := d.look(ctx); err != nil {
				c.tell(err)
			}
			house.watch(d.watched(c))
		}
		list, wrong := d.waiting(ctx)
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

// watched makes the calls on every place wait that may be answered here, and
// those on others not any more. It reports whether that is all of them.
func (d *Desk) watched(c *console) (all bool) {
	all = true
	for _, p := range d.inOrder() {
		err := p.refused(config.Route(hitl.RouteConsole))
		switch {
		case err != nil:
			all = false
			if p.watch != nil {
				p.watch()
				p.watch = nil
			}
		case p.watch == nil:
			if _, gone := os.Stat(p.dir); gone != nil {
				continue // a server makes it with the first change
			}
			if p.watch, err = cache.Watch(p.dir); err != nil {
				c.tell(err)
			}
		}
	}
	return all
}

// home is the folder of the list of servers. While it is watched, a server whose
// very first call is blocked waits already.
type home struct {
	env     config.Env
	release func()
}

func (h *home) watch(hold bool) {
	if !hold {
		h.leave()
		return
	}
	if h.release != nil {
		return
	}
	dir, err := cache.Home(h.env)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		h.release, _ = cache.Watch(dir) // without it a first call has to be repeated
	}
}

func (h *home) leave() {
	if h.release != nil {
		h.release()
		h.release = nil
	}
}
