package elicit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"vault-mcp/hitl"
)

const (
	// guard is how long keys do not count after another request has come before
	// the person: a key that was meant for the one before must not answer this one.
	guard = time.Second
	// firstLines is how much of a diff is shown at once.
	firstLines = 40
	// digits is how many notes can be chosen by one key.
	digits = 9
)

// console is what stands before the person: one request that has the focus, and
// others that queue below.
type console struct {
	ctx   context.Context
	out   io.Writer
	flush func() // drops what was typed and not read

	focus *Found
	since time.Time
	live  bool // keys count
	over  bool // the request in focus can no longer be answered
	note  int  // the number of the note that was chosen for it, or 0

	queue, skipped []Found
	told           map[string]bool
}

// tell says once what is wrong.
func (c *console) tell(err error) {
	if !c.told[err.Error()] {
		c.told[err.Error()] = true
		c.say("(left out: " + hitl.Display(err.Error()) + ")")
	}
}

// say adds a line, and shows again what keys there are.
func (c *console) say(text string) {
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
		fmt.Fprintf(c.out, "%s · n decline · d whole diff · s skip · q quit > ", c.keys())
	}
}

// keys are those by which the request in focus is approved.
func (c *console) keys() string {
	switch n := min(len(c.focus.Candidates), digits); {
	case n == 0:
		return "y approve"
	case c.focus.Floor == "":
		return fmt.Sprintf("1-%d choose", n)
	case c.note == 0:
		return fmt.Sprintf("1-%d choose, then y approve", n)
	default:
		return fmt.Sprintf("y approve with %d · 1-%d choose another", c.note, n)
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
	c.focus, c.since, c.live, c.over, c.note = &f, now, false, false, 0
	fmt.Fprintf(c.out, "\a\n%s\n%s\n", head(f.Request, now), body(f.Request, firstLines))
	if len(f.Candidates) > digits {
		fmt.Fprintf(c.out, "(keys choose from the first %d; vault-mcp elicit chooses from all)\n", digits)
	}
	if n := len(c.queue); n > 0 {
		fmt.Fprintf(c.out, "(%d more below)\n", n)
	}
}

// update takes in what can be answered now. The focus does not move, unless
// there is none.
func (c *console) update(list []Found, now time.Time) {
	open, there := map[string]bool{}, map[string]bool{}
	for _, f := range list {
		there[f.ID] = true
		open[f.ID] = f.Status == hitl.Open
	}
	gone := func(f Found) bool { return !open[f.ID] }
	c.queue = slices.DeleteFunc(c.queue, gone)
	c.skipped = slices.DeleteFunc(c.skipped, gone)
	for _, f := range list {
		same := func(other Found) bool { return other.ID == f.ID }
		if !open[f.ID] || c.focus != nil && same(*c.focus) || slices.ContainsFunc(c.queue, same) || slices.ContainsFunc(c.skipped, same) {
			continue
		}
		c.queue = append(c.queue, f)
		if c.focus != nil {
			c.say("\a+ waits below: " + row(f.Request, now))
		}
	}
	if c.focus != nil && !c.over && !there[c.focus.ID] {
		c.over = true
		c.say("This one was answered elsewhere, or the vault has changed.")
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
		c.approve(now)
	case k >= '1' && k <= '9':
		c.choose(int(k-'0'), now)
	case k == 'n':
		c.answer("declined", func(ctx context.Context) error { return c.focus.Decline(ctx, hitl.RouteConsole) }, now)
	case k == 's':
		fmt.Fprintln(c.out, "s: skipped; it stays open")
		c.skipped = append(c.skipped, *c.focus)
		c.next(now)
	case k == 'd':
		c.say(body(c.focus.Request, 0))
	}
	return false
}

// choose takes the number of a note. It is the answer where no approval is needed.
func (c *console) choose(n int, now time.Time) {
	if n > len(c.focus.Candidates) {
		return
	}
	c.note = n
	if c.focus.Floor == "" {
		c.approve(now)
		return
	}
	c.say(candidate(n, c.focus.Candidates[n-1]))
}

// approve says yes to the request in focus, with the note that was chosen for it.
func (c *console) approve(now time.Time) {
	done, path := "approved", ""
	if len(c.focus.Candidates) > 0 {
		if c.note == 0 {
			c.say("Say first which note is meant, by its number.")
			return
		}
		k := c.focus.Candidates[c.note-1]
		done, path = "chosen: "+hitl.Display(k.Path), k.Path
	}
	c.answer(done, func(ctx context.Context) error { return c.focus.Approve(ctx, hitl.RouteConsole, path) }, now)
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
