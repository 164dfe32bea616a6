package index

import (
	"context"
	"runtime"
	"sync"
	"time"

	"vault-mcp/cache/index/facts"
	"vault-mcp/cache/index/terms"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/vault"
)

const (
	// longestHold is for how long the reports of the system wait at most for a call
	// that is writing.
	longestHold = 2 * time.Second
	// rememberRead is for how long it is known that a call has had a file read.
	rememberRead = 10 * time.Second
)

// Coming is what a call is about to write to a path.
type Coming struct {
	Path    string
	Content []byte
}

// coming is what calls of this process are writing.
type coming struct {
	mu     sync.Mutex
	calls  int
	over   chan struct{} // closed when calls is 0 again
	parsed map[parsedKey]parsed
	read   map[string]time.Time
}

// parsedKey is what parsing hangs on.
type parsedKey struct {
	hash fingerprint.Content
	note bool
}

type parsed struct {
	facts   facts.Blob
	problem string
	words   *words
	vector  terms.Vector
}

// Expect says that a call is about to write files, and will call Changed and
// then done. Meanwhile the contents are parsed, beside the writing that waits for
// the disk, and what the system reports of files is put off for a while: most of
// it is of these. What is in the index is always what was read from the files.
func (ix *Index) Expect(ctx context.Context, files []Coming) (done func()) {
	c := &ix.coming
	c.mu.Lock()
	if c.calls++; c.calls == 1 {
		c.over, c.parsed = make(chan struct{}), map[parsedKey]parsed{}
	}
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), changedLimit)
	var parsing sync.WaitGroup
	parsing.Go(func() { ix.prepare(ctx, files) })
	var once sync.Once
	release := func() {
		once.Do(func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			if c.calls--; c.calls == 0 {
				close(c.over)
				c.over, c.parsed = nil, nil
			}
		})
	}
	late := time.AfterFunc(longestHold, release)
	return func() {
		late.Stop()
		cancel()
		parsing.Wait()
		release()
	}
}

// prepare parses what will have to be read, up to a size.
func (ix *Index) prepare(ctx context.Context, files []Coming) {
	words, err := ix.dictionary(ctx)
	if err != nil {
		return
	}
	p := &parser{ix: ix, words: words}
	next := make(chan Coming)
	var all sync.WaitGroup
	for range min(max(1, runtime.GOMAXPROCS(0)/2), len(files)) { // the rest is for the writing
		all.Go(func() {
			for f := range next {
				ix.coming.keep(f, p.parse(f.Path, f.Content))
			}
		})
	}
	size := 0
	for _, f := range files {
		if size += len(f.Content); ctx.Err() != nil || size > batchBytes {
			break
		}
		if isRead(f.Path) && int64(len(f.Content)) <= ix.o.MaxBytes && vault.Text(f.Content) {
			next <- f
		}
	}
	close(next)
	all.Wait()
}

func (c *coming) keep(f Coming, p parsed) {
	key := parsedKey{fingerprint.OfContent(f.Content), isNote(f.Path)}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.parsed != nil {
		c.parsed[key] = p
	}
}

// of is what was parsed of a content, if that was with the same words.
func (c *coming) of(hash fingerprint.Content, path string, w *words) (parsed, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, ok := c.parsed[parsedKey{hash, isNote(path)}]
	return p, ok && (p.words == w || p.words == nil)
}

// wait is closed when no call is writing any more; nil if none is.
func (c *coming) wait() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.over
}

// wasRead notes that the index has files as they were then, or later.
func (c *coming) wasRead(paths []string, then time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for p, at := range c.read {
		if time.Since(at) > rememberRead {
			delete(c.read, p)
		}
	}
	if c.read == nil {
		c.read = map[string]time.Time{}
	}
	for _, p := range paths {
		c.read[p] = then
	}
}

// unread are the paths of which something was reported since they were read.
func (c *coming) unread(reported map[string]time.Time, watches func(string) bool) (paths []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for p, at := range reported {
		// What was a folder has watches to be dropped.
		if then, ok := c.read[p]; !ok || !at.Before(then) || watches(p) {
			paths = append(paths, p)
		}
	}
	return paths
}
