package state_test

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"vault-mcp/vault/change"
)

// op is one operation on files, as it was recorded.
type op struct {
	what    string // write, swap, link, replace, move, remove, rmdir, mkdir, sync, begin, end
	dir, a  string
	dir2, b string
	content string
}

// record are operations in the order in which they ended. Files are written
// several at a time.
type record struct {
	mu  sync.Mutex
	ops []op
}

func (r *record) add(o op) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ops = append(r.ops, o)
}

// recorder is a disk that notes what is done to it.
type recorder struct {
	change.Disk
	ops *record
}

type recorded struct {
	change.Place
	dir string
	ops *record
}

func (r recorder) Place(rel string) (change.Place, error) {
	p, err := r.Disk.Place(rel)
	if err != nil {
		return nil, err
	}
	return recorded{p, rel, r.ops}, nil
}

func (p recorded) note(err error, o op) error {
	if err == nil {
		o.dir = p.dir
		p.ops.add(o)
	}
	return err
}

func (p recorded) Write(name string, content []byte, mode fs.FileMode, like string) error {
	return p.note(p.Place.Write(name, content, mode, like), op{what: "write", a: name, content: string(content)})
}
func (p recorded) Swap(a, b string) error {
	return p.note(p.Place.Swap(a, b), op{what: "swap", a: a, b: b})
}
func (p recorded) Link(a, b string) error {
	return p.note(p.Place.Link(a, b), op{what: "link", a: a, b: b})
}
func (p recorded) Replace(a, b string) error {
	return p.note(p.Place.Replace(a, b), op{what: "replace", a: a, b: b})
}
func (p recorded) Move(name string, to change.Place, as string) error {
	q := to.(recorded)
	return p.note(p.Place.Move(name, q.Place, as), op{what: "move", a: name, dir2: q.dir, b: as})
}
func (p recorded) Remove(name string) error {
	return p.note(p.Place.Remove(name), op{what: "remove", a: name})
}
func (p recorded) RemoveDir(name string) error {
	return p.note(p.Place.RemoveDir(name), op{what: "rmdir", a: name})
}
func (p recorded) Mkdir(name string) error {
	return p.note(p.Place.Mkdir(name), op{what: "mkdir", a: name})
}
func (p recorded) Sync() error { return p.note(p.Place.Sync(), op{what: "sync"}) }

// tree is a model of what is on a disk.
type tree struct {
	dirs  map[string]bool
	files map[string]string
}

func (t tree) clone() tree { return tree{maps.Clone(t.dirs), maps.Clone(t.files)} }

// rename moves a file, or a folder with all in it.
func (t tree) rename(from, to string) {
	if c, ok := t.files[from]; ok {
		delete(t.files, from)
		t.files[to] = c
		return
	}
	if !t.dirs[from] {
		return
	}
	for _, d := range slices.Collect(maps.Keys(t.dirs)) {
		if d == from || strings.HasPrefix(d, from+"/") {
			delete(t.dirs, d)
			t.dirs[to+strings.TrimPrefix(d, from)] = true
		}
	}
	for _, f := range slices.Collect(maps.Keys(t.files)) {
		if strings.HasPrefix(f, from+"/") {
			c := t.files[f]
			delete(t.files, f)
			t.files[to+strings.TrimPrefix(f, from)] = c
		}
	}
}

func (t tree) has(p string) bool { _, ok := t.files[p]; return ok || t.dirs[p] }

// do is what is left of an operation on the disk, if the ones that it builds on
// are there.
func (t tree) do(o op) {
	a, b := path.Join(o.dir, o.a), path.Join(o.dir, o.b)
	if o.dir != "" && !t.dirs[o.dir] {
		return
	}
	switch o.what {
	case "write":
		t.files[a] = o.content
	case "swap":
		x, ok := t.files[a]
		y, ok2 := t.files[b]
		if ok && ok2 {
			t.files[a], t.files[b] = y, x
		}
	case "link":
		if x, ok := t.files[a]; ok {
			t.files[b] = x
		}
	case "replace":
		if t.has(a) {
			t.rename(a, b)
		}
	case "move":
		if to := path.Join(o.dir2, o.b); t.has(a) && (o.dir2 == "" || t.dirs[o.dir2]) && !t.has(to) {
			t.rename(a, to)
		}
	case "remove":
		delete(t.files, a)
	case "rmdir":
		for f := range t.files {
			if strings.HasPrefix(f, a+"/") {
				return
			}
		}
		delete(t.dirs, a)
	case "mkdir":
		t.dirs[a] = true
	}
}

// put makes it real.
func (t tree) put(tb testing.TB, dir string) {
	tb.Helper()
	for _, d := range slices.Sorted(maps.Keys(t.dirs)) {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			tb.Fatal(err)
		}
	}
	for f, c := range t.files {
		if err := os.WriteFile(filepath.Join(dir, f), []byte(c), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
}

func read(tb testing.TB, dir string) tree {
	tb.Helper()
	t := tree{map[string]bool{}, map[string]string{}}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == dir {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		if rel = filepath.ToSlash(rel); d.IsDir() {
			t.dirs[rel] = true
			return nil
		}
		b, err := os.ReadFile(p)
		t.files[rel] = string(b)
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

func (t tree) equal(o tree) bool { return maps.Equal(t.files, o.files) && maps.Equal(t.dirs, o.dirs) }
