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
	"fmt"
	"slices"
	"strings"

	"vault-mcp/governor"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/vault"
	"vault-mcp/vault/note"
)

// Tools are the domain's tools.
func Tools() tools.Domain {
	return tools.Domain{Name: "links", Tools: []tools.Tool{
		outgoingLinks(), backlinks(), findOrphans(), findUnresolved(), linkStrength(), suggestLinks(),
		centrality(), communities(), pathBetween(), linkCycles(), healthScore(),
	}}
}

const (
	// maxNote is the largest note that is read, in bytes.
	maxNote = 64 << 20
	// maxText bounds each text of a link in an answer, in bytes.
	maxText = 400
	// maxWarnings bounds the files that are named because they could not be
	// read.
	maxWarnings = 10
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
	for i := 1; i < len(rows); i++ {
		before, here := *at(&rows[i-1]), at(&rows[i])
		before.Seq = 0
		if before == *here {
			here.Seq = at(&rows[i-1]).Seq + 1
		}
	}
}

// behind are the sorted rows that come after a place, at most limit of them,
// and whether there are more.
func behind[T any](rows []T, limit int, paged bool, after func(T) int) (page []T, more bool) {
	if paged {
		from, _ := slices.BinarySearchFunc(rows, 0, func(r T, _ int) int {
			if after(r) <= 0 {
				return -1
			}
			return 1
		})
		rows = rows[from:]
	}
	if len(rows) > limit {
		return rows[:limit], true
	}
	return rows, false
}

type warning struct {
	Path   string `json:"path,omitempty"`
	Reason string `json:"reason"`
}

// warnings are the first of all that were added.
type warnings struct {
	list []warning
	more int
}

func (w *warnings) add(path, reason string) {
	if len(w.list) < maxWarnings {
		w.list = append(w.list, warning{path, reason})
	} else {
		w.more++
	}
}

func (w *warnings) all() []warning {
	if w.more > 0 {
		return append(slices.Clip(w.list), warning{Reason: fmt.Sprintf("%d more files could not be read", w.more)})
	}
	return w.list
}

// room is what is left of the budget for the rows of an answer.
type room struct {
	call *tools.Call
	left int
	rows int
}

// roomFor leaves an eighth for the cursor and what is around the rows.
func roomFor(c *tools.Call, ws []warning) (*room, error) {
	r := &room{call: c, left: c.Budget - c.Budget/8}
	for _, w := range ws {
		if err := r.spend(w); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *room) spend(row any) error {
	n, err := r.call.Cost(row)
	if err != nil {
		return err
	}
	m, err := r.call.TextCost(row)
	r.left -= n + m + len(", - \n")
	return err
}

// takes spends what a row costs and reports whether it still fits. The first
// one always does.
func (r *room) takes(row any) (bool, error) {
	err := r.spend(row)
	r.rows++
	return r.left >= 0 || r.rows == 1, err
}

// fit is how many rows go into an answer: a page that would pass the budget
// ends early.
func fit[T any](c *tools.Call, rows []T, ws []warning) (int, error) {
	r, err := roomFor(c, ws)
	if err != nil {
		return 0, err
	}
	for i := range rows {
		if ok, err := r.takes(rows[i]); !ok || err != nil {
			return i, err
		}
	}
	return len(rows), nil
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
func readListed(ctx context.Context, c *tools.Call, path string, limit int64) (text []byte, reason string, err error) {
	p, err := c.View.FindFile(ctx, path)
	if err == nil && p.String() != path {
		return nil, "it is gone", nil
	}
	var content vault.Content
	if err == nil {
		content, err = c.View.Read(p, limit)
	}
	switch {
	case ctx.Err() != nil:
		return nil, "", ctx.Err()
	case err != nil:
		if e, ok := errors.AsType[*fault.Error](err); ok && e.Code == fault.NoteNotFound {
			return nil, "it is gone", nil
		}
		if big, ok := errors.AsType[*vault.TooLargeError](err); ok {
			return nil, big.Error(), nil
		}
		return nil, "it cannot be read", nil
	case !vault.Text(content.Bytes):
		return nil, "it is no UTF-8 text", nil
	}
	return content.Bytes, "", nil
}

// linksOf are the links of a note that count, in the order of the text.
func linksOf(n *note.Note, text []byte) []note.Link {
	props := note.ParseProperties(text)
	return append(props.Links(text), n.Inline().Links...)
}
