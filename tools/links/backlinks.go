package links

import (
	"context"
	"slices"
	"strings"

	"vault-mcp/cache/index"
	"vault-mcp/cache/index/facts"
	"vault-mcp/internal/acl"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/tools"
	"vault-mcp/vault"
	"vault-mcp/vault/link"
	"vault-mcp/vault/note"
)

type backlinksIn struct {
	tools.VaultArg
	Path      tools.Note      `json:"path,omitempty" jsonschema:"note or any other file"`
	Title     tools.Title     `json:"title,omitempty" jsonschema:"instead: the note's name or alias" names:"path"`
	Context   int             `json:"context,omitempty" jsonschema:"lines of text around each link" limits:"min=0,max=10"`
	Unlinked  bool            `json:"unlinked,omitempty" jsonschema:"also where its title or an alias stands without a link"`
	Verbosity tools.Verbosity `json:"verbosity,omitempty" jsonschema:"terse: only where the links are, not their text" limits:"default=full"`
	Limit     int             `json:"limit,omitempty" limits:"min=1,max=5000,default=100"`
	tools.PageArg
}

type backlinkRow struct {
	Source   string `json:"source_path"`
	Line     int    `json:"line"`
	Col      int    `json:"col"`
	Raw      string `json:"raw,omitempty"`
	Kind     string `json:"kind" jsonschema:"wikilink, markdown, embed, canvas for a card, or mention for a text without a link"`
	Display  string `json:"display,omitempty"`
	Heading  string `json:"heading,omitempty" jsonschema:"part of the file that is meant"`
	Property string `json:"property,omitempty" jsonschema:"key of the property that holds the link"`
	Node     string `json:"node,omitempty" jsonschema:"id of the card in a canvas"`
	Self     bool   `json:"self,omitempty" jsonschema:"the link stands in the file itself"`
	Snippet  string `json:"snippet,omitempty"`

	at     place
	target string
	// length is that of the raw text in bytes, if the hash of the file is this.
	length int
	hash   fingerprint.Content
}

type backlinksOut struct {
	Path       string          `json:"path"`
	Total      int             `json:"total" jsonschema:"links on all pages together"`
	Sources    int             `json:"sources" jsonschema:"files that link to it"`
	Unlinked   *int            `json:"total_unlinked,omitempty" jsonschema:"mentions without a link on all pages together"`
	Backlinks  []backlinkRow   `json:"backlinks"`
	NextCursor *string         `json:"next_cursor"`
	Warnings   []tools.Warning `json:"warnings,omitempty"`
}

func backlinks() tools.Tool {
	return tools.Query(tools.Spec{
		Name:   "get_backlinks",
		Title:  "Get backlinks",
		Doc:    "Lists every link to a note or file, each with its line: in text, properties and canvases.",
		Scope:  auth.Read,
		Narrow: "a lower limit or less context",
	}, func(ctx context.Context, c *tools.Call, in backlinksIn) (backlinksOut, error) {
		out := backlinksOut{Backlinks: []backlinkRow{}}
		p, err := in.Path.Path()
		if err != nil {
			return out, err
		}
		out.Path = p.String()
		var after place
		paged, err := c.Page(in.Cursor, &after)
		if err != nil {
			return out, err
		}
		b, err := findBacklinks(ctx, c, out.Path, paged)
		if err != nil {
			return out, err
		}
		out.Total = len(b.rows)
		for i := range b.rows {
			if i == 0 || b.rows[i].Source != b.rows[i-1].Source {
				out.Sources++
			}
		}
		rest := behind(b.rows, paged, func(r backlinkRow) int { return r.at.compare(after) })
		more := len(rest) > in.Limit
		page := slices.Clone(rest[:min(len(rest), in.Limit)])
		if in.Unlinked {
			s := seeker{names: b.names, self: out.Path, paged: paged, after: after, keep: in.Limit - len(page) + 1}
			if err := s.run(ctx, c, b.warnings); err != nil {
				return out, err
			}
			total, n := s.total, min(len(s.rows), in.Limit-len(page))
			out.Unlinked = &total
			more = more || n < len(s.rows)
			page = append(page, s.rows[:n]...)
		}
		n, err := b.fill(ctx, c, page, in)
		if err != nil {
			return out, err
		}
		out.Backlinks = append(out.Backlinks, page[:n]...)
		out.Warnings = b.warnings.List()
		if more || n < len(page) {
			out.NextCursor, err = c.NextCursor(page[n-1].at)
		}
		return out, err
	})
}

// found are the links to one file, not yet with their texts.
type found struct {
	rows     []backlinkRow
	names    []string // the title and the aliases, of a note
	warnings *tools.Warnings

	key []byte // of the link that is looked at
}

// findBacklinks looks at the notes that have a link of the right name.
func findBacklinks(ctx context.Context, c *tools.Call, path string, paged bool) (*found, error) {
	b := &found{warnings: c.NewWarnings(paged)}
	err := c.View.Model(ctx, func(m *index.Model) error {
		b.warnings.Model(m, tools.InFolder(""))
		if n, ok := m.Note(path); ok {
			b.names = append(b.names, n.Title())
			b.names = slices.AppendSeq(b.names, n.Facts.Aliases())
			b.linksIn(c, m, &n, path, []string{""}) // those that only name a part of the note itself
		}
		keys := link.KeysOf(path)
		var linking []index.Note
		for _, id := range m.Linking(keys...) {
			n, ok := m.ByID(id)
			if !ok {
				n, ok = m.Canvas(id)
			}
			if ok && c.View.Sees(n.Path) {
				linking = append(linking, n)
			}
		}
		// In the order of the rows, so that these are not sorted: they are large.
		slices.SortFunc(linking, func(x, y index.Note) int { return strings.Compare(x.Path, y.Path) })
		for i := range linking {
			if n := &linking[i]; vault.Kind(n.Path) == vault.Canvas {
				b.cardsIn(n, path)
			} else {
				b.linksIn(c, m, n, path, keys)
			}
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	arrange(b.rows, func(r *backlinkRow) *place { return &r.at })
	return b, nil
}

// cardsIn adds the cards of a canvas that show a file.
func (b *found) cardsIn(k *index.Note, path string) {
	for l := range k.Facts.Links() {
		if !shows(l.Target, path) {
			continue
		}
		b.rows = append(b.rows, backlinkRow{
			Source: k.Path, Line: l.Line, Col: l.Column, Raw: tools.Cut(l.Target+l.Subpath, maxText), Kind: kindCard,
			Heading: tools.Cut(heading(l.Subpath), maxText), Node: tools.Cut(l.Node, maxText), Self: k.Path == path,
			at: place{Path: k.Path, Line: l.Line, Col: l.Column},
		})
	}
}

func (b *found) linksIn(c *tools.Call, m *index.Model, n *index.Note, path string, keys []string) {
	for l := range n.Facts.Links() {
		if !isCounted(l) {
			continue
		}
		b.key = link.AppendKey(b.key[:0], l.Target)
		if !slices.ContainsFunc(keys, func(k string) bool { return k == string(b.key) }) {
			continue
		}
		if p, ok := c.View.Resolve(m.Paths(), n.Path, l.Target); !ok || p != path {
			continue
		}
		b.rows = append(b.rows, backlinkRow{
			Source: n.Path, Line: l.Line, Col: l.Column, Kind: kindOf(l.Form, l.Embed), Display: tools.Cut(l.Text, maxText),
			Heading: tools.Cut(heading(l.Subpath), maxText), Property: tools.Cut(l.Property, maxText), Self: n.Path == path,
			at: place{Path: n.Path, Line: l.Line, Col: l.Column}, target: l.Target, length: l.Length, hash: n.Hash,
		})
	}
}

// fill reads the files of a page for the texts of its rows, and tells how many
// rows fit into the answer.
func (b *found) fill(ctx context.Context, c *tools.Call, page []backlinkRow, in backlinksIn) (int, error) {
	r, err := c.Room(b.warnings.List())
	if err != nil {
		return 0, err
	}
	reader := c.View.Reader()
	defer reader.Close()
	src := source{}
	for i := range page {
		row := &page[i]
		if row.Kind != kindCard && in.Verbosity == tools.Full {
			if row.Source != src.path {
				if src, err = open(ctx, reader, row.Source); err != nil {
					return 0, err
				}
				if src.reason != "" {
					b.warnings.Page(row.Source, src.reason)
					if err := r.Spend(tools.Warning{Path: row.Source, Reason: src.reason}); err != nil {
						return 0, err
					}
				}
			}
			src.fill(row, in.Context)
		}
		if ok, err := r.Takes(row); !ok || err != nil {
			return i, err
		}
	}
	return len(page), nil
}

// source is a note that links stand in, as it is now.
type source struct {
	path   string
	text   []byte
	reason string              // why it cannot be read
	hash   fingerprint.Content // of the text
	lines  *note.Note          // of which only the lines are known
	links  map[note.Pos]*note.Link
}

func open(ctx context.Context, r *acl.Reader, path string) (s source, err error) {
	s.path = path
	if s.text, s.reason, err = readListed(ctx, r, path, vault.DefaultMaxBytes); err != nil || s.reason != "" {
		return s, err
	}
	s.hash = fingerprint.OfContent(s.text)
	s.lines = note.LinesOf(s.text)
	return s, nil
}

// fill adds the texts of a link, unless the file has changed there since the
// index looked at it.
func (s *source) fill(row *backlinkRow, lines int) {
	if s.lines == nil {
		return
	}
	at := note.Pos{Line: row.Line, Column: row.Col}
	offset, ok := offsetOf(s.text, s.lines, at)
	span := note.Span{Start: offset, End: min(len(s.text), offset+len(row.Raw))}
	switch {
	case row.Kind == kindMention:
	case ok && s.hash == row.hash:
		span.End = min(len(s.text), offset+row.length)
		row.Raw = tools.Cut(string(span.Of(s.text)), maxText)
	default:
		if span, ok = s.find(at, row.target); ok {
			row.Raw = tools.Cut(string(span.Of(s.text)), maxText)
		}
	}
	if ok {
		row.Snippet = snippet(s.text, s.lines, span, lines)
	}
}

// find looks for a link in a text that is another than the index has.
func (s *source) find(at note.Pos, target string) (note.Span, bool) {
	if s.links == nil {
		n := note.Scan(s.text)
		all := linksOf(n, s.text)
		s.links = make(map[note.Pos]*note.Link, len(all))
		places := n.Positions()
		for i := range all {
			s.links[places.Pos(all[i].Span.Start)] = &all[i]
		}
	}
	l := s.links[at]
	if l == nil || l.Target != target {
		return note.Span{}, false
	}
	return l.Span, true
}

// isCounted reports whether the app counts a link: not those that lead out
// of the vault, and no definitions.
func isCounted(l facts.Link) bool { return !l.External && l.Form != note.FormDefinition }
