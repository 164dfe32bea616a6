package rename

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"vault-mcp/internal/fingerprint"
	"vault-mcp/vault"
	"vault-mcp/vault/change"
	"vault-mcp/vault/link"
	"vault-mcp/vault/settings"
)

// memory is a vault of texts. It finds links by their keys as an index does.
type memory struct {
	files   map[string][]byte
	folders map[string]bool
	paths   *link.Index
	keys    map[string][]string // notes by key
	targets map[string][]string
	reads   int
}

func newMemory(files map[string]string) *memory {
	m := &memory{files: map[string][]byte{}, folders: map[string]bool{}}
	for p, text := range files {
		m.files[p] = []byte(text)
		for d := path.Dir(p); d != "."; d = path.Dir(d) {
			m.folders[d] = true
		}
	}
	m.index()
	return m
}

func (m *memory) index() {
	m.paths = link.NewIndex(slices.Collect(maps.Keys(m.files)))
	m.keys, m.targets = map[string][]string{}, map[string][]string{}
	for p := range m.files {
		m.learn(p)
	}
}

func (m *memory) learn(p string) {
	if vault.Kind(p) != vault.Note {
		return
	}
	seen := map[string]bool{}
	m.targets[p] = []string{}
	for _, it := range itemsOf(p, m.files[p]) {
		m.targets[p] = append(m.targets[p], it.Target)
		if k := link.Key(it.Target); !seen[k] {
			seen[k] = true
			m.keys[k] = append(m.keys[k], p)
		}
	}
}

func (m *memory) Paths() *link.Index { return m.paths }
func (m *memory) Folder(p string) (string, bool) {
	if m.folders[p] {
		return p, true
	}
	for d := range m.folders {
		if vault.FoldName(d) == vault.FoldName(p) {
			return d, true
		}
	}
	return "", false
}

func (m *memory) Boards() (all []string) {
	for p := range m.files {
		if k := vault.Kind(p); k == vault.Canvas || k == vault.Base {
			all = append(all, p)
		}
	}
	return all
}

func (m *memory) Below(folder string) (all []string) {
	for p := range m.files {
		if strings.HasPrefix(p, folder+"/") {
			all = append(all, p)
		}
	}
	return all
}

func (m *memory) Linking(keys ...string) (all []string) {
	for _, k := range keys {
		all = append(all, m.keys[k]...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (m *memory) Targets(p string) ([]string, bool) {
	t, ok := m.targets[p]
	return t, ok
}

func (m *memory) Read(p string) ([]byte, error) {
	m.reads++
	if b, ok := m.files[p]; ok {
		return b, nil
	}
	return nil, fs.ErrNotExist
}

func (m *memory) Hash(p string) (fingerprint.Content, error) {
	if b, ok := m.files[p]; ok {
		return fingerprint.OfContent(b), nil
	}
	return fingerprint.Content{}, fs.ErrNotExist
}

// apply makes the edits one after the other, and fails where a real vault would: it is one that does not tell names apart
// by case.
func (m *memory) apply(edits []change.Edit) error {
	for _, e := range edits {
		if d := path.Dir(e.Path); d != "." && !m.folders[d] {
			return fmt.Errorf("%s %q: no folder", e.Kind, e.Path)
		}
		switch e.Kind {
		case change.Put:
			old, ok := m.files[e.Path]
			if !ok || !bytes.Equal(old, e.Old) || fingerprint.OfContent(old) != e.Before || fingerprint.OfContent(e.Content) != e.After {
				return fmt.Errorf("put %q: not as expected", e.Path)
			}
			if bytes.Equal(old, e.Content) {
				return fmt.Errorf("put %q: changes nothing", e.Path)
			}
			m.files[e.Path] = e.Content
		case change.Mkdir:
			if m.taken(e.Path, "") {
				return fmt.Errorf("mkdir %q: taken", e.Path)
			}
			m.folders[e.Path] = true
		case change.Move:
			if err := m.move(e); err != nil {
				return fmt.Errorf("move %q to %q: %w", e.Path, e.To, err)
			}
		default:
			return fmt.Errorf("a %s", e.Kind)
		}
	}
	for p := range m.files {
		if strings.Contains(p, change.TempPrefix) {
			return fmt.Errorf("%q is left", p)
		}
	}
	m.index()
	return nil
}

func (m *memory) taken(p, but string) bool {
	for other := range m.files {
		if other != but && vault.FoldName(other) == vault.FoldName(p) {
			return true
		}
	}
	for other := range m.folders {
		if other != but && vault.FoldName(other) == vault.FoldName(p) {
			return true
		}
	}
	return false
}

func (m *memory) move(e change.Edit) error {
	if m.taken(e.To, e.Path) {
		return fs.ErrExist
	}
	if d := path.Dir(e.To); d != "." && !m.folders[d] {
		return fmt.Errorf("no folder %q", d)
	}
	if !e.Dir {
		b, ok := m.files[e.Path]
		if !ok || fingerprint.OfContent(b) != e.Before || e.After != e.Before {
			return fmt.Errorf("not as expected")
		}
		delete(m.files, e.Path)
		m.files[e.To] = b
		return nil
	}
	if !m.folders[e.Path] {
		return fs.ErrNotExist
	}
	for p := range m.folders {
		if within(p, e.Path) {
			delete(m.folders, p)
			m.folders[e.To+p[len(e.Path):]] = true
		}
	}
	for p, b := range m.files {
		if within(p, e.Path) {
			delete(m.files, p)
			m.files[e.To+p[len(e.Path):]] = b
		}
	}
	return nil
}

// lead is what an item leads to.
type lead struct {
	path string
	kind kind
	to   string
	ok   bool
	sub  string
}

// leads are what all items of all files lead to.
func (m *memory) leads() map[string][]lead {
	all := map[string][]lead{}
	for p, text := range m.files {
		for _, it := range itemsOf(p, text) {
			to, ok := it.leadsTo(m.paths, p)
			all[p] = append(all[p], lead{p, it.kind, to, ok, it.Subpath})
		}
	}
	return all
}

// run plans moves, applies them, and compares what every link of the vault leads to before and after.
func (m *memory) run(t *testing.T, moves []Move, s settings.Settings) *Result {
	t.Helper()
	before := m.leads()
	r, err := Plan(m, moves, s)
	if err != nil {
		t.Fatalf("Plan(%v): %v", moves, err)
	}
	w := &world{vault: m, before: m.paths}
	if err := w.move(slices.DeleteFunc(slices.Clone(moves), func(m Move) bool { return m.From == m.To })); err != nil {
		t.Fatal(err)
	}
	if err := m.apply(r.Edits); err != nil {
		t.Fatalf("%v\n%v", err, describe(r.Edits))
	}
	after := m.leads()
	left := map[string]int{}
	for _, p := range r.Report.Left {
		left[p.Path]++
	}
	for p, was := range before {
		is := after[w.to(p)]
		if len(is) != len(was) {
			t.Fatalf("%q had %d links and has %d", p, len(was), len(is))
		}
		for i := range was {
			want := w.to(was[i].to)
			if was[i].kind == folder {
				want = w.toFolder(was[i].to)
			}
			if was[i].ok && (is[i].to != want || is[i].sub != was[i].sub) {
				if left[w.to(p)]--; left[w.to(p)] < 0 {
					t.Fatalf("%v: link %d of %q led to %q%s and leads to %q%s", moves, i, p, was[i].to, was[i].sub, is[i].to, is[i].sub)
				}
			}
		}
	}
	return r
}

func describe(edits []change.Edit) string {
	var s strings.Builder
	for _, e := range edits {
		fmt.Fprintf(&s, "%s %s %s\n", e.Kind, e.Path, e.To)
	}
	return s.String()
}
