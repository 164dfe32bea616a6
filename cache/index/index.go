// Package index owns what can be found out of a vault's files and made again at
// any time: which notes there are, and of each its links, tags, properties,
// headings, blocks, tasks, aliases and words. It knows no caller and resolves
// no link: who may see what is for the reader of the Model to decide.
//
// One SQLite file in the state folder keeps it between runs. Queries are
// answered from memory, which is loaded when the index is started. Several
// processes may have the same vault open: the one that holds a lock on a file
// compares the files of the vault with the index and watches them, the others
// read what it writes, and each writes at once what it changed itself.
//
// Whatever fails here, the files are still there: Read says ErrNotReady, and
// who asks reads them instead.
package index

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"

	"vault-mcp/vault"
)

// ErrNotReady says that the index cannot answer now: it is not started, being
// built, or cannot be used. Status says which. The files have the answer.
var ErrNotReady = errors.New("the index is not ready")

// changedLimit is how long a call of Changed may take.
const changedLimit = 30 * time.Second

// patience is how long a query waits for an index that only has to be loaded.
const patience = 300 * time.Millisecond

// courtesy is how long a query waits for its turn to see what others wrote.
const courtesy = 25 * time.Millisecond

// Options say how the index works. The zero value is what a server uses.
type Options struct {
	// Settings name what the rows depend on besides the files. Rows that were
	// made with others are thrown away.
	Settings string
	// MaxBytes is the size above which a note is named but not read; 0 is
	// vault.DefaultMaxBytes.
	MaxBytes int64
	// NoWatch is set if changes are only looked for by comparing the files.
	NoWatch bool
	// Sweep is how long after the start all notes are hashed, to find those
	// that changed without a change of size and time; 0 is ten seconds, below
	// that is never.
	Sweep time.Duration
	// Folder, if set, makes sure of the state folder whenever the database is to
	// be opened; its error is why it cannot be.
	Folder func() error
	// Report, if set, is told why the index cannot be used or is begun anew, once
	// until the reason changes, and nil when it answers again. It must be brief.
	Report func(error)
}

// Index is the index of one vault. Its methods may be called at the same time.
type Index struct {
	vault *vault.Vault
	dir   string
	o     Options

	// turn is held by whoever uses store, words or the model's rows to change
	// them. It is a channel so that waiting for it can end with a context.
	turn  chan struct{}
	store *store
	words *words

	mu    sync.RWMutex // guards model and text
	model *Model
	text  *Text

	stored    atomic.Pointer[meta] // as it was last read
	state     state
	failures  chan error
	giving    giving
	coming    coming
	observers observers

	start  sync.Once
	cancel context.CancelFunc
	done   chan struct{}
}

// Open is the index of a vault with its files in the state folder dir, which
// must exist when Start is called. Open itself touches nothing.
func Open(v *vault.Vault, dir string, o Options) *Index {
	if o.MaxBytes <= 0 {
		o.MaxBytes = vault.DefaultMaxBytes
	}
	if o.Sweep == 0 {
		o.Sweep = 10 * time.Second
	}
	ix := &Index{
		vault: v, dir: dir, o: o, turn: make(chan struct{}, 1), model: newModel(nil),
		failures: make(chan error, 1), done: make(chan struct{}),
	}
	ix.state.moved = make(chan struct{})
	ix.model.outside = ix.state.outside
	ix.giving.left = deference
	return ix
}

// Start begins to load, build and watch in the background, until ctx ends or
// Close is called. Only the first call counts.
func (ix *Index) Start(ctx context.Context) {
	ix.start.Do(func() {
		ctx, ix.cancel = context.WithCancel(ctx)
		ix.state.set(Loading, nil)
		go func() {
			defer close(ix.done)
			ix.run(ctx)
		}()
	})
}

// Close ends what Start began and waits for it. The index cannot be started
// again.
func (ix *Index) Close() error {
	ix.start.Do(func() { close(ix.done) })
	if ix.cancel != nil {
		ix.cancel()
	}
	<-ix.done
	return nil
}

func (ix *Index) lock(ctx context.Context) error {
	select {
	case ix.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (ix *Index) tryLock() bool {
	select {
	case ix.turn <- struct{}{}:
		return true
	default:
		return false
	}
}

func (ix *Index) unlock() { <-ix.turn }

// Read calls f with the index as it is now, with what other processes have
// written: all of it, unless this process is just then writing much itself. The Model does not change during the call, so f should be brief: it
// must not read files, and must not call a method of Index. The error is that of
// f, ErrNotReady, or that of ctx.
func (ix *Index) Read(ctx context.Context, f func(*Model) error) error {
	if err := ix.await(ctx); err != nil {
		return err
	}
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	return f(ix.model)
}

// ReadText is Read with the full text, which is loaded by the first call.
func (ix *Index) ReadText(ctx context.Context, f func(*Model, *Text) error) error {
	for range 3 {
		if err := ix.await(ctx); err != nil {
			return err
		}
		if err := ix.needText(ctx); err != nil {
			if ctx.Err() == nil {
				ix.fail(err)
				err = ErrNotReady
			}
			return err
		}
		ix.mu.RLock()
		if ix.text != nil { // nobody has dropped it in between
			defer ix.mu.RUnlock()
			return f(ix.model, ix.text)
		}
		ix.mu.RUnlock()
	}
	return ErrNotReady
}

// await waits a moment for an index that is being loaded, and then takes over
// what other processes have written, unless the database is in use for longer
// than a query should wait.
func (ix *Index) await(ctx context.Context) error {
	if err := ix.state.await(ctx, patience); err != nil {
		return err
	}
	brief, cancel := context.WithTimeout(ctx, courtesy)
	defer cancel()
	if !ix.tryLock() && ix.lock(brief) != nil {
		return ctx.Err()
	}
	defer ix.unlock()
	if err := ix.follow(ctx); err != nil && ctx.Err() == nil {
		ix.fail(err)
		return ErrNotReady
	}
	return ctx.Err()
}

// follow takes over what other processes have written. It needs the lock.
func (ix *Index) follow(ctx context.Context) error {
	if ix.store == nil {
		return ErrNotReady
	}
	moved, err := ix.store.moved(ctx)
	if err != nil || !moved {
		return err
	}
	if err := ix.snapshot(ctx, func() error {
		_, err := ix.catchUp(ctx)
		return err
	}); err != nil {
		ix.store.version = -1 // look again
		return err
	}
	return ix.loadSkipped(ctx)
}

// fail tells the background that the database cannot be used as it is.
func (ix *Index) fail(err error) {
	if errors.Is(err, ErrNotReady) {
		return
	}
	select {
	case ix.failures <- err:
	default:
	}
}

// Changed reads files of the vault again, so that the index knows what a call
// has done when it returns. paths are files, or folders with all below them,
// that were written, made, moved or removed. It is not cut short when ctx ends,
// for what was done is done. An error means that the index could not take it in
// and answers nothing until it has compared all files; it is not one of the
// change.
func (ix *Index) Changed(ctx context.Context, paths []string) error {
	if len(paths) == 0 || !ix.state.started() {
		return nil // all files are compared before the first answer
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), changedLimit)
	defer cancel()
	err := ix.refresh(ctx, paths, nil)
	if err == nil {
		return nil
	}
	ix.state.owe(paths)
	if errors.Is(err, ErrNotReady) {
		return nil
	}
	ix.state.set(Degraded, err)
	ix.fail(err)
	return err
}

// settle does what calls of Changed could not.
func (ix *Index) settle(ctx context.Context) error {
	owed := ix.state.settleOwed()
	err := ix.refresh(ctx, owed, nil)
	if err != nil {
		ix.state.owe(owed)
	}
	return err
}

func (ix *Index) newLock() (*flock.Flock, error) {
	path := filepath.Join(ix.dir, "index.lock")
	return flock.New(path, flock.SetPermissions(0o600)), plain(path)
}
