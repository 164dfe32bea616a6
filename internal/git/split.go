package git

import (
	"bytes"
	"encoding/binary"
	"errors"
	"path/filepath"
	"slices"
)

// joinSplit puts a split index together: the shared file that it names, less the
// entries that it deletes, with those that it replaces, and with its own.
func (r *Repo) joinSplit(own *Index, link []byte) (*Index, error) {
	if len(link) < 20 {
		return nil, errors.New("its link is cut short")
	}
	base := oid(link[:20])
	if base == (oid{}) {
		return own, nil
	}
	b, err := readFile(filepath.Join(r.Dir, "sharedindex."+string(base.id())), maxTable)
	if err != nil {
		return nil, err
	}
	if !bytes.HasSuffix(b, base[:]) {
		return nil, errors.New("its shared file is another than its name says")
	}
	shared, nested, err := parseIndex(b)
	if err != nil {
		return nil, err
	}
	if nested != nil {
		return nil, errors.New("its shared file is split too")
	}
	return join(shared, own, link[20:])
}

// join applies the two bitmaps of a link: which entries of the shared index are
// deleted, and which are replaced by the first entries of its own, in their order.
func join(shared, own *Index, maps []byte) (*Index, error) {
	deleted, replaced := make([]bool, len(shared.Entries)), make([]bool, len(shared.Entries))
	if len(maps) > 0 { // without them nothing is deleted or replaced
		rest, err := bitmap(maps, deleted)
		if err != nil {
			return nil, err
		}
		if _, err := bitmap(rest, replaced); err != nil {
			return nil, err
		}
	}
	ix := &Index{trees: own.trees}
	added := own.Entries
	for i, e := range shared.Entries {
		if replaced[i] {
			if len(added) == 0 || added[0].Path != "" {
				return nil, errors.New("it lacks an entry for one that it replaces")
			}
			path := e.Path
			e, added = added[0], added[1:]
			e.Path = path
		}
		if !deleted[i] {
			ix.Entries = append(ix.Entries, e)
		}
	}
	ix.Entries = append(ix.Entries, added...)
	slices.SortStableFunc(ix.Entries, compareEntries)
	return ix, nil
}

// bitmap sets the places of an EWAH bitmap: after its length in bits and in words
// come runs, each a word that says how many words are all the same and how many
// follow as they are.
func bitmap(b []byte, set []bool) (rest []byte, err error) {
	bad := errors.New("a bitmap of it is cut short")
	if len(b) < 8 {
		return nil, bad
	}
	words := int64(binary.BigEndian.Uint32(b[4:]))
	b = b[8:]
	if int64(len(b)) < words*8+4 {
		return nil, bad
	}
	runs, rest := b[:words*8], b[words*8+4:]
	at := uint64(0)
	put := func(word uint64) error {
		for bit := range uint64(64) {
			if word>>bit&1 == 0 {
				continue
			}
			if at+bit >= uint64(len(set)) {
				return errors.New("a bitmap of it is longer than the shared file")
			}
			set[at+bit] = true
		}
		at += 64
		return nil
	}
	for len(runs) > 0 {
		run := binary.BigEndian.Uint64(runs)
		runs = runs[8:]
		same, follow := run>>1&(1<<32-1), run>>33
		if run&1 == 0 {
			at += same * 64
		} else {
			for range same { // ends at the latest where set does
				if err := put(^uint64(0)); err != nil {
					return nil, err
				}
			}
		}
		if follow*8 > uint64(len(runs)) {
			return nil, bad
		}
		for range follow {
			if err := put(binary.BigEndian.Uint64(runs)); err != nil {
				return nil, err
			}
			runs = runs[8:]
		}
	}
	return rest, nil
}
