package metadata

import (
	"context"
	"errors"
	"fmt"

	"vault-mcp/cache/index"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/vault/change"
	"vault-mcp/vault/note"
)

type renamePropertyIn struct {
	tools.VaultArg
	Property string `json:"key" limits:"minLength=1,maxLength=1000"`
	New      string `json:"new_key" jsonschema:"refused if a note has both" limits:"minLength=1,maxLength=1000"`
	tools.WriteArg
}

type renamePropertyOut struct {
	Key   string `json:"key"`
	New   string `json:"new_key"`
	Notes int    `json:"notes" jsonschema:"notes that change"`
	tools.Written
}

// maxClashes is how many notes an error names.
const maxClashes = 50

func renameProperty() tools.Tool {
	return tools.Change(tools.Spec{
		Name:  "rename_property",
		Title: "Rename a property everywhere",
		Doc:   "Gives a property another name in all notes that have it; its values stay as they are. Notes that have to be left out are named in warnings.",
		Scope: auth.Read | auth.Write,
	}, func(ctx context.Context, c *tools.Call, in renamePropertyIn) (change.Plan, renamePropertyOut, error) {
		out := renamePropertyOut{Key: in.Property, New: in.New}
		// What cannot be a name anywhere is no fault of the notes.
		if _, err := note.EditProperties(nil, note.SetProperty(in.New, nil)); err != nil {
			return change.Plan{}, out, noValue("new_key", err)
		}
		w, err := newWide(ctx, c, func(m *index.Model) []uint32 { return m.WithProperty(in.Property) })
		if err != nil {
			return change.Plan{}, out, err
		}
		clashes, more := []string{}, 0
		err = w.each(ctx, func(path string, text []byte) ([]byte, error) {
			now, err := note.EditProperties(text, note.RenameProperty(in.Property, in.New))
			if e, ok := errors.AsType[*note.PropertyError](err); ok && e.Fault == note.FaultTaken {
				if len(clashes) < maxClashes {
					clashes = append(clashes, path)
				} else {
					more++
				}
			}
			return now, err
		})
		if err != nil {
			return change.Plan{}, out, err
		}
		if n := len(clashes) + more; n > 0 {
			return change.Plan{}, out, fault.New(fault.InvalidInput, "%q is beside %q in %s already, so nothing was renamed.",
				tools.Cut(in.New, longest), tools.Cut(in.Property, longest), counted(n)).
				With("argument", "new_key").With("paths", clashes).With("paths_more", more)
		}
		out.Notes = len(w.plan.Edits)
		return w.done(fmt.Sprintf("Rename the property %q to %q", tools.Cut(in.Property, longest), tools.Cut(in.New, longest))), out, nil
	})
}
