package app

import (
	"context"
	"fmt"

	kept "vault-mcp/cache/state"
	"vault-mcp/hitl"
	"vault-mcp/internal/dispatch"
	"vault-mcp/internal/fault"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/tools"
)

// Choose implements dispatch.Gate.
func (a *App) Choose(ctx context.Context, c *dispatch.Call, title string, paths []string, try func(path string) error) (string, error) {
	var options []hitl.Option
	var refused error
	for _, p := range paths {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		err := try(p)
		switch e := fault.Of(err); {
		case e == nil:
		case e.Code == fault.ACLDenied || e.Code == fault.NoteNotFound:
			refused = e
			continue
		case e.Code == fault.PathAmbiguous:
			return "", e.With("candidates", paths).With("total", len(paths))
		case e.Code == fault.Internal || e.Code == fault.Aborted:
			return "", err
		}
		options = append(options, a.option(ctx, c, p, err))
	}
	switch len(options) {
	case 0:
		return "", refused
	case 1:
		return options[0].Path, nil
	}
	h := a.asked(c)
	w := a.writers[c.View.ID]
	if dir, err := a.state.folder(w.at); !h.Client.Forms && h.Token == "" && (err != nil || !kept.Exists(dir)) {
		return "", hitl.Unchosen(h, title, options) // nobody was ever asked, and nobody can be
	}
	if w.open(ctx) != nil {
		return "", hitl.Unchosen(h, title, options)
	}
	return w.gate.Choose(ctx, h, title, options)
}

// option is what choosing a note means that a call was planned with, or could not
// be because of err.
func (a *App) option(ctx context.Context, c *dispatch.Call, path string, err error) hitl.Option {
	o := hitl.Option{Path: path}
	if err != nil {
		o.Parts = chosenParts(c, path, nil, err)
		o.Summary = "this cannot be done: " + fault.Of(err).Message
		return o
	}
	var h hitl.Call
	about(&h, c)
	o.Parts = chosenParts(c, path, h.Parts, nil)
	if c.Acts() {
		o.Floor, o.Summary, o.Undo, o.Preview = a.floor(ctx, c), h.Summary, h.Undo, h.Preview
	}
	return o
}

// chosenParts are what the choice of a note is bound to: where it is, what is in
// it, and what would be done, or why nothing can be.
func chosenParts(c *dispatch.Call, path string, plan [][]byte, err error) [][]byte {
	entry, content, e := c.View.Glance(path)
	state := fmt.Sprintf("%d %d", entry.Size, entry.ModTime.UnixNano())
	switch {
	case e != nil:
		state = "absent"
	case content != nil || entry.Size == 0:
		state = fingerprint.OfContent(content).String()
	}
	parts := [][]byte{[]byte(path), []byte(state)}
	if err != nil {
		return append(parts, []byte(fault.Of(err).Code))
	}
	if c.Tool.Kind == tools.KindQuery {
		return parts
	}
	return append(append(parts, []byte("plan")), plan...)
}
