package vault

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

const (
	// DefaultMaxBytes is the size in bytes above which Scan reads no file,
	// unless its options say another: 16 MiB.
	DefaultMaxBytes = 16 << 20

	firstBuffer = 64 << 10 // bytes; most notes are smaller
	keptBuffer  = 8 << 20  // bytes; a larger buffer is given back at once
	chunkFiles  = 64
)

// ScanOptions say which files are read. Keep is called from several goroutines
// at the same time, like Gone; Accept and Problem only from the one that calls
// Scan.
type ScanOptions struct {
	WalkOptions
	// MaxBytes is the size above which a file is not read but visited with
	// *TooLargeError; 0 is DefaultMaxBytes.
	MaxBytes int64
	// Workers is how many files are read at the same time; 0 is GOMAXPROCS.
	Workers int
}

// Scan reads the files that Walk would visit, in parallel and in no order.
// visit is called from several goroutines at the same time. The bytes are only
// valid until visit returns. Where a file cannot be read, visit gets the reason
// instead: *TooLargeError, ErrAway for a file that a cloud service would have
// to fetch first, or an error of the system, none of which holds a path; with
// the last, Size and ModTime may be unknown (zero).
// What vanishes during the scan is left out, and only Gone is told.
//
// Scan ends early with the first error of visit, or with that of ctx. When it
// returns, no call of visit is running. A panic of visit is raised again by
// Scan. Memory stays bounded however large the vault is, apart from the list
// of names of one folder on each level.
func (v *Vault) Scan(ctx context.Context, from Path, o ScanOptions, visit func(File, []byte, error) error) error {
	root, err := v.openFrom(from)
	if err != nil {
		return err
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := &scan{o: &o, ctx: inner, cancel: cancel, visit: visit, chunks: make(chan chunk, 2*o.Workers)}
	var workers sync.WaitGroup
	for range o.Workers {
		workers.Go(s.work)
	}
	func() {
		defer workers.Wait()
		defer close(s.chunks)
		s.feed(newShared(root), from.rel)
	}()
	if err := ctx.Err(); err != nil {
		return err
	}
	err = context.Cause(inner)
	if p, ok := errors.AsType[*panicked](err); ok {
		panic(p)
	}
	return err
}

// scan is one run of Scan: feed lists folders and hands out chunks of names,
// each worker opens and reads the files of a chunk.
type scan struct {
	o      *ScanOptions
	ctx    context.Context
	cancel context.CancelCauseFunc
	visit  func(File, []byte, error) error
	chunks chan chunk
}

// chunk is some of the files of one folder.
type chunk struct {
	dir   *shared
	rel   string
	files []entry
}

// shared is an open folder that is closed when the last who holds it is done.
type shared struct {
	folder
	holders atomic.Int32
}

func newShared(d folder) *shared {
	s := &shared{folder: d}
	s.holders.Store(1)
	return s
}

func (s *shared) release() {
	if s.holders.Add(-1) == 0 {
		s.close()
	}
}

// feed hands out the files of d and of all folders below it. It releases d.
func (s *scan) feed(d *shared, rel string) {
	defer d.release()
	entries, err := s.o.list(d, rel)
	if err != nil {
		s.o.problem(rel, err)
	}
	var dirs, files []entry
	for _, e := range entries {
		if e.dir() {
			dirs = append(dirs, e)
			continue
		}
		if files = append(files, e); len(files) == chunkFiles {
			s.send(chunk{d, rel, files})
			files = nil
		}
	}
	if len(files) > 0 {
		s.send(chunk{d, rel, files})
	}
	for _, e := range dirs {
		if s.ctx.Err() != nil {
			return
		}
		path := join(rel, e.name())
		if !s.o.Keep.lets(path, true) {
			continue
		}
		child, err := d.openDir(e.name())
		if err != nil {
			s.o.problem(path, err)
			continue
		}
		s.feed(newShared(child), path)
	}
}

func (s *scan) send(c chunk) {
	c.dir.holders.Add(1)
	select {
	case s.chunks <- c:
	case <-s.ctx.Done():
		c.dir.release()
	}
}

// panicked carries a panic of visit from a worker to the caller of Scan.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("%v\n\n%s", p.value, p.stack) }

// work reads chunks until there are no more. After a failure it only lets go
// of the folders.
func (s *scan) work() {
	buf := make([]byte, 0, firstBuffer)
	for c := range s.chunks {
		buf = s.chunk(c, buf)
	}
}

func (s *scan) chunk(c chunk, buf []byte) []byte {
	defer c.dir.release()
	defer func() {
		if r := recover(); r != nil {
			s.cancel(&panicked{r, debug.Stack()})
		}
	}()
	for _, e := range c.files {
		if s.ctx.Err() != nil {
			break
		}
		path := join(c.rel, e.name())
		if !s.o.Keep.lets(path, false) {
			continue
		}
		used, err := s.file(c.dir, path, e.name(), buf)
		if err != nil {
			s.cancel(err)
			break
		}
		if cap(used) > cap(buf) {
			buf = used
		}
		if cap(buf) > keptBuffer {
			buf = make([]byte, 0, firstBuffer)
		}
	}
	return buf
}

// file reads one file and has it visited. The buffer it returns is the one
// that holds the bytes.
func (s *scan) file(d *shared, path, name string, buf []byte) ([]byte, error) {
	n, b, err := d.read(name, reading{max: s.o.MaxBytes, local: true}, buf)
	switch {
	case err == nil:
	case isAbsent(err), errors.Is(err, errNotRegular):
		s.o.gone(path)
		return nil, nil
	default:
		b, err = nil, bare(err)
	}
	return b, s.visit(File{Path: path, Size: n.size, ModTime: n.mtime, node: n}, b, err)
}
