package index

import (
	"iter"
	"slices"
	"sort"
	"strings"
	"time"
	"unicode/utf8"

	"vault-mcp/cache/index/facts"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/vault"
	"vault-mcp/vault/link"
)

// Model is the index in memory: all files of the vault, and for each note what
// is in it. It knows no caller: whoever answers one asks only for what it may
// see, and resolves links over that. It is valid during the call of Read that
// gives it, and so is everything that it returns, strings excepted.
type Model struct {
	entries []entry // by id; 0 is not used
	free    []uint32
	byPath  map[string]uint32
	rev     int64

	notes, others order
	paths         *link.Index

	links, tags, aliases, properties postings

	key []byte // of a call of terms, for the next

	// flawed are the notes and canvases that are not known whole.
	flawed map[uint32]bool
	// skipped are the files and folders without an entry, of a Model that
	// nobody keeps; outside tells those of one that is kept.
	skipped []Skipped
	outside func() []Skipped

	// removed has the rev at which paths vanished, while somebody scans the
	// files: what was read of them before that is stale.
	removed map[string]int64
	scans   int

	birth birth
	// gone are the paths that vanished and are not there again, each with the rev
	// of that, but none of a rev up to forgotten.
	gone      map[string]int64
	forgotten int64
}

// entry is one file; one without a path is a free id.
type entry struct {
	path              string
	size, mtime, seen int64
	rev               int64
	hash              fingerprint.Content
	problem           string
	facts             facts.Blob
	note, canvas      bool
}

// read reports whether the file is read for what is in it.
func (e *entry) read() bool { return e.note || e.canvas }

// Note is one note of the vault.
type Note struct {
	// ID is the note's number. It stays while the note changes or moves, and is
	// given to another when it is gone.
	ID uint32
	// Path is where the note is, spelled as on disk.
	Path string
	// Size and ModTime are those of the file when it was read.
	Size    int64
	ModTime time.Time
	// Hash is that of the content; zero if the content could not be read.
	Hash fingerprint.Content
	// Problem says why the content could not be read, and is empty otherwise.
	// Such a note has no facts.
	Problem string
	// Facts is what is in the note.
	Facts facts.Blob
}

// Title is the file name without its extension.
func (n Note) Title() string { return stem(n.Path) }

// File is a file that is no note.
type File struct {
	Path    string
	Size    int64
	ModTime time.Time
}

func newModel(paths []string) *Model {
	m := &Model{
		entries: make([]entry, 1, len(paths)+1), byPath: make(map[string]uint32, len(paths)), paths: link.NewIndex(paths),
		links: newPostings(), tags: newPostings(), aliases: newPostings(), properties: newPostings(), flawed: map[uint32]bool{},
	}
	return m
}

func stem(path string) string {
	name := path[strings.LastIndexByte(path, '/')+1:]
	if dot := strings.LastIndexByte(name, '.'); dot > 0 {
		return name[:dot]
	}
	return name
}

// fold is the form in which titles, aliases, tags and keys are compared.
func fold(s string) string { return vault.FoldName(s) }

// appendFold appends fold(s) to dst.
func appendFold(dst []byte, s string) []byte {
	start := len(dst)
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= utf8.RuneSelf:
			return append(dst[:start], fold(s)...)
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

func (m *Model) note(id uint32) Note {
	e := &m.entries[id]
	return Note{id, e.path, e.size, time.Unix(0, e.mtime), e.hash, e.problem, e.facts}
}

// Len is the number of notes.
func (m *Model) Len() int { return len(m.notes.ids) }

// Notes are all notes in the order of their paths, by bytes.
func (m *Model) Notes() iter.Seq[Note] { return m.below(&m.notes, "") }

// NotePaths are the paths of all notes, in their order.
func (m *Model) NotePaths() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, id := range m.notes.ids {
			if !yield(m.entries[id].path) {
				return
			}
		}
	}
}

// PathOf is the path of the note with a number; "" if there is none.
func (m *Model) PathOf(id uint32) string {
	if int(id) >= len(m.entries) || !m.entries[id].note {
		return ""
	}
	return m.entries[id].path
}

// NotesBelow are the notes in a folder and all folders below it, in the order
// of their paths; "" is the root.
func (m *Model) NotesBelow(folder string) iter.Seq[Note] {
	if folder != "" {
		folder += "/"
	}
	return m.below(&m.notes, folder)
}

func (m *Model) below(o *order, prefix string) iter.Seq[Note] {
	return func(yield func(Note) bool) {
		for _, id := range o.from(m, prefix) {
			if !strings.HasPrefix(m.entries[id].path, prefix) || !yield(m.note(id)) {
				return
			}
		}
	}
}

// Files are all files that are no notes, in the order of their paths.
func (m *Model) Files() iter.Seq[File] {
	return func(yield func(File) bool) {
		for _, id := range m.others.ids {
			e := &m.entries[id]
			if !yield(File{e.path, e.size, time.Unix(0, e.mtime)}) {
				return
			}
		}
	}
}

// Canvases are all canvases in the order of their paths, in the form of notes:
// their facts are links only.
func (m *Model) Canvases() iter.Seq[Note] {
	return func(yield func(Note) bool) {
		for _, id := range m.others.ids {
			if m.entries[id].canvas && !yield(m.note(id)) {
				return
			}
		}
	}
}

// Canvas finds a canvas by its number.
func (m *Model) Canvas(id uint32) (Note, bool) {
	if int(id) >= len(m.entries) || !m.entries[id].canvas {
		return Note{}, false
	}
	return m.note(id), true
}

// Flawed are the notes and canvases that are not known whole, in the order of
// their paths: those with a Problem, and those whose facts have a Flaw.
func (m *Model) Flawed() []Note {
	list := make([]Note, 0, len(m.flawed))
	for id := range m.flawed {
		list = append(list, m.note(id))
	}
	slices.SortFunc(list, func(a, b Note) int { return strings.Compare(a.Path, b.Path) })
	return list
}

// Skipped are the files and folders that the model does not have because they
// could not be looked at, in the order of their paths.
func (m *Model) Skipped() []Skipped {
	if m.outside != nil {
		return m.outside()
	}
	return m.skipped
}

// Note finds a note by its exact path.
func (m *Model) Note(path string) (Note, bool) {
	id, ok := m.ID(path)
	if !ok {
		return Note{}, false
	}
	return m.note(id), true
}

// ID is the number of the note with an exact path.
func (m *Model) ID(path string) (id uint32, ok bool) {
	id, ok = m.byPath[path]
	return id, ok && m.entries[id].note
}

// IDs is one more than the largest number of a note.
func (m *Model) IDs() int { return len(m.entries) }

// Has reports whether there is a file with an exact path.
func (m *Model) Has(path string) bool {
	_, ok := m.byPath[path]
	return ok
}

// ByID finds a note by its number.
func (m *Model) ByID(id uint32) (Note, bool) {
	if int(id) >= len(m.entries) || !m.entries[id].note {
		return Note{}, false
	}
	return m.note(id), true
}

// Paths are all files of the vault, notes and others, for resolving links.
func (m *Model) Paths() *link.Index { return m.paths }

// Linking are the notes and canvases with links that have one of the keys, in
// order of their ids, each once; see link.Key and link.KeysOf. External links have no key. The
// key "" is that of links which name no file. A card is listed under the first key of
// the path that it shows.
func (m *Model) Linking(keys ...string) []uint32 {
	if len(keys) == 1 {
		return m.links.of(keys[0])
	}
	var all []uint32
	for _, k := range keys {
		all = append(all, m.links.of(k)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Tags lists every tag, without case, in no order, with the notes that have it:
// each as often as the tag stands in it. A tag has no notes of tags nested in it.
func (m *Model) Tags() iter.Seq2[string, []uint32] { return m.tags.each }

// Tagged are the notes with a tag, or if nested is set with one below it, in the
// order of their ids, each once. Case does not count, nor does a leading #.
func (m *Model) Tagged(tag string, nested bool) []uint32 {
	tag = fold(strings.TrimPrefix(tag, "#"))
	all := slices.Clone(m.tags.of(tag))
	if nested {
		m.tags.each(func(key string, ids []uint32) bool {
			if strings.HasPrefix(key, tag) && len(key) > len(tag) && key[len(tag)] == '/' {
				all = append(all, ids...)
			}
			return true
		})
		slices.Sort(all)
	}
	return slices.Compact(all)
}

// Aliased are the notes that have an alias, in the order of their ids. Case
// does not count.
func (m *Model) Aliased(alias string) []uint32 { return m.aliases.of(fold(alias)) }

// WithProperty are the notes that have a property, in the order of their ids.
// Case does not count.
func (m *Model) WithProperty(key string) []uint32 { return m.properties.of(fold(key)) }

// Properties lists the keys of all properties, without case, in no order, with
// the notes that have them.
func (m *Model) Properties() iter.Seq2[string, []uint32] { return m.properties.each }

// order is a list of ids in the order of their paths. What is added or dropped
// takes effect with settle.
type order struct {
	ids            []uint32
	added, dropped []uint32
}

// from is the list from the first path on that is not less than a text.
func (o *order) from(m *Model, path string) []uint32 {
	i := sort.Search(len(o.ids), func(i int) bool { return m.entries[o.ids[i]].path >= path })
	return o.ids[i:]
}

// settle puts in what was added and takes out what was dropped. It moves the
// list once, however much that is. Entries of dropped ids have their new paths,
// so they are found by number.
func (o *order) settle(m *Model) {
	if len(o.dropped) > 0 {
		gone := make(map[uint32]bool, len(o.dropped))
		for _, id := range o.dropped {
			gone[id] = true
		}
		o.ids = slices.DeleteFunc(o.ids, func(id uint32) bool { return gone[id] })
	}
	o.added = slices.DeleteFunc(o.added, func(id uint32) bool {
		return m.entries[id].path == "" || m.orderOf(m.entries[id].note) != o // gone again
	})
	if len(o.added) > 0 {
		slices.SortFunc(o.added, func(a, b uint32) int { return strings.Compare(m.entries[a].path, m.entries[b].path) })
		o.added = slices.Compact(o.added)
		o.merge(m)
	}
	o.added, o.dropped = nil, nil
}

// merge puts what was added, which is sorted, in from the end.
func (o *order) merge(m *Model) {
	end := len(o.ids)
	o.ids = append(o.ids, o.added...)
	to := len(o.ids)
	for k := len(o.added) - 1; k >= 0; k-- {
		path := m.entries[o.added[k]].path
		at := sort.Search(end, func(i int) bool { return m.entries[o.ids[i]].path > path })
		n := end - at
		copy(o.ids[to-n:to], o.ids[at:end])
		to -= n
		end = at
		to--
		o.ids[to] = o.added[k]
	}
}
