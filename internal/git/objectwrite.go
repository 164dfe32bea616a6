package git

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/objfile"

	"vault-mcp/cache"
)

// store keeps an object in the repository, if it does not have it, and returns its
// name. It is on the disk before its name is there.
func (a *alone) store(kind plumbing.ObjectType, data []byte) (oid, error) {
	id := oid(plumbing.ComputeHash(kind, data))
	if have, err := a.have(id); have || err != nil {
		return id, err
	}
	name := string(id.id())
	dir := filepath.Join(a.r.Common, "objects", name[:2])
	if err := writeLoose(dir, name[2:], kind, data); err != nil {
		return id, fmt.Errorf("write an object of the repository: %w", err)
	}
	return id, nil
}

func writeLoose(dir, name string, kind plumbing.ObjectType, data []byte) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "tmp_obj_") // git clears these away
	if err != nil {
		return err
	}
	w := objfile.NewWriter(f)
	if err = w.WriteHeader(kind, int64(len(data))); err == nil {
		_, err = w.Write(data)
	}
	err = errors.Join(err, w.Close(), f.Chmod(0o444), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return cache.SyncFolder(dir)
}
