package rename

import (
	"slices"

	"vault-mcp/internal/fault"
	"vault-mcp/vault/link"
	"vault-mcp/vault/settings"
)

// Links makes all links that lead to one target lead to the file to. from is the path of a file, or what links say that
// lead nowhere. Sub-paths stay, and so do links of a note to itself that have no path. A missing file to is
// note_not_found. Without embeds those stay as they are.
func Links(v Vault, from, to string, embeds bool, s settings.Settings) (*Result, error) {
	w := &world{vault: v, before: v.Paths(), after: v.Paths(), format: s.NewLinkFormat}
	if !has(w.before, to) {
		return nil, fault.New(fault.NoteNotFound, "There is no file %q.", to).With("path", to)
	}
	if from == to {
		return &Result{}, nil
	}
	exists := has(w.before, from)
	keys := []string{link.Key(from)}
	if exists {
		keys = link.KeysOf(from)
	}
	files := slices.Concat(v.Linking(keys...), v.Boards())
	slices.Sort(files)
	r := &Result{}
	for _, path := range slices.Compact(files) {
		text, err := v.Read(path)
		if err != nil {
			return nil, err
		}
		f := file{path: path, to: path, text: text}
		done, err := f.respell(w, func(it *item) goal {
			leads, ok := it.leadsTo(w.before, path)
			switch {
			case it.kind == folder || it.Target == "" || it.Embed && !embeds:
				return goal{}
			case exists && (!ok || leads != from):
				return goal{}
			case !exists && (ok || !link.Same(it.Target, from)):
				return goal{}
			}
			return goal{change: true, before: from, after: to, subpath: it.Subpath}
		})
		if err != nil {
			return nil, err
		}
		r.add(&f, done)
	}
	for i := range r.Edits {
		r.Edits[i].Upkeep = false // these links are what is asked for
	}
	r.Report.sort()
	return r, nil
}
