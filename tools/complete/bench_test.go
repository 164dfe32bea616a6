package complete

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"vault-mcp/bench/vaultgen"
	"vault-mcp/cache/index"
	"vault-mcp/internal/acl"
	"vault-mcp/vault"
)

// BenchmarkComplete completes in a vault of 100,000 notes, with and without folder
// rules; made anew it takes minutes.
func BenchmarkComplete(b *testing.B) {
	made, err := vaultgen.Cached(filepath.Join(os.TempDir(), "vault-mcp-bench"), 100_000, 42)
	if err != nil {
		b.Fatal(err)
	}
	v, err := vault.Open(made.Dir)
	if err != nil {
		b.Fatal(err)
	}
	defer v.Close()
	ix := index.Open(v, b.TempDir(), index.Options{NoWatch: true, Sweep: -1})
	ix.Start(b.Context())
	defer ix.Close()
	for ix.Status(nil).Phase != index.Ready {
		if s := ix.Status(nil); s.Phase == index.Degraded {
			b.Fatalf("the index is %+v", s)
		}
		time.Sleep(10 * time.Millisecond)
	}
	for name, list := range map[string][]acl.Rule{"open": nil, "ruled": {{Glob: "Private/**", Read: acl.Hide}, {Glob: "*/Archive/**", Read: acl.Deny}}} {
		rules, err := acl.Compile(list)
		if err != nil {
			b.Fatal(err)
		}
		view := acl.NewView("main", v, rules, false).Indexed(ix)
		for what, values := range map[What][]string{Note: {"", "a", "notes", "zzz"}, Resource: {"pro"}, Tag: {"", "p"}, Property: {""}} {
			for _, value := range values {
				b.Run(name+"/"+string(what)+"/"+value, func(b *testing.B) {
					found := 0
					for b.Loop() {
						var out Values
						var err error
						switch what {
						case Note:
							f := newFinder(value)
							err = f.notes(b.Context(), view)
							out = f.best()
						case Resource:
							out, err = files(b.Context(), []*acl.View{view}, value)
						default:
							out, err = words(b.Context(), view, what, value)
						}
						if err != nil {
							b.Fatal(err)
						}
						found = out.Total
					}
					b.ReportMetric(float64(found), "found")
				})
			}
		}
	}
}
