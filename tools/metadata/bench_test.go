package metadata_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vault-mcp/bench/vaultgen"
	"vault-mcp/cache/index"
	"vault-mcp/internal/acl"
	"vault-mcp/tools"
	"vault-mcp/tools/metadata"
	"vault-mcp/tools/tasks"
	"vault-mcp/vault"
)

// indexed is a view of a generated vault with an index that is ready, and one
// without an index.
func indexed(b testing.TB, made *vaultgen.Vault, err error) (with, without *acl.View) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
	v, err := vault.Open(made.Dir)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { v.Close() })
	rules, err := acl.Compile(nil)
	if err != nil {
		b.Fatal(err)
	}
	ix := index.Open(v, b.TempDir(), index.Options{NoWatch: true, Sweep: -1})
	ix.Start(b.Context())
	b.Cleanup(func() { ix.Close() })
	for begun := time.Now(); ix.Status(nil).Phase != index.Ready; time.Sleep(10 * time.Millisecond) {
		if s := ix.Status(nil); s.Phase == index.Degraded || time.Since(begun) > 2*time.Minute {
			b.Fatalf("the index is %+v", s)
		}
	}
	return acl.NewView("main", v, rules, false).Indexed(ix), acl.NewView("main", v, rules, false)
}

// all are the tools by name.
func all() map[string]*tools.Tool {
	byName := map[string]*tools.Tool{}
	for _, d := range []tools.Domain{metadata.Tools(), tasks.Tools()} {
		for i := range d.Tools {
			byName[d.Tools[i].Name] = &d.Tools[i]
		}
	}
	return byName
}

// What the index answers is what the files answer without it.
func TestIndexAndFilesAnswerAlike(t *testing.T) {
	made, err := vaultgen.Write(filepath.Join(t.TempDir(), "vault"), 150, 1)
	with, without := indexed(t, made, err)
	byName := all()
	for _, call := range [][2]string{
		{"list_tags", `{}`}, {"list_tags", `{"nested":true,"sort":"name"}`}, {"list_properties", `{}`}, {"list_tasks", `{"limit":1000}`},
		{"find_notes_by_property", `{"key":"status","value":"seed"}`}, {"find_notes_by_property", `{"key":"rating","op":"missing"}`},
	} {
		var a, b any
		run(t, with, byName, call[0], call[1], &a)
		run(t, without, byName, call[0], call[1], &b)
		if d := cmp.Diff(b, a); d != "" {
			t.Errorf("%s %s (-files +index):\n%s", call[0], call[1], d)
		}
	}
}

// run runs one call and decodes its answer into out.
func run(b testing.TB, view *acl.View, byName map[string]*tools.Tool, tool, args string, out any) {
	b.Helper()
	c := &tools.Call{View: view, Budget: 1_000_000}
	c.Cursors.Signer = signer{}
	t := byName[tool]
	if err := t.Bind(c, json.RawMessage(args), "main"); err != nil {
		b.Fatal(err)
	}
	if err := c.Resolve(b.Context()); err != nil {
		b.Fatal(err)
	}
	res, err := t.Run(b.Context(), c)
	if err != nil {
		b.Fatal(err)
	}
	if out == nil {
		return
	}
	raw, err := json.Marshal(res)
	if err == nil {
		err = json.Unmarshal(raw, out)
	}
	if err != nil {
		b.Fatal(err)
	}
}

func BenchmarkOverAnIndex(b *testing.B) {
	made, err := vaultgen.Cached(filepath.Join(os.TempDir(), "vault-mcp-bench"), 10_000, 1)
	view, _ := indexed(b, made, err)
	byName := all()
	var top struct {
		Tags []struct {
			Tag   string
			Count int
		}
	}
	run(b, view, byName, "list_tags", `{"limit":1}`, &top)
	if len(top.Tags) == 0 || top.Tags[0].Count < 100 {
		b.Fatalf("the vault has no common tag: %+v", top)
	}
	for _, bb := range []struct{ name, tool, args string }{
		{"list_tags", "list_tags", `{"limit":1000}`},
		{"list_tags/nested", "list_tags", `{"limit":1000,"nested":true}`},
		{"find_notes_by_tag/common", "find_notes_by_tag", fmt.Sprintf(`{"tag":%q}`, top.Tags[0].Tag)},
		{"find_notes_by_tag/none", "find_notes_by_tag", `{"tag":"absent"}`},
		{"list_properties", "list_properties", `{}`},
		{"find_notes_by_property/equals", "find_notes_by_property", `{"key":"status","value":"seed"}`},
		{"find_notes_by_property/nested", "find_notes_by_property", `{"key":"a.b","nested":true}`},
		{"list_tasks/all", "list_tasks", `{}`},
		{"list_tasks/due", "list_tasks", `{"status":"todo","due_before":"2024-01-01"}`},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				run(b, view, byName, bb.tool, bb.args, nil)
			}
		})
	}
}

// signer signs nothing: the pages are not asked for.
type signer struct{}

func (signer) Sign(string, []byte) string          { return "" }
func (signer) Verify(string, []byte, string) error { return nil }
