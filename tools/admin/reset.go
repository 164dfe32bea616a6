package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"vault-mcp/cache/index"
	"vault-mcp/hitl"
	"vault-mcp/internal/acl"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
)

type resetIn struct {
	tools.VaultArg
	tools.WriteArg
}

type resetOut struct {
	ChangeID   string         `json:"change_id,omitempty"`
	DryRun     bool           `json:"dry_run,omitempty"`
	Dropped    map[string]int `json:"rows_dropped" jsonschema:"of what you may see"`
	Rebuilding bool           `json:"rebuilding" jsonschema:"get_index_status says when the index is ready; queries read the files meanwhile"`
	At         string         `json:"reset_at,omitempty"`
	Summary    string         `json:"summary"`
}

// resetIntent is what is kept of a reset before it is done.
type resetIntent struct {
	Life string `json:"life"`
}

func resetCache() tools.Tool {
	return tools.Effect(tools.EffectSpec[resetIn, resetOut]{
		Spec: tools.Spec{
			Name:  "reset_vault_cache",
			Title: "Reset a vault's index",
			Doc:   "Throws the index of a vault away, which is then built again from the files. No note, version, approval or history is touched; a person approves it.",
			Scope: auth.Admin,
		},
		Floor: hitl.Always("it throws the index away"),
		Targets: func(ctx context.Context, c *tools.Call, _ resetIn) (hitl.Targets, error) {
			h, err := heldNow(ctx, c.View)
			return h.confirmation(c.View), err
		},
		Begin: func(ctx context.Context, c *tools.Call, _ resetIn) (func(context.Context) (resetOut, error), func(), error) {
			ix := c.View.Index()
			if ix == nil {
				return nil, nil, noIndex()
			}
			held, err := ix.Hold(ctx)
			if err != nil {
				return nil, nil, notReady(err)
			}
			return func(ctx context.Context) (resetOut, error) {
				defer held.Release() // before anybody asks what became of it
				h, err := heldNow(ctx, c.View)
				if err == nil {
					err = c.Intend(ctx, resetIntent{held.Life()})
				}
				if err == nil {
					err = held.Reset(ctx)
				}
				out := h.answer(c)
				out.Rebuilding, out.At = true, tools.Clock(time.Now())
				return out, err
			}, held.Release, nil
		},
		Dry: func(ctx context.Context, c *tools.Call, _ resetIn) (resetOut, error) {
			h, err := heldNow(ctx, c.View)
			return h.answer(c), err
		},
		Settle: func(ctx context.Context, view *acl.View, raw json.RawMessage) (done, known bool) {
			var i resetIntent
			if json.Unmarshal(raw, &i) != nil || view.Index() == nil {
				return false, false
			}
			life, err := view.Index().Life(ctx)
			return life != i.Life, err == nil
		},
	})
}

// holding is what the index holds: all, and what the caller may see of it.
type holding struct {
	vault     string
	all, seen index.Counts
}

// loading is how often an index is asked that only has to be loaded. Each time it
// waits a moment by itself, so that this is a few seconds: a process that makes one
// call and ends has no other chance.
const loading = 10

func heldNow(ctx context.Context, v *acl.View) (h holding, err error) {
	ix := v.Index()
	if ix == nil {
		return h, noIndex()
	}
	h.vault = v.ID
	for range loading {
		err = ix.Read(ctx, func(m *index.Model) error {
			h.all, h.seen = m.Counts(nil), m.Counts(v.Sees)
			return nil
		})
		if !errors.Is(err, index.ErrNotReady) || ix.Status(nil).Phase != index.Loading {
			break
		}
	}
	return h, notReady(err)
}

func noIndex() error {
	return fault.New(fault.InvalidInput, "This vault has no index.").With("reason", "no_index")
}

// notReady is err, or says that the index has first to be whole: what it holds
// changes until then. An approval that was given stays good.
func notReady(err error) error {
	if !errors.Is(err, index.ErrNotReady) {
		return err
	}
	return fault.New(fault.VaultBusy, "The index is not ready; make the same call again when get_index_status says ready.").With("reason", "index_not_ready")
}

// kind is a kind of what an index holds.
type kind struct {
	name, one, many string
	n               int
}

func kindsOf(c index.Counts) []kind {
	return []kind{
		{"notes", "note", "notes", c.Notes},
		{"texts", "text", "texts", c.Texts},
		{"links", "link", "links", c.Links},
		{"files", "other file", "other files", c.Files},
		{"removed_paths", "removed path", "removed paths", c.Removed},
	}
}

func inWords(c index.Counts) string {
	var parts []string
	for _, k := range kindsOf(c) {
		parts = append(parts, tools.Many(k.n, k.one, k.many))
	}
	return strings.Join(parts, ", ")
}

func (h holding) summary() string {
	return fmt.Sprintf("Throw away the index of the vault %s: %s", h.vault, inWords(h.seen))
}

func (h holding) answer(c *tools.Call) resetOut {
	out := resetOut{ChangeID: c.ChangeID(), DryRun: c.DryRun(), Dropped: map[string]int{}, Summary: h.summary()}
	for _, k := range kindsOf(h.seen) {
		out.Dropped[k.name] = k.n
	}
	return out
}

// confirmation binds to all that the index holds. What passes through the client
// counts what the caller may see.
func (h holding) confirmation(v *acl.View) hitl.Targets {
	t := hitl.Targets{
		Items:   []hitl.Target{{Name: "index", Word: true, State: fmt.Append(nil, inWords(h.all))}},
		Summary: h.summary(),
		Undo:    "It is built again from the notes; only changes_since forgets what was before.",
		Preview: func(shown func(string) bool) string {
			if shown("") {
				return "The index holds " + inWords(h.all) + ".\n"
			}
			return ""
		},
	}
	if v.Rules().Hides() {
		t.Notes = []string{"This counts what the caller may see; all of the index goes. vault-mcp elicit counts all."}
	}
	return t
}
