package history

import (
	"context"
	"fmt"
	"time"

	"vault-mcp/cache/state"
	"vault-mcp/internal/auth"
	"vault-mcp/tools"
	"vault-mcp/vault/change"
)

type snapshotIn struct {
	tools.VaultArg
	tools.NoteArg
}

type snapshotOut struct {
	Path string `json:"path"`
	ID   int64  `json:"snapshot_id"`
	Hash string `json:"content_hash"`
}

func snapshotNote(s Source) tools.Tool {
	return tools.Effect(tools.EffectSpec[snapshotIn, snapshotOut]{
		Spec: tools.Spec{
			Name: "snapshot_note", Title: "Keep a version of a note",
			Doc:   "Keeps the version that a note has now, for restore_note. Every change keeps one by itself.",
			Scope: auth.Read,
		},
		None: "it keeps a copy beside the vault and changes no note",
		Run: func(ctx context.Context, c *tools.Call, in snapshotIn) (snapshotOut, error) {
			p, err := in.Path.Path()
			if err != nil {
				return snapshotOut{}, err
			}
			content, err := c.View.Read(p, change.MaxImage)
			if err != nil {
				return snapshotOut{}, err
			}
			st, err := s(ctx, c.View)
			if err != nil {
				return snapshotOut{}, err
			}
			sn, err := st.Keep(ctx, p.String(), content.Bytes, time.Now())
			return snapshotOut{p.String(), sn.ID, sn.Hash.String()}, err
		},
	})
}

type listSnapshotsIn struct {
	tools.VaultArg
	Path  tools.Note `json:"path" jsonschema:"path of the note, which may be gone"`
	Limit int        `json:"limit,omitempty" limits:"min=1,max=500,default=50"`
	tools.PageArg
}

type snapshotRow struct {
	ID     int64  `json:"id"`
	Hash   string `json:"content_hash"`
	Size   int64  `json:"size"`
	At     string `json:"created_at"`
	Change string `json:"change_id,omitempty" jsonschema:"the change that replaced this version"`
}

type listSnapshotsOut struct {
	Path       string        `json:"path"`
	Snapshots  []snapshotRow `json:"snapshots"`
	NextCursor *string       `json:"next_cursor"`
}

func listSnapshots(s Source) tools.Tool {
	return tools.Query(tools.Spec{
		Name: "list_snapshots", Title: "List the versions of a note",
		Doc:    "Lists the versions of a note that are kept, the newest first, also those from before it was renamed.",
		Scope:  auth.Read,
		Narrow: "a lower limit",
	}, func(ctx context.Context, c *tools.Call, in listSnapshotsIn) (listSnapshotsOut, error) {
		out := listSnapshotsOut{Snapshots: []snapshotRow{}}
		path, err := in.Path.Past(c)
		if err != nil {
			return out, err
		}
		out.Path = path
		var before int64
		if _, err := c.Page(in.Cursor, &before); err != nil {
			return out, err
		}
		st, err := s(ctx, c.View)
		if err != nil {
			return out, err
		}
		list, err := st.Snapshots(ctx, path, before, in.Limit+1)
		if err != nil {
			return out, err
		}
		for _, sn := range list {
			out.Snapshots = append(out.Snapshots, snapshotRow{sn.ID, sn.Hash.String(), sn.Size, tools.Clock(sn.At), sn.Change})
		}
		more := false
		out.Snapshots, more, err = tools.Page(c, out.Snapshots, in.Limit, nil)
		if err == nil && more {
			out.NextCursor, err = c.NextCursor(out.Snapshots[len(out.Snapshots)-1].ID)
		}
		return out, err
	})
}

type readSnapshotIn struct {
	tools.VaultArg
	ID int64 `json:"snapshot_id" limits:"min=1"`
	tools.PartArg
	tools.FormatArg
}

type snapshotFacts struct {
	Path string `json:"path"`
	Hash string `json:"content_hash" jsonschema:"SHA-256 of the whole version"`
	At   string `json:"created_at"`
	tools.Part
}

type readSnapshotOut struct {
	snapshotFacts
	Content string `json:"content"`
}

// Facts leaves the text out of the text half of format json.
func (o readSnapshotOut) Facts() any { return o.snapshotFacts }

// Prose is the version as a text to read.
func (o readSnapshotOut) Prose() (header, text string) {
	return fmt.Sprintf("%s · %s · %s · %s", o.Path, o.Hash, o.At, o.Part.String("read_snapshot", "diff_note tells only what differs")), o.Content
}

func readSnapshot(s Source) tools.Tool {
	return tools.Query(tools.Spec{
		Name: "read_snapshot", Title: "Read a version of a note",
		Doc:    "Reads one version of a note by the id that list_snapshots gives; a long one comes in parts.",
		Scope:  auth.Read,
		Narrow: "diff_note tells only what differs",
	}, func(ctx context.Context, c *tools.Call, in readSnapshotIn) (readSnapshotOut, error) {
		path, content, at, err := snapshot(ctx, c, s, in.ID)
		if err != nil {
			return readSnapshotOut{}, err
		}
		text, part, err := in.PartArg.Cut(c, content, false, nil)
		return readSnapshotOut{snapshotFacts{path, hashOf(content), tools.Clock(at), part}, string(text)}, err
	})
}

// snapshot is a version of a note that the caller may read.
func snapshot(ctx context.Context, c *tools.Call, s Source, id int64) (path string, content []byte, at time.Time, err error) {
	st, err := s(ctx, c.View)
	if err != nil {
		return "", nil, at, err
	}
	sn, content, err := st.Snapshot(ctx, id)
	if sn.Path != "" && !c.View.Sees(sn.Path) { // not even that its content is gone
		err = state.ErrUnknown
	}
	return sn.Path, content, sn.At, unknown(err, "list_snapshots", "snapshot %d", id)
}

type restoreIn struct {
	tools.VaultArg
	tools.TargetArg
	ID int64 `json:"snapshot_id" limits:"min=1"`
	tools.VersionArg
	tools.WriteArg
}

type restoreOut struct {
	Path     string  `json:"path"`
	From     int64   `json:"restored_from"`
	Hash     string  `json:"content_hash"`
	PrevHash *string `json:"prev_hash"`
	tools.Written
}

func restoreNote(s Source) tools.Tool {
	return tools.Change(tools.Spec{
		Name: "restore_note", Title: "Restore a version of a note",
		Doc:   "Gives a note the content of one of its versions again, or makes it again if it is gone. The version that it has now is kept.",
		Scope: auth.Read | auth.Write,
	}, func(ctx context.Context, c *tools.Call, in restoreIn) (change.Plan, restoreOut, error) {
		out := restoreOut{From: in.ID}
		t, err := in.Path.Target()
		if err != nil {
			return change.Plan{}, out, err
		}
		path, content, at, err := snapshot(ctx, c, s, in.ID)
		if err != nil {
			return change.Plan{}, out, err
		}
		if path != t.Path {
			return change.Plan{}, out, otherNote(in.ID, path, t.Path)
		}
		out.Path, out.Hash = path, hashOf(content)
		p, prev, err := tools.Restore(c, t, content, in.PrevHash)
		out.PrevHash = prev
		p.Summary = fmt.Sprintf("Restore %s as it was on %s", path, tools.Clock(at))
		return p, out, err
	})
}
