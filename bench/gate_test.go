package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"vault-mcp/bench/vaultgen"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/dispatch"
	"vault-mcp/vault/change"
)

// noGate lets everything run without a look.
type noGate struct{ dispatch.Gate }

func (noGate) Answered(context.Context, *dispatch.Call) error             { return nil }
func (noGate) Confirm(context.Context, *dispatch.Call) error              { return nil }
func (noGate) Drifted(context.Context, *dispatch.Call, change.Plan) error { return nil }
func (noGate) Lost(_ context.Context, _ *dispatch.Call, err error) error  { return err }

// BenchmarkGate makes calls that need no approval with the gate and without, by
// turns in one process; ratio is the one median by the other.
func BenchmarkGate(b *testing.B) {
	for _, tool := range []string{"read_note", "append_note"} {
		b.Run(tool, func(b *testing.B) {
			v, err := vaultgen.Write(filepath.Join(b.TempDir(), "vault"), 100, 1)
			if err != nil {
				b.Fatal(err)
			}
			const path = "Gate.md"
			if err := os.WriteFile(filepath.Join(v.Dir, path), []byte("# Gate\n\ntext\n"), 0o600); err != nil {
				b.Fatal(err)
			}
			a := newSite(b, v).open(b)
			defer a.Close()
			a.Begin(b.Context())
			c := a.Dispatcher.Config
			c.Gate = noGate{c.Gate}
			without, err := dispatch.New(c)
			if err != nil {
				b.Fatal(err)
			}
			took := [2][]time.Duration{}
			n := 0
			for b.Loop() {
				for i, d := range []*dispatch.Dispatcher{a.Dispatcher, without} {
					n++
					args := map[string]any{"path": path}
					if tool == "append_note" {
						args["content"] = fmt.Sprintf("line %d\n", n)
					}
					raw, err := json.Marshal(args)
					if err != nil {
						b.Fatal(err)
					}
					began := time.Now()
					_, err = d.Do(b.Context(), dispatch.Request{Caller: auth.Caller{ID: "bench", Scopes: auth.All}, Tool: tool, Args: raw})
					took[i] = append(took[i], time.Since(began))
					if err != nil {
						b.Fatal(err)
					}
				}
			}
			for i := range took {
				slices.Sort(took[i])
			}
			with, bare := took[0][len(took[0])/2], took[1][len(took[1])/2]
			b.ReportMetric(float64(with)/float64(bare), "ratio")
		})
	}
}
