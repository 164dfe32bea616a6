package main

import (
	"errors"
	"os/exec"
	"path/filepath"
	"time"

	"vault-mcp/bench/vaultgen"
)

// sample is one measurement; cpu is negative if it was not taken.
type sample struct{ wall, cpu time.Duration }

// trial is how a contender takes one sample.
type trial struct {
	who string
	run func() (sample, error)
}

// compare takes runs samples of each trial, one after the other in turns, so
// that what else the machine does falls on all of them, and after one round
// that does not count, unless it is left out.
func (b *bench) compare(name string, gate float64, trials ...trial) error {
	r := row{Name: name, Unit: "ms", Gate: gate}
	walls, cpus := make([][]float64, len(trials)), make([][]float64, len(trials))
	rounds := b.runs + 1
	if b.unwarmed {
		rounds = b.runs
	}
	for i := range rounds {
		for k, t := range trials {
			s, err := t.run()
			if err != nil {
				return errors.Join(errors.New(name+", "+t.who), err)
			}
			if i == 0 && !b.unwarmed {
				continue
			}
			walls[k] = append(walls[k], millis(s.wall))
			if s.cpu >= 0 {
				cpus[k] = append(cpus[k], millis(s.cpu))
			}
		}
	}
	for k, t := range trials {
		f := figure{Who: t.who, Median: median(walls[k]), Min: walls[k][0], CPU: median(cpus[k])}
		for _, w := range walls[k] {
			f.Min = min(f.Min, w)
		}
		r.Figures = append(r.Figures, f)
	}
	b.rows = append(b.rows, r)
	return nil
}

// starts measures from spawn until ask is answered.
func (b *bench) starts(v *vaultgen.Vault, before func([]string) error, ask func(*server, contender) error) []trial {
	var trials []trial
	for _, c := range b.all() {
		trials = append(trials, trial{c.who, func() (sample, error) { return b.life(c, v, before, ask) }})
	}
	return trials
}

func (b *bench) life(c contender, v *vaultgen.Vault, before func([]string) error, ask func(*server, contender) error) (sample, error) {
	if before != nil {
		if err := before(c.argv(v)); err != nil {
			return sample{}, err
		}
	}
	s, err := b.spawn(c, v)
	if err != nil {
		return sample{}, err
	}
	err = ask(s, c)
	wall := time.Since(s.begun)
	_, cpu, stopErr := s.stop()
	return sample{wall, cpu}, errors.Join(err, stopErr)
}

func initialized(s *server, _ contender) error { return s.initialize() }
func discovered(s *server, _ contender) error  { return s.discover() }

// called is the answer to the first call.
func called(of func(contender) call) func(*server, contender) error {
	return func(s *server, c contender) error {
		if err := s.initialize(); err != nil {
			return err
		}
		_, err := s.call(of(c))
		return err
	}
}

func searched(query string) func(*server, contender) error {
	return called(func(c contender) call { return c.search(query) })
}

func firstRead(path string) func(*server, contender) error {
	return called(func(c contender) call { return c.read(path) })
}

// ripgrep is what the first search is measured against.
func (b *bench) ripgrep(v *vaultgen.Vault, query string) trial {
	return trial{"rg -i -c", func() (sample, error) {
		cmd := exec.Command(b.rg, "-i", "-c", "--", query, v.Dir)
		begun := time.Now()
		err := cmd.Run()
		return sample{time.Since(begun), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}, err
	}}
}

// steady measures calls to servers that run already, n in each sample. of says
// how a contender is called; a contender without the call is left out.
func (b *bench) steady(v *vaultgen.Vault, name string, gate float64, n int, of func(contender) (call, bool)) error {
	return b.running(v, name, gate, func(c contender) (func(*server) error, int) {
		ask, ok := of(c)
		if !ok {
			return nil, 0
		}
		return func(s *server) error {
			for range n {
				if _, err := s.call(ask); err != nil {
					return err
				}
			}
			return nil
		}, n
	})
}

func (b *bench) running(v *vaultgen.Vault, name string, gate float64, of func(contender) (func(*server) error, int)) error {
	var trials []trial
	for _, c := range b.all() {
		work, n := of(c)
		if work == nil {
			continue
		}
		s, err := b.serve(c, v)
		if err != nil {
			return err
		}
		defer s.stop()
		trials = append(trials, trial{c.who, func() (sample, error) {
			before, begun := cpuOf(s.pid()), time.Now()
			err := work(s)
			return sample{time.Since(begun) / time.Duration(n), (cpuOf(s.pid()) - before) / time.Duration(n)}, err
		}})
	}
	return b.compare(name, gate, trials...)
}

// told adds a row of one figure.
func (b *bench) told(name, unit string, value, gate float64, note string) {
	b.rows = append(b.rows, row{
		Name: name, Unit: unit, Gate: gate, Absolute: true, Note: note,
		Figures: []figure{{Who: b.ours.who, Min: value, Median: value}},
	})
}

// coldly drops the program from the page cache before it is started. The
// folder's own entries stay, which no ordinary user can drop.
func coldly(argv []string) error {
	bin, err := exec.LookPath(argv[0])
	if err != nil {
		return err
	}
	if bin, err = filepath.EvalSymlinks(bin); err != nil {
		return err
	}
	return forget(bin)
}
