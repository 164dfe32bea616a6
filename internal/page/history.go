package page

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"vault-mcp/cache/state"
	"vault-mcp/hitl"
	"vault-mcp/internal/elicit"
	"vault-mcp/tools"
	"vault-mcp/vault/change"
)

const (
	// historyRows is how many rows of each vault, and of all, are shown.
	historyRows = 200
	// maxDiffs is how much of a change is shown, in bytes.
	maxDiffs = 1 << 20
	clock    = "2006-01-02 15:04:05"
)

// row is one row of the history.
type row struct {
	When, Machine             string
	What, By                  string
	Tool, Caller, Vault, Note string
	Folder                    string
	Paths                     []string
	More                      int
	Change                    string
}

// past is the page of the history.
type past struct {
	frame
	Rows  []row
	Wrong []string
}

// history shows what was asked, answered and done.
func (p *Page) history(w http.ResponseWriter, r *http.Request, s *session) {
	if s.only != nil {
		p.lost(w, http.StatusNotFound)
		return
	}
	v := past{frame: frameOf(s, "history")}
	v.Rows, v.Wrong = p.rows(r.Context(), s)
	p.show(w, http.StatusOK, "history", v)
}

// rows are those of the history, and what was left out of it. What the desk has found
// is its own: it is held until nothing more is read from it.
func (p *Page) rows(ctx context.Context, s *session) (rows []row, wrong []string) {
	defer p.atDesk(s)()
	err := p.Desk.Look(ctx)
	list, left := p.Desk.History(ctx, hitl.RoutePage, historyRows)
	if err != nil {
		left = append(left, err)
	}
	for _, a := range list {
		if a.Kind != state.AuditBegin && len(rows) < historyRows { // its end tells more
			rows = append(rows, rowOf(a))
		}
	}
	return rows, told(left)
}

func rowOf(a elicit.Recorded) row {
	r := row{
		When: a.At.Local().Format(clock), Machine: a.At.UTC().Format(time.RFC3339), What: string(a.Kind), Tool: hitl.Display(a.Tool), Caller: hitl.Display(a.Caller),
		Vault: hitl.Display(a.Vault), Note: hitl.Display(a.Reason), More: a.More, Change: a.Change, Folder: hitl.Text(a.Folder()),
	}
	for _, path := range a.Paths {
		r.Paths = append(r.Paths, hitl.Display(path))
	}
	switch a.Kind {
	case state.AuditRequest:
		r.What = "asked"
	case state.AuditEnd:
		r.What = a.Outcome
	case state.AuditRelease:
		r.What = "approval given back"
	case state.AuditBreak:
		r.What = "not signed by this server"
	case state.AuditRefused:
		r.Note = hitl.Display(strings.TrimSpace(a.Code + " " + a.Reason))
	}
	if a.By != "" {
		r.By = by(hitl.Route(a.Route), a.By)
	} else if a.Approval != nil && a.Kind == state.AuditEnd {
		r.By = "approved " + by(a.Approval.Route, a.Approval.By)
	}
	if r.Change == "" {
		r.Change = a.Did
	}
	return r
}

// by says who has answered, and how.
func by(route hitl.Route, who string) string {
	if !route.Person() {
		return "by its client"
	}
	return "by " + hitl.Display(who) + where(route)
}

// done is the page of one change.
type done struct {
	frame
	Change, Summary, Tool, Caller, When, Outcome, By string
	Files                                            []file
	Cut                                              bool
	// UndoneBy is the change that took it back, and Undo the command that does.
	UndoneBy, Undo string
}

// file is one edit of a change.
type file struct {
	Action, Path, To string
	Diff             diff
}

// change shows one change with its diff.
func (p *Page) change(w http.ResponseWriter, r *http.Request, s *session) {
	if s.only != nil {
		p.lost(w, http.StatusNotFound)
		return
	}
	id := r.PathValue("change")
	leave := p.atDesk(s)
	err := p.Desk.Look(r.Context())
	var n state.Numbered
	var vault string
	if err == nil {
		n, vault, err = p.Desk.Change(r.Context(), hitl.RoutePage, id)
	}
	leave()
	if e, ok := errors.AsType[*state.EffectError](err); ok {
		p.fail(w, http.StatusNotFound, "There is no diff: "+hitl.Display(e.Error())+".")
		return
	}
	if err != nil {
		p.fail(w, http.StatusNotFound, "There is no such change, or it is no longer kept.")
		return
	}
	v := done{
		frame: frameOf(s, "change"), Change: n.ID, Summary: hitl.Display(n.Summary), Tool: hitl.Display(n.Tool), Caller: hitl.Display(n.Caller),
		When: n.Began.Local().Format(clock), Outcome: string(n.Outcome), UndoneBy: n.UndoneBy,
	}
	if a := n.Approval; a != nil {
		v.By = "approved " + by(a.Route, a.By)
	}
	if n.Outcome == change.Applied && n.UndoneBy == "" {
		v.Undo = undo(vault, n.Vault, n.ID)
	}
	shown := 0
	for i := range n.Edits {
		e := &n.Edits[i]
		text := tools.DiffOf(e)
		if shown += len(text); shown > maxDiffs {
			v.Cut = true
			break
		}
		f, _ := tools.FileOf(e)
		v.Files = append(v.Files, file{f.Action, hitl.Display(f.Path), hitl.Display(f.To), diffOf(text)})
	}
	p.show(w, http.StatusOK, "change", v)
}

// undo is the command that takes a change back.
func undo(vault, id, change string) string {
	parts := []string{"vault-mcp undo"}
	if vault == "" {
		vault = "the folder of the vault"
	}
	parts = append(parts, hitl.Flag("vault", vault))
	if id != "" {
		parts = append(parts, hitl.Flag("in", id))
	}
	return strings.Join(append(parts, change), " ")
}
