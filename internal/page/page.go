// Package page is the way by which a person answers in a browser: a page on
// loopback that shows what waits and keeps what the person says. It decides who
// gets in, what they see and whether an answer is about what was shown. No text
// that a model sees has its address, and nothing here is reachable by a tool.
package page

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"vault-mcp/cache"
	"vault-mcp/internal/config"
	"vault-mcp/internal/elicit"
)

// Page serves one listener. Its fields are set before Serve and not changed after.
type Page struct {
	// Desk is what somebody who came with a code sees and answers: what waits in all
	// vaults of the account. It is nil where nobody comes with a code, as in a server.
	Desk *elicit.Desk
	// Code reports whether somebody gets in by a one-time code, and uses it up. What
	// they may answer depends on the processes from which the one descends that has made
	// it. It may be nil.
	Code func(code string) (from []cache.Process, ok bool)
	// Consents are the vaults whose consents let somebody in, each to its own request
	// alone. It is called for each visit, and may be nil.
	Consents func() []Consents
	// Log gets what went wrong: no address, code, id or text of a note.
	Log *slog.Logger
	// Clock is the wall clock; nil is time.Now.
	Clock func() time.Time

	patience time.Duration // for a body; 0 is bodyTime

	desk sync.Mutex // held while Desk is used

	mu       sync.Mutex // guards what follows
	sessions map[string]*session
	visited  map[string]time.Time // the consents that let somebody in, by their hashes
}

// Listen opens the listener of a page. It refuses every address that others than
// this machine can reach: the host has to be a loopback IP, and port 0 is any that
// is free.
func Listen(address string) (net.Listener, error) {
	if err := config.Loopback(address); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("the page cannot listen on %s: %w", address, err)
	}
	return l, nil
}

// Origin is the origin of the page on a listener, as browsers write it. It is
// hitl.Origins.Own.
func Origin(l net.Listener) string { return "http://" + l.Addr().String() }

// Bounds of a connection. Nothing that a browser does here takes long.
const (
	headTime  = 5 * time.Second
	bodyTime  = 10 * time.Second
	writeTime = 30 * time.Second
	idleTime  = 60 * time.Second
	maxHeader = 16 << 10
	// maxBody is far above a form with as many requests as may be open.
	maxBody = 256 << 10
)

// Serve answers on a listener until ctx ends, and closes it.
func (p *Page) Serve(ctx context.Context, l net.Listener) error {
	s := &http.Server{
		Handler: p.handler(l.Addr().String()), ReadHeaderTimeout: headTime, ReadTimeout: cmp.Or(p.patience, bodyTime), WriteTimeout: writeTime, IdleTimeout: idleTime,
		MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(p.Log.Handler(), slog.LevelDebug),
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	stopped := context.AfterFunc(ctx, func() { s.Close() })
	defer stopped()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (p *Page) now() time.Time {
	if p.Clock != nil {
		return p.Clock()
	}
	return time.Now()
}
