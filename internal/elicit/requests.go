package elicit

import (
	"context"
	"errors"
	"os"
	"slices"

	"vault-mcp/cache"
	"vault-mcp/cache/state"
	"vault-mcp/hitl"
	"vault-mcp/internal/config"
)

// Found is a request and where it is kept.
type Found struct {
	*place
	*hitl.Request
}

// Waiting are the requests that a person can answer by a route, oldest first, and
// why some places are left out. It looks where the last Look has found something.
func (d *Desk) Waiting(ctx context.Context, route hitl.Route) (list []Found, wrong []error) {
	wrong = d.each(route, func(p *place) error {
		rs, err := p.store.List(ctx)
		for _, r := range rs {
			list = append(list, Found{p, r})
		}
		return err
	})
	slices.SortStableFunc(list, func(a, b Found) int { return a.Raised.Compare(b.Raised) })
	return list, wrong
}

// each calls f with every place that has a state, and where nothing forbids a
// route. What is wrong with others, and where f fails, is listed.
func (d *Desk) each(route hitl.Route, f func(*place) error) (wrong []error) {
	for _, p := range d.inOrder() {
		if p.store == nil && p.wrong == nil {
			continue
		}
		err := p.refused(config.Route(route))
		if err == nil {
			err = f(p)
		}
		if err != nil {
			wrong = append(wrong, err)
		}
	}
	return wrong
}

// Request is the request with an id, whatever its status. It fails with
// hitl.ErrNoRequest, and where it may not be answered by a route.
func (d *Desk) Request(ctx context.Context, route hitl.Route, id string) (Found, error) {
	for _, p := range d.inOrder() {
		if p.store == nil {
			continue
		}
		r, _, err := p.store.Requests().Find(ctx, id)
		if errors.Is(err, hitl.ErrNoRequest) {
			continue
		}
		if err == nil {
			err = p.refused(config.Route(route))
		}
		return Found{p, r}, err
	}
	return Found{}, hitl.ErrNoRequest
}

// Requests is the store that keeps the request.
func (f Found) Requests() hitl.Store { return f.store.Requests() }

// Approve approves a request by a person's route, for the call that waits or is
// repeated, with the note that was chosen where there are several.
func (f Found) Approve(ctx context.Context, route hitl.Route, choice string) error {
	_, err := f.store.Requests().Approve(ctx, f.ID, hitl.Approval{Route: route, By: Account(), Choice: choice, Life: f.life()})
	return late(err)
}

// Decline declines a request by a person's route.
func (f Found) Decline(ctx context.Context, route hitl.Route) error {
	return late(f.end(ctx, hitl.Declined, route))
}

// end declines a request or gives it up.
func (f Found) end(ctx context.Context, to hitl.Status, route hitl.Route) error {
	return f.store.Requests().End(ctx, f.ID, to, route, Account(), hitl.Open, hitl.Approved, hitl.Declined)
}

// late says that a request has gone on while the person looked at it.
func late(err error) error {
	if errors.Is(err, hitl.ErrStatus) || errors.Is(err, hitl.ErrNoRequest) {
		return errors.New("the request has been answered or replaced meanwhile; nothing was approved")
	}
	return err
}

// Recorded is a row of the audit and where it is kept.
type Recorded struct {
	*place
	state.Audited
}

// History is what was asked, answered and done, the newest first, at most limit
// rows of each vault, where a person may answer by a route.
func (d *Desk) History(ctx context.Context, route hitl.Route, limit int) (list []Recorded, wrong []error) {
	wrong = d.each(route, func(p *place) error {
		rows, err := p.store.Audit(ctx, state.AuditFilter{Limit: limit})
		for _, r := range rows {
			list = append(list, Recorded{p, r})
		}
		return err
	})
	slices.SortStableFunc(list, func(a, b Recorded) int { return b.At.Compare(a.At) })
	return list, wrong
}

// Change is a change with the content of its files, as far as that is kept, and
// what the commands take as --vault for its vault, or "" if that is not known. It
// fails with state.ErrUnknown.
func (d *Desk) Change(ctx context.Context, route hitl.Route, id string) (n state.Numbered, vault string, err error) {
	err = state.ErrUnknown
	d.each(route, func(p *place) error {
		if !errors.Is(err, state.ErrUnknown) {
			return nil
		}
		n, err = p.store.Change(ctx, id)
		vault = p.source
		return nil
	})
	return n, vault, err
}

// KeepWatch makes the calls on every place wait that may be answered here by a
// route, and those on others not any more. It is called again after each Look;
// tell gets what is wrong. Close ends it.
func (d *Desk) KeepWatch(route hitl.Route, tell func(error)) {
	all := true
	for _, p := range d.inOrder() {
		err := p.refused(config.Route(route))
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
				tell(err)
			}
		}
	}
	if !all {
		d.leaveHouse()
		return
	}
	if d.house != nil {
		return
	}
	// While the list of servers is watched, a server whose very first call is blocked
	// waits already.
	dir, err := cache.Home(d.Env)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		d.house, _ = cache.Watch(dir) // without it a first call has to be repeated
	}
}

func (d *Desk) leaveHouse() {
	if d.house != nil {
		d.house()
		d.house = nil
	}
}
