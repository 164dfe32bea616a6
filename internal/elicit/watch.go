package elicit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"vault-mcp/cache"
	"vault-mcp/hitl"
	"vault-mcp/internal/config"
)

const (
	// pollEvery is how often a console looks for requests. Each second look is for
	// servers that are new, too.
	pollEvery = 250 * time.Millisecond
	// guard is how long keys do not count after another request has come before
	// the person: a key that was meant for the one before must not answer this one.
	guard = time.Second
	// firstLines is how much of a diff is shown at once.
	firstLines = 40
)

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

// console is what stands before the person: one request that has the focus, and
// others that queue below.
type console struct {
	ctx   context.Context
	out   io.Writer
	flush func() // drops what was typed and not read

	focus *found
	since time.Time
	live  bool // keys count
	over  bool // the request in focus can no longer be answered

	queue, skipped []found
	told           map[string]bool
}

const keysHelp = "y approve · n decline · d whole diff · s skip · q quit > "

// tell says once what is wrong.
func (c *console) tell(err error) {
	if !c.told[err.Error()] {
		c.told[err.Error()] = true
		c.note("(left out: " + hitl.Display(err.Error()) + ")")
	}
}

// note adds a line, and shows again what keys there are.
func (c *console) note(text string) {
	if c.live {
		fmt.Fprintln(c.out)
	}
	fmt.Fprintln(c.out, text)
	c.prompt()
}

func (c *console) prompt() {
	switch {
	case !c.live:
	case c.over:
		fmt.Fprint(c.out, "s shows the next one · q quit > ")
	default:
		fmt.Fprint(c.out, keysHelp)
	}
}

// idle says that nothing waits.
func (c *console) idle() {
	c.focus, c.live, c.over = nil, false, false
	text := "Nothing waits for you. q quits."
	if n := len(c.skipped); n > 0 {
		text = fmt.Sprintf("Nothing else waits for you; %d skipped, s shows them again. q quits.", n)
	}
	fmt.Fprintln(c.out, text)
}

// next brings the oldest request that queues before the person.
func (c *console) next(now time.Time) {
	if len(c.queue) == 0 {
		c.idle()
		return
	}
	f := c.queue[0]
	c.queue = c.queue[1:]
	c.focus, c.since, c.live, c.over = &f, now, false, false
	fmt.Fprintf(c.out, "\a\n%s\n%s\n", head(f.Request, now), diff(f.Request, firstLines))
	if n := len(c.queue); n > 0 {
		fmt.Fprintf(c.out, "(%d more below)\n", n)
	}
}

// update takes in what can be answered now. The focus does not move, unless
// there is none.
func (c *console) update(list []found, now time.Time) {
	open, there := map[string]bool{}, map[string]bool{}
	for _, f := range list {
		there[f.ID] = true
		open[f.ID] = f.Status == hitl.Open
	}
	gone := func(f found) bool { return !open[f.ID] }
	c.queue = slices.DeleteFunc(c.queue, gone)
	c.skipped = slices.DeleteFunc(c.skipped, gone)
	for _, f := range list {
		same := func(other found) bool { return other.ID == f.ID }
		if !open[f.ID] || c.focus != nil && same(*c.focus) || slices.ContainsFunc(c.queue, same) || slices.ContainsFunc(c.skipped, same) {
			continue
		}
		c.queue = append(c.queue, f)
		if c.focus != nil {
			c.note("\a+ waits below: " + row(f.Request, now))
		}
	}
	if c.focus != nil && !c.over && !there[c.focus.ID] {
		c.over = true
		c.note("This one was answered elsewhere, or the vault has changed.")
		if len(c.queue) == 0 {
			c.live = false
			c.idle()
		}
	}
	if c.focus == nil && len(c.queue) > 0 {
		c.next(now)
	}
	if c.focus != nil && !c.live && now.Sub(c.since) >= guard {
		c.flush() // was pressed before the keys were shown
		c.live = true
		c.prompt()
	}
}

// key takes a key. quit reports whether the person leaves.
func (c *console) key(k rune, now time.Time) (quit bool) {
	switch {
	case k == 'q' || k == ctrlC:
		return true
	case c.focus == nil:
		if k == 's' && len(c.skipped) > 0 {
			c.queue, c.skipped = append(c.queue, c.skipped...), nil
			c.next(now)
		}
	case !c.live:
	case c.over:
		if k == 's' || k == '\r' {
			fmt.Fprintln(c.out)
			c.next(now)
		}
	case k == 'y':
		c.answer("approved", c.focus.yes, now)
	case k == 'n':
		c.answer("declined", c.focus.no, now)
	case k == 's':
		fmt.Fprintln(c.out, "s: skipped; it stays open")
		c.skipped = append(c.skipped, *c.focus)
		c.next(now)
	case k == 'd':
		c.note(diff(c.focus.Request, 0))
	}
	return false
}

// answer keeps what the person said of the request in focus, and goes on.
func (c *console) answer(done string, act func(context.Context) error, now time.Time) {
	if err := act(c.ctx); err != nil {
		if errors.Is(err, context.Canceled) {
			return
		}
		done = "not " + done + ": " + hitl.Display(err.Error())
	}
	fmt.Fprintln(c.out, done)
	c.next(now)
}
