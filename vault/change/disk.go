package change

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io/fs"
	"strings"

	"vault-mcp/internal/fingerprint"
	"vault-mcp/vault"
)

// Disk is where the files are. Everything that Apply and Recover do to files
// goes through it, so that tests can record it and cut it short.
type Disk interface {
	// Place opens a folder by its path from the vault's root, through no link;
	// fs.ErrNotExist if there is none.
	Place(rel string) (Place, error)
}

// Place is an open folder; see vault.Place for what each method promises.
type Place interface {
	Stat(name string) (vault.Entry, error)
	Names() ([]string, error)
	Read(name string, max int64) ([]byte, error)
	Write(name string, content []byte, mode fs.FileMode, like string) error
	Swap(a, b string) error
	Link(name, second string) error
	Replace(name, as string) error
	Move(name string, to Place, as string) error
	Remove(name string) error
	RemoveDir(name string) error
	Mkdir(name string) error
	Sync() error
	Close()
}

// OnDisk are the files of a vault. outside opens places that are no part of it:
// their paths begin with a slash.
func OnDisk(v *vault.Vault, outside func(rel string) (*vault.Place, error)) Disk {
	return onDisk{v, outside}
}

type onDisk struct {
	v       *vault.Vault
	outside func(rel string) (*vault.Place, error)
}

func (d onDisk) Place(rel string) (Place, error) {
	open := d.v.Place
	if strings.HasPrefix(rel, "/") && d.outside != nil {
		open = d.outside
	}
	p, err := open(rel)
	if err != nil {
		return nil, err
	}
	return place{p}, nil
}

type place struct{ *vault.Place }

func (p place) Move(name string, to Place, as string) error {
	return p.Place.Move(name, to.(place).Place, as)
}

// found is what is at a path.
type found struct {
	entry  vault.Entry
	exists bool
	// content is the hash of a file, or what stands for it if it is large.
	content fingerprint.Content
	bytes   []byte // of a file that is not large
}

// look finds out what a name in a folder is.
func look(p Place, name string) (found, error) {
	e, err := p.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return found{}, nil
	}
	if err != nil {
		return found{}, err
	}
	f := found{entry: e, exists: true}
	if !e.Regular {
		return f, nil
	}
	if e.Size > MaxImage {
		f.content = OfLarge(e)
		return f, nil
	}
	b, err := p.Read(name, MaxImage)
	if errors.Is(err, fs.ErrNotExist) {
		return found{}, nil
	}
	if err != nil {
		return found{}, err
	}
	f.bytes, f.content = b, fingerprint.OfContent(b)
	return f, nil
}

// OfNothing is the hash of an empty file.
var OfNothing = fingerprint.OfContent(nil)

// HashOf is the hash of a file, or what stands for it if it is large; content is
// nil then.
func HashOf(e vault.Entry, content []byte) fingerprint.Content {
	if e.Size > MaxImage {
		return OfLarge(e)
	}
	return fingerprint.OfContent(content)
}

// OfLarge stands for the content of a file that is larger than MaxImage.
func OfLarge(e vault.Entry) fingerprint.Content {
	b := []byte("large file")
	for _, n := range []uint64{uint64(e.Size), uint64(e.ModTime.UnixNano()), e.Device, e.Inode} {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	return sha256.Sum256(b)
}
