// Package links holds the tools for what links to what: the links of one note,
// what is broken or unlinked, and the graph that all notes make.
//
// Everything is counted over the notes that the caller may read, each link
// resolved over those: what is hidden is on no path and in no number. Links
// are what the app counts: embeds, properties and cards of canvases are among
// them, definitions of Markdown references are not.
package links

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"vault-mcp/governor"
	"vault-mcp/internal/acl"
	"vault-mcp/tools"
	"vault-mcp/vault"
	"vault-mcp/vault/note"
)

// Tools are the domain's tools.
func Tools() tools.Domain {
	return tools.Domain{Name: "links", Tools: []tools.Tool{
		outgoingLinks(), backlinks(), findOrphans(), findUnresolved(), linkStrength(), suggestLinks(),
		centrality(), communities(), pathBetween(), linkCycles(), healthScore(),
		renameHeading(), rewriteLink(), pruneHub(),
	}}
}

const (
	// maxNote is the largest note that is read, in bytes.
	maxNote = 64 << 20
	// maxText bounds each text of a link in an answer, in bytes.
	maxText = 400
)

// The kinds of links in answers, beside wikilink and markdown.
const (
	kindEmbed   = "embed"
	kindURL     = "url"
	kindCard    = "canvas"
	kindMention = "mention"
)

func kindOf(form note.LinkForm, embed bool) string {
	switch {
	case embed:
		return kindEmbed
	case form == note.FormWiki:
		return "wikilink"
	case form == note.FormMarkdown:
		return "markdown"
	}
	return kindURL
}

// place is where a link stands, and where a list goes on: behind it.
type place struct {
	Mention bool   `json:"m,omitempty"` // these come last
	Path    string `json:"p,omitempty"`
	Line    int    `json:"l"`
	Col     int    `json:"c"`
	// Seq tells links apart that stand in one place: items of a YAML alias.
	Seq int `json:"s,omitempty"`
}

func (a place) compare(b place) int {
	return cmp.Or(
		cmp.Compare(ordinal(a.Mention), ordinal(b.Mention)), strings.Compare(a.Path, b.Path),
		cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col), cmp.Compare(a.Seq, b.Seq))
}

func ordinal(b bool) int {
	if b {
		return 1
	}
	return 0
}

// arrange sorts rows by their places and numbers those in the same one.
func arrange[T any](rows []T, at func(*T) *place) {
	for i := 1; i < len(rows); i++ {
		if at(&rows[i]).compare(*at(&rows[i-1])) < 0 {
			sortRows(rows, at)
			break
		}
	}
	for i := 1; i < len(rows); i++ {
		before, here := *at(&rows[i-1]), at(&rows[i])
		before.Seq = 0
		if before == *here {
			here.Seq = at(&rows[i-1]).Seq + 1
		}
	}
}

func sortRows[T any](rows []T, at func(*T) *place) {
	// The places are sorted, not the rows: those are large.
	order := make([]struct {
		at  place
		row T
	}, len(rows))
	index := make([]int, len(rows))
	for i := range rows {
		order[i].at, order[i].row, index[i] = *at(&rows[i]), rows[i], i
	}
	slices.SortStableFunc(index, func(a, b int) int { return order[a].at.compare(order[b].at) })
	for i, from := range index {
		rows[i] = order[from].row
	}
}

// rankPlace is where a ranked list goes on: behind what has this score and path.
type rankPlace struct {
	Score float64 `json:"s"`
	Path  string  `json:"p"`
}

// compare orders by score, best first, then by path: above 0 for what comes
// behind the place.
func (at rankPlace) compare(score float64, path string) int {
	return cmp.Or(cmp.Compare(at.Score, score), strings.Compare(path, at.Path))
}

// behind are the sorted rows that come after a place.
func behind[T any](rows []T, paged bool, after func(T) int) []T {
	if !paged {
		return rows
	}
	from, _ := slices.BinarySearchFunc(rows, 0, func(r T, _ int) int {
		if after(r) <= 0 {
			return -1
		}
		return 1
	})
	return rows[from:]
}

// read reads a file that the call names.
func read(c *tools.Call, ref tools.Note, limit int64) (vault.Path, []byte, error) {
	p, err := ref.Path()
	if err != nil {
		return p, nil, err
	}
	content, err := c.View.Read(p, limit)
	if big, ok := errors.AsType[*vault.TooLargeError](err); ok {
		return p, nil, governor.Overflow(int(big.Size), int(big.Max), c.Tool.Narrow)
	}
	return p, content.Bytes, err
}

// readListed reads a file that a list names. The reason says for people why it
// cannot be read.
func readListed(ctx context.Context, r *acl.Reader, path string, limit int64) (text []byte, reason string, err error) {
	content, err := r.Read(ctx, path, limit)
	switch {
	case ctx.Err() != nil:
		return nil, "", ctx.Err()
	case err != nil:
		return nil, vault.Reason(err), nil
	case !vault.Text(content.Bytes):
		return nil, vault.NotText, nil
	}
	return content.Bytes, "", nil
}

// linksOf are the links of a note that count, in the order of the text.
func linksOf(n *note.Note, text []byte) []note.Link {
	props := note.ParseProperties(text)
	return append(props.Links(text), n.Inline().Links...)
}
