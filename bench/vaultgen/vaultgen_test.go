package vaultgen

import (
	"bytes"
	"crypto/sha256"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// digest is one hash over every name and every byte of a vault, and the texts
// of its notes by path.
func digest(t *testing.T, dir string) (sum [32]byte, notes map[string][]byte) {
	t.Helper()
	notes = map[string][]byte{}
	h := sha256.New()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		h.Write([]byte(rel + "\x00"))
		h.Write(b)
		if strings.HasSuffix(rel, ".md") {
			notes[filepath.ToSlash(rel)] = b
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return [32]byte(h.Sum(nil)), notes
}

func TestWrite(t *testing.T) {
	const n = 400
	dir := t.TempDir()
	v, err := Write(dir, n, 42)
	if err != nil {
		t.Fatal(err)
	}
	sum, notes := digest(t, dir)
	count := func(s string) int {
		found := 0
		for _, b := range notes {
			if bytes.Contains(bytes.ToLower(b), []byte(s)) {
				found++
			}
		}
		return found
	}
	if len(notes) != n {
		t.Errorf("got %d notes, want %d", len(notes), n)
	}
	if got := count(Common); got != v.Common || got != n*3/10 {
		t.Errorf("%q is in %d notes, want %d", Common, got, n*3/10)
	}
	if got := count(Rare); got != v.Rare || got != rareNotes {
		t.Errorf("%q is in %d notes, want %d", Rare, got, rareNotes)
	}
	if got := count(Absent); got != 0 {
		t.Errorf("%q is in %d notes, want none", Absent, got)
	}
	if len(v.Hubs) != 1 || count("[[hub 100]]") != v.Hubs[0].Backlinks {
		t.Errorf("hubs %+v, %d notes link to the first", v.Hubs, count("[[hub 100]]"))
	}
	if mean := v.Bytes / n; mean < 2800 || mean > 3900 {
		t.Errorf("a note has %d bytes on average", mean)
	}
	for _, p := range v.Sample {
		if notes[p] == nil {
			t.Errorf("the sample names %q, which is no note", p)
		}
	}

	again, other := t.TempDir(), t.TempDir()
	if _, err := Write(again, n, 42); err != nil {
		t.Fatal(err)
	}
	if got, _ := digest(t, again); got != sum {
		t.Error("the same seed gave other bytes")
	}
	if _, err := Write(other, n, 43); err != nil {
		t.Fatal(err)
	}
	if got, _ := digest(t, other); got == sum {
		t.Error("another seed gave the same bytes")
	}
}

func TestCached(t *testing.T) {
	dir := t.TempDir()
	first, err := Cached(dir, 12, 1)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Cached(dir, 12, 1)
	if err != nil {
		t.Fatal(err)
	}
	if first.Dir != second.Dir || second.Notes != 12 || len(second.Sample) != len(first.Sample) {
		t.Errorf("got %+v, then %+v", first, second)
	}
	if _, notes := digest(t, first.Dir); len(notes) != 12 {
		t.Errorf("got %d notes, want 12", len(notes))
	}
}
