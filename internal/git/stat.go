package git

import (
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// stat is how a file was when the index learned its content: by it a file is known
// to be unchanged without being read.
type stat struct {
	ctime, ctimeNano, mtime, mtimeNano, dev, ino, uid, gid, size uint32
}

// sizeAt is where the size is in an entry's head.
const sizeAt = 36

// put writes it where an entry has it: all but the size before its mode.
func (s stat) put(head []byte, mode Mode) {
	for i, v := range []uint32{s.ctime, s.ctimeNano, s.mtime, s.mtimeNano, s.dev, s.ino, uint32(mode), s.uid, s.gid, s.size} {
		binary.BigEndian.PutUint32(head[4*i:], v)
	}
}

func statIn(head []byte) stat {
	at := func(i int) uint32 { return binary.BigEndian.Uint32(head[4*i:]) }
	return stat{at(0), at(1), at(2), at(3), at(4), at(5), at(7), at(8), at(9)}
}

// sameFile leaves out the device: some disks get another number with each start.
func (s stat) sameFile(t stat) bool {
	s.dev = t.dev
	return s == t
}

// racy reports whether a file may have changed after it was staged without another
// time: the index is not younger than the file.
func (s stat) racy(index time.Time) bool {
	m := time.Unix(int64(s.mtime), int64(s.mtimeNano))
	return s.mtime == 0 || !m.Before(index)
}

// indexTime is when the index was written; long ago if there is none.
func (r *Repo) indexTime() (time.Time, error) {
	info, err := os.Stat(filepath.Join(r.Dir, "index"))
	if absent(err) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, broken("index", err)
	}
	return info.ModTime(), nil
}

// differs is how a file of the work tree is not what the entry i of the index says:
// 0 for not at all, M or T.
func (a *alone) differs(i int, info fs.FileInfo, index time.Time) (byte, Mode, error) {
	e := a.ix.Entries[i]
	mode := a.modeOf(info, a.ix.Entries[i:i+1])
	switch {
	case mode&typeBits != e.Mode&typeBits:
		return 'T', mode, nil
	case mode != e.Mode:
		return 'M', mode, nil
	}
	if i < len(a.ix.heads) {
		was := statIn(a.ix.heads[i])
		now, err := statOf(filepath.Join(a.r.Work, filepath.FromSlash(e.Path)), info)
		switch {
		case err != nil:
			return 0, mode, refused("unreadable", "%s cannot be read: %v.", e.Path, err)
		case was.sameFile(now) && !was.racy(index):
			return 0, mode, nil
		case was.size != now.size && was.size != 0:
			return 'M', mode, nil
		}
	}
	b, err := a.content(e.Path, info)
	if err != nil {
		return 0, mode, err
	}
	if idOf(b) != e.ID {
		return 'M', mode, nil
	}
	return 0, mode, nil
}
