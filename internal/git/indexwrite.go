package git

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

// draft is an index that is to be written.
type draft struct {
	version uint32
	rows    []row
	trees   map[string]oid
	undo    []byte
}

// row is an entry with the begin it has in the file.
type row struct {
	Entry
	head []byte
}

// draft is a copy of an index to change. Of an index that cannot be kept as it is,
// it is refused.
func (ix *Index) draft() (*draft, error) {
	switch ix.form {
	case "split_index":
		return nil, refused("split_index", "The index is split, which needs the git program, or git update-index --no-split-index.")
	case "sparse":
		return nil, refused("sparse", "The index is sparse, which needs the git program, or git sparse-checkout reapply --no-sparse-index.")
	}
	d := &draft{version: max(ix.version, 2), trees: map[string]oid{}, undo: ix.undo}
	for i, e := range ix.Entries {
		d.rows = append(d.rows, row{e, ix.heads[i]})
	}
	for path, id := range ix.trees {
		d.trees[path] = id
	}
	return d, nil
}

// at is where the entries of a path are, or would be.
func (d *draft) at(path string) (from, to int) {
	from = sort.Search(len(d.rows), func(i int) bool { return d.rows[i].Path >= path })
	for to = from; to < len(d.rows) && d.rows[to].Path == path; to++ {
	}
	return from, to
}

// remove takes all entries of a path out.
func (d *draft) remove(path string) {
	if from, to := d.at(path); from < to {
		d.touch(path)
		d.rows = slices.Delete(d.rows, from, to)
	}
}

// touch forgets the trees of the folders around a path.
func (d *draft) touch(path string) {
	delete(d.trees, "")
	for i, c := range path {
		if c == '/' {
			delete(d.trees, path[:i+1])
		}
	}
}

// put sets the one entry of a path, in the place of all that cannot be beside it.
func (d *draft) put(e Entry, s stat) {
	for i, c := range e.Path {
		if c == '/' {
			d.remove(e.Path[:i])
		}
	}
	folder := e.Path + "/"
	for from, _ := d.at(folder); from < len(d.rows) && strings.HasPrefix(d.rows[from].Path, folder); {
		d.remove(d.rows[from].Path)
	}
	delete(d.trees, folder)
	d.touch(e.Path)
	head := make([]byte, headSize)
	s.put(head, e.Mode)
	from, to := d.at(e.Path)
	d.rows = slices.Replace(d.rows, from, to, row{e, head})
}

// smudge has those files read again that may have changed after they were staged:
// a younger index would say that they have not.
func (d *draft) smudge(index time.Time) {
	for i, r := range d.rows {
		if statIn(r.head).racy(index) {
			d.rows[i].head = slices.Clone(r.head)
			clear(d.rows[i].head[sizeAt : sizeAt+4])
		}
	}
}

// bytes is the file. What other extensions knew of the files is left out: git finds
// it out again.
func (d *draft) bytes() []byte {
	version := d.version
	for _, r := range d.rows {
		if r.SkipWorktree || r.IntentToAdd {
			version = max(version, 3)
		}
	}
	b := binary.BigEndian.AppendUint32([]byte("DIRC"), version)
	b = binary.BigEndian.AppendUint32(b, uint32(len(d.rows)))
	last := ""
	for _, r := range d.rows {
		start := len(b)
		b = append(b, r.head[:24]...)
		b = binary.BigEndian.AppendUint32(b, uint32(r.Mode))
		b = append(b, r.head[28:40]...)
		id, _ := hex.DecodeString(string(r.ID))
		b = append(b, id...)
		flags := binary.BigEndian.Uint16(r.head[60:])&flagValid | uint16(r.Stage)<<12 | uint16(min(len(r.Path), 0xfff))
		more := uint16(flag(r.SkipWorktree))*flagSkip | uint16(flag(r.IntentToAdd))*flagIntent
		if more != 0 {
			flags |= flagExtended
		}
		b = binary.BigEndian.AppendUint16(b, flags)
		if more != 0 {
			b = binary.BigEndian.AppendUint16(b, more)
		}
		if version == 4 {
			same := 0
			for same < len(last) && same < len(r.Path) && last[same] == r.Path[same] {
				same++
			}
			b = append(appendOffset(b, len(last)-same), r.Path[same:]...)
			b, last = append(b, 0), r.Path
			continue
		}
		b = append(b, r.Path...)
		b = append(b, make([]byte, 8-(len(b)-start)%8)...)
	}
	if len(d.trees) > 0 {
		b = appendExtension(b, "TREE", d.folders())
	}
	if len(d.undo) > 0 {
		b = appendExtension(b, "REUC", d.undo)
	}
	sum := sha1.Sum(b)
	return append(b, sum[:]...)
}

func appendExtension(b []byte, name string, data []byte) []byte {
	b = binary.BigEndian.AppendUint32(append(b, name...), uint32(len(data)))
	return append(b, data...)
}

// appendOffset writes a number as offsetInt reads it.
func appendOffset(b []byte, v int) []byte {
	buf := []byte{byte(v & 0x7f)}
	for v >>= 7; v > 0; v >>= 7 {
		v--
		buf = append(buf, byte(v&0x7f)|0x80)
	}
	slices.Reverse(buf)
	return append(b, buf...)
}

// folders is the TREE extension: the folders whose tree is known, and those around
// them.
func (d *draft) folders() []byte {
	inside := map[string][]string{} // by folder, with a slash at its end
	seen := map[string]bool{"": true}
	for path := range d.trees {
		for path != "" && !seen[path] {
			seen[path] = true
			up := path[:strings.LastIndexByte(path[:len(path)-1], '/')+1]
			inside[up] = append(inside[up], path)
			path = up
		}
	}
	var b bytes.Buffer
	var write func(path, name string)
	write = func(path, name string) {
		subs := inside[path]
		sort.Slice(subs, func(i, j int) bool { // as git has them: the shorter first
			return len(subs[i]) < len(subs[j]) || len(subs[i]) == len(subs[j]) && subs[i] < subs[j]
		})
		id, known := d.trees[path]
		count := -1
		if known {
			count = d.count(path)
		}
		b.WriteString(name + "\x00" + strconv.Itoa(count) + " " + strconv.Itoa(len(subs)) + "\n")
		if known {
			b.Write(id[:])
		}
		for _, sub := range subs {
			write(sub, strings.TrimSuffix(sub[len(path):], "/"))
		}
	}
	write("", "")
	return b.Bytes()
}

// count is how many entries a folder has, those of the folders in it too.
func (d *draft) count(folder string) int {
	from := sort.Search(len(d.rows), func(i int) bool { return d.rows[i].Path >= folder })
	return sort.Search(len(d.rows)-from, func(i int) bool { return !strings.HasPrefix(d.rows[from+i].Path, folder) })
}
