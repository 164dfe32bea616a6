package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"vault-mcp/bench/vaultgen"
)

const (
	gateIndex      = 2
	gateWarm       = 2
	gateQuery      = 10 // ms of processor time
	gateMemoryWarm = 60 // MB
	gateMemoryAll  = 120
	gateMemoryHuge = 400 // at 100,000 notes, at any moment
	hugeVault      = 100_000
	gateWriter     = 2
)

// raw is the floor of everything that has an index, on a database that is
// built already.
func raw(bin, name string) contender {
	c := stub(bin)
	c.who, c.list = "raw", nil
	c.argv = func(v *vaultgen.Vault) []string { return []string{bin, "serve", v.Dir, name} }
	return c
}

// measureIndex is the table of what needs an index.
func (b *bench) measureIndex(v *vaultgen.Vault) error {
	if len(v.Hubs) == 0 {
		return fmt.Errorf("a vault of %d notes has no hub; -n is at least 2000", v.Notes)
	}
	name := filepath.Join(b.home, "raw.db")
	b.stub = raw(b.raw, name)
	steps := []func() error{
		func() error { return b.building(v, name) },
		func() error { return b.warming(v, name) },
		func() error { return b.queries(v) },
		func() error { return b.exit(v) },
		func() error { return b.indexMemory(v) },
		b.besideWriter,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// process is a run of a program from its start to its end.
func (b *bench) process(argv ...string) (sample, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = b.env()
	begun := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return sample{time.Since(begun), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}, err
}

// building is the whole index from nothing.
func (b *bench) building(v *vaultgen.Vault, name string) error {
	runs := b.runs
	defer func() { b.runs, b.unwarmed = runs, false }()
	b.runs = min(runs, max(1, runs*20_000/v.Notes))
	b.unwarmed = b.runs == 1
	argv, err := b.ours.configured(v)
	if err != nil {
		return err
	}
	err = b.compare("full index", gateIndex,
		trial{b.ours.who, func() (sample, error) {
			if err := b.newState(nil); err != nil {
				return sample{}, err
			}
			return b.process(argv[0], "index", argv[1])
		}},
		trial{"raw", func() (sample, error) {
			for _, end := range []string{"", "-wal", "-shm"} {
				if err := os.RemoveAll(name + end); err != nil {
					return sample{}, err
				}
			}
			return b.process(b.raw, "index", v.Dir, name)
		}})
	b.lastByCPU()
	if err != nil {
		return err
	}
	size, err := sizeOf(filepath.Join(b.home, "state"))
	b.told("index on disk", "MB", float64(size)/1e6, 0, "")
	return err
}

func sizeOf(dir string) (sum int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			sum += info.Size()
		}
		return err
	})
	return sum, err
}

// warming is the start on an index that is complete and true.
func (b *bench) warming(v *vaultgen.Vault, name string) error {
	return b.compare("warm start until ready", gateWarm,
		trial{b.ours.who, func() (sample, error) {
			s, err := b.start(b.ours, v)
			if err != nil {
				return sample{}, err
			}
			err = s.ready()
			wall := time.Since(s.begun)
			_, cpu, stopErr := s.stop()
			return sample{wall, cpu}, errors.Join(err, stopErr)
		}},
		trial{"raw", func() (sample, error) { return b.process(b.raw, "warm", v.Dir, name) }})
}

// ready waits until the server's index is.
func (s *server) ready() error {
	for end := time.Now().Add(10 * time.Minute); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		line, _, err := s.do("tools/call", call{Name: "get_index_status", Arguments: map[string]any{}})
		if err != nil {
			return err
		}
		if bytes.Contains(line, []byte(`"index":"ready"`)) {
			return nil
		}
	}
	return errors.New("the index is not ready after ten minutes")
}

func (b *bench) queries(v *vaultgen.Vault) error {
	for _, q := range []string{vaultgen.Rare, vaultgen.Common} {
		err := b.steady(v, "search, "+q, gateCall, 10, func(c contender) (call, bool) { return c.search(q), true })
		if err != nil {
			return err
		}
	}
	hub := v.Hubs[0]
	all := call{Name: "backlinks", Arguments: map[string]any{"path": hub.Path}}
	backlinks := map[string]call{
		b.ours.who: {Name: "get_backlinks", Arguments: map[string]any{"path": hub.Path, "limit": hub.Backlinks, "verbosity": "terse"}},
		"raw":      all,
	}
	page := map[string]call{
		b.ours.who: {Name: "get_backlinks", Arguments: map[string]any{"path": hub.Path, "limit": 100}},
		"raw":      all,
	}
	tags := map[string]call{
		b.ours.who: {Name: "list_tags", Arguments: map[string]any{}},
		"raw":      {Name: "tags", Arguments: map[string]any{}},
	}
	for _, m := range []struct {
		name  string
		calls map[string]call
	}{{fmt.Sprintf("backlinks, %d", hub.Backlinks), backlinks}, {fmt.Sprintf("backlinks, 100 of %d", hub.Backlinks), page}, {"list tags", tags}} {
		err := b.steady(v, m.name, gateQuery, 10, func(c contender) (call, bool) {
			ask, ok := m.calls[c.who]
			return ask, ok
		})
		if err != nil {
			return err
		}
		b.rows[len(b.rows)-1].Absolute = true
		b.lastByCPU()
	}
	return nil
}

func (b *bench) lastByCPU() {
	if len(b.rows) > 0 {
		b.rows[len(b.rows)-1].ByCPU = true
	}
}

// indexMemory is what our server holds while it has no index yet, when it is
// loaded, after everything, and after it built one itself.
func (b *bench) indexMemory(v *vaultgen.Vault) error {
	gates := []float64{gateMemory, gateMemoryWarm, gateMemoryAll}
	switch {
	case v.Notes > 10_000 && v.Notes < hugeVault:
		gates = []float64{0, 0, 0} // there are gates at the two sizes only
	case v.Notes >= hugeVault:
		gates = []float64{gateMemoryHuge, gateMemoryHuge, gateMemoryHuge}
	}
	s, err := b.start(b.ours, v)
	if err != nil {
		return err
	}
	defer s.stop()
	note := func(when string, gate float64) error {
		m, err := memoryOf(s.pid())
		b.told("RssAnon "+when, "MB", m.Anon, gate, fmt.Sprintf("peak RSS %s", number(m.Peak)))
		return err
	}
	if err := note("before the index is loaded", gates[0]); err != nil {
		return err
	}
	if err := s.ready(); err != nil {
		return err
	}
	if err := note("warm", gates[1]); err != nil {
		return err
	}
	hub := v.Hubs[0]
	for range 20 {
		for _, c := range []call{
			b.ours.search(vaultgen.Rare), b.ours.search(vaultgen.Common), b.ours.search("the"), b.ours.list("-mtime"),
			b.ours.read(v.Sample[0]),
			{Name: "get_backlinks", Arguments: map[string]any{"path": hub.Path, "limit": hub.Backlinks, "context": 2}},
			{Name: "list_tags", Arguments: map[string]any{"nested": true}},
		} {
			if _, err := s.call(c); err != nil {
				return err
			}
		}
	}
	if err := note("after everything", gates[2]); err != nil {
		return err
	}
	if err := b.graphMemory(s, hub.Path, v.Sample[0], gates[2]); err != nil {
		return err
	}
	if _, _, err := s.stop(); err != nil {
		return err
	}
	if err := b.newState(nil); err != nil {
		return err
	}
	if s, err = b.start(b.ours, v); err != nil {
		return err
	}
	defer s.stop()
	if err := s.ready(); err != nil {
		return err
	}
	return note("after it built the index", gates[2])
}

// graphMemory is the most that is held after any of the tools that look at all
// links at once.
func (b *bench) graphMemory(s *server, path, other string, gate float64) error {
	most := memory{}
	for _, name := range []string{
		"find_orphans", "find_unresolved_links", "graph_centrality", "graph_communities", "find_link_cycles",
		"vault_health_score", "suggest_links", "graph_path_between",
	} {
		arguments := map[string]any{}
		switch name {
		case "suggest_links":
			arguments["path"] = path
		case "graph_path_between":
			arguments["from"], arguments["to"] = path, other
		}
		if _, err := s.call(call{Name: name, Arguments: arguments}); err != nil {
			return err
		}
		m, err := memoryOf(s.pid())
		if err != nil {
			return err
		}
		most.Anon, most.Peak = max(most.Anon, m.Anon), m.Peak
	}
	b.told("RssAnon after a tool of the graph, at most", "MB", most.Anon, gate, fmt.Sprintf("peak RSS %s", number(most.Peak)))
	return nil
}

// besideWriter is a search while notes change and another process brings the
// index up to date, against the same search while nothing happens.
func (b *bench) besideWriter() error {
	v, err := vaultgen.Write(filepath.Join(b.home, "written"), 10_000, 7)
	if err != nil {
		return err
	}
	// The first server on a vault follows the files, the second only reads.
	writer, err := b.serve(b.ours, v)
	if err != nil {
		return err
	}
	defer writer.stop()
	s, err := b.serve(b.ours, v)
	if err == nil {
		err = errors.Join(writer.ready(), s.ready())
	}
	if err != nil {
		return err
	}
	defer s.stop()
	ask := func() (sample, error) {
		const n = 10
		before, begun := cpuOf(s.pid()), time.Now()
		for range n {
			if _, err := s.call(b.ours.search(vaultgen.Common)); err != nil {
				return sample{}, err
			}
			time.Sleep(20 * time.Millisecond) // for the changes to fall between
		}
		return sample{(time.Since(begun) - n*20*time.Millisecond) / n, (cpuOf(s.pid()) - before) / n}, nil
	}
	return b.compare("search beside a writer", gateWriter,
		trial{"written to", func() (sample, error) {
			stop, changed := make(chan struct{}), error(nil)
			var changes sync.WaitGroup
			changes.Go(func() { changed = change(v, stop) })
			took, err := ask()
			close(stop)
			changes.Wait()
			time.Sleep(time.Second) // the writer finishes before the next turn
			return took, errors.Join(err, changed)
		}},
		trial{"alone", ask})
}

// change adds a line to a hundred notes a second.
func change(v *vaultgen.Vault, stop chan struct{}) error {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return nil
		case <-time.After(10 * time.Millisecond):
		}
		f, err := os.OpenFile(filepath.Join(v.Dir, v.Sample[i%len(v.Sample)]), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(f, "One more line, %d.\n", i)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
}
