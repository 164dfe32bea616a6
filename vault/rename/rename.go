// Package rename owns how links stay right when what they lead to gets another name: it plans moves of files and folders,
// other titles of headings, other ids of blocks, and other targets of links. It remembers what each link leads to, and
// respells exactly those that would lead elsewhere afterwards, each in the style it is written in. It writes nothing: the
// result is a list of edits, which was checked against the resolution of every link concerned before it is returned.
package rename

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"vault-mcp/internal/fault"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/vault"
	"vault-mcp/vault/change"
	"vault-mcp/vault/link"
	"vault-mcp/vault/settings"
)

// Vault is what the planner asks about the vault. All paths are from the root, and spelled as on disk. What a caller may
// see does not count: a link in a closed folder has to stay right as well.
type Vault interface {
	// Paths are all files.
	Paths() *link.Index
	// Below are the files in a folder and in all folders below it.
	Below(folder string) []string
	// Folder is the folder with a path, be it empty, or if there is none one that differs in case or Unicode form only.
	Folder(path string) (spelled string, ok bool)
	// Linking are the notes with links that have one of the keys, each once; see link.Key. Link definitions count.
	Linking(keys ...string) []string
	// Targets are the paths of a note's internal links as they would be resolved. ok is false if they are not known.
	Targets(note string) (targets []string, ok bool)
	// Boards are all canvases and bases. Not all that names a file in them has a key.
	Boards() []string
	// Read is the content of a file.
	Read(path string) ([]byte, error)
	// Hash is what a move expects the file to hold: that of its content, or change.OfLarge above change.MaxImage.
	Hash(path string) (fingerprint.Content, error)
}

// Move gives a file, or a folder with all that is in it, another path.
type Move struct {
	From, To string
	// Dir says that it is a folder.
	Dir bool
	// Over says that the file at To is removed before; links to it lead to the moved one. Not of folders.
	Over bool
}

// Result is what has to be done.
type Result struct {
	// Edits are folders to be made and moves, in an order in which they can be done one after the other, and then the puts
	// that keep links right. Paths of the puts are those after the moves; those in files that stay are marked as upkeep.
	Edits  []change.Edit
	Report Report
}

// Report says what becomes of links. Paths are those after the moves.
type Report struct {
	// Files are the files with links that were respelled, in the order of their paths.
	Files []Count
	// Ambiguous is how many of these links lead to a file that stays, and whose name alone would now lead to another one.
	Ambiguous int
	// Alive are the files with links that led nowhere and lead to a moved file now.
	Alive []Count
	// Left are links that cannot follow, as no link can name the new place.
	Left []Place
}

// Count is a file with a number of links.
type Count struct {
	Path  string
	Links int
}

// Place is one link: Line counts from 1 and is 0 outside of notes. Target is its path as written, decoded.
type Place struct {
	Path   string
	Line   int
	Target string
}

// Links is how many links were respelled.
func (r *Report) Links() int {
	n := 0
	for _, c := range r.Files {
		n += c.Links
	}
	return n
}

// Plan plans moves, which take place at once: two files can change their names. A file that is moved itself goes where
// its own move says, and all others below a folder go with the folder. What is missing is note_not_found, a place that
// is taken note_exists, moves that contradict each other invalid_input, and a name that no vault should have path_invalid.
func Plan(v Vault, moves []Move, s settings.Settings) (*Result, error) {
	return new(Planner).Plan(v, moves, s)
}

// Plan is Plan, for what is planned again. The Edits share their bytes with those of the time before.
func (p *Planner) Plan(v Vault, moves []Move, s settings.Settings) (*Result, error) {
	moves = slices.DeleteFunc(slices.Clone(moves), func(m Move) bool { return m.From == m.To })
	w := &world{vault: v, before: v.Paths(), after: v.Paths(), format: s.NewLinkFormat}
	if len(moves) == 0 {
		return &Result{}, nil
	}
	if err := w.move(moves); err != nil {
		return nil, err
	}
	if m, ok := v.(Rememberer); ok {
		w.back = m.Back(moves)
	}
	r := &Result{}
	var err error
	if r.Edits, err = w.steps(moves); err != nil {
		return nil, err
	}
	if err := p.follow(w, r, moves, w.concerned()); err != nil {
		return nil, err
	}
	r.Report.sort()
	return r, nil
}

func (r *Report) sort() {
	byPath := func(a, b Count) int { return strings.Compare(a.Path, b.Path) }
	slices.SortFunc(r.Files, byPath)
	slices.SortFunc(r.Alive, byPath)
	slices.SortStableFunc(r.Left, func(a, b Place) int { return strings.Compare(a.Path, b.Path) })
}

// world is the vault before and after.
type world struct {
	vault         Vault
	before, after *link.Index
	format        settings.LinkFormat
	moved         map[string]string // files
	folders       []Move            // the deepest first
	over          map[string]bool   // files that are removed for one that is moved there
	keys          map[string]bool   // of links that could lead to a moved file before, or can after
	back          func(path string, text []byte) ([]byte, bool)
}

// to is where a file is afterwards.
func (w *world) to(path string) string {
	if to, ok := w.moved[path]; ok {
		return to
	}
	return path
}

// toFolder is where what is in a folder is afterwards.
func (w *world) toFolder(path string) string {
	for _, m := range w.folders {
		if within(path, m.From) {
			return m.To + path[len(m.From):]
		}
	}
	return path
}

// within reports whether a path is the folder or below it.
func within(path, folder string) bool {
	return strings.HasPrefix(path, folder) && (len(path) == len(folder) || path[len(folder)] == '/')
}

// move works out where each file is afterwards.
func (w *world) move(moves []Move) error {
	w.moved, w.over = map[string]string{}, map[string]bool{}
	for _, m := range moves {
		if m.Over && !m.Dir && has(w.before, m.To) {
			w.over[m.To] = true
		}
		if m.Dir {
			w.folders = append(w.folders, m)
		}
	}
	slices.SortStableFunc(w.folders, func(a, b Move) int { return len(b.From) - len(a.From) })
	for _, m := range w.folders {
		if within(m.To, m.From) {
			return fault.New(fault.InvalidInput, "The folder %q cannot be moved into itself.", m.From)
		}
		for _, file := range w.vault.Below(m.From) {
			if _, ok := w.moved[file]; !ok {
				w.moved[file] = m.To + file[len(m.From):]
			}
		}
	}
	for _, m := range moves {
		if !m.Dir {
			if !has(w.before, m.From) {
				return fault.New(fault.NoteNotFound, "There is no file %q.", m.From).With("path", m.From)
			}
			w.moved[m.From] = m.To
		}
	}
	w.after = w.before.Clone()
	froms := slices.Sorted(maps.Keys(w.moved))
	for _, from := range froms {
		w.after.Remove(from)
	}
	for _, from := range froms {
		to := w.moved[from]
		if w.over[to] && has(w.after, to) {
			continue
		}
		if w.after.Has(to) {
			return taken(to)
		}
		if !w.after.Add(to) {
			return fault.New(fault.PathInvalid, "%q cannot be moved to %q: a name there is empty or begins with a dot.", from, to)
		}
	}
	return nil
}

// has reports whether there is a file with just this path.
func has(x *link.Index, path string) bool {
	p, ok := x.Resolve(path, "", nil)
	return ok && p == path
}

func taken(path string) error {
	return fault.New(fault.NoteExists, "%q is taken; nothing is overwritten by a move.", path).With("path", path)
}

// concerned are the files whose links can lead elsewhere now, by their paths before: those with a link whose last name is
// an old or a new one of a moved file, the moved ones themselves, and all canvases and bases. Of notes it leaves out those
// of which the targets tell that no link changes.
func (w *world) concerned() []string {
	w.keys = map[string]bool{}
	var all []string
	for from, to := range w.moved {
		for _, k := range link.KeysOf(from) {
			w.keys[k] = true
		}
		for _, k := range link.KeysOf(to) {
			w.keys[k] = true
		}
		if vault.Kind(from) == vault.Note {
			all = append(all, from)
		}
	}
	linking := w.vault.Linking(slices.Collect(maps.Keys(w.keys))...)
	all = slices.Concat(all, linking, w.vault.Boards())
	slices.Sort(all)
	all = slices.Compact(all)
	return slices.DeleteFunc(all, func(path string) bool {
		return w.over[path] || vault.Kind(path) == vault.Note && w.settled(path)
	})
}

// settled reports whether all links of a note are known to lead where they led.
func (w *world) settled(path string) bool {
	targets, ok := w.vault.Targets(path)
	return ok && !slices.ContainsFunc(targets, func(t string) bool {
		if !w.touches(path, t) {
			return false
		}
		before, led := w.before.Resolve(path, t, nil)
		now, leads := w.after.Resolve(w.to(path), t, nil)
		return led != leads || led && now != w.to(before)
	})
}

// touches reports whether a link can lead elsewhere than before: any of a moved file, and else those with the name of one.
func (w *world) touches(path, target string) bool {
	return w.keys[link.Key(target)] || w.to(path) != path
}

// add takes over what became of a file.
func (r *Result) add(f *file, done respelled) {
	r.take(&followed{file: *f, done: done, edit: done.edit(f)})
}

// broken is the fault of a plan that would not keep its promise.
func broken(path, format string, args ...any) error {
	return fault.New(fault.Internal, "The plan was not made: the links of %q would not be as they should be.", path).
		With("path", path).Because(fmt.Errorf(format, args...))
}
