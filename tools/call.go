package tools

import (
	"context"
	"encoding/json"
	"maps"
	"time"

	"vault-mcp/governor"
	"vault-mcp/internal/acl"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/vault/rename"
)

// Call is one call on its way through the stages. A tool's function gets it
// beside its arguments.
type Call struct {
	Tool   *Tool
	Caller auth.Caller
	// View is the vault as this caller may see it; nil for a tool that works
	// on none.
	View *acl.View
	// Hash names the call: tool and effective arguments.
	Hash fingerprint.Call
	// Budget is the most bytes that the answer may have; Soft is how much of it
	// is enough.
	Budget int
	Soft   governor.Soft
	// TextOnly says that the client knows no structured content, so that the
	// text has to carry everything.
	TextOnly bool
	Cursors  governor.Cursors
	// Began is when the call came.
	Began time.Time

	in     any
	cut    *CutList // what the soft budget left out of a list
	change string   // id of the record of an effect that runs
	intend func(context.Context, json.RawMessage) error
	args   map[string]json.RawMessage
	refs   []Ref
	titled titled
	// coerced says which arguments were sent as strings and are none.
	coerced []string
	// renames is kept from the plan to the one that is made again.
	renames rename.Planner
}

// OnIntent gives an effect that is about to run its record: the id, and how its
// intent is kept.
func (c *Call) OnIntent(change string, keep func(context.Context, json.RawMessage) error) {
	c.change, c.intend = change, keep
}

// ChangeID is the id of the record of an effect that runs, for its answer.
func (c *Call) ChangeID() string { return c.change }

// Intend keeps what an effect is about to do, just before the first thing of it
// is done that others can see. If the process dies after that, Settle gets it.
func (c *Call) Intend(ctx context.Context, intent any) error {
	raw, err := json.Marshal(intent)
	if err != nil || c.intend == nil {
		return err
	}
	return c.intend(ctx, raw)
}

// VaultID is the id of the vault that the call names or was given; "" for a
// tool that works on none.
func (c *Call) VaultID() string {
	var id string
	_ = json.Unmarshal(c.args["vault"], &id) // absent: ""; a string by the schema otherwise
	return id
}

// Has reports whether the call has an argument.
func (c *Call) Has(name string) bool { return !isNull(c.args[name]) }

// Resolve finds every path in the arguments and judges it for reading. A note
// that only its title names has none yet.
func (c *Call) Resolve(ctx context.Context) error {
	for _, r := range c.refs {
		if c.titled.waits(r) {
			continue
		}
		if err := r.resolve(ctx, c.View); err != nil {
			return err
		}
	}
	return nil
}

// Page decodes the position of a cursor argument into position and reports
// whether there was one.
func (c *Call) Page(cursor string, position any) (bool, error) {
	if cursor == "" {
		return false, nil
	}
	return true, c.readCursor(cursor, position, "cursor")
}

// Since is Page for a cursor that Point made.
func (c *Call) Since(cursor string, position any) (bool, error) {
	if cursor == "" {
		return false, nil
	}
	return true, c.readCursor(cursor, position, "cursor", "limit")
}

func (c *Call) readCursor(cursor string, position any, free ...string) error {
	b, err := c.binding(free...)
	if err != nil {
		return err
	}
	return c.Cursors.Read(b, cursor, position)
}

// NextCursor makes the cursor of the page behind position.
func (c *Call) NextCursor(position any) (*string, error) {
	b, err := c.binding("cursor")
	if err != nil {
		return nil, err
	}
	cur, err := c.Cursors.Next(b, position)
	return &cur, err
}

// Point makes a cursor that is good for months, and with any limit.
func (c *Call) Point(position any) (string, error) {
	b, err := c.binding("cursor", "limit")
	if err != nil {
		return "", err
	}
	return c.Cursors.Point(b, position)
}

// binding ties a cursor to this call without the arguments that are free.
func (c *Call) binding(free ...string) (governor.Binding, error) {
	args := maps.Clone(c.args)
	for _, name := range free {
		delete(args, name)
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return governor.Binding{}, err
	}
	canonical, err := fingerprint.Canonical(raw)
	if err != nil {
		return governor.Binding{}, fault.Of(err)
	}
	return governor.Binding{
		Caller: c.Caller.ID, Vault: c.VaultID(), Tool: c.Tool.Name,
		Args: string(fingerprint.OfCall(c.Tool.Name, canonical)),
	}, nil
}
