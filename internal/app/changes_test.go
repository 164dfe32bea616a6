package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vault-mcp/internal/app"
	"vault-mcp/internal/fault"
)

type changesAnswer struct {
	Changed []struct {
		Path, MTime string
		Size        int64
	}
	Removed []string
	More    bool
	Next    string `json:"next_cursor"`
}

func (c *changesAnswer) brief() []string {
	all := []string{}
	for _, f := range c.Changed {
		all = append(all, f.Path)
	}
	for _, p := range c.Removed {
		all = append(all, "-"+p)
	}
	return all
}

// begun waits until the index of a server is ready.
func begun(t *testing.T, a *app.App) *app.App {
	t.Helper()
	a.Begin(t.Context())
	for range 1000 {
		var s struct{ Index string }
		if err := call(t, a, "get_index_status", args{}, &s); err != nil {
			t.Fatal(err)
		}
		if s.Index == "ready" {
			return a
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("the index does not get ready")
	return nil
}

func TestChangesSinceAnEarlierCall(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	plant(t, dir, map[string]string{
		"a.md": "a", "b.md": "b", "d.md": "d", "pic.png": "p", "Private/x.md": "x", "Private/y.md": "y", "Locked/l.md": "l",
	})
	yaml := fmt.Sprintf("vaults: [{path: %q, rules: [{glob: 'Private/**', verbs: {read: hide}}, {glob: 'Locked/**', verbs: {read: deny}}]}]\n", dir)
	ask := func(a *app.App, in args) changesAnswer {
		t.Helper()
		var out changesAnswer
		if err := call(t, a, "changes_since", in, &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	reload := func(a *app.App) {
		t.Helper()
		if err := call(t, a, "reload_vault", args{}, &struct{}{}); err != nil {
			t.Fatal(err)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	a := start(t, home, yaml)
	err := call(t, a, "changes_since", args{}, &struct{}{})
	if e := fault.Of(err); e == nil || e.Code != fault.InvalidInput || e.Details["reason"] != "index_not_ready" {
		t.Errorf("without an index: %v", err)
	}
	begun(t, a)
	first := ask(a, args{})
	if len(first.brief()) != 0 || first.More || first.Next == "" {
		t.Fatalf("the first answer is %+v", first)
	}
	plant(t, dir, map[string]string{"Private/new.md": "", "Private/x.md": "xx"})
	must(os.Remove(filepath.Join(dir, "Private", "y.md")))
	reload(a)
	var out changesAnswer
	if out = ask(a, args{"cursor": first.Next}); len(out.brief()) != 0 {
		t.Errorf("what is hidden: %+v", out)
	}
	plant(t, dir, map[string]string{"new.md": "n", "a.md": "aa", "Locked/l.md": "ll"})
	must(os.Rename(filepath.Join(dir, "b.md"), filepath.Join(dir, "b2.md")))
	must(os.Remove(filepath.Join(dir, "pic.png")))
	reload(a)
	want := []string{"Locked/l.md", "a.md", "b2.md", "new.md", "-b.md", "-pic.png"}
	once := func(a *app.App, limit int) {
		t.Helper()
		got := map[string]int{}
		next, more, pages := first.Next, true, 0
		for ; more; pages++ {
			out := ask(a, args{"cursor": next, "limit": limit})
			for _, p := range out.brief() {
				got[p]++
			}
			next, more = out.Next, out.More
		}
		all := map[string]int{}
		for _, p := range want {
			all[p] = 1
		}
		if d := cmp.Diff(all, got); d != "" {
			t.Errorf("in pages of %d (-want +got):\n%s", limit, d)
		}
		if out := ask(a, args{"cursor": next}); len(out.brief()) != 0 {
			t.Errorf("behind the last page: %+v", out)
		}
	}
	once(a, 100)
	once(a, 1)
	a.Close()
	a = begun(t, start(t, home, yaml))
	once(a, 2)
	must(call(t, a, "index_vault", args{"rebuild": true}, &struct{}{}))
	err = call(t, a, "changes_since", args{"cursor": first.Next}, &struct{}{})
	if e := fault.Of(err); e == nil || e.Details["reason"] != "expired" {
		t.Errorf("after a rebuild: %v", err)
	}
}

// Cards of canvases count as links, with and without an index.
func TestCanvasesLinkWithAnIndexToo(t *testing.T) {
	a := linked(t, crafts)
	ask := func() (all []any) {
		for _, tool := range []string{"get_backlinks", "find_orphans", "find_unresolved_links", "get_outgoing_links", "vault_health_score"} {
			in := args{}
			switch tool {
			case "get_backlinks":
				in["path"] = "fire pit.png"
			case "get_outgoing_links":
				in["path"] = "wall.canvas"
			}
			var out map[string]any
			if err := call(t, a, tool, in, &out); err != nil {
				t.Fatal(err)
			}
			all = append(all, out)
		}
		return all
	}
	files := ask()
	if d := cmp.Diff(files, func() []any { begun(t, a); return ask() }()); d != "" {
		t.Errorf("-files +index:\n%s", d)
	}
}

func TestPropertyTypesAreThoseOfTheApp(t *testing.T) {
	a := linked(t, map[string]string{".obsidian/types.json": `{"types":{"Due":"date","secret":"text"}}`, "a.md": "---\ndue: 2026-01-01\nplain: 1\n---\n"})
	var out struct {
		Properties []struct{ Key, Type string }
	}
	if err := call(t, a, "list_properties", args{}, &out); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]struct{ Key, Type string }{{"due", "date"}, {"plain", ""}}, out.Properties); d != "" {
		t.Error(d)
	}
}
