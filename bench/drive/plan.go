package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"vault-mcp/bench/vaultgen"
)

// Gates, as ratios to the floor in the same run where nothing else is said.
const (
	gateStart    = 1.5
	gateGrep     = 2
	gateCall     = 2
	gateToolList = 14 * 1024 // bytes
	gateExit     = 50        // ms
	gateMemory   = 40        // MB, before the index is loaded
)

// measure is the whole table.
func (b *bench) measure(small, large, sizes *vaultgen.Vault) error {
	for _, step := range []struct {
		name string
		run  func() error
	}{
		{"start", func() error { return b.starting(small, large) }},
		{"search", func() error { return b.firstSearch(large) }},
		{"calls", func() error { return b.calls(large) }},
		{"sizes", func() error { return b.sizes(sizes) }},
		{"flood", func() error { return b.flood(large) }},
		{"exit", func() error { return b.exit(large) }},
		{"memory", func() error { return b.memory(large) }},
	} {
		if b.only != "" && !slices.Contains(strings.Split(b.only, ","), step.name) {
			continue
		}
		if err := step.run(); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) starting(small, large *vaultgen.Vault) error {
	for _, v := range []*vaultgen.Vault{small, large} {
		if err := b.compare(fmt.Sprintf("start → initialize, %d notes", v.Notes), gateStart, b.starts(v, nil, initialized)...); err != nil {
			return err
		}
		if err := b.compare(fmt.Sprintf("start → discover, %d notes", v.Notes), gateStart, b.starts(v, nil, discovered)...); err != nil {
			return err
		}
	}
	if err := b.compare(fmt.Sprintf("cold start → initialize, %d notes", large.Notes), gateStart, b.starts(large, coldly, initialized)...); err != nil {
		return err
	}
	// The first call also makes the state folder, where there is none yet.
	if err := b.compare("start → first read, new state folder", 0, b.starts(large, b.newState, firstRead(large.Sample[0]))...); err != nil {
		return err
	}
	if err := b.compare("start → first read, old state folder", 0, b.starts(large, nil, firstRead(large.Sample[0]))...); err != nil {
		return err
	}
	// One program on two vaults: the start must not depend on their size.
	return b.compare("start → initialize, large vault to small", gateStart,
		trial{"large", func() (sample, error) { return b.life(b.ours, large, nil, initialized) }},
		trial{"small", func() (sample, error) { return b.life(b.ours, small, nil, initialized) }})
}

// newState removes what earlier calls left.
func (b *bench) newState([]string) error {
	return errors.Join(os.RemoveAll(filepath.Join(b.home, "state")), os.RemoveAll(filepath.Join(b.home, ".local")))
}

func (b *bench) firstSearch(v *vaultgen.Vault) error {
	for _, q := range []string{vaultgen.Rare, vaultgen.Common} {
		trials := b.starts(v, b.newState, searched(q))
		gate := 0.0
		if b.rg != "" {
			gate = gateGrep
			trials = append(trials[:1:1], append([]trial{b.ripgrep(v, q)}, trials[1:]...)...)
		}
		if err := b.compare("start → first search without an index, "+q, gate, trials...); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) calls(v *vaultgen.Vault) error {
	for _, q := range []string{vaultgen.Rare, vaultgen.Common} {
		err := b.steady(v, "search, "+q, gateCall, 1, func(c contender) (call, bool) { return c.search(q), true })
		if err != nil {
			return err
		}
	}
	err := b.steady(v, "read a note", gateCall, 200, func(c contender) (call, bool) { return c.read(v.Sample[0]), true })
	if err != nil {
		return err
	}
	for _, order := range []string{"path", "-mtime"} {
		err := b.steady(v, "list a page by "+order, gateCall, 5, func(c contender) (call, bool) {
			if c.list == nil {
				return call{}, false
			}
			return c.list(order), true
		})
		if err != nil {
			return err
		}
	}
	return b.toolList(v)
}

func (b *bench) toolList(v *vaultgen.Vault) error {
	err := b.running(v, "tools/list", 0, func(contender) (func(*server) error, int) {
		return func(s *server) error { _, _, err := s.do("tools/list", nil); return err }, 1
	})
	if err != nil {
		return err
	}
	s, err := b.serve(b.ours, v)
	if err != nil {
		return err
	}
	defer s.stop()
	line, _, err := s.do("tools/list", nil)
	b.told("tools/list", "B", float64(len(bytes.TrimSpace(line))), gateToolList, "")
	return err
}

// bigNote is a note of 1 MiB.
const bigNote = "Big.md"

func withBig(v *vaultgen.Vault) error {
	return os.WriteFile(filepath.Join(v.Dir, bigNote), []byte(mebibyte()), 0o644)
}

func (b *bench) sizes(v *vaultgen.Vault) error {
	err := b.steady(v, "answer of 1 MiB", gateCall, 1, func(c contender) (call, bool) { return c.read(bigNote), true })
	if err != nil {
		return err
	}
	// Ours has no tool that takes so much and refuses it, by then it was read.
	return b.steady(v, "request of 1 MiB", gateCall, 1, func(c contender) (call, bool) { return c.big, true })
}

func (b *bench) flood(v *vaultgen.Vault) error {
	const n, width = 2000, 64
	return b.running(v, fmt.Sprintf("read a note, %d in flight", width), gateCall, func(c contender) (func(*server) error, int) {
		return func(s *server) error { return s.flood(c.read(v.Sample[0]), n, width) }, n
	})
}

// exit is how long an idle server takes to end.
func (b *bench) exit(v *vaultgen.Vault) error {
	var trials []trial
	for _, c := range b.all() {
		trials = append(trials, trial{c.who, func() (sample, error) {
			s, err := b.serve(c, v)
			if err != nil {
				return sample{}, err
			}
			if _, err := s.call(c.read(v.Sample[0])); err != nil {
				return sample{}, err
			}
			took, _, err := s.stop()
			return sample{took, -1}, err
		}})
	}
	if err := b.compare("exit after stdin closes", gateExit, trials...); err != nil {
		return err
	}
	b.rows[len(b.rows)-1].Absolute = true
	return nil
}

// memory is what a server holds at three moments.
func (b *bench) memory(v *vaultgen.Vault) error {
	const searches = 100
	moments := []string{"before the first call", "after one read", fmt.Sprintf("after %d searches", searches)}
	rows := make([]row, 2*len(moments))
	for _, c := range b.all() {
		s, err := b.start(c, v)
		if err != nil {
			return err
		}
		defer s.stop()
		for i, when := range moments {
			switch i {
			case 1:
				_, err = s.call(c.read(v.Sample[0]))
			case 2:
				for n := 0; n < searches && err == nil; n++ {
					_, err = s.call(c.search([]string{vaultgen.Rare, vaultgen.Common}[n%2]))
				}
			}
			if err != nil {
				return err
			}
			m, err := memoryOf(s.pid())
			if err != nil {
				return err
			}
			anon, peak := &rows[i], &rows[len(moments)+i]
			anon.Name, anon.Unit, anon.Gate, anon.Absolute = "RssAnon "+when, "MB", gateMemory, true
			if i > 0 {
				anon.Gate = []float64{0, gateMemoryWarm, gateMemoryAll}[i]
			}
			anon.Figures = append(anon.Figures, figure{Who: c.who, Min: m.Anon, Median: m.Anon})
			peak.Name, peak.Unit = "VmHWM "+when, "MB"
			peak.Figures = append(peak.Figures, figure{Who: c.who, Min: m.Peak, Median: m.Peak})
		}
	}
	b.rows = append(b.rows, rows...)
	return nil
}
