package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"vault-mcp/tools"
	"vault-mcp/vault"
)

// maxNote is the largest note that is searched, in bytes: as large as one that
// can be read.
const maxNote = 64 << 20

// source is a file that was read. Its text has no byte-order mark, and is valid
// until the visit of it ends.
type source struct {
	path     string
	text     []byte
	size     int // of the file
	modified time.Time
}

// visitor is called for each file that could be read, from several goroutines.
type visitor func(source)

func isNote(name string) bool { return vault.Kind(name) == vault.Note }

// scan reads all files below the root whose name is accepted. Those that
// Obsidian's settings exclude are counted.
func (s *session) scan(ctx context.Context, accept func(name string) bool, visit visitor) error {
	o := vault.ScanOptions{MaxBytes: maxNote, WalkOptions: vault.WalkOptions{
		Accept: accept,
		Problem: func(path string, err error) {
			if s.reads(path) {
				s.warnings.Fail(path, err)
			}
		},
		Gone: func(path string) {
			if s.reads(path) {
				s.warnings.Gone(path)
			}
		},
	}}
	return s.call.View.Scan(ctx, s.root, o, func(f vault.File, b []byte, err error) error {
		if s.excluded(f.Path) {
			s.page.exclude(1)
			return nil
		}
		s.take(source{f.Path, b, len(b), f.ModTime}, err, visit)
		return ctx.Err() // a match that was cut short does not count
	})
}

// read reads the files with these paths, of so many that there are.
func (s *session) read(ctx context.Context, paths []string, of int, visit visitor) error {
	const faster = 8 // times, if files are read folder by folder
	if len(paths)*faster > of {
		return s.readAmong(ctx, paths, visit)
	}
	return parallel(ctx, len(paths), func(i int) error {
		p, err := s.call.View.FindFile(ctx, paths[i])
		if err != nil {
			s.fail(paths[i], err)
			return ctx.Err()
		}
		c, err := s.call.View.Read(p, maxNote)
		s.take(source{paths[i], c.Bytes, len(c.Bytes), c.ModTime}, err, visit)
		return ctx.Err()
	})
}

func (s *session) readAmong(ctx context.Context, paths []string, visit visitor) error {
	wanted, names := make(map[string]bool, len(paths)), make(map[string]bool, len(paths))
	for _, p := range paths {
		wanted[p], names[path.Base(p)] = true, true
	}
	var mu sync.Mutex
	o := vault.ScanOptions{MaxBytes: maxNote, WalkOptions: vault.WalkOptions{
		Accept: func(name string) bool { return names[name] },
		Problem: func(path string, err error) {
			mu.Lock()
			defer mu.Unlock()
			in, met := tools.InFolder(path), false
			for p := range wanted {
				if in(p) {
					delete(wanted, p)
					met = true
				}
			}
			if met {
				s.fail(path, err)
			}
		},
	}}
	err := s.call.View.Scan(ctx, s.root, o, func(f vault.File, b []byte, err error) error {
		mu.Lock()
		met := wanted[f.Path]
		delete(wanted, f.Path)
		mu.Unlock()
		if met {
			s.take(source{f.Path, b, len(b), f.ModTime}, err, visit)
		}
		return ctx.Err()
	})
	for path := range wanted { // which no folder has any more
		if err == nil {
			s.say(path, vault.Gone)
		}
	}
	return err
}

// fail tells of a file that cannot be read.
func (s *session) fail(path string, err error) { s.say(path, vault.Reason(err)) }

// say tells once what is wrong with a file: with the first page, unless it is
// only read for another.
func (s *session) say(path, reason string) {
	if s.filling {
		s.warnings.Page(path, reason)
	} else {
		s.warnings.Add(path, 0, reason)
	}
}

// take visits a file that was read. One that is no UTF-8 is searched as it is,
// but for UTF-16, in which nothing would be found.
func (s *session) take(f source, err error, visit visitor) {
	switch {
	case err != nil:
		s.fail(f.path, err)
	case bytes.HasPrefix(f.text, []byte("\xff\xfe")) || bytes.HasPrefix(f.text, []byte("\xfe\xff")):
		s.say(f.path, vault.NotText)
	default:
		if vault.Kind(f.path) == vault.Note && (!s.served || s.again[f.path]) {
			s.warnings.Text(f.path, f.text)
		}
		// A byte-order mark is no part of the first line.
		f.text = bytes.TrimPrefix(f.text, []byte("\ufeff"))
		visit(f)
		return
	}
	if s.failed != nil {
		s.failed(f.path)
	}
}

// parallel calls f for the numbers below n on several goroutines, until one
// call fails or ctx ends. A panic of f is raised again.
func parallel(ctx context.Context, n int, f func(i int) error) error {
	workers := min(n, runtime.GOMAXPROCS(0))
	if workers <= 1 {
		for i := range n {
			if err := unlessEnded(ctx, f, i); err != nil {
				return err
			}
		}
		return ctx.Err()
	}
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			defer func() {
				if r := recover(); r != nil {
					cancel(&panicked{r, debug.Stack()})
				}
			}()
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if err := unlessEnded(inner, f, i); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	group.Wait()
	if p, ok := errors.AsType[*panicked](context.Cause(inner)); ok {
		panic(p)
	}
	return context.Cause(inner)
}

// unlessEnded calls f unless ctx has ended.
func unlessEnded(ctx context.Context, f func(i int) error, i int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return f(i)
}

// panicked carries a panic to the goroutine that waits.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("%v\n\n%s", p.value, p.stack) }
