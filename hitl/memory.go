package hitl

import (
	"fmt"
	"hash/maphash"
	"sync"
	"time"
)

// Memory is what a process remembers of the answers that it got: what was
// declined a short while ago, and whether anybody sits before the client. It is
// not kept: another process asks anew. The zero value is ready.
type Memory struct {
	// Quick is the time below which nobody can have answered; zero stands for
	// 150 ms.
	Quick time.Duration

	mu    sync.Mutex
	noes  map[uint64]time.Time // when, by what
	fast  int                  // answers in a row that no person can have given
	seeds maphash.Seed
	set   bool
}

// quickest is how fast a person can say no. Claude Code without a screen cancels
// within some 40 ms, and so do others.
const quickest = 150 * time.Millisecond

// quickAnswers is after how many answers that no person gave a client is no longer asked.
const quickAnswers = 2

func (m *Memory) quick() time.Duration {
	if m.Quick > 0 {
		return m.Quick
	}
	return quickest
}

// key is what was declined: a tool, and the state that it was about.
func (m *Memory) key(vault, tool string, marks []Mark) uint64 {
	if !m.set {
		m.seeds, m.set = maphash.MakeSeed(), true
	}
	var h maphash.Hash
	h.SetSeed(m.seeds)
	fmt.Fprintf(&h, "%q %q %q", vault, tool, marks)
	return h.Sum64()
}

// decline remembers a no.
func (m *Memory) decline(vault, tool string, marks []Mark, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for k, at := range m.noes {
		if now.Sub(at) >= rest {
			delete(m.noes, k)
		}
	}
	if m.noes == nil {
		m.noes = map[uint64]time.Time{}
	}
	m.noes[m.key(vault, tool, marks)] = now
}

// declined reports whether the same was declined within the last minutes.
func (m *Memory) declined(vault, tool string, marks []Mark, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, ok := m.noes[m.key(vault, tool, marks)]
	return ok && now.Sub(at) < rest
}

// unattended counts an answer that no person can have given.
func (m *Memory) unattended() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fast++
}

// attended says that a person has answered.
func (m *Memory) attended() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fast = 0
}

// alone reports whether nobody seems to sit before the client.
func (m *Memory) alone() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.fast >= quickAnswers
}
