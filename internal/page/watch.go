package page

import (
	"context"
	"errors"
	"time"

	"vault-mcp/hitl"
	"vault-mcp/internal/run"
)

const (
	// lookEvery is how often it is looked for new requests and servers: a blocked call
	// waits for the page once its server was seen.
	lookEvery = 500 * time.Millisecond
	// quiet is how long no notification follows another one: what comes meanwhile is
	// one of its own.
	quiet = 10 * time.Second
)

// Watch makes the calls wait that can be answered here, and lets notify say what
// has come, until ctx ends. It needs a Desk.
func (p *Page) Watch(ctx context.Context, notify func(ctx context.Context, title, text string) error) {
	said := map[string]bool{}
	n := &news{seen: map[string]bool{}}
	tell := func(err error) {
		if text := hitl.Text(err.Error()); !said[text] && ctx.Err() == nil {
			said[text] = true
			p.Log.Warn("left out", "why", text)
		}
	}
	toasts := make(chan [2]string, 1)
	defer close(toasts)
	go func() {
		for t := range toasts {
			if err := notify(ctx, t[0], t[1]); err != nil && !errors.As(err, new(*run.MissingError)) {
				p.Log.Warn("no notification", "err", err)
			}
		}
	}()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for first := true; ; first = false {
		list := p.look(ctx, tell)
		if fresh := n.of(list, p.now(), first); len(fresh) > 0 {
			title, text := announcement(fresh)
			select {
			case toasts <- [2]string{title, text}:
			default: // the one before is still being shown
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// look is what is open, and makes calls wait for this page.
func (p *Page) look(ctx context.Context, tell func(error)) (open []*hitl.Request) {
	defer p.atDesk(&session{})()
	if err := p.Desk.Look(ctx); err != nil {
		tell(err)
	}
	p.Desk.KeepWatch(hitl.RoutePage, tell)
	list, wrong := p.Desk.Waiting(ctx, hitl.RoutePage)
	for _, err := range wrong {
		tell(err)
	}
	for _, f := range list {
		if f.Status == hitl.Open {
			open = append(open, f.Request)
		}
	}
	return open
}

// news is what a person was told of.
type news struct {
	seen map[string]bool
	last time.Time
}

// of are the requests that nobody was told of yet, or nothing as long as it is
// quiet. Those that are there at the start are seen in the page itself.
func (n *news) of(list []*hitl.Request, now time.Time, start bool) (fresh []*hitl.Request) {
	if now.Sub(n.last) < quiet && !now.Before(n.last) {
		return nil
	}
	seen := map[string]bool{}
	for _, r := range list {
		if seen[r.ID] = true; !n.seen[r.ID] && !start {
			fresh = append(fresh, r)
		}
	}
	n.seen = seen
	if len(fresh) > 0 {
		n.last = now
	}
	return fresh
}
