package links

import (
	"context"

	"vault-mcp/internal/auth"
	"vault-mcp/tools"
)

type pathIn struct {
	tools.VaultArg
	From     tools.Note `json:"from"`
	To       tools.Note `json:"to"`
	Directed bool       `json:"directed,omitempty" jsonschema:"follow links forwards only"`
}

type hop struct {
	From string   `json:"from"`
	To   string   `json:"to"`
	Via  []string `json:"via" jsonschema:"wikilink, markdown, embed, property"`
	Back bool     `json:"back,omitempty" jsonschema:"the link goes from to to from"`
}

type pathOut struct {
	From        string          `json:"from"`
	To          string          `json:"to"`
	Directed    bool            `json:"directed"`
	Connected   bool            `json:"connected"`
	FromInGraph bool            `json:"from_in_graph" jsonschema:"it is a note"`
	ToInGraph   bool            `json:"to_in_graph"`
	Hops        []hop           `json:"hops"`
	Length      *int            `json:"length"`
	Excluded    int             `json:"excluded,omitempty" jsonschema:"notes left out because Obsidian's settings exclude them"`
	Warnings    []tools.Warning `json:"warnings,omitempty"`
}

func pathBetween() tools.Tool {
	return tools.Query(tools.Spec{
		Name:   "graph_path_between",
		Title:  "Find a path of links",
		Doc:    "Finds a shortest path of links between two notes.",
		Scope:  auth.Read,
		Narrow: "notes that are nearer to each other",
	}, func(ctx context.Context, c *tools.Call, in pathIn) (pathOut, error) {
		out := pathOut{Directed: in.Directed, Hops: []hop{}}
		s, err := lookAt(ctx, c, false, &in.From, &in.To)
		if err != nil {
			return out, err
		}
		out.Excluded, out.Warnings = s.excluded, s.warnings.List()
		g := s.graph
		var from, to int32
		if from, out.From, out.FromInGraph, err = g.noteIn(in.From); err != nil {
			return out, err
		}
		if to, out.To, out.ToInGraph, err = g.noteIn(in.To); err != nil || !out.FromInGraph || !out.ToInGraph {
			return out, err
		}
		way := g.shortest(from, to, in.Directed)
		if way == nil {
			return out, nil
		}
		for i, node := range way[1:] {
			h := hop{From: g.paths[way[i]], To: g.paths[node], Via: g.via(way[i], node).names()}
			if h.Via == nil {
				h.Via, h.Back = g.via(node, way[i]).names(), true
			}
			out.Hops = append(out.Hops, h)
		}
		length := len(out.Hops)
		out.Connected, out.Length = true, &length
		return out, err
	})
}
