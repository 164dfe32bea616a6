package field

import (
	"vault-mcp/vault"
	"vault-mcp/vault/canvas"
)

// canvasRead reads a canvas, or all canvases of the vault.
func canvasRead(s *site, in values) (answer, error) {
	if path := text(in, "path"); path != "" {
		data, err := s.canvas(path)
		if err != nil {
			return answer{}, err
		}
		return answer{data: values{"nodes": data["nodes"], "edges": data["edges"], "canvases": values{path: data}}}, nil
	}
	paths, err := s.paths()
	if err != nil {
		return answer{}, err
	}
	all := values{}
	for _, path := range paths {
		if vault.Kind(path) != vault.Canvas {
			continue
		}
		if all[path], err = s.canvas(path); err != nil {
			return answer{}, err
		}
	}
	return answer{data: values{"canvases": all}}, nil
}

// canvas is a canvas in the words of the format; its edges have those of the cases too.
func (s *site) canvas(path string) (values, error) {
	b, err := s.text(path)
	if err != nil {
		return nil, err
	}
	c, err := canvas.Read(b)
	if err != nil {
		return nil, err
	}
	nodes, edges := []values{}, []values{}
	for _, n := range c.Nodes {
		nodes = append(nodes, values{
			"id": n.ID, "type": n.Type, "x": n.X, "y": n.Y, "width": n.Width, "height": n.Height, "color": n.Color, "text": n.Text,
			"file": n.File, "subpath": n.Subpath, "url": n.URL, "label": n.Label, "background": n.Background,
			"backgroundStyle": n.BackgroundStyle, "line": n.Line,
		})
	}
	for _, e := range c.Edges {
		edges = append(edges, values{
			"id": e.ID, "fromNode": e.FromNode, "toNode": e.ToNode, "fromSide": e.FromSide, "toSide": e.ToSide, "fromEnd": e.FromEnd,
			"toEnd": e.ToEnd, "color": e.Color, "label": e.Label, "from": e.FromNode, "to": e.ToNode, "from_side": e.FromSide,
			"to_side": e.ToSide, "from_end": e.FromEnd, "to_end": e.ToEnd,
		})
	}
	return values{"nodes": nodes, "edges": edges}, nil
}
