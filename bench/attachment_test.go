package bench

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"vault-mcp/bench/vaultgen"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/dispatch"
)

// BenchmarkGetAttachmentPart is one page of a file of ten megabytes, in an
// answer of four.
func BenchmarkGetAttachmentPart(b *testing.B) {
	v := &vaultgen.Vault{Dir: b.TempDir()}
	const size = 10_000_000
	if err := os.WriteFile(filepath.Join(v.Dir, "film.mp4"), make([]byte, size), 0o600); err != nil {
		b.Fatal(err)
	}
	a := newSite(b, v).open(b)
	defer a.Close()
	r := dispatch.Request{
		Caller: auth.Caller{ID: "bench", Scopes: auth.All}, Tool: "get_attachment", Args: json.RawMessage(`{"path":"film.mp4"}`),
	}
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := a.Dispatcher.Do(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
}
