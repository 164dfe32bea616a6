package app

import (
	"context"
	"errors"
	"net"
	"sync"

	"vault-mcp/hitl"
	"vault-mcp/internal/elicit"
	"vault-mcp/internal/page"
)

// ownPage is the page of this server, for people whose clients open addresses and
// show no forms. It is opened when the first of them is sent there, and ends with the
// server.
type ownPage struct {
	app *App

	mu     sync.Mutex
	origin string
	closed bool
	stop   context.CancelFunc
	ended  chan struct{}
}

var errNoPage = errors.New("the server is ending")

// open tells the origin of the page, which it opens if need be.
func (o *ownPage) open() (origin string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.origin != "" {
		return o.origin, nil
	}
	if o.closed {
		return "", errNoPage
	}
	l, err := o.app.opts.Listen(o.app.cfg.Page.Listen)
	if err != nil {
		o.app.opts.Log.Warn("the page for approvals cannot be opened", "err", err)
		return "", err
	}
	o.serve(l)
	return o.origin, nil
}

func (o *ownPage) serve(l net.Listener) {
	ctx, stop := context.WithCancel(context.Background())
	o.origin, o.stop, o.ended = page.Origin(l), stop, make(chan struct{})
	p := &page.Page{Log: o.app.opts.Log, Consents: o.app.consents, Clock: o.app.opts.Clock}
	go func() {
		defer close(o.ended)
		if err := p.Serve(ctx, l); err != nil {
			o.app.opts.Log.Warn("the page for approvals has ended", "err", err)
		}
	}()
}

// close ends the page, and waits for that.
func (o *ownPage) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed = true; o.stop != nil {
		o.stop()
		<-o.ended
	}
}

// pagesOf are what the gate of a vault sends people to.
func (a *App) pagesOf(consents hitl.Consents) hitl.Pages {
	p := hitl.Pages{Consents: &hitl.Registry{Store: consents, Log: a.opts.Log}, User: elicit.Account()}
	if a.opts.Listen != nil {
		p.Open = a.page.open
	}
	return p
}

// consents are those of the vaults whose state is open: nobody was sent to the page
// for another one.
func (a *App) consents() (list []page.Consents) {
	for _, v := range a.views {
		w := a.writers[v.ID]
		w.mu.Lock()
		if w.store != nil {
			list = append(list, page.Consents{
				Registry: w.gate.Pages.Consents, Party: hitl.Party{Tenant: v.ID, User: w.gate.Pages.User},
				Requests: w.store.Requests(), Life: w.gate.Life,
			})
		}
		w.mu.Unlock()
	}
	return list
}
