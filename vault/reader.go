package vault

import (
	"io/fs"
	"path"
	"strings"
)

// Reader reads files one after the other by their paths as they are on disk,
// such as an index has them. It keeps the folders of the last file open, so
// paths in order cost least. It is for one goroutine, and has to be closed.
type Reader struct {
	v     *Vault
	trail []known // the folders from the root to where it is
	buf   []byte
}

// known is an open folder. names are its entries, listed when a name may be
// spelled otherwise.
type known struct {
	folder
	name  string
	names map[string]bool
}

// Reader makes a Reader, which opens nothing yet.
func (v *Vault) Reader() *Reader { return &Reader{v: v} }

// Close ends the use of the Reader.
func (r *Reader) Close() { r.leave(0) }

// leave closes all but so many folders.
func (r *Reader) leave(left int) {
	for len(r.trail) > left {
		r.trail[len(r.trail)-1].close()
		r.trail = r.trail[:len(r.trail)-1]
	}
}

// Read is Find and Vault.Read in one for a file with just this path: no link on
// the way is followed, and what is spelled otherwise on disk is note_not_found,
// also where the file system takes it for the same. The bytes are valid until
// the next call.
func (r *Reader) Read(rel string, max int64) (Content, error) {
	if clean, err := Clean(rel); err != nil || clean != rel || rel == "" {
		return Content{}, absent(`No file or folder at %q.`, rel, nil)
	}
	name := path.Base(rel)
	here, err := r.enter(strings.TrimSuffix(strings.TrimSuffix(rel, name), "/"))
	if err != nil {
		return Content{}, unlessOther(rel, err)
	}
	n, c, err := readIn(here, name, reading{max: max}, r.buf)
	if err != nil {
		return Content{}, unlessOther(rel, err)
	}
	if cap(c.Bytes) <= keptBuffer {
		r.buf = c.Bytes
	}
	if err := here.lists(name, n); err != nil {
		return Content{}, unlessOther(rel, err)
	}
	return c, nil
}

// unlessOther is readFault for a path of which nothing was judged before: what
// is no file there is not there.
func unlessOther(rel string, err error) error {
	if err == errNotRegular || err == errNotFolder {
		err = fs.ErrNotExist
	}
	return readFault(rel, err)
}

// enter opens the folder rel, from the deepest on its way that is open.
func (r *Reader) enter(rel string) (*known, error) {
	if len(r.trail) == 0 {
		root, err := r.v.enter(r.v.root, r.v.dir)
		if err != nil {
			return nil, err
		}
		r.trail = append(r.trail, known{folder: root})
	}
	depth := 1
	for name := range strings.SplitSeq(rel, "/") {
		if rel == "" {
			break
		}
		if depth == len(r.trail) || r.trail[depth].name != name {
			r.leave(depth)
			if err := r.down(name); err != nil {
				return nil, err
			}
		}
		depth++
	}
	r.leave(depth)
	return &r.trail[depth-1], nil
}

// down opens a folder in the last one.
func (r *Reader) down(name string) error {
	here := &r.trail[len(r.trail)-1]
	child, err := here.openDir(name)
	if err != nil {
		return err
	}
	n, err := child.self()
	if err == nil {
		err = here.lists(name, n)
	}
	if err != nil {
		child.close()
		return err
	}
	r.trail = append(r.trail, known{folder: child, name: name})
	return nil
}

// lists fails with fs.ErrNotExist if the folder has an entry, that was found as
// name, in another spelling.
func (d *known) lists(name string, n node) error {
	if d.names == nil {
		if !otherSpellings(name, func(s string) bool {
			o, err := d.lstat(s)
			return err == nil && o.same(n)
		}) {
			return nil
		}
		entries, err := d.entries()
		if err != nil {
			return err
		}
		d.names = make(map[string]bool, len(entries))
		for _, e := range entries {
			d.names[e.Name()] = true
		}
	}
	if !d.names[name] {
		return fs.ErrNotExist
	}
	return nil
}

// readIn reads an entry of a folder, again if it is written meanwhile, into buf
// if it is large enough.
func readIn(dir folder, name string, how reading, buf []byte) (node, Content, error) {
	for try := 1; ; try++ {
		n, b, err := dir.read(name, how, buf)
		if err != nil {
			return n, Content{}, err
		}
		after, err := dir.lstat(name)
		if try == rereads || err != nil || !after.same(n) || after.unchanged(n) {
			return n, Content{Bytes: b, Size: int64(len(b)), ModTime: n.mtime}, nil
		}
	}
}
