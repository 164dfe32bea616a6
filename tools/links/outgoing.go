package links

import (
	"context"
	"strings"

	"vault-mcp/cache/index"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/vault"
	"vault-mcp/vault/canvas"
	"vault-mcp/vault/link"
	"vault-mcp/vault/note"
)

// maxCandidates bounds the files that a link is said to match.
const maxCandidates = 10

type outgoingIn struct {
	tools.VaultArg
	Path   tools.Note  `json:"path,omitempty" jsonschema:"note or canvas"`
	Title  tools.Title `json:"title,omitempty" jsonschema:"instead: the note's name or alias" names:"path"`
	Embeds bool        `json:"include_embeds,omitempty" limits:"default=true"`
	Limit  int         `json:"limit,omitempty" limits:"min=1,max=5000,default=200"`
	tools.PageArg
}

type outgoingRow struct {
	Raw          string   `json:"raw" jsonschema:"the link as written"`
	Kind         string   `json:"kind" jsonschema:"wikilink, markdown, embed, url, or canvas for a card"`
	Target       string   `json:"target"`
	Display      string   `json:"display,omitempty"`
	Heading      string   `json:"heading,omitempty" jsonschema:"part of the target: a heading, or ^ and a block id"`
	Line         int      `json:"line"`
	Col          int      `json:"col"`
	Property     string   `json:"property,omitempty" jsonschema:"key of the property that holds the link"`
	Node         string   `json:"node,omitempty" jsonschema:"id of the card in a canvas"`
	External     bool     `json:"external,omitempty"`
	Resolved     bool     `json:"resolved"`
	TargetPath   string   `json:"target_path,omitempty"`
	SubpathFound *bool    `json:"subpath_found,omitempty" jsonschema:"whether the target has that heading or block"`
	Candidates   []string `json:"candidates,omitempty" jsonschema:"all that match, the chosen one first"`

	at            place
	path, subpath string // not cut, to resolve
}

type counts struct {
	Total      int `json:"total"`
	Resolved   int `json:"resolved"`
	Unresolved int `json:"unresolved"`
	External   int `json:"external"`
}

type outgoingOut struct {
	Path       string        `json:"path"`
	Counts     counts        `json:"counts" jsonschema:"of all pages"`
	Links      []outgoingRow `json:"links"`
	NextCursor *string       `json:"next_cursor"`
}

func outgoingLinks() tools.Tool {
	return tools.Query(tools.Spec{
		Name:   "get_outgoing_links",
		Title:  "Get a note's links",
		Doc:    "Lists the links of a note in order, with the file that each leads to or that there is none.",
		Scope:  auth.Read,
		Narrow: "a lower limit",
	}, func(ctx context.Context, c *tools.Call, in outgoingIn) (outgoingOut, error) {
		out := outgoingOut{Links: []outgoingRow{}}
		rows, p, err := in.rows(c)
		if err != nil {
			return out, err
		}
		out.Path = p.String()
		arrange(rows, func(r *outgoingRow) *place { return &r.at })
		var after place
		paged, err := c.Page(in.Cursor, &after)
		if err != nil {
			return out, err
		}
		var page []outgoingRow
		more := false
		err = c.View.Model(ctx, func(m *index.Model) error {
			w := &resolver{call: c, model: m, from: out.Path}
			for i := range rows {
				w.resolve(&rows[i])
				out.Counts.add(&rows[i])
			}
			page = behind(rows, paged, func(r outgoingRow) int { return r.at.compare(after) })
			more = len(page) > in.Limit
			page = page[:min(len(page), in.Limit)]
			for i := range page {
				w.detail(&page[i])
			}
			return nil
		})
		if err != nil {
			return out, err
		}
		n, err := tools.Fit(c, page, nil)
		if err != nil {
			return out, err
		}
		out.Links = append(out.Links, page[:n]...)
		if more || n < len(page) {
			out.NextCursor, err = c.NextCursor(page[n-1].at)
		}
		return out, err
	})
}

func (n *counts) add(r *outgoingRow) {
	n.Total++
	switch {
	case r.External:
		n.External++
	case r.Resolved:
		n.Resolved++
	default:
		n.Unresolved++
	}
}

// rows are the links of the file as it is now.
func (in outgoingIn) rows(c *tools.Call) ([]outgoingRow, vault.Path, error) {
	p, err := in.Path.Path()
	if err != nil {
		return nil, p, err
	}
	switch vault.Kind(p.String()) {
	case vault.Canvas:
		return in.cards(c)
	case vault.Note:
	default:
		return nil, p, nil // no other file has links
	}
	p, text, err := read(c, in.Path, maxNote)
	if err != nil {
		return nil, p, err
	}
	if !vault.Text(text) {
		return nil, p, fault.New(fault.InvalidInput, "%q is no UTF-8 text, so its links cannot be read.", p.String()).With("argument", "path")
	}
	n := note.Scan(text)
	places := n.Positions()
	var rows []outgoingRow
	for _, l := range linksOf(n, text) {
		if l.Embed && !in.Embeds {
			continue
		}
		at := places.Pos(l.Span.Start)
		rows = append(rows, outgoingRow{
			Raw: tools.Cut(string(l.Span.Of(text)), maxText), Kind: kindOf(l.Form, l.Embed),
			Target: tools.Cut(l.Target, maxText), Display: tools.Cut(l.Text, maxText), Heading: tools.Cut(heading(l.Subpath), maxText),
			Line: at.Line, Col: at.Column, Property: tools.Cut(l.Property, maxText), External: l.External,
			at: place{Line: at.Line, Col: at.Column}, path: l.Target, subpath: l.Subpath,
		})
	}
	return rows, p, nil
}

func (in outgoingIn) cards(c *tools.Call) ([]outgoingRow, vault.Path, error) {
	p, text, err := read(c, in.Path, canvas.MaxBytes)
	if err != nil {
		return nil, p, err
	}
	k, err := canvas.Read(text)
	if err != nil {
		return nil, p, fault.New(fault.InvalidInput, "%q is no canvas: %v.", p.String(), err).With("argument", "path")
	}
	var rows []outgoingRow
	for _, k := range k.Files() {
		rows = append(rows, outgoingRow{
			Raw: tools.Cut(k.File+k.Subpath, maxText), Kind: kindCard, Target: tools.Cut(k.File, maxText),
			Heading: tools.Cut(heading(k.Subpath), maxText), Line: k.Line, Col: k.Column, Node: tools.Cut(k.ID, maxText),
			at: place{Line: k.Line, Col: k.Column}, path: k.File, subpath: k.Subpath,
		})
	}
	return rows, p, nil
}

func heading(subpath string) string { return strings.TrimPrefix(subpath, "#") }

// resolver finds out where the links of one file lead.
type resolver struct {
	call     *tools.Call
	model    *index.Model
	from     string
	outlines map[string]*note.Note
}

func (w *resolver) resolve(r *outgoingRow) {
	switch {
	case r.External:
	case r.Kind == kindCard:
		r.TargetPath, r.Resolved = shownBy(w.call.View, w.model, r.path)
	default:
		r.TargetPath, r.Resolved = w.call.View.Resolve(w.model.Paths(), w.from, r.path)
	}
}

// detail adds what is only said of links that are on the page.
func (w *resolver) detail(r *outgoingRow) {
	if !r.Resolved {
		return
	}
	if r.Kind != kindCard {
		if all := w.model.Paths().Candidates(w.from, r.path, maxCandidates, w.call.View.Sees); len(all) > 1 {
			r.Candidates = all
		}
	}
	if missing, known := w.lacks(r.TargetPath, r.subpath); known {
		found := missing == ""
		r.SubpathFound = &found
	}
}

// lacks says what of a link's sub-path is not in the note that the link leads
// to: a heading, a block, or "" for nothing. It is not known of other files, of
// notes that could not be read, and without a sub-path.
func (w *resolver) lacks(path, subpath string) (lacking missing, known bool) {
	if strings.Trim(subpath, "# ") == "" {
		return "", false
	}
	n, ok := w.model.Note(path)
	if !ok || n.Problem != "" {
		return "", false
	}
	if _, found := link.Locate(w.outline(n), subpath); found {
		return "", true
	}
	if last := subpath[strings.LastIndexByte(subpath, '#')+1:]; strings.HasPrefix(strings.TrimSpace(last), "^") {
		return missingBlock, true
	}
	return missingHeading, true
}

// maxOutlines bounds the outlines that are kept for the next link.
const maxOutlines = 1000

// outline is as much of a note as finding a place in it needs.
func (w *resolver) outline(of index.Note) *note.Note {
	if n, ok := w.outlines[of.Path]; ok {
		return n
	}
	n := &note.Note{}
	var above []int // the headings that the next one can be below
	for h := range of.Facts.Headings() {
		for len(above) > 0 && n.Headings[above[len(above)-1]].Level >= h.Level {
			above = above[:len(above)-1]
		}
		parent := -1
		if len(above) > 0 {
			parent = above[len(above)-1]
		}
		above = append(above, len(n.Headings))
		n.Headings = append(n.Headings, note.Heading{Level: h.Level, Text: h.Text, Line: h.Line, Parent: parent})
	}
	for b := range of.Facts.Blocks() {
		n.Blocks = append(n.Blocks, note.Block{ID: b.ID, Kind: b.Kind, Line: b.Line, EndLine: b.EndLine})
	}
	if w.outlines == nil || len(w.outlines) == maxOutlines {
		w.outlines = map[string]*note.Note{}
	}
	w.outlines[of.Path] = n
	return n
}
