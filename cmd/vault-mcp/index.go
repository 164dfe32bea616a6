package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"vault-mcp/internal/app"
)

type indexCmd struct {
	source
	Rebuild bool `help:"Throw the index away and build it from nothing."`
}

// Run builds the index of every vault, or makes sure that it is complete.
func (c indexCmd) Run(ctx context.Context, p process) error {
	cfg, err := p.env.Load(c.Path)
	if err != nil {
		return err
	}
	a, err := app.New(cfg, app.Options{Env: p.env, Version: Version, Log: brief(p.stderr, cfg)})
	if err != nil {
		return err
	}
	defer a.Close()
	a.Begin(ctx)
	bar := newBar(p.stderr)
	err = a.Index(ctx, c.Rebuild, bar.show)
	bar.end()
	if err != nil {
		say(p.stderr, err.Error())
		return errRefused
	}
	_, err = fmt.Fprintln(p.stdout, "the index is complete")
	return err
}

// bar shows progress on a terminal, and nothing elsewhere.
type bar struct {
	w     io.Writer
	shown bool
	last  time.Time
}

func newBar(w io.Writer) *bar {
	f, ok := w.(*os.File)
	if !ok {
		return &bar{}
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return &bar{}
	}
	return &bar{w: w}
}

func (b *bar) show(vault string, done, total int) {
	if b.w == nil || total == 0 || done < total && time.Since(b.last) < 100*time.Millisecond {
		return
	}
	const width = 30
	full := width * done / total
	fmt.Fprintf(b.w, "\r%s [%s%s] %d of %d notes", vault, strings.Repeat("#", full), strings.Repeat(".", width-full), done, total)
	b.shown, b.last = true, time.Now()
}

func (b *bar) end() {
	if b.shown {
		fmt.Fprintln(b.w)
	}
}
