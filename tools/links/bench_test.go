package links

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"vault-mcp/bench/vaultgen"
	"vault-mcp/cache/index"
	"vault-mcp/internal/acl"
	"vault-mcp/tools"
	"vault-mcp/vault"
)

// large is the vault that all benchmarks share.
var large = sync.OnceValues(func() (*vaultgen.Vault, error) {
	return vaultgen.Cached(filepath.Join(os.TempDir(), "vault-mcp-bench"), 10_000, 42)
})

// indexed is a call on the large vault with its index ready.
func indexed(b *testing.B, rules ...acl.Rule) (*tools.Call, *vaultgen.Vault) {
	b.Helper()
	g, err := large()
	if err != nil {
		b.Fatal(err)
	}
	v, err := vault.Open(g.Dir)
	if err != nil {
		b.Fatal(err)
	}
	compiled, err := acl.Compile(rules)
	if err != nil {
		b.Fatal(err)
	}
	ix := index.Open(v, b.TempDir(), index.Options{NoWatch: true, Sweep: -1})
	ix.Start(context.Background())
	b.Cleanup(func() {
		if err := ix.Close(); err != nil {
			b.Error(err)
		}
	})
	for ix.Status(nil).Phase != index.Ready {
		if s := ix.Status(nil); s.Phase == index.Degraded {
			b.Fatal(s.Reason)
		}
		time.Sleep(20 * time.Millisecond)
	}
	return &tools.Call{View: acl.NewView("main", v, compiled, true).Indexed(ix), Budget: 1_000_000}, g
}

func BenchmarkSurvey(b *testing.B) {
	for name, rules := range map[string][]acl.Rule{
		"no rules":    nil,
		"three rules": {{Glob: "Archive/**", Read: acl.Hide}, {Glob: "**/*secret*", Read: acl.Hide}, {Glob: "People/*", Read: acl.Deny}},
	} {
		b.Run(name, func(b *testing.B) {
			c, _ := indexed(b, rules...)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := look(b.Context(), c, false); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkBacklinks1000(b *testing.B) {
	c, g := indexed(b)
	b.ReportAllocs()
	for b.Loop() {
		f, err := findBacklinks(b.Context(), c, g.Hubs[0].Path, false)
		if err != nil || len(f.rows) != g.Hubs[0].Backlinks {
			b.Fatal(err, len(f.rows))
		}
	}
}

func BenchmarkUnresolved(b *testing.B) {
	c, _ := indexed(b)
	b.ReportAllocs()
	for b.Loop() {
		u := unresolved{call: c, warnings: c.NewWarnings(false)}
		if err := u.run(b.Context()); err != nil || len(u.rows) == 0 {
			b.Fatal(err, len(u.rows))
		}
	}
}

func BenchmarkMentions(b *testing.B) {
	c, g := indexed(b)
	b.ReportAllocs()
	for b.Loop() {
		s := seeker{names: []string{"Hub 1000"}, self: g.Hubs[0].Path, keep: 100}
		if err := s.run(b.Context(), c, c.NewWarnings(false)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGraph(b *testing.B) {
	c, _ := indexed(b)
	s, err := look(b.Context(), c, false)
	if err != nil {
		b.Fatal(err)
	}
	g := s.graph
	b.Logf("%d notes, %d edges, %d links", g.nodes(), len(g.out.to), s.links)
	bench := func(name string, f func() error) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := f(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	bench("pagerank", func() error { g.pageRank(); return nil })
	bench("communities", func() error {
		_, err := g.undirected().louvain(b.Context(), 42)
		return err
	})
	bench("cycles", func() error {
		groups, of := g.components()
		f := cycleFinder{graph: g, of: of, steps: cycleSteps}
		for _, nodes := range groups {
			if len(nodes) > 1 && f.shortest(nodes) == nil {
				return fmt.Errorf("no cycle in %d notes", len(nodes))
			}
		}
		return nil
	})
	bench("path", func() error { g.shortest(0, int32(g.nodes()-1), false); return nil })
	bench("suggest", func() error { g.suggest(0); return nil })
}
