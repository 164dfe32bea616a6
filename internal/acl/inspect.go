package acl

import (
	"context"
	"errors"

	"vault-mcp/internal/fault"
	"vault-mcp/vault"
)

// Inspect says by which path the rules judge what a caller names, and what they
// decide on it for each operation. Nobody is asked and nothing is read. A path that
// is absent or hidden is note_not_found; one that may be there only after a person
// was asked is judged alike whether it is there or not.
func (w *View) Inspect(ctx context.Context, arg string) (path string, verdicts []Verdict, err error) {
	v := w.Now()
	p, err := v.FindFile(ctx, arg)
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Code == fault.NoteNotFound {
		p, err = v.FindNote(ctx, arg) // it may be named without .md
	}
	path = p.String()
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Code == fault.ACLDenied {
		path, _ = e.Details["path"].(string)
	} else if err != nil {
		return "", nil, err
	}
	if path == "" {
		return "", nil, fault.New(fault.PathInvalid, "%q is the vault itself; the rules are about what is in it.", arg)
	}
	read := v.Judge(Read, path)
	switch read.Verb {
	case Hide: // a folder of which only something in it is known
		return "", nil, fault.New(fault.NoteNotFound, "No note or file at %q.", arg).With("closest", []string{})
	case Ask:
		// The spelling on the disk would tell that it is there.
		if clean, err := vault.Clean(arg); err == nil && vault.FoldName(clean) == vault.FoldName(path) {
			path, read = clean, v.Judge(Read, clean)
		}
	}
	verdicts = []Verdict{Read: read, Write: v.Judge(Write, path), Delete: v.Judge(Delete, path)}
	for _, op := range []Op{Write, Delete} {
		if verdicts[op].Verb == Allow && read.Verb == Ask {
			verdicts[op] = read // what a change answers tells whether it was there
		}
	}
	return path, verdicts, nil
}
