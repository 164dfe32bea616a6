package git

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

const (
	// maxPackIndex bounds the index of a pack, which is read as a whole, in bytes.
	maxPackIndex = 1 << 30
	// maxChain is how many deltas an object may be away from a whole one; git
	// itself makes no longer chains.
	maxChain = 4095
	// maxCache bounds the objects that one reader keeps as bases of deltas, in bytes.
	maxCache = 32 << 20
)

// pack is a pack file with its index, read by go-git. Chains of deltas are followed
// here and not by go-git's storage: it calls itself for each, and a pack whose
// deltas go round would end this process; it also takes as much memory as the data
// of an object fill, whatever size the pack says. It knows no packs but pack-*, where
// git maintenance makes others.
type pack struct {
	// path is that of the index. What follows is nil until it is needed.
	path string
	idx  *idxfile.MemoryIndex
	file *os.File
	scan *packfile.Scanner
}

// load opens the pack and reads its index, if that was not done.
func (p *pack) load() error {
	if p.idx != nil {
		return nil
	}
	file, err := openRegular(strings.TrimSuffix(p.path, ".idx") + ".pack")
	if err != nil {
		return err
	}
	idx, err := readPackIndex(p.path)
	if err != nil {
		file.Close()
		return err
	}
	p.idx, p.file, p.scan = idx, file, packfile.NewScanner(file)
	return nil
}

func readPackIndex(path string) (*idxfile.MemoryIndex, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > maxPackIndex {
		return nil, broken(filepath.Base(path), fmt.Sprintf("it has more than %d bytes", maxPackIndex))
	}
	idx := idxfile.NewMemoryIndex()
	if err := idxfile.NewDecoder(f).Decode(idx); err != nil {
		return nil, broken(filepath.Base(path), err)
	}
	return idx, nil
}

func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, broken(filepath.Base(path), "it is no regular file")
	}
	return os.Open(path)
}

func (p *pack) close() {
	if p.file != nil {
		p.file.Close()
	}
}

// find is where in the pack an object begins.
func (p *pack) find(id oid) (at int64, ok bool, err error) {
	at, err = p.idx.FindOffset(plumbing.Hash(id))
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return 0, false, nil
	}
	if err != nil {
		err = broken(filepath.Base(p.path), err)
	}
	return at, err == nil, err
}

// prefixed adds the names of the pack that begin with some digits, 2 or more, until
// there are fewIDs.
func (p *pack) prefixed(digits string, found map[oid]bool) {
	first, _ := parseOID(digits[:2] + strings.Repeat("0", 38))
	i := p.idx.FanoutMapping[first[0]]
	if i < 0 {
		return
	}
	for name := range slices.Chunk(p.idx.Names[i], len(oid{})) {
		if at := oid(name); len(found) < fewIDs && strings.HasPrefix(string(at.id()), digits) {
			found[at] = true
		}
	}
}

// enter reads how an object at a place begins; its data are read next.
func (p *pack) enter(at int64) (*packfile.ObjectHeader, error) {
	h, err := p.scan.SeekObjectHeader(at)
	switch {
	case err != nil:
		return nil, err
	case h.Length < 0 || !h.Type.Valid():
		return nil, errors.New("its head makes no sense")
	}
	return h, nil
}

// base is where the base of a delta is, which is in the same pack.
func (p *pack) base(h *packfile.ObjectHeader) (int64, error) {
	if h.Type == plumbing.OFSDeltaObject {
		return h.OffsetReference, nil
	}
	at, ok, err := p.find(oid(h.Reference))
	if err == nil && !ok {
		err = fmt.Errorf("the base %s of a delta is not in its pack", h.Reference)
	}
	return at, err
}

// data reads what was entered, of at most max bytes.
func (p *pack) data(h *packfile.ObjectHeader, max int64) ([]byte, error) {
	if h.Length > max {
		return nil, tooLarge(h.Length, max)
	}
	var b bytes.Buffer
	b.Grow(int(min(h.Length, 1<<20)))
	n, _, err := p.scan.NextObject(&b)
	if err == nil && n != h.Length {
		err = errors.New("it has another size than it says")
	}
	return b.Bytes(), err
}

// size is an object's type and size, without reading more than deltas' heads.
func (p *pack) size(at int64) (plumbing.ObjectType, int64, error) {
	size := int64(-1)
	for range maxChain + 1 {
		h, err := p.enter(at)
		if err != nil {
			return 0, 0, err
		}
		if size < 0 {
			size = h.Length
			if h.Type.IsDelta() {
				if size, err = p.resultSize(); err != nil {
					return 0, 0, err
				}
			}
		}
		if !h.Type.IsDelta() {
			return h.Type, size, nil
		}
		if at, err = p.base(h); err != nil {
			return 0, 0, err
		}
	}
	return 0, 0, errors.New("its deltas have no end")
}

// resultSize is the size of what the delta makes that was entered.
func (p *pack) resultSize() (int64, error) {
	z, err := p.scan.ReadObject()
	if err != nil {
		return 0, err
	}
	defer z.Close()
	b := make([]byte, 2*binary.MaxVarintLen64)
	n, err := io.ReadFull(z, b)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return 0, err
	}
	return deltaResult(b[:n])
}

// deltaResult is the size of what a delta makes, which it says after that of its base.
func deltaResult(delta []byte) (int64, error) {
	_, n := binary.Uvarint(delta)
	size, m := binary.Uvarint(delta[max(n, 0):])
	if n <= 0 || m <= 0 || int64(size) < 0 {
		return 0, errors.New("a delta has no sizes")
	}
	return int64(size), nil
}

// unpack reads an object out of a pack, through its deltas.
func (o *objects) unpack(p *pack, at int64, max int64) (object, error) {
	type step struct {
		at    int64
		delta []byte
	}
	var steps []step
	var got object
	for total := int64(0); ; {
		if c, ok := o.cache[place{p, at}]; ok {
			got = c
			break
		}
		h, err := p.enter(at)
		if err != nil {
			return object{}, err
		}
		limit := int64(maxObject) - total
		if len(steps) == 0 && !h.Type.IsDelta() {
			limit = min(limit, max)
		}
		data, err := p.data(h, limit)
		if err != nil {
			return object{}, err
		}
		if !h.Type.IsDelta() {
			got = object{h.Type, data}
			o.keep(place{p, at}, got)
			break
		}
		size, err := deltaResult(data)
		switch {
		case err != nil:
			return object{}, err
		case len(steps) == 0 && size > max:
			return object{}, tooLarge(size, max)
		case size > maxObject:
			return object{}, tooLarge(size, maxObject)
		case len(steps) == maxChain:
			return object{}, errors.New("its deltas have no end")
		}
		steps = append(steps, step{at, data})
		total += int64(len(data))
		if at, err = p.base(h); err != nil {
			return object{}, err
		}
	}
	for _, s := range slices.Backward(steps) {
		data, err := packfile.PatchDelta(got.data, s.delta)
		if err != nil {
			return object{}, err
		}
		got.data = data
		o.keep(place{p, s.at}, got)
	}
	if n := int64(len(got.data)); n > max {
		return object{}, tooLarge(n, max)
	}
	return got, nil
}

// keep remembers an object as a base for others, by its place: go-git's cache goes by
// names, and to name what lies at a place takes a table of the whole pack.
func (o *objects) keep(at place, got object) {
	if len(got.data) > maxCache/8 {
		return
	}
	if o.cached += len(got.data); o.cached > maxCache {
		clear(o.cache)
		o.cached = len(got.data)
	}
	o.cache[at] = got
}
