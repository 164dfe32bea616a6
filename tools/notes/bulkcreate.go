package notes

import (
	"context"
	"fmt"
	"path"
	"strings"

	"vault-mcp/internal/acl"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/vault"
	"vault-mcp/vault/change"
	"vault-mcp/vault/note"
)

type bulkCreateIn struct {
	tools.VaultArg
	Items []createRow `json:"items" limits:"minItems=1,maxItems=200"`
	bulkArg
	tools.WriteArg
}

type createRow struct {
	Path        string       `json:"path"`
	Content     string       `json:"content"`
	Frontmatter tools.Object `json:"frontmatter,omitempty" jsonschema:"properties, set in the content"`
	Mode        writeMode    `json:"mode,omitempty" jsonschema:"as of write_note"`
	PrevHash    string       `json:"prev_hash,omitempty"`
}

type bulkCreateOut struct {
	Processed int          `json:"processed"`
	Succeeded int          `json:"succeeded"`
	Failed    int          `json:"failed"`
	Results   []createdRow `json:"results"`
	tools.Written
}

type createdRow struct {
	Path     string    `json:"path"`
	OK       bool      `json:"ok"`
	ModeUsed string    `json:"mode_used,omitempty"`
	Hash     string    `json:"content_hash,omitempty"`
	Error    *rowError `json:"error,omitempty"`
}

func bulkCreate() tools.Tool {
	return tools.Change(tools.Spec{
		Name:  "bulk_create_notes",
		Title: "Write many notes",
		Doc:   "Writes up to 200 notes at once, as one change: all of them or none.",
		Scope: auth.Read | auth.Write | auth.Bulk,
	}, func(ctx context.Context, c *tools.Call, in bulkCreateIn) (change.Plan, bulkCreateOut, error) {
		out := bulkCreateOut{Processed: len(in.Items)}
		w := newBulkWriter(c)
		for i, item := range in.Items {
			if err := ctx.Err(); err != nil {
				return change.Plan{}, out, err
			}
			row, err := w.write(ctx, i, item)
			if err != nil && !isFault(err) {
				return change.Plan{}, out, err
			}
			w.failed.add(i, err)
			row.OK, row.Error = err == nil, w.failed.of(i)
			out.Results = append(out.Results, row)
		}
		if err := w.failed.refuse(len(in.Items), in.Partial); err != nil {
			return change.Plan{}, out, err
		}
		out.Failed = len(w.failed)
		out.Succeeded = out.Processed - out.Failed
		summary := "Write " + tools.Many(out.Succeeded, "note", "notes")
		if w.replaced > 0 {
			summary += fmt.Sprintf(", and replace the whole of %d of them", w.replaced)
		}
		return change.Plan{Summary: summary, Ask: bulkReason(out.Succeeded), Edits: append(w.folders, w.edits...)}, out, nil
	})
}

// bulkWriter plans many files that know of each other.
type bulkWriter struct {
	c              *tools.Call
	failed         failures
	folders, edits []change.Edit
	replaced       int
	files          map[string]int    // rows by folded path
	made           map[string]string // new folders by folded path, as they are spelled
}

func newBulkWriter(c *tools.Call) *bulkWriter {
	return &bulkWriter{c: c, failed: failures{}, files: map[string]int{}, made: map[string]string{}}
}

func (w *bulkWriter) write(ctx context.Context, i int, item createRow) (createdRow, error) {
	row := createdRow{Path: item.Path}
	t, err := w.c.View.Target(ctx, item.Path, true)
	if err != nil {
		return row, err
	}
	t = w.spell(t)
	row.Path = t.Path
	content, err := item.text(t.Path)
	if err != nil {
		return row, err
	}
	folded := vault.FoldName(t.Path)
	if first, ok := w.files[folded]; ok {
		return row, fault.New(fault.InvalidInput, "Row %d writes %q already.", first+1, t.Path)
	}
	if dir, ok := w.made[folded]; ok {
		return row, fault.New(fault.InvalidInput, "%q is a folder of another row.", dir)
	}
	for dir := path.Dir(folded); dir != "."; dir = path.Dir(dir) {
		if first, ok := w.files[dir]; ok {
			return row, fault.New(fault.InvalidInput, "%q would be below the file of row %d.", t.Path, first+1)
		}
	}
	one := writeIn{Content: item.Content, Mode: item.Mode, VersionArg: tools.VersionArg{PrevHash: item.PrevHash}}
	if one.Mode == "" {
		one.Mode = "create"
	}
	p, out, err := planWrite(ctx, w.c, t, content, one)
	if err != nil {
		return row, err
	}
	w.files[folded] = i
	for _, e := range p.Edits {
		switch {
		case e.Kind != change.Mkdir:
			w.edits = append(w.edits, e)
			if e.Kind == change.Put {
				w.replaced++
			}
		case w.made[vault.FoldName(e.Path)] == "":
			w.made[vault.FoldName(e.Path)] = e.Path
			w.folders = append(w.folders, e)
		}
	}
	row.ModeUsed, row.Hash = out.ModeUsed, out.Hash
	return row, nil
}

// spell gives folders that an earlier row makes the spelling that they have there.
func (w *bulkWriter) spell(t acl.Target) acl.Target {
	for _, dir := range t.Missing {
		if is := w.made[vault.FoldName(dir)]; is != "" && is != dir {
			t.Path = is + strings.TrimPrefix(t.Path, dir)
			missing := make([]string, len(t.Missing))
			for i, d := range t.Missing {
				missing[i] = d
				if strings.HasPrefix(d+"/", dir+"/") {
					missing[i] = is + d[len(dir):]
				}
			}
			t.Missing = missing
			return w.spell(t)
		}
	}
	return t
}

// text is the content of a row with its properties.
func (r createRow) text(at string) ([]byte, error) {
	props, err := r.Frontmatter.Get()
	switch {
	case err != nil:
		return nil, fault.New(fault.InvalidInput, "The properties of %q cannot be read: %s.", at, err)
	case props == nil:
		return []byte(r.Content), nil
	}
	if vault.Kind(at) != vault.Note {
		return nil, fault.New(fault.InvalidInput, "%q is no note, so it has no properties.", at)
	}
	text, err := note.EditProperties([]byte(r.Content), note.SetProperties(props))
	if err != nil {
		return nil, fault.New(fault.InvalidInput, "The properties of %q cannot be written: %s.", at, err)
	}
	return text, nil
}
