package git

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/objfile"
)

const (
	// maxObject bounds what is read of one object, in bytes.
	maxObject = 1 << 28
	// maxAlternates bounds the folders that objects are borrowed from.
	maxAlternates = 32
)

// ErrTooLarge means that an object has more bytes than were asked for.
var ErrTooLarge = errors.New("the file is too large")

func tooLarge(size, max int64) error {
	return fmt.Errorf("%w: %d bytes, where %d are read", ErrTooLarge, size, max)
}

// objects reads the objects of a repository. It lives for one call: packs come
// and go. What go-git finds wrong by a panic is an error here.
type objects struct {
	// dirs are the repository's folder of objects and those that it borrows from.
	dirs []string
	// packs are those seen so far, the last one used first.
	packs []*pack
	// replaced are the objects that refs/replace stands in for; shallow are the
	// commits whose parents were not fetched.
	replaced, shallow map[oid]bool
	partial           bool

	cache  map[place]object
	cached int
}

type place struct {
	p  *pack
	at int64
}

type object struct {
	kind plumbing.ObjectType
	data []byte
}

// objects opens the repository's objects; close must follow.
func (r *Repo) objects() (*objects, error) {
	s, err := r.settings()
	if err != nil {
		return nil, err
	}
	o := &objects{cache: map[place]object{}, partial: s.partial}
	if err := o.borrow(filepath.Join(r.Common, "objects"), 0); err != nil {
		return nil, err
	}
	if o.replaced, err = r.replacements(); err != nil {
		return nil, err
	}
	o.shallow, err = r.shallow()
	return o, err
}

func (o *objects) close() {
	for _, p := range o.packs {
		p.close()
	}
}

// borrow adds a folder of objects and those that it names as alternates.
func (o *objects) borrow(dir string, depth int) error {
	if depth > 5 || len(o.dirs) == maxAlternates {
		return broken("alternates", "there are too many")
	}
	o.dirs = append(o.dirs, dir)
	b, err := readFile(filepath.Join(dir, "info", "alternates"), maxConfig)
	if absent(err) {
		return nil
	}
	if err != nil {
		return broken("alternates", err)
	}
	for _, line := range strings.Split(string(b), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		other := filepath.FromSlash(line)
		if !filepath.IsAbs(other) {
			other = filepath.Join(dir, other)
		}
		if err := o.borrow(other, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// replacements are the objects that git would show others for.
func (r *Repo) replacements() (map[oid]bool, error) {
	found := map[oid]bool{}
	add := func(name string) {
		if id, ok := parseOID(name); ok {
			found[id] = true
		}
	}
	entries, err := os.ReadDir(filepath.Join(r.Common, "refs", "replace"))
	if err != nil && !absent(err) {
		return nil, broken("refs/replace", err)
	}
	for _, e := range entries {
		add(e.Name())
	}
	err = r.packedRefs(func(name string, _ ID) {
		if id, ok := strings.CutPrefix(name, "refs/replace/"); ok {
			add(id)
		}
	})
	return found, err
}

func (r *Repo) shallow() (map[oid]bool, error) {
	found := map[oid]bool{}
	b, err := readFile(filepath.Join(r.Common, "shallow"), maxTable)
	if absent(err) {
		return found, nil
	}
	for line := range strings.FieldsSeq(string(b)) {
		id, ok := parseOID(line)
		if !ok {
			return nil, broken("shallow", "a line of it is no object name")
		}
		found[id] = true
	}
	if err != nil {
		return nil, broken("shallow", err)
	}
	return found, nil
}

// list adds the packs that are there and were not seen yet.
func (o *objects) list() error {
	for _, dir := range o.dirs {
		entries, err := os.ReadDir(filepath.Join(dir, "pack"))
		if err != nil && !absent(err) {
			return broken("packs", err)
		}
		for _, e := range entries {
			path := filepath.Join(dir, "pack", e.Name())
			seen := func(p *pack) bool { return p.path == path }
			if strings.HasSuffix(path, ".idx") && !slices.ContainsFunc(o.packs, seen) {
				o.packs = append(o.packs, &pack{path: path})
			}
		}
	}
	return nil
}

// inPack looks an object up in the packs, or only in those whose index was read.
func (o *objects) inPack(id oid, all bool) (*pack, int64, error) {
	for i, p := range o.packs {
		if all {
			err := p.load()
			if absent(err) {
				continue // packed again meanwhile, or its pack is not there yet
			}
			if err != nil {
				return nil, 0, err
			}
		}
		if p.idx == nil {
			continue
		}
		at, ok, err := p.find(id)
		if err != nil {
			return nil, 0, err
		}
		if ok {
			o.packs[0], o.packs[i] = p, o.packs[0]
			return p, at, nil
		}
	}
	return nil, 0, nil
}

// locate finds an object in a pack or, as an open file, loose. An index of a pack is
// read only for what is nowhere else: that takes long if it is large, and most
// calls need one or two new objects. A second look finds what git packs again
// meanwhile.
func (o *objects) locate(id oid) (p *pack, at int64, loose *os.File, err error) {
	if o.replaced[id] {
		return nil, 0, nil, refused("replace", "The repository shows another object for %s (refs/replace), which is not followed here.", id.id())
	}
	for range 2 {
		if p, at, err = o.inPack(id, false); p != nil || err != nil {
			return p, at, nil, err
		}
		name := string(id.id())
		for _, dir := range o.dirs {
			loose, err = openRegular(filepath.Join(dir, name[:2], name[2:]))
			if err == nil || !absent(err) {
				return nil, 0, loose, o.named(id, err)
			}
		}
		if err := o.list(); err != nil {
			return nil, 0, nil, err
		}
		if p, at, err = o.inPack(id, true); p != nil || err != nil {
			return p, at, nil, err
		}
	}
	if o.partial {
		return nil, 0, nil, refused("missing", "The object %s is not in this partial clone; git fetches it when it needs it.", id.id())
	}
	return nil, 0, nil, refused("missing", "The object %s is missing from the repository; `git fsck` tells more.", id.id())
}

// mended makes a panic of go-git, which is about a broken file, the error of what
// defers it.
func mended(err *error) {
	if p := recover(); p != nil {
		*err = refused("broken", "The repository is broken: %v. `git fsck` tells more.", p)
	}
}

// size is an object's type and size, without reading it.
func (o *objects) size(id oid) (kind plumbing.ObjectType, size int64, err error) {
	defer mended(&err)
	p, at, loose, err := o.locate(id)
	if err != nil {
		return 0, 0, err
	}
	if loose != nil {
		defer loose.Close()
		z, kind, size, err := openLoose(loose)
		if err != nil {
			return 0, 0, o.named(id, err)
		}
		return kind, size, o.named(id, z.Close())
	}
	kind, size, err = p.size(at)
	return kind, size, o.named(id, err)
}

// maxLooseHead bounds the compressed bytes that are read to find the end of a loose
// object's head: the first 32 KiB are made at once, which git never stores in more.
const maxLooseHead = 48 << 10

// openLoose reads how a loose object begins, up to its content.
func openLoose(f *os.File) (z *objfile.Reader, kind plumbing.ObjectType, size int64, err error) {
	short := &io.LimitedReader{R: f, N: maxLooseHead}
	if z, err = objfile.NewReader(short); err != nil {
		return nil, 0, 0, err
	}
	kind, size, err = z.Header()
	if err == nil && (size < 0 || kind.IsDelta()) {
		err = objfile.ErrHeader
	}
	if err != nil {
		z.Close()
		return nil, 0, 0, err
	}
	short.N = math.MaxInt64
	return z, kind, size, nil
}

// loose reads a loose object of at most max bytes.
func loose(f *os.File, max int64) (object, error) {
	z, kind, size, err := openLoose(f)
	if err != nil {
		return object{}, err
	}
	defer z.Close()
	if size > max {
		return object{}, tooLarge(size, max)
	}
	data, err := io.ReadAll(io.LimitReader(z, size+1))
	if err == nil && int64(len(data)) != size {
		err = errors.New("it has another size than it says")
	}
	return object{kind, data}, err
}

// named says which object an error is about.
func (o *objects) named(id oid, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, ErrTooLarge) {
		return err
	}
	return fmt.Errorf("the object %s of the repository cannot be read: %w", id.id(), err)
}

// get reads an object of at most max bytes of the type that is wanted, and holds
// its content against its name.
func (o *objects) get(id oid, want plumbing.ObjectType, max int64) ([]byte, error) {
	kind, data, err := o.any(id, max)
	if err != nil {
		return nil, err
	}
	if kind != want {
		return nil, fmt.Errorf("the object %s is a %s, not a %s", id.id(), kind, want)
	}
	return data, nil
}

// any is get for every type. The data are not to be changed.
func (o *objects) any(id oid, max int64) (kind plumbing.ObjectType, data []byte, err error) {
	defer mended(&err)
	p, at, file, err := o.locate(id)
	if err != nil {
		return 0, nil, err
	}
	var got object
	if file != nil {
		defer file.Close()
		got, err = loose(file, max)
	} else {
		got, err = o.unpack(p, at, max)
	}
	if err != nil {
		return 0, nil, o.named(id, err)
	}
	if oid(plumbing.ComputeHash(got.kind, got.data)) != id {
		return 0, nil, o.named(id, errors.New("its content is not what its name says"))
	}
	return got.kind, got.data, nil
}

// fewIDs bounds the objects that are looked at for a short id.
const fewIDs = 64

// prefixed are the objects whose hex names begin with some digits; fewIDs or more
// may not be all of them.
func (o *objects) prefixed(digits string) (ids []oid, err error) {
	defer mended(&err)
	if err := o.list(); err != nil {
		return nil, err
	}
	found := map[oid]bool{}
	for _, p := range o.packs {
		if err := p.load(); absent(err) {
			continue
		} else if err != nil {
			return nil, err
		}
		p.prefixed(digits, found)
	}
	for _, dir := range o.dirs {
		entries, err := os.ReadDir(filepath.Join(dir, digits[:2]))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, broken("objects", err)
		}
		for _, e := range entries {
			if at, ok := parseOID(digits[:2] + e.Name()); ok && strings.HasPrefix(string(at.id()), digits) {
				found[at] = true
			}
		}
	}
	return slices.Collect(maps.Keys(found)), nil
}
