package app

import (
	"sync"
	"time"

	"vault-mcp/cache"
	"vault-mcp/internal/secrets"
)

// state is the server's state folder as far as it is needed: made with the
// first call, never before. It signs for the governor.
type state struct {
	app  *App
	open sync.Once
	ring *secrets.Ring
	dir  string // "" if no folder can be written

	entering sync.Once
	entered  chan struct{} // closed once the server is on the per-user list, or cannot be
	unlisted func() error  // takes it off again
}

// patience is how long a call waits for the server to be listed; it does not
// need that itself.
const patience = time.Second

// keys opens the key ring in the first vault's state folder, where the
// server's own secrets live. Without a folder that can be written it signs
// with a key of this process, and says so.
func (s *state) keys() *secrets.Ring {
	s.open.Do(func() {
		dir, err := s.folder(0)
		if err == nil {
			err = cache.Prepare(dir, s.app.reals()...)
		}
		if err == nil {
			s.ring, err = secrets.Open(dir)
		}
		if err != nil {
			s.app.opts.Log.Warn("no state folder: cursors end with this process, and nothing can be changed", "err", err)
			s.ring = secrets.NewProcessRing()
			return
		}
		s.dir = dir
	})
	return s.ring
}

func (s *state) folder(vault int) (string, error) {
	return cache.Folder(s.app.opts.Env, s.app.cfg.StateDir, s.app.vaults[vault].Dir())
}

// Sign implements governor.Signer.
func (s *state) Sign(label string, msg []byte) string { return s.keys().Sign(label, msg) }

// Verify implements governor.Signer.
func (s *state) Verify(label string, msg []byte, sig string) error {
	return s.keys().Verify(label, msg, sig)
}

// enter begins to list the server beside the first call. What it returns waits
// until that is done, so that whoever has the first answer finds the server.
func (s *state) enter() (wait func()) {
	s.entering.Do(func() {
		s.entered = make(chan struct{})
		go func() {
			defer close(s.entered)
			s.list()
		}()
	})
	return func() {
		select {
		case <-s.entered:
		case <-time.After(patience):
		}
	}
}

// list makes the secrets and puts the server on the per-user list, so that
// the companion commands find it whatever environment its client gave it.
func (s *state) list() {
	ring := s.keys()
	s.app.opts.Log.Info("elicit: signing key in use", "kid", ring.Current())
	if s.dir == "" {
		return
	}
	entry := cache.Entry{StateDir: s.dir, Config: s.app.cfg.File, Version: s.app.opts.Version}
	for i, v := range s.app.vaults {
		dir, err := s.folder(i)
		if err != nil {
			dir = ""
		}
		entry.Vaults = append(entry.Vaults, cache.ServedVault{ID: s.app.views[i].ID, Path: v.Dir(), StateDir: dir})
	}
	leave, err := cache.Register(s.app.opts.Env, entry)
	if err != nil {
		s.app.opts.Log.Warn("the server is not on the list of running servers; companion commands need --config", "err", err)
		return
	}
	s.unlisted = leave
}

// leave takes the server off the per-user list again.
func (s *state) leave() {
	s.entering.Do(func() { s.entered = make(chan struct{}); close(s.entered) }) // never entered
	<-s.entered
	if s.unlisted == nil {
		return
	}
	if err := s.unlisted(); err != nil {
		s.app.opts.Log.Warn("take the server off the list of running servers", "err", err)
	}
	s.unlisted = nil
}
