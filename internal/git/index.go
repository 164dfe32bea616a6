package git

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Index is what is staged: sorted by path, then by stage.
type Index struct {
	Entries []Entry
	// trees are the ids of folders whose entries are just what such a tree holds,
	// by their path with a slash at its end.
	trees map[string]oid
	// form is the kind of a refusal to write it: split_index or sparse; "" for one
	// that is all in one file. Only then the rest is there.
	form string
	// version is that of the file, heads how each entry begins in it, and undo its
	// record of conflicts that were resolved.
	version uint32
	heads   [][]byte
	undo    []byte
}

// Flags of an entry; those of the second half are in its second word.
const (
	flagExtended = 1 << 14
	flagSkip     = 1 << 14
	flagIntent   = 1 << 13
	// flagValid says that the file is to be taken for unchanged; it is in the first.
	flagValid = 1 << 15
	// headSize is how many bytes an entry has before its second word and its name.
	headSize = 62
)

// Index reads the index of this work tree. None is an empty one; one that is split
// or sparse is put together. A file that cannot be read, or was not written as git
// does, is an error.
func (r *Repo) Index() (*Index, error) { return r.indexAt(filepath.Join(r.Dir, "index")) }

// indexAt is Index for a copy of it.
func (r *Repo) indexAt(path string) (*Index, error) {
	b, err := readFile(path, maxTable)
	if absent(err) {
		return &Index{}, nil
	}
	if err != nil {
		return nil, broken("index", err)
	}
	ix, link, err := parseIndex(b)
	if err != nil {
		return nil, broken("index", err)
	}
	if link != nil {
		if ix, err = r.joinSplit(ix, link); err != nil {
			return nil, broken("split index", err)
		}
		ix.form, ix.heads = "split_index", nil
	}
	if slices.ContainsFunc(ix.Entries, sparseFolder) {
		if err := r.unfold(ix); err != nil {
			return nil, err
		}
	}
	for i := 1; i < len(ix.Entries); i++ {
		if compareEntries(ix.Entries[i-1], ix.Entries[i]) >= 0 {
			return nil, broken("index", "its entries are out of order")
		}
	}
	return ix, nil
}

func compareEntries(a, b Entry) int {
	if c := strings.Compare(a.Path, b.Path); c != 0 {
		return c
	}
	return a.Stage - b.Stage
}

func sparseFolder(e Entry) bool { return e.Mode == treeMode }

// unfold puts the files in the place of folders that a sparse index has as one.
func (r *Repo) unfold(ix *Index) error {
	o, err := r.objects()
	if err != nil {
		return err
	}
	defer o.close()
	var all []Entry
	for _, e := range ix.Entries {
		if !sparseFolder(e) {
			all = append(all, e)
			continue
		}
		id, _ := parseOID(string(e.ID))
		w := walk{ctx: context.Background(), o: o, file: func(path string, t treeEntry) error {
			all = append(all, Entry{Path: path, Mode: t.mode, ID: t.id.id(), SkipWorktree: true})
			return nil
		}}
		if err := w.tree(id, e.Path); err != nil {
			return err
		}
	}
	ix.Entries, ix.heads, ix.form = all, nil, "sparse"
	return nil
}

// parseIndex reads the bytes of an index file, and its link to a shared one.
func parseIndex(b []byte) (*Index, []byte, error) {
	if len(b) < 12+20 || string(b[:4]) != "DIRC" {
		return nil, nil, errors.New("it is no index")
	}
	body, sum := b[:len(b)-20], b[len(b)-20:]
	// index.skipHash leaves zeros.
	if got := sha1.Sum(body); !bytes.Equal(sum, got[:]) && !bytes.Equal(sum, make([]byte, 20)) {
		return nil, nil, errors.New("its checksum is wrong")
	}
	version, count := binary.BigEndian.Uint32(body[4:]), int64(binary.BigEndian.Uint32(body[8:]))
	if version < 2 || version > 4 {
		return nil, nil, errors.New("it has the unknown version " + strconv.Itoa(int(version)))
	}
	if count*63 > int64(len(body)) { // the least bytes of an entry
		return nil, nil, errors.New("it is cut short")
	}
	ix := &Index{Entries: make([]Entry, 0, count), version: version, heads: make([][]byte, 0, count)}
	p := indexParser{b: body, at: 12, version: version}
	for range count {
		at := p.at
		e, err := p.entry()
		if err != nil {
			return nil, nil, err
		}
		ix.Entries, ix.heads = append(ix.Entries, e), append(ix.heads, body[at:at+headSize:at+headSize])
	}
	link, err := p.extensions(ix)
	return ix, link, err
}

type indexParser struct {
	b       []byte
	at      int
	version uint32
	// last is the name before, which version 4 shortens the next one by.
	last string
	// names is how many bytes all names have that were read so far.
	names int
}

func (p *indexParser) entry() (e Entry, err error) {
	cut := errors.New("an entry is cut short")
	start := p.at
	if len(p.b)-p.at < 62 {
		return e, cut
	}
	f := p.b[p.at:]
	e.Mode = Mode(binary.BigEndian.Uint32(f[24:]))
	e.ID = ID(hex.EncodeToString(f[40:60]))
	flags := binary.BigEndian.Uint16(f[60:])
	e.Stage = int(flags >> 12 & 3)
	p.at += 62
	if flags&flagExtended != 0 {
		if p.version < 3 || len(f) < 64 {
			return e, cut
		}
		more := binary.BigEndian.Uint16(f[62:])
		if more&^(flagSkip|flagIntent) != 0 {
			return e, errors.New("an entry has unknown flags")
		}
		e.SkipWorktree, e.IntentToAdd = more&flagSkip != 0, more&flagIntent != 0
		p.at += 2
	}
	prefix := ""
	if p.version == 4 {
		strip, n := offsetInt(p.b[p.at:])
		if n == 0 || strip > len(p.last) {
			return e, errors.New("a name is cut wrong")
		}
		prefix = p.last[:len(p.last)-strip]
		p.at += n
	}
	end := bytes.IndexByte(p.b[p.at:], 0)
	if end < 0 {
		return e, cut
	}
	// Names that share a long beginning take far more memory than the file has bytes.
	if p.names += len(prefix) + end; p.names > maxTable {
		return e, errors.New("its names are too long")
	}
	e.Path = prefix + string(p.b[p.at:p.at+end])
	p.last = e.Path
	p.at += end + 1
	if p.version < 4 { // one to eight zeros make a multiple of eight
		p.at = start + (p.at-start+7)/8*8
		if p.at > len(p.b) {
			return e, cut
		}
	}
	return e, nil
}

// offsetInt reads a number as packs write offsets; n is how many bytes it has, 0 if
// it is none.
func offsetInt(b []byte) (v, n int) {
	for i, c := range b {
		if i > 4 {
			break
		}
		if i > 0 {
			v++
		}
		if v = v<<7 | int(c&0x7f); c&0x80 == 0 {
			return v, i + 1
		}
	}
	return 0, 0
}

// extensions reads what follows the entries. One that is not known and begins
// with a small letter changes what the entries mean.
func (p *indexParser) extensions(ix *Index) (link []byte, err error) {
	for len(p.b)-p.at >= 8 {
		name, size := string(p.b[p.at:p.at+4]), int64(binary.BigEndian.Uint32(p.b[p.at+4:]))
		p.at += 8
		if size > int64(len(p.b)-p.at) {
			return nil, errors.New("an extension is cut short")
		}
		data := p.b[p.at : p.at+int(size)]
		p.at += int(size)
		switch {
		case name == "TREE":
			ix.trees = map[string]oid{}
			if _, err := p.folders(data, "", ix.trees, 0); err != nil {
				return nil, err
			}
		case name == "REUC":
			ix.undo = data
		case name == "link":
			link = data
		case name == "sdir":
		case name[0] < 'A' || name[0] > 'Z':
			return nil, errors.New("it has the unknown extension " + strconv.Quote(name))
		}
	}
	if p.at != len(p.b) {
		return nil, errors.New("it has bytes that mean nothing")
	}
	return link, nil
}

// folders reads a folder of the TREE extension and those in it, and returns what
// follows.
func (p *indexParser) folders(b []byte, dir string, into map[string]oid, depth int) ([]byte, error) {
	bad := errors.New("its table of folders is cut short")
	name, rest, ok := bytes.Cut(b, []byte{0})
	head, body, also := bytes.Cut(rest, []byte{'\n'})
	if p.names += len(dir) + len(name); !ok || !also || depth > 4096 || p.names > maxTable {
		return nil, bad
	}
	entries, subs, _ := strings.Cut(string(head), " ")
	n, err := strconv.Atoi(entries)
	sub, err2 := strconv.Atoi(subs)
	if err != nil || err2 != nil || sub < 0 {
		return nil, bad
	}
	if depth > 0 {
		dir += string(name) + "/"
	}
	if n >= 0 {
		if len(body) < 20 {
			return nil, bad
		}
		into[dir] = oid(body[:20])
		body = body[20:]
	}
	for range sub {
		if body, err = p.folders(body, dir, into, depth+1); err != nil {
			return nil, err
		}
	}
	return body, nil
}

// Sum is a digest of what is staged: path, mode, id, stage, skip-worktree and
// intent-to-add of all entries. When files were looked at is no part of it.
func (ix *Index) Sum() [32]byte {
	h := sha256.New()
	var b []byte
	for _, e := range ix.Entries {
		b = append(b[:0], e.Path...)
		b = append(b, 0)
		b = binary.BigEndian.AppendUint32(b, uint32(e.Mode))
		b = append(b, e.ID...)
		b = append(b, 0, byte(e.Stage), flag(e.SkipWorktree), flag(e.IntentToAdd))
		h.Write(b)
	}
	return [32]byte(h.Sum(nil))
}

func flag(on bool) byte {
	if on {
		return 1
	}
	return 0
}

// Conflicts are the paths that are not merged, each once.
func (ix *Index) Conflicts() []string {
	var paths []string
	for _, e := range ix.Entries {
		if e.Stage > 0 && (len(paths) == 0 || paths[len(paths)-1] != e.Path) {
			paths = append(paths, e.Path)
		}
	}
	return paths
}

// IntentToAdd are the paths that are to be added and have nothing staged yet.
func (ix *Index) IntentToAdd() []string {
	var paths []string
	for _, e := range ix.Entries {
		if e.IntentToAdd {
			paths = append(paths, e.Path)
		}
	}
	return paths
}
