package links

import (
	"context"

	"vault-mcp/internal/auth"
	"vault-mcp/tools"
)

type strengthIn struct {
	tools.VaultArg
	From tools.Note `json:"from"`
	To   tools.Note `json:"to"`
}

type strengthOut struct {
	From       string          `json:"from"`
	To         string          `json:"to"`
	Direct     bool            `json:"direct" jsonschema:"one links to the other"`
	CoCitation int             `json:"co_citation" jsonschema:"notes that link to both"`
	SharedOut  int             `json:"shared_out_neighbors" jsonschema:"notes that both link to"`
	Distance   *int            `json:"distance" jsonschema:"links between them, either way; null if there is no way"`
	Strength   float64         `json:"strength" jsonschema:"from 0 to 1"`
	Excluded   int             `json:"excluded,omitempty" jsonschema:"notes left out because Obsidian's settings exclude them"`
	Warnings   []tools.Warning `json:"warnings,omitempty"`
}

func linkStrength() tools.Tool {
	return tools.Query(tools.Spec{
		Name:  "get_link_strength",
		Title: "Measure how notes are linked",
		Doc:   "Says how closely two notes are linked: directly, over how many steps, and by how many notes in common.",
		Scope: auth.Read,
	}, func(ctx context.Context, c *tools.Call, in strengthIn) (out strengthOut, err error) {
		s, err := lookAt(ctx, c, false, &in.From, &in.To)
		if err != nil {
			return out, err
		}
		out.Excluded, out.Warnings = s.excluded, s.warnings.List()
		g := s.graph
		var from, to int32
		if from, out.From, err = g.mustNote(in.From, "from"); err != nil {
			return out, err
		}
		if to, out.To, err = g.mustNote(in.To, "to"); err != nil {
			return out, err
		}
		out.Direct = g.links(from, to) || g.links(to, from)
		out.CoCitation = common(g.in.of(from), g.in.of(to))
		out.SharedOut = common(g.out.of(from), g.out.of(to))
		if way := g.shortest(from, to, false); way != nil {
			d := len(way) - 1
			out.Distance = &d
		}
		out.Strength = out.strength()
		return out, nil
	})
}

// strength is the sum of what links the notes, at most 1.
func (o *strengthOut) strength() float64 {
	s := 0.06*float64(min(o.CoCitation, 5)) + 0.04*float64(min(o.SharedOut, 5))
	if o.Direct {
		s += 0.5
	}
	if o.Distance != nil {
		s += max(0, 0.3-0.1*float64(*o.Distance-1))
	}
	return rounded(min(1, s))
}
