package notes

import (
	"context"
	"fmt"
	"path"

	"vault-mcp/internal/acl"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/vault"
	"vault-mcp/vault/change"
	"vault-mcp/vault/rename"
)

type bulkMoveIn struct {
	tools.VaultArg
	Moves     []moveRow `json:"moves" jsonschema:"made at once, so two notes can change names" limits:"minItems=1,maxItems=100"`
	Overwrite bool      `json:"overwrite,omitempty" jsonschema:"what is there, and is not moved itself, goes to the trash"`
	Backlinks bool      `json:"update_backlinks,omitempty" jsonschema:"let links in other files follow" limits:"default=true"`
	bulkArg
	tools.WriteArg
}

type moveRow struct {
	From string `json:"from"`
	To   string `json:"to"`
}

type bulkMoveOut struct {
	Processed int              `json:"processed"`
	Succeeded int              `json:"succeeded"`
	Failed    int              `json:"failed"`
	Results   []movedRow       `json:"results"`
	Backlinks tools.LinkCount  `json:"backlinks_updated" jsonschema:"in files that you may read, the moved ones included"`
	Left      []tools.LeftLink `json:"links_left,omitempty" jsonschema:"links that could not follow"`
	tools.Written
}

type movedRow struct {
	From  string    `json:"from"`
	To    string    `json:"to"`
	OK    bool      `json:"ok"`
	Hash  string    `json:"content_hash,omitempty"`
	Error *rowError `json:"error,omitempty"`
}

func bulkMove() tools.Tool {
	return tools.Change(tools.Spec{
		Name:  "bulk_move_notes",
		Title: "Move many notes",
		Doc:   "Moves up to 100 notes at once, as one change: all of them or none. Links stay right as with move_note.",
		Scope: auth.Read | auth.Write | auth.Delete | auth.Bulk,
	}, func(ctx context.Context, c *tools.Call, in bulkMoveIn) (change.Plan, bulkMoveOut, error) {
		out := bulkMoveOut{Processed: len(in.Moves)}
		b := &batch{c: c, in: in, failed: failures{}}
		if err := b.find(ctx); err != nil {
			return change.Plan{}, out, err
		}
		f, err := b.plan(ctx)
		if err != nil {
			return change.Plan{}, out, err
		}
		if !in.Backlinks {
			f.Only()
		}
		out.Failed = len(b.failed)
		out.Succeeded = out.Processed - out.Failed
		p := change.Plan{Summary: "Move " + tools.Many(out.Succeeded, "file", "files"), Ask: bulkReason(out.Succeeded)}
		if err := b.discard(&p); err != nil {
			return p, out, err
		}
		out.Backlinks, out.Left = f.Into(c, &p)
		for i, r := range b.rows {
			row := movedRow{From: r.From, To: r.To, OK: b.failed[i] == nil, Error: b.failed.of(i)}
			if row.OK {
				row.Hash = f.Hash(r.To).String()
			}
			out.Results = append(out.Results, row)
		}
		return p, out, nil
	})
}

// batch is the planning of many moves.
type batch struct {
	c      *tools.Call
	in     bulkMoveIn
	rows   []rename.Move
	to     []acl.Target
	failed failures
}

// find looks up both ends of each row by itself.
func (b *batch) find(ctx context.Context) error {
	b.rows, b.to = make([]rename.Move, len(b.in.Moves)), make([]acl.Target, len(b.in.Moves))
	sources := map[string]int{}
	for i, m := range b.in.Moves {
		if err := ctx.Err(); err != nil {
			return err
		}
		b.rows[i] = rename.Move{From: m.From, To: m.To}
		from, err := b.c.View.FindNote(ctx, m.From)
		if err == nil {
			b.rows[i].From = from.String()
			err = movable(from.String())
		}
		if err == nil {
			b.to[i], err = b.c.View.Target(ctx, m.To, true)
		}
		if err != nil && !isFault(err) {
			return err
		}
		b.failed.add(i, err)
		if first, ok := sources[b.rows[i].From]; ok && err == nil {
			b.failed.add(i, fault.New(fault.InvalidInput, "%q is moved by row %d already.", b.rows[i].From, first+1))
		} else if err == nil {
			sources[b.rows[i].From] = i
		}
	}
	return nil
}

// plan settles which rows can be made together, and plans them. A row that cannot
// be made may stand in the way of another.
func (b *batch) plan(ctx context.Context) (*tools.Follow, error) {
	for {
		before := len(b.failed)
		b.settle(ctx)
		if len(b.failed) > before {
			continue
		}
		if err := b.failed.refuse(len(b.rows), b.in.Partial); err != nil {
			return nil, err
		}
		f, err := b.c.Move(ctx, b.moves())
		if err == nil || !b.in.Partial || !isFault(err) {
			return f, err
		}
		for i := range b.rows {
			if b.failed[i] == nil {
				alone := b.rows[i]
				if _, err := b.c.Move(ctx, []rename.Move{alone}); isFault(err) && fault.Of(err).Code != fault.NoteExists {
					b.failed.add(i, err)
				}
			}
		}
		if len(b.failed) == before {
			return nil, err // no row is the cause by itself
		}
	}
}

// settle finds where the rows that are left lead.
func (b *batch) settle(ctx context.Context) {
	leaving := map[string]bool{}
	for i, m := range b.rows {
		if b.failed[i] == nil {
			leaving[m.From] = true
		}
	}
	taken := map[string]int{}
	for i := range b.rows {
		if b.failed[i] != nil {
			continue
		}
		m, to := &b.rows[i], b.to[i]
		moved := to.Exists && to.Path != m.From && leaving[to.Path]
		dest, over, err := b.c.Destination(ctx, m.From, to, b.in.Moves[i].To, b.in.Overwrite || moved)
		if err == nil {
			m.To, m.Over = dest, over && !moved
			if first, ok := taken[vault.FoldName(dest)]; ok {
				err = fault.New(fault.InvalidInput, "Row %d leads to %q already.", first+1, dest)
			}
		}
		if err != nil {
			b.failed.add(i, err)
			continue
		}
		taken[vault.FoldName(dest)] = i
	}
}

func (b *batch) moves() (all []rename.Move) {
	for i, m := range b.rows {
		if b.failed[i] == nil {
			all = append(all, m)
		}
	}
	return all
}

// discard makes room for the rows that overwrite something. What goes into a
// trash gets a name by what is there before the plan, so equal names do not fit
// into one plan.
func (b *batch) discard(p *change.Plan) error {
	names, made := map[string]bool{}, map[string]bool{}
	for _, m := range b.moves() {
		if !m.Over {
			continue
		}
		name := vault.FoldName(path.Base(m.To))
		if names[name] {
			return fault.New(fault.InvalidInput, "Two files with the name %q would be overwritten; use two calls.", path.Base(m.To)).With("argument", "overwrite")
		}
		names[name] = true
		edits, _, _, err := b.c.Discard(m.To, false)
		if err != nil {
			return err
		}
		for _, e := range edits {
			if e.Kind != change.Mkdir || !made[e.Path] {
				p.Edits = append(p.Edits, e)
			}
			made[e.Path] = made[e.Path] || e.Kind == change.Mkdir
		}
	}
	if len(names) > 0 {
		p.Summary += fmt.Sprintf(", %d of them in the place of what is there", len(names))
	}
	return nil
}
