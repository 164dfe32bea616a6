// Package vaultgen writes vaults to measure on. The same size and seed give
// the same bytes.
package vaultgen

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Vault says what was written.
type Vault struct {
	Dir     string
	Notes   int
	Bytes   int64
	Folders int
	Links   int
	// Common and Rare are how many notes hold these words.
	Common, Rare int
	Hubs         []Hub
	// Sample are the paths of up to 200 notes of common size.
	Sample []string
}

// Hub is a note that many link to.
type Hub struct {
	Path      string
	Backlinks int
}

const (
	meanLog   = 7.92 // of a note's size in bytes; with spread, 3.3 KB on average
	spread    = 0.6
	minBytes  = 300
	maxBytes  = 60_000
	rareNotes = 7
)

// epoch is when the oldest note was last written.
var epoch = time.Date(2021, 3, 1, 8, 0, 0, 0, time.UTC)

// Write makes the vault in dir, which must not exist or be empty.
func Write(dir string, notes int, seed uint64) (*Vault, error) {
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return nil, fmt.Errorf("%s is not empty", dir)
	}
	w := newWriter(dir, notes, seed)
	if err := w.folders(); err != nil {
		return nil, err
	}
	for i := range w.notes {
		if err := w.note(i); err != nil {
			return nil, err
		}
	}
	return &w.v, nil
}

// Cached is the vault of this size and seed in cacheDir, written if it is not
// there yet.
func Cached(cacheDir string, notes int, seed uint64) (*Vault, error) {
	dir := filepath.Join(cacheDir, fmt.Sprintf("v1-%d-%d", notes, seed))
	manifest := dir + ".json"
	if b, err := os.ReadFile(manifest); err == nil {
		v := new(Vault)
		if err := json.Unmarshal(b, v); err != nil {
			return nil, fmt.Errorf("%s: %w", manifest, err)
		}
		return v, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := os.MkdirAll(cacheDir, 0o755); err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp(cacheDir, "new-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	v, err := Write(tmp, notes, seed)
	if err != nil {
		return nil, err
	}
	// Whoever was faster wrote the same bytes.
	if err := os.Rename(tmp, dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	v.Dir = dir
	b, err := json.MarshalIndent(v, "", "\t")
	if err != nil {
		return nil, err
	}
	return v, os.WriteFile(manifest, b, 0o644)
}

type page struct {
	folder, title string
	common, rare  bool
	hubs          []int // indexes of the hubs that it links to
}

func (p *page) path() string { return p.folder + "/" + p.title + ".md" }

type writer struct {
	*speaker
	v     Vault
	dirs  []string
	tags  []string
	notes []page
}

func newWriter(dir string, notes int, seed uint64) *writer {
	w := &writer{
		speaker: &speaker{rand.New(rand.NewPCG(seed, uint64(notes))), vocabulary()},
		v:       Vault{Dir: dir, Notes: notes},
		notes:   make([]page, notes),
	}
	w.dirs = []string{"Journal", "Projects", "Areas", "People", "Archive"}
	for len(w.dirs) < max(5, notes/40) {
		if parent := w.dirs[w.IntN(len(w.dirs))]; strings.Count(parent, "/") < 4 {
			w.dirs = append(w.dirs, fmt.Sprintf("%s/%s %d", parent, w.name(), len(w.dirs)))
		}
	}
	w.v.Folders = len(w.dirs)
	for range 30 + 2*int(math.Sqrt(float64(notes))) {
		tag := strings.ToLower(w.name())
		if len(w.tags) > 0 && w.IntN(3) == 0 {
			parent, _, _ := strings.Cut(w.tags[w.IntN(len(w.tags))], "/")
			tag = parent + "/" + tag
		}
		w.tags = append(w.tags, tag)
	}
	for i := range w.notes {
		p := &w.notes[i]
		p.folder = w.dirs[w.IntN(len(w.dirs))]
		p.title = fmt.Sprintf("%s %s %d", w.name(), w.name(), i)
		if i%10 == 7 {
			p.folder, p.title = "Journal", epoch.AddDate(0, 0, i/10).Format(time.DateOnly)
		}
	}
	w.plant()
	return w
}

// plant chooses the notes that hold the words and the links to the hubs.
func (w *writer) plant() {
	n := len(w.notes)
	choose := func(count int, mark func(*page)) int {
		count = min(count, n)
		for _, i := range w.Perm(n)[:count] {
			mark(&w.notes[i])
		}
		return count
	}
	w.v.Common = choose(n*3/10, func(p *page) { p.common = true })
	w.v.Rare = choose(min(rareNotes, max(1, n/10)), func(p *page) { p.rare = true })
	for hub, want := range []int{1000, 100} {
		if n < 2*want {
			continue
		}
		w.notes[hub].title = fmt.Sprintf("Hub %d", want)
		count := choose(want, func(p *page) { p.hubs = append(p.hubs, hub) })
		w.v.Hubs = append(w.v.Hubs, Hub{w.notes[hub].path(), count})
	}
}

func (w *writer) folders() error {
	for _, d := range append(w.dirs, ".obsidian") {
		if err := os.MkdirAll(filepath.Join(w.v.Dir, filepath.FromSlash(d)), 0o755); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(w.v.Dir, ".obsidian", "app.json"), []byte("{}\n"), 0o644)
}

func (w *writer) note(i int) error {
	p := &w.notes[i]
	text := w.text(i)
	name := filepath.Join(w.v.Dir, filepath.FromSlash(p.path()))
	if err := os.WriteFile(name, text, 0o644); err != nil {
		return err
	}
	written := epoch.Add(time.Duration(w.IntN(5*365*24*60)) * time.Minute)
	if err := os.Chtimes(name, written, written); err != nil {
		return err
	}
	w.v.Bytes += int64(len(text))
	if len(w.v.Sample) < 200 && len(text) > 1500 && len(text) < 4500 {
		w.v.Sample = append(w.v.Sample, p.path())
	}
	return nil
}
