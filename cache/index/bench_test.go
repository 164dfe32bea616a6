package index

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"vault-mcp/bench/vaultgen"
	"vault-mcp/vault/link"
)

// benchHome is a vault of 10,000 notes with a note that 1,000 link to.
func benchHome(b *testing.B) (*home, *vaultgen.Vault) {
	b.Helper()
	v, err := vaultgen.Cached(filepath.Join(os.TempDir(), "vault-mcp-bench"), 10_000, 1)
	must(b, err)
	return &home{b, v.Dir, b.TempDir()}, v
}

func BenchmarkBuild(b *testing.B) {
	h, _ := benchHome(b)
	for b.Loop() {
		h.state = b.TempDir()
		h.ready(quietly).Close()
	}
}

func BenchmarkWarmStart(b *testing.B) {
	h, _ := benchHome(b)
	h.ready(quietly).Close()
	for b.Loop() {
		h.ready(quietly).Close()
	}
}

func BenchmarkOneNote(b *testing.B) {
	h, _ := benchHome(b)
	ix := h.ready(Options{Sweep: -1, NoWatch: true})
	const path = "Benchmark of one note.md"
	defer os.Remove(h.path(path))
	i := 0
	for b.Loop() {
		i++
		must(b, os.WriteFile(h.path(path), fmt.Appendf(nil, "---\ntags: [a]\n---\n[[Some note]] some words, and %d\n", i), 0o600))
		must(b, ix.Changed(b.Context(), []string{path}))
	}
}

func BenchmarkBacklinks(b *testing.B) {
	h, v := benchHome(b)
	ix := h.ready(Options{Sweep: -1, NoWatch: true})
	hub := slices.MaxFunc(v.Hubs, func(a, b vaultgen.Hub) int { return cmp.Compare(a.Backlinks, b.Backlinks) })
	found := 0
	for b.Loop() {
		found = 0
		read(b, ix, func(m *Model) {
			for _, id := range m.Linking(link.KeysOf(hub.Path)...) {
				n, _ := m.ByID(id)
				for l := range n.Facts.Links() {
					if to, ok := m.Paths().Resolve(n.Path, l.Target, nil); ok && to == hub.Path {
						found++
					}
				}
			}
		})
	}
	b.ReportMetric(float64(found), "links")
}

func BenchmarkTags(b *testing.B) {
	h, _ := benchHome(b)
	ix := h.ready(Options{Sweep: -1, NoWatch: true})
	for b.Loop() {
		read(b, ix, func(m *Model) {
			for _, ids := range m.Tags() {
				last, notes := uint32(0), 0
				for _, id := range ids {
					if id != last {
						notes++
					}
					last = id
				}
			}
		})
	}
}
