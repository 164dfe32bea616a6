package secrets

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"vault-mcp/cache"
)

const (
	folderName = "secrets"
	fileName   = "ring.json"
	version    = 1
	// maxFile is far above any ring.
	maxFile = 64 << 10
	// settle is how long a ring may take to be written where it cannot be
	// linked into place.
	settle = 2 * time.Second
)

var errDamaged = errors.New("damaged")

// file is the form of ring.json.
type file struct {
	Version int       `json:"version"`
	Current string    `json:"current"`
	Keys    []fileKey `json:"keys"`
}

type fileKey struct {
	Kid     string    `json:"kid"`
	Secret  string    `json:"secret"` // base64url, 32 bytes
	Created time.Time `json:"created"`
}

// Open opens the ring in the state folder dir, which must exist, and makes it
// if there is none. Of many processes that make it at once one wins, and all
// get the winner's ring. A ring that another account may open is refused, and
// so is a damaged one: it is never overwritten.
func Open(dir string) (*Ring, error) {
	return open(dir, os.Link)
}

// open takes the link function, because some file systems have none.
func open(dir string, link func(oldname, newname string) error) (*Ring, error) {
	folder := filepath.Join(dir, folderName)
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("make the folder for secrets: %w", err)
	}
	if err := cache.Private(folder); err != nil {
		return nil, err
	}
	path := filepath.Join(folder, fileName)
	ks, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := create(path, newKeys(), link); err != nil {
			return nil, fmt.Errorf("make the key ring %q: %w", path, err)
		}
		ks, err = read(path)
	}
	for errors.Is(err, errDamaged) && beingWritten(path) {
		time.Sleep(10 * time.Millisecond)
		ks, err = read(path)
	}
	if err != nil {
		return nil, err
	}
	return &Ring{path: path, keys: ks}, nil
}

// Existing opens the ring in the state folder dir without making anything: where
// there is none the error is fs.ErrNotExist.
func Existing(dir string) (*Ring, error) {
	folder := filepath.Join(dir, folderName)
	if err := cache.Private(folder); err != nil {
		return nil, err
	}
	path := filepath.Join(folder, fileName)
	ks, err := read(path)
	if err != nil {
		return nil, err
	}
	return &Ring{path: path, keys: ks}, nil
}

// maxOld is how many keys that no longer sign a ring keeps. With the oldest go
// the approvals and cursors that were signed with it.
const maxOld = 16

// Rotate gives the ring in the state folder dir, which must exist, a new current
// key. The old ones stay, up to 16, and verify what they have signed. Running
// servers see the new key within a second. Other processes may do the same at
// once: each adds a key. kid is the new one, and old how many others there are.
func Rotate(dir string) (kid string, old int, err error) {
	if _, err := Open(dir); err != nil { // makes it if there is none
		return "", 0, err
	}
	path := filepath.Join(dir, folderName, fileName)
	err = cache.Update(path, true, func() ([]byte, error) {
		ks, err := read(path)
		if err != nil {
			return nil, err
		}
		ks = ks.rotated()
		kid, old = ks.current, len(ks.all)-1
		return encode(ks)
	})
	if err != nil {
		return "", 0, fmt.Errorf("rotate the key ring: %w", err)
	}
	_ = cache.SyncFolder(filepath.Dir(path))
	return kid, old, nil
}

// rotated is the ring with a new current key, and without those that are too old.
func (ks keys) rotated() keys {
	k := freshSecret()
	for _, taken := ks.of(k.kid); taken; _, taken = ks.of(k.kid) {
		k = freshSecret()
	}
	all := append(slices.Clone(ks.all), k)
	for i := 0; len(all) > maxOld+1; {
		// The key that has just stopped signing is the last to go, wherever it stands.
		if all[i].kid == ks.current {
			i++
			continue
		}
		all = slices.Delete(all, i, i+1)
	}
	return keys{k.kid, all}
}

// beingWritten reports whether another process may still be writing path.
func beingWritten(path string) bool {
	info, err := os.Stat(path)
	return err == nil && time.Since(info.ModTime()).Abs() < settle
}

// create puts a new ring at path unless one is there: then that one stays.
func create(path string, ks keys, link func(oldname, newname string) error) error {
	text, err := encode(ks)
	if err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".ring-*") // of mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	if err := writeAll(temp, text); err != nil {
		return err
	}
	err = link(temp.Name(), path)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		// No hard links here. Whoever makes the name writes the ring; the
		// others wait for the text to be whole.
		err = createInPlace(path, text)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	_ = cache.SyncFolder(filepath.Dir(path))
	return nil
}

func createInPlace(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err = writeAll(f, text); err != nil {
		err = errors.Join(err, os.Remove(path)) // half a ring would be refused for good
	}
	return err
}

// writeAll writes, brings to the disk and closes.
func writeAll(f *os.File, text []byte) error {
	_, err := f.Write(text)
	return errors.Join(err, f.Sync(), f.Close())
}

func encode(ks keys) ([]byte, error) {
	f := file{Version: version, Current: ks.current}
	for _, k := range ks.all {
		f.Keys = append(f.Keys, fileKey{k.kid, base64.RawURLEncoding.EncodeToString(k.value[:]), k.created})
	}
	text, err := json.MarshalIndent(f, "", "  ")
	return append(text, '\n'), err
}

// read reads a ring that is private and whole. The folder is private too, so
// nobody else can exchange the file between the check and the reading.
func read(path string) (keys, error) {
	if err := cache.Private(path); err != nil {
		return keys{}, err
	}
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return keys{}, fmt.Errorf("%q is not a file: move it away, and a new key ring is made", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return keys{}, fmt.Errorf("read the key ring: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return keys{}, fmt.Errorf("read the key ring: %w", err)
	}
	ks, err := decode(text)
	if err != nil {
		return keys{}, fmt.Errorf("the key ring %q cannot be used: %w", path, err)
	}
	return ks, nil
}

func decode(text []byte) (keys, error) {
	var f file
	if len(text) > maxFile || json.Unmarshal(text, &f) != nil {
		return keys{}, damaged("it is not the JSON of a ring")
	}
	if f.Version > version {
		return keys{}, fmt.Errorf("a newer vault-mcp wrote it (version %d, this one knows %d): update this one", f.Version, version)
	}
	if f.Version != version {
		return keys{}, damaged("its version is missing")
	}
	ks := keys{current: f.Current}
	for _, k := range f.Keys {
		value, err := base64.RawURLEncoding.DecodeString(k.Secret)
		if err != nil || len(value) != secretSize || !validKid(k.Kid) {
			return keys{}, damaged("one of its keys is not whole")
		}
		if _, twice := ks.of(k.Kid); twice {
			return keys{}, damaged("it has two keys of one id")
		}
		ks.all = append(ks.all, secret{k.Kid, [secretSize]byte(value), k.Created})
	}
	if _, ok := ks.of(f.Current); !ok {
		return keys{}, damaged("its current key is missing")
	}
	return ks, nil
}

// damaged never quotes the file: it holds secrets.
func damaged(what string) error {
	return fmt.Errorf("%w (%s): restore it from a backup; or remove it, and open approvals and cursors lapse", errDamaged, what)
}
