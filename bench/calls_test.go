// Package bench measures whole calls: every stage of the dispatcher on a
// generated vault, without a process or a pipe.
package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"vault-mcp/bench/vaultgen"
	"vault-mcp/hitl"
	"vault-mcp/internal/app"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/config"
	"vault-mcp/internal/dispatch"
)

// large is the vault that all benchmarks share.
var large = sync.OnceValues(func() (*vaultgen.Vault, error) {
	return vaultgen.Cached(filepath.Join(os.TempDir(), "vault-mcp-bench"), 10_000, 42)
})

// site is where a server runs: its environment and its config.
type site struct {
	env  config.Env
	file string
}

// newSite configures a vault without limits on the number of calls.
func newSite(b *testing.B, v *vaultgen.Vault) site {
	b.Helper()
	home := b.TempDir()
	file := filepath.Join(home, "config.yaml")
	text := fmt.Sprintf("vaults: [{id: main, path: %q}]\nthrottle: {read: {per_minute: 1000000, burst: 1000000}, write: {per_minute: 1000000, burst: 1000000}}\n"+
		"governor: {max_response_bytes: 4000000, soft_list_bytes: 4000000, soft_note_chars: 4000000}\n", v.Dir)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	env := config.Env(func(name string) string {
		if name == "HOME" || name == "USERPROFILE" || name == "LOCALAPPDATA" {
			return home
		}
		return ""
	})
	return site{env, file}
}

// agrees is a person who approves every form of an older client.
var agrees = hitl.Reach{Forms: true, Ask: func(context.Context, hitl.Form) (json.RawMessage, error) {
	return json.RawMessage(`{"action":"accept","content":{"approve":true}}`), nil
}}

// open starts a server.
func (s site) open(b *testing.B) *app.App {
	b.Helper()
	cfg, err := s.env.Load(s.file)
	if err != nil {
		b.Fatal(err)
	}
	a, err := app.New(cfg, app.Options{Env: s.env, Version: "bench", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	return a
}

// benchmarkCall repeats one call on the large vault.
func benchmarkCall(b *testing.B, tool string, args func(*vaultgen.Vault) map[string]any) {
	v, err := large()
	if err != nil {
		b.Fatal(err)
	}
	a := newSite(b, v).open(b)
	defer a.Close()
	a.Begin(b.Context())
	if err := a.Index(b.Context(), false, func(string, int, int) {}); err != nil {
		b.Fatal(err)
	}
	raw, err := json.Marshal(args(v))
	if err != nil {
		b.Fatal(err)
	}
	r := dispatch.Request{Caller: auth.Caller{ID: "bench", Scopes: auth.All}, Tool: tool, Args: raw}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := a.Dispatcher.Do(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
}

// with are arguments that do not depend on the vault.
func with(args map[string]any) func(*vaultgen.Vault) map[string]any {
	return func(*vaultgen.Vault) map[string]any { return args }
}

func BenchmarkServerHealth(b *testing.B) { benchmarkCall(b, "server_health", with(map[string]any{})) }

func BenchmarkReadNote(b *testing.B) {
	benchmarkCall(b, "read_note", func(v *vaultgen.Vault) map[string]any { return map[string]any{"path": v.Sample[0]} })
}

func BenchmarkReadNotes20(b *testing.B) {
	benchmarkCall(b, "read_notes", func(v *vaultgen.Vault) map[string]any { return map[string]any{"paths": v.Sample[:20]} })
}

func BenchmarkListNotes(b *testing.B) { benchmarkCall(b, "list_notes", with(map[string]any{})) }

func BenchmarkListNotesNewest(b *testing.B) {
	benchmarkCall(b, "list_notes", with(map[string]any{"sort": "-mtime"}))
}

func BenchmarkListNotesTitle(b *testing.B) {
	benchmarkCall(b, "list_notes", with(map[string]any{"sort": "title"}))
}

func BenchmarkListNotesGlob(b *testing.B) {
	benchmarkCall(b, "list_notes", with(map[string]any{"sort": "-mtime", "glob": "Projects/**/*.md"}))
}

func BenchmarkGetVault(b *testing.B) { benchmarkCall(b, "get_vault", with(map[string]any{})) }

func BenchmarkSearch(b *testing.B) {
	for _, query := range []string{vaultgen.Absent, vaultgen.Rare, vaultgen.Common, "the", "café", "q"} {
		b.Run(query, func(b *testing.B) { benchmarkCall(b, "search_text", with(map[string]any{"query": query})) })
	}
}

func BenchmarkSearchRegex(b *testing.B) {
	benchmarkCall(b, "search_regex", with(map[string]any{"pattern": vaultgen.Common + `\s+\w+`}))
}

func BenchmarkBacklinks(b *testing.B) {
	for _, limit := range []int{1, 100, 1000} {
		b.Run(strconv.Itoa(limit), func(b *testing.B) {
			benchmarkCall(b, "get_backlinks", func(v *vaultgen.Vault) map[string]any {
				return map[string]any{"path": v.Hubs[0].Path, "limit": limit}
			})
		})
	}
}

func BenchmarkListTags(b *testing.B) { benchmarkCall(b, "list_tags", with(map[string]any{})) }

// BenchmarkWarm is from the start until an index that is complete is ready.
func BenchmarkWarm(b *testing.B) {
	v, err := large()
	if err != nil {
		b.Fatal(err)
	}
	s := newSite(b, v)
	once := func() {
		a := s.open(b)
		defer a.Close()
		a.Begin(b.Context())
		if err := a.Index(b.Context(), false, func(string, int, int) {}); err != nil {
			b.Fatal(err)
		}
	}
	once()
	b.ReportAllocs()
	for b.Loop() {
		once()
	}
}

// BenchmarkStart is what a process does until it has answered its first
// request and the client has gone, apart from the command line.
func BenchmarkStart(b *testing.B) {
	v, err := large()
	if err != nil {
		b.Fatal(err)
	}
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}` + "\n"
	s := newSite(b, v)
	b.ReportAllocs()
	for b.Loop() {
		a := s.open(b)
		if err := a.Serve(b.Context(), strings.NewReader(hello), io.Discard); err != nil {
			b.Fatal(err)
		}
		a.Close()
	}
}
