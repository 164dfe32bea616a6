// Package updates tells clients that resources which they follow have changed.
//
// What has changed the indexes of the vaults tell, who may know of it the folder
// rules of the moment. One burst of changes is told once for each resource.
package updates

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"vault-mcp/cache/index"
	"vault-mcp/internal/acl"
)

// Most is how many resources one session may follow.
const Most = 500

const (
	// quiet is how long nothing has to change before a burst is over, and longest
	// how long a burst can put off that it is told.
	quiet   = 100 * time.Millisecond
	longest = time.Second
)

// ErrTooMany says that a session follows Most resources.
var ErrTooMany = errors.New("too many resources are followed")

// ErrNoIndex says that a vault has no index, so that nobody knows of its changes.
var ErrNoIndex = errors.New("the vault has no index")

// Hub is where sessions follow the resources of the vaults.
type Hub struct {
	views   map[string]*acl.View
	refresh func()
}

// NewHub is one for vaults. refresh takes up folder rules that have changed.
func NewHub(views []*acl.View, refresh func()) *Hub {
	h := &Hub{views: map[string]*acl.View{}, refresh: refresh}
	for _, v := range views {
		h.views[v.ID] = v
	}
	return h
}

// Serves reports whether the changes of some vault are known.
func (h *Hub) Serves() bool {
	for _, v := range h.views {
		if v.Index() != nil {
			return true
		}
	}
	return false
}

// File is a file that is followed, as it was when that began.
type File struct {
	Vault, Path string
	Size        int64
	ModTime     time.Time
}

// Tell tells a client that a resource has changed, by the name that it follows it
// with, as long as still says so when that goes out. It may wait for a client
// that does not read, until ctx ends.
type Tell func(ctx context.Context, uri string, still func() bool)

// Session is what one client follows. Its methods may be called at the same time.
type Session struct {
	hub   *Hub
	tell  Tell
	moved chan struct{}
	ctx   context.Context
	end   context.CancelFunc

	mu    sync.Mutex
	stops map[string]func() // of observing an index, by the vault
	files map[string]*followed
}

type followed struct {
	vault, path string
	stamp       index.Stamp
}

// Open begins a session that follows nothing yet and ends with ctx at the latest.
func (h *Hub) Open(ctx context.Context, tell Tell) *Session {
	s := &Session{hub: h, tell: tell, moved: make(chan struct{}, 1), stops: map[string]func(){}, files: map[string]*followed{}}
	s.ctx, s.end = context.WithCancel(ctx)
	return s
}

// Close ends the session: nothing more is told.
func (s *Session) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end()
	for _, stop := range s.stops {
		stop()
	}
	clear(s.files)
}

// Follow begins to follow a resource of a vault under the name that its client has
// for it. find looks for the file once its changes are watched, so that none is
// missed in between. The error is that of find, ErrTooMany or ErrNoIndex.
func (s *Session) Follow(uri, vault string, find func() (File, error)) error {
	if s.full(uri) {
		return ErrTooMany
	}
	watched := s.watch(vault)
	f, err := find() // which also tells a vault that is none
	if err != nil {
		return err
	}
	if !watched {
		return ErrNoIndex
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() == nil && s.files[uri] == nil {
		s.files[uri] = &followed{f.Vault, f.Path, index.Stamp{There: true, Size: f.Size, ModTime: f.ModTime}}
	}
	return nil
}

func (s *Session) full(uri string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.files) >= Most && s.files[uri] == nil
}

// watch observes the index of a vault, and reports false if there is none.
func (s *Session) watch(vault string) bool {
	v := s.hub.views[vault]
	if v == nil || v.Index() == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stops[vault] != nil || s.ctx.Err() != nil {
		return true
	}
	if len(s.stops) == 0 {
		go s.run()
	}
	s.stops[vault] = v.Index().Observe(func() {
		select {
		case s.moved <- struct{}{}:
		default:
		}
	})
	return true
}

// Unfollow ends that a resource is followed. Nothing is told of it any more when
// it returns.
func (s *Session) Unfollow(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.files, uri)
}

func (s *Session) follows(uri string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files[uri] != nil
}

// run tells what has changed until the session ends.
func (s *Session) run() {
	for {
		select {
		case <-s.moved:
		case <-s.ctx.Done():
			return
		}
		s.settle()
		for _, uri := range s.changed() {
			s.tell(s.ctx, uri, func() bool { return s.follows(uri) })
		}
	}
}

// settle waits for the end of a burst.
func (s *Session) settle() {
	late := time.NewTimer(longest)
	defer late.Stop()
	for {
		still := time.NewTimer(quiet)
		select {
		case <-s.moved:
			still.Stop()
			continue
		case <-still.C:
		case <-late.C:
			still.Stop()
		case <-s.ctx.Done():
			still.Stop()
		}
		return
	}
}

// changed are the resources that have changed since they were looked at last and
// that may be read. An index that does not answer tells when it does again.
func (s *Session) changed() (uris []string) {
	s.hub.refresh()
	byVault := map[string]map[string]*followed{}
	s.mu.Lock()
	for uri, f := range s.files {
		if byVault[f.vault] == nil {
			byVault[f.vault] = map[string]*followed{}
		}
		byVault[f.vault][uri] = f
	}
	s.mu.Unlock()
	for vault, files := range byVault {
		view := s.hub.views[vault].Now()
		_ = view.Index().Read(s.ctx, func(m *index.Model) error {
			for uri, f := range files {
				now := m.Stamp(f.path)
				// What changes while it may not be read is never told, not even later.
				if now.Differs(f.stamp) && view.Sees(f.path) {
					uris = append(uris, uri)
				}
				f.stamp = now
			}
			return nil
		})
	}
	slices.Sort(uris)
	return uris
}
