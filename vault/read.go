package vault

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"vault-mcp/internal/fault"
)

// Content is what a file held at one moment.
type Content struct {
	// Bytes is the whole file as it is on disk.
	Bytes []byte
	// Size is the length of Bytes.
	Size int64
	// ModTime is when the file was last written before it was read: a file
	// that is written meanwhile has a later one.
	ModTime time.Time
}

// TooLargeError says that a file was not read because of its size.
type TooLargeError struct {
	// Size is the file's length in bytes, at least.
	Size int64
	// Max is how many bytes were allowed.
	Max int64
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the file has %d bytes; at most %d are read", e.Size, e.Max)
}

// rereads is how often a file that is being written is read again.
const rereads = 3

// Read returns the bytes of a file that was found before. A file of more than
// max bytes is *TooLargeError and is not read. A file that is gone is
// note_not_found; one whose place another file has taken is internal, with
// ErrChanged as its cause. A file that is written while it is read is read
// again, up to three times.
func (v *Vault) Read(p Path, max int64) (Content, error) {
	return v.read(p, reading{max: max, want: &p.node})
}

// read reads a file that was found before.
func (v *Vault) read(p Path, how reading) (Content, error) {
	if p.IsDir() || p.rel == "" {
		return Content{}, fault.New(fault.NoteNotFound, "%q is a folder, not a file.", p.rel)
	}
	dir, err := v.openParent(p.rel)
	if err != nil {
		return Content{}, readFault(p.rel, err)
	}
	defer dir.close()
	_, c, err := readIn(dir, path.Base(p.rel), how, nil)
	if err != nil {
		return Content{}, readFault(p.rel, err)
	}
	return c, nil
}

// openParent opens the folder that holds rel, which has real components.
func (v *Vault) openParent(rel string) (folder, error) {
	i := strings.LastIndexByte(rel, '/')
	if i < 0 {
		return v.enter(v.root, v.dir)
	}
	return v.openDir(rel[:i])
}

// openDir opens the folder rel by its real components, through no link.
func (v *Vault) openDir(rel string) (folder, error) {
	dir, err := v.enter(v.root, v.dir)
	if err != nil || rel == "" {
		return dir, err
	}
	for name := range strings.SplitSeq(rel, "/") {
		child, err := dir.openDir(name)
		dir.close()
		if err != nil {
			return nil, err
		}
		dir = child
	}
	return dir, nil
}

// readFault is what a caller is told about err, which came from rel.
func readFault(rel string, err error) error {
	if _, ok := errors.AsType[*TooLargeError](err); ok {
		return err
	}
	switch {
	case errors.Is(err, ErrChanged), errors.Is(err, errNotRegular), errors.Is(err, errNotFolder):
		return fault.New(fault.Internal, "%q was replaced while it was being read.", rel).Because(fmt.Errorf("%w: %w", ErrChanged, err))
	case isAbsent(err):
		return absent(`No file or folder at %q.`, rel, nil)
	case errors.Is(err, ErrAway):
		return fault.New(fault.Internal, "The content of %q is in the cloud and not on this device; opening it once in Obsidian fetches it.", rel).Because(err)
	case errors.Is(err, fs.ErrPermission):
		return fault.New(fault.Internal, "The operating system does not let the server read %q.", rel).Because(err)
	}
	return fault.New(fault.Internal, "%q could not be read.", rel).Because(err)
}

// Text reports whether a file's bytes are text as this program reads it: valid
// UTF-8 that does not begin with the byte-order mark of UTF-16.
func Text(b []byte) bool {
	// Both marks of UTF-16 hold bytes that UTF-8 never has, so they are
	// invalid UTF-8 as well; they are named for the reader of this line.
	return !bytes.HasPrefix(b, []byte{0xff, 0xfe}) && !bytes.HasPrefix(b, []byte{0xfe, 0xff}) && utf8.Valid(b)
}
