package acl

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vault-mcp/cache/index"
	"vault-mcp/vault"
	"vault-mcp/vault/change"
	"vault-mcp/vault/rename"
)

// garden is a vault of random links between few names, so that most are
// ambiguous, of every form and in every kind of file.
func garden(r *rand.Rand) map[string]string {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	name := func() string {
		return path.Join(pick("", "A", "A/B", "C", "a b"), pick("note", "Note", "other", "x y", "pic.png", "näh"))
	}
	link := func() string {
		n := name()
		if r.IntN(2) == 0 {
			n = path.Base(n)
		}
		escaped := strings.ReplaceAll(n, " ", "%20")
		return pick("[["+n+"]]", "![["+n+"]]", "[["+n+"|text]]", "[["+n+"#h]]", "[t]("+escaped+")", "[t]("+escaped+".md)", "[t](<./"+n+".md>)", "[["+n+".md]]", "`[["+n+"]]`", "[r]: "+escaped+".md\n")
	}
	files := map[string]string{".obsidian/app.json": `{"newLinkFormat":"` + pick("shortest", "relative", "absolute") + `"}`}
	for range 12 {
		n := name()
		if path.Ext(n) == "" {
			n += ".md"
		}
		if slices.ContainsFunc(slices.Collect(maps.Keys(files)), func(p string) bool { return strings.EqualFold(p, n) }) {
			continue
		}
		files[n] = "x"
		if path.Ext(n) == ".md" {
			files[n] = "---\nup: \"[[" + name() + "]]\"\n---\n# h\n" + link() + " " + link() + "\n" + link() + "\n"
		}
	}
	card, _ := json.Marshal(link() + " " + link())
	files["k.canvas"] = fmt.Sprintf(`{"nodes":[{"id":"1","type":"file","file":"%s.md"},{"id":"2","type":"text","text":%s}],"edges":[]}`, name(), card)
	return files
}

// blind is a vault of which nothing is known before it is read.
type blind struct {
	*Whole
	notes []string
}

func (b blind) Linking(...string) []string      { return b.notes }
func (b blind) Targets(string) ([]string, bool) { return nil, false }

// plantVault makes a vault of files.
func plantVault(t *testing.T, files map[string]string) *vault.Vault {
	t.Helper()
	dir := t.TempDir()
	for p, text := range files {
		full := filepath.Join(dir, filepath.FromSlash(p))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	v, err := vault.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.Close() })
	return v
}

// said is a plan in words, or why there is none.
func said(r *rename.Result, err error) []string {
	if err != nil {
		return []string{err.Error()}
	}
	all := []string{fmt.Sprintf("%+v", r.Report)}
	for _, e := range r.Edits {
		all = append(all, fmt.Sprintf("%s %s %s %v %s %s %q", e.Kind, e.Path, e.To, e.Upkeep, e.Before, e.After, e.Content))
	}
	return all
}

// What the index knows only tells what need not be read: the plan is that of who
// reads everything.
func TestThePlanIsThatOfWhoReadsEverything(t *testing.T) {
	changed := 0
	for seed := range uint64(25) {
		r := rand.New(rand.NewPCG(seed, 1))
		files := garden(r)
		var notes []string
		for _, p := range slices.Sorted(maps.Keys(files)) {
			if path.Ext(p) == ".md" {
				notes = append(notes, p)
			}
		}
		v := plantVault(t, files)
		ix := index.Open(v, t.TempDir(), index.Options{NoWatch: true})
		ix.Start(t.Context())
		defer ix.Close()
		for range 1000 {
			if ix.Status(nil).Phase == index.Ready {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		views := []*View{NewView("main", v, nil, false), NewView("main", v, nil, false).Indexed(ix)}
		s := views[0].Settings()
		for range 12 {
			from := notes[r.IntN(len(notes))]
			to := []string{"New.md", "A/New.md", "Z/" + path.Base(from), path.Join(path.Dir(from), "näh new.md")}[r.IntN(4)]
			plan := func(v rename.Vault) (*rename.Result, error) {
				return rename.Plan(v, []rename.Move{{From: from, To: to}}, s)
			}
			switch r.IntN(4) {
			case 0:
				if folder := path.Dir(from); folder != "." {
					to = []string{"Z", "C/Z", "zz/A"}[r.IntN(3)]
					plan = func(v rename.Vault) (*rename.Result, error) {
						return rename.Plan(v, []rename.Move{{From: folder, To: to, Dir: true}}, s)
					}
				}
			case 1:
				plan = func(v rename.Vault) (*rename.Result, error) { return rename.Heading(v, from, 4, "new title") }
			case 2:
				plan = func(v rename.Vault) (*rename.Result, error) { return rename.Links(v, from, notes[0], true, s) }
			}
			var all [][]string
			for _, w := range views {
				for _, isBlind := range []bool{false, true} {
					err := w.Whole(t.Context(), []string{from}, func(a *Whole) error {
						var r *rename.Result
						var err error
						if r, err = plan(a); isBlind {
							r, err = plan(blind{a, notes})
						}
						all = append(all, said(r, err))
						if err == nil && slices.ContainsFunc(r.Edits, func(e change.Edit) bool { return e.Kind == change.Put }) {
							changed++
						}
						return nil
					})
					if err != nil {
						t.Fatal(err)
					}
				}
			}
			for _, a := range all[1:] {
				if d := cmp.Diff(all[0], a); d != "" {
					t.Fatalf("seed %d, %s to %s: %s\n%q", seed, from, to, d, files)
				}
			}
		}
	}
	if changed < 200 {
		t.Errorf("links had to follow %d times only", changed)
	}
}
