package vault

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"
)

// File is one file that a walk comes by.
type File struct {
	// Path is where it is, from the vault's root.
	Path string
	// Size is its length in bytes and ModTime when it was last written, as of
	// the moment it was visited.
	Size    int64
	ModTime time.Time
	// Created is when it was made, if the options asked for it and the file
	// system knows; else zero.
	Created time.Time

	node node
}

// AsPath is the file as Read takes it, with the identity that the walk saw.
func (f File) AsPath() Path { return Path{f.Path, f.node} }

// WalkOptions say which files are visited. The zero value is every file below
// a folder.
type WalkOptions struct {
	// Keep leaves out the files, and the folders with all below them, that it
	// rejects. Nothing is reported about them.
	Keep Filter
	// Flat leaves out what lies in folders below the one that is walked.
	Flat bool
	// Created asks for the time of creation of each file, at the price of one
	// system call more.
	Created bool
	// Accept, if set, leaves out the files whose name (without folders) it
	// rejects, before anything else is learned about them.
	Accept func(name string) bool
	// After leaves out every file whose path is not greater than it, by bytes.
	After string
	// Problem, if set, is told of a kept file or folder that cannot be
	// visited; the walk goes on. err holds no path. A path that is not valid
	// UTF-8 has its invalid bytes replaced.
	Problem func(path string, err error)
	// Gone, if set, is told of a kept file that was there when its folder was
	// listed, and is no file there when its turn comes. Scan calls it from
	// several goroutines at the same time.
	Gone func(path string)
}

// ErrName is what Problem is told of a name that no path can hold: it is not
// valid UTF-8, has a control character or a "\", or the path is too long.
var ErrName = errors.New("its name cannot be used in a path")

// ErrIrregular is what Problem is told of a pipe, a socket or a device.
var ErrIrregular = errors.New("it is a pipe, a socket or a device")

// Walk visits the files below a folder in ascending order of Path by bytes,
// one after the other. Left out are names that begin with a dot, symbolic
// links and all that is no regular file; Problem is told of pipes, sockets and
// devices. What vanishes during the walk is left out, and only Gone is told.
// Walk ends early with the error of visit or of ctx; that the
// folder itself cannot be walked is the only other error.
func (v *Vault) Walk(ctx context.Context, from Path, o WalkOptions, visit func(File) error) error {
	d, err := v.openFrom(from)
	if err != nil {
		return err
	}
	defer d.close()
	w := &walker{o: o, ctx: ctx, visit: visit}
	return w.walk(d, from.rel)
}

// openFrom opens a folder that was found before, if it is still the same.
func (v *Vault) openFrom(from Path) (folder, error) {
	if !from.IsDir() {
		return nil, absent("%q is a file, not a folder.", from.rel, nil)
	}
	d, err := v.openDir(from.rel)
	if err != nil {
		return nil, readFault(from.rel, err)
	}
	n, err := d.self()
	if err == nil && !n.same(from.node) {
		err = ErrChanged
	}
	if err != nil {
		d.close()
		return nil, readFault(from.rel, err)
	}
	return d, nil
}

type walker struct {
	o     WalkOptions
	ctx   context.Context
	visit func(File) error
}

func (w *walker) walk(d folder, rel string) error {
	entries, err := w.o.list(d, rel)
	if err != nil {
		w.o.problem(rel, err)
	}
	// A folder sorts like what is below it: with a slash behind its name.
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.key, b.key) })
	for _, e := range entries {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		path := join(rel, e.name())
		if e.dir() {
			err = w.descend(d, path, e.name())
		} else {
			err = w.file(d, path, e.name())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) descend(d folder, path, name string) error {
	if !w.o.Keep.lets(path, true) {
		return nil
	}
	child, err := d.openDir(name)
	if err != nil {
		w.o.problem(path, err)
		return nil
	}
	defer child.close()
	return w.walk(child, path)
}

func (w *walker) file(d folder, path, name string) error {
	if !w.o.Keep.lets(path, false) {
		return nil
	}
	n, err := d.lstat(name)
	if isAbsent(err) || err == nil && !n.isRegular() {
		w.o.gone(path)
		return nil
	}
	if err != nil {
		w.o.problem(path, err)
		return nil
	}
	f := File{Path: path, Size: n.size, ModTime: n.mtime, node: n}
	if w.o.Created {
		f.Created = d.created(name)
	}
	return w.visit(f)
}

// entry is an entry of a folder; key is its name, with a slash behind it if it
// is a folder.
type entry struct{ key string }

func (e entry) dir() bool    { return strings.HasSuffix(e.key, "/") }
func (e entry) name() string { return strings.TrimSuffix(e.key, "/") }

// list returns the files and folders in d that the options let through by
// their names, in no order. What could be listed before an error comes with
// it.
func (o *WalkOptions) list(d folder, rel string) ([]entry, error) {
	after, started := o.After, o.After != ""
	if rel != "" && started {
		if after, started = strings.CutPrefix(o.After, rel+"/"); !started && o.After > rel+"/" {
			return nil, nil // all that is below comes before
		}
	}
	all, err := d.entries()
	kept := make([]entry, 0, len(all))
	for _, e := range all {
		key := e.Name()
		if key[0] == '.' {
			continue
		}
		switch e.Type() {
		case 0:
			if started && key <= after || o.Accept != nil && !o.Accept(key) {
				continue
			}
		case fs.ModeDir:
			if o.Flat {
				continue
			}
			if key += "/"; started && key <= after && !strings.HasPrefix(after, key) {
				continue
			}
		case fs.ModeNamedPipe, fs.ModeSocket, fs.ModeDevice, fs.ModeDevice | fs.ModeCharDevice:
			if started && key <= after || o.Accept != nil && !o.Accept(key) {
				continue
			}
			if path := join(rel, strings.ToValidUTF8(key, "\uFFFD")); o.Keep.lets(path, false) {
				o.problem(path, ErrIrregular)
			}
			continue
		default:
			continue
		}
		if !nameable(e.Name()) || len(rel)+1+len(e.Name()) > maxPath {
			if path := join(rel, strings.ToValidUTF8(e.Name(), "\uFFFD")); o.Keep.lets(path, e.IsDir()) {
				o.problem(path, ErrName)
			}
			continue
		}
		kept = append(kept, entry{key})
	}
	return kept, err
}

// problem reports that a kept path cannot be visited, unless it is merely gone
// or no longer what it was.
func (o *WalkOptions) problem(path string, err error) {
	if o.Problem == nil || isAbsent(err) || errors.Is(err, errNotFolder) || errors.Is(err, errNotRegular) {
		return
	}
	o.Problem(path, bare(err))
}

// gone reports that a kept file is no longer there.
func (o *WalkOptions) gone(path string) {
	if o.Gone != nil {
		o.Gone(path)
	}
}
