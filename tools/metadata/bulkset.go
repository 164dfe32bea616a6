package metadata

import (
	"context"
	"encoding/json"
	"fmt"

	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/vault/change"
	"vault-mcp/vault/note"
)

type bulkSetIn struct {
	tools.VaultArg
	Paths    tools.Targets `json:"paths" jsonschema:"of notes" limits:"minItems=1,maxItems=500"`
	Property string        `json:"key" limits:"minLength=1,maxLength=1000"`
	Value    tools.Value   `json:"value" jsonschema:"any JSON value, null too; dates as text"`
	Partial  bool          `json:"partial,omitempty" jsonschema:"leave out notes that cannot be changed, instead of changing none"`
	tools.WriteArg
}

type bulkSetOut struct {
	Processed int       `json:"processed"`
	Succeeded int       `json:"succeeded"`
	Failed    int       `json:"failed"`
	Results   []bulkRow `json:"results" jsonschema:"each note once, as the call names them"`
	tools.Written
}

type bulkRow struct {
	Path  string     `json:"path"`
	OK    bool       `json:"ok"`
	Prev  any        `json:"prev_value,omitempty" jsonschema:"left out if there was none"`
	Cut   bool       `json:"cut,omitempty" jsonschema:"prev_value is the beginning of a longer one, as text"`
	Error *bulkError `json:"error,omitempty"`
}

type bulkError struct {
	Code    fault.Code `json:"code"`
	Message string     `json:"message"`
}

func bulkSetProperty() tools.Tool {
	return tools.Change(tools.Spec{
		Name:  "bulk_set_property",
		Title: "Set a property of many notes",
		Doc:   "Sets one property to the same value in up to 500 notes: in all or in none, unless partial is set.",
		Scope: auth.Read | auth.Write | auth.Bulk,
	}, func(ctx context.Context, c *tools.Call, in bulkSetIn) (change.Plan, bulkSetOut, error) {
		out := bulkSetOut{Results: []bulkRow{}}
		value, err := in.Value.Get()
		if err != nil {
			return change.Plan{}, out, noValue("value", err)
		}
		// What can be written nowhere is no fault of the notes.
		edit := note.SetProperty(in.Property, value)
		if _, err := note.EditProperties(nil, edit); err != nil {
			return change.Plan{}, out, noValue("value", err)
		}
		var p change.Plan
		seen := map[string]bool{}
		for i := range in.Paths {
			row, e, err := in.one(ctx, c, &in.Paths[i], edit)
			switch {
			case ctx.Err() != nil:
				return change.Plan{}, out, ctx.Err()
			case seen[row.Path]:
				continue
			case err != nil:
				f := fault.Of(err)
				row.Error = &bulkError{f.Code, f.Message}
				out.Failed++
			default:
				p.Edits = append(p.Edits, e...)
				row.OK = true
				out.Succeeded++
			}
			seen[row.Path] = true
			out.Results = append(out.Results, row)
		}
		out.Processed = len(out.Results)
		if out.Failed > 0 && !in.Partial {
			return change.Plan{}, out, out.refusal()
		}
		if n := len(p.Edits); n > 0 {
			p.Summary = fmt.Sprintf("Set the property %q in %s", tools.Cut(in.Property, longest), counted(n))
			p.Ask = []string{"it is a bulk run over " + counted(n)}
		}
		return p, out, nil
	})
}

// one plans the edit of one note: none if it has the value already.
func (in *bulkSetIn) one(ctx context.Context, c *tools.Call, path *tools.Target, edit note.PropertyEdit) (row bulkRow, edits []change.Edit, err error) {
	row.Path = tools.Cut(path.Arg, longest)
	t, err := path.Note(c)
	if err != nil {
		return row, nil, err
	}
	row.Path = t.Path
	p, e, err := c.EditNote(ctx, path, "", "", func(text []byte) ([]byte, error) {
		if err := sound(t.Path, text); err != nil {
			return nil, err
		}
		now, err := note.EditProperties(text, edit)
		return now, noEdit(t.Path, err)
	})
	if err != nil {
		return row, nil, err
	}
	props := note.ParseProperties(e.Old)
	if prop, ok := props.Find(in.Property); ok {
		err = row.show(prop)
	}
	return row, p.Edits, err
}

// show tells the value that a note had.
func (r *bulkRow) show(p note.Property) error {
	object, err := note.Properties{List: []note.Property{p}}.MarshalJSON()
	if err != nil {
		return err
	}
	var member map[string]json.RawMessage
	if err := json.Unmarshal(object, &member); err != nil {
		return err
	}
	b := member[p.Key]
	if r.Prev = b; len(b) > longest {
		r.Prev, r.Cut = tools.Cut(string(b), longest), true
	}
	return nil
}

// refusal names the notes because of which nothing is changed.
func (o *bulkSetOut) refusal() error {
	var failed []map[string]any
	for _, r := range o.Results {
		if r.Error != nil && len(failed) < maxClashes {
			failed = append(failed, map[string]any{"path": r.Path, "code": r.Error.Code, "message": r.Error.Message})
		}
	}
	return fault.New(fault.InvalidInput, "%d of %d notes cannot be changed, so none was; partial leaves such out. The first: %s", o.Failed, o.Processed, failed[0]["message"]).
		With("failed", o.Failed).With("errors", failed)
}
