package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"time"

	"golang.org/x/term"

	"vault-mcp/cache"
	"vault-mcp/internal/config"
	"vault-mcp/internal/elicit"
	"vault-mcp/internal/page"
)

type elicitPageCmd struct {
	place
	NoOpen bool   `help:"Print the address instead of opening the browser. It lets somebody in once, within a minute."`
	Listen string `placeholder:"IP:PORT" help:"Where the page listens, on this machine alone. Overrides page.listen of --config."`
}

// Run serves the page until a signal comes. If one runs already, that one is opened.
func (c elicitPageCmd) Run(ctx context.Context, p process) error {
	listen, err := c.listen(p.env)
	if err != nil {
		return err
	}
	return c.desk(p, func(d *elicit.Desk) error {
		if err := d.Look(ctx); err != nil {
			return err
		}
		if d.ByClient() { // what it prints would let the agent in
			return elicit.ErrByClient
		}
		l, err := page.Listen(listen)
		if err != nil {
			return err
		}
		defer l.Close()
		serves, release, err := cache.ClaimPage(p.env, page.Origin(l))
		if err != nil {
			return err
		}
		defer release()
		out := page.NewOutside(p.env, d.Vaults())
		if serves != page.Origin(l) {
			return c.open(ctx, p, out)
		}
		return c.serve(ctx, p, d, out, l)
	})
}

func (c elicitPageCmd) listen(env config.Env) (string, error) {
	if c.Listen != "" {
		return c.Listen, config.Loopback(c.Listen)
	}
	if c.Config == "" {
		return config.Default().Page.Listen, nil
	}
	cfg, err := env.Load(c.Config)
	if err != nil {
		return "", err
	}
	return cfg.Page.Listen, nil
}

// serve is the page of this account.
func (c elicitPageCmd) serve(ctx context.Context, p process, d *elicit.Desk, out *page.Outside, l net.Listener) error {
	log := slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	pg := &page.Page{Desk: d, Log: log, Code: func(code string) ([]cache.Process, bool) {
		from, ok, err := cache.TakeCode(p.env, code, time.Now())
		if err != nil {
			log.Warn("a code cannot be checked", "err", err)
		}
		return from, ok
	}}
	ctx, stop := context.WithCancel(ctx)
	served, watched := make(chan error, 1), make(chan struct{})
	go func() { served <- pg.Serve(ctx, l) }()
	go func() { defer close(watched); pg.Watch(ctx, out.Notify) }()
	defer func() { stop(); <-watched }()
	if err := c.open(ctx, p, out); err != nil {
		return err
	}
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
		return <-served
	}
}

// open opens the page that runs with a new code. Without a browser the address is for
// the person's terminal alone.
func (c elicitPageCmd) open(ctx context.Context, p process, out *page.Outside) error {
	code := rand.Text() + rand.Text()
	address, err := cache.AddCode(p.env, code, time.Now())
	if err != nil {
		return err
	}
	if address == "" {
		return fmt.Errorf("the page has just ended: run the command again")
	}
	address += page.Door(code)
	if c.NoOpen {
		_, err = fmt.Fprintln(p.stdout, address)
		return err
	}
	err = out.Open(ctx, address)
	switch {
	case err == nil:
		fmt.Fprintln(p.stderr, "The page is open in your browser; it ends with Ctrl-C here. This command opens it again.")
		return nil
	case isTerminal(p.stderr):
		fmt.Fprintf(p.stderr, "%v\nOpen this within a minute; it is good once:\n%s\n", err, address)
		return nil
	}
	return fmt.Errorf("%w; with --no-open the address is printed", err)
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
