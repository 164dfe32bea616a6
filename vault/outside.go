package vault

import (
	"os"
	"path/filepath"
)

// Outside opens a folder that is no part of a vault as a Place: the system's
// trash. It makes the folder, private, where it is missing.
func Outside(dir string) (*Place, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, bare(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, bare(err)
	}
	v := &Vault{dir: dir, root: root, enter: openFolder}
	d, err := v.enter(root, dir)
	if err != nil {
		root.Close()
		return nil, bare(err)
	}
	return &Place{v: v, dir: d, own: root}, nil
}

// SameDevice reports whether a folder is, or would be, on the file system of the
// vault, so that a file can be renamed into it.
func (v *Vault) SameDevice(dir string) bool {
	p, err := v.Place("")
	if err != nil {
		return false
	}
	defer p.Close()
	here, err := p.dir.self()
	if err != nil {
		return false
	}
	for {
		root, err := os.OpenRoot(dir)
		if err != nil {
			parent := filepath.Dir(dir)
			if parent == dir {
				return false
			}
			dir = parent
			continue
		}
		defer root.Close()
		d, err := openFolder(root, dir)
		if err != nil {
			return false
		}
		defer d.close()
		there, err := d.self()
		return err == nil && there.dev == here.dev && here.dev != 0
	}
}
