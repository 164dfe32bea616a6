package doctor

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"vault-mcp/cache"
	"vault-mcp/cache/index"
	"vault-mcp/cache/state"
	"vault-mcp/internal/config"
	"vault-mcp/internal/secrets"
	"vault-mcp/vault"
)

// bed is a home folder with a vault in it.
type bed struct {
	t           *testing.T
	home, vault string
	vars        map[string]string
	o           Options
}

// newBed has a healthy vault in a folder of the home.
func newBed(t *testing.T, folder string) *bed {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bed{t: t, home: home, vars: map[string]string{"HOME": home, "USERPROFILE": home, "LOCALAPPDATA": filepath.Join(home, "AppData"), "PATH": os.Getenv("PATH")}}
	b.vault = filepath.Join(home, filepath.FromSlash(folder))
	b.note("Compost.md", "Turn it.\n")
	b.note("Garden/Beds.md", "Four.\n")
	b.note(".obsidian/app.json", `{"trashOption": "local"}`)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b.o = Options{Config: b.vault, Version: "0.1.0", Program: program, Folder: home, NoStart: true, Now: time.Now()}
	return b
}

// put writes a file below the home.
func (b *bed) put(path, text string) string {
	b.t.Helper()
	full := filepath.Join(b.home, filepath.FromSlash(path))
	err := os.MkdirAll(filepath.Dir(full), 0o755)
	if err == nil {
		err = os.WriteFile(full, []byte(text), 0o644)
	}
	b.must(err)
	return full
}

// note writes a file of the vault.
func (b *bed) note(path, text string) string {
	b.t.Helper()
	rel, err := filepath.Rel(b.home, b.vault)
	b.must(err)
	return b.put(filepath.ToSlash(rel)+"/"+path, text)
}

func (b *bed) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// config writes a config beside the vault, with more keys, and looks at that.
func (b *bed) config(vault, more string) {
	b.o.Config = b.put("vault.yaml", "vaults: [{path: '"+b.vault+"'"+vault+"}]\n"+more)
}

func (b *bed) env() config.Env { return func(name string) string { return b.vars[name] } }

// examine runs all checks.
func (b *bed) examine() Report {
	b.t.Helper()
	b.o.Env = b.env()
	for name, value := range b.vars {
		b.o.Environ = append(b.o.Environ, name+"="+value)
	}
	slices.Sort(b.o.Environ)
	r, err := Examine(b.t.Context(), b.o)
	b.must(err)
	return r
}

// state is the state folder of the vault, made, and its store with a clock that
// stands still. It is closed before the checks.
func (b *bed) state(now time.Time, f func(ctx context.Context, s *state.Store)) (dir string) {
	b.t.Helper()
	dir = b.folder()
	ring, err := secrets.Open(dir)
	b.must(err)
	s, err := state.Open(b.t.Context(), dir, ring)
	b.must(err)
	defer s.Close()
	s.At(func() time.Time { return now })
	f(b.t.Context(), s)
	return dir
}

// folder is the state folder of the vault, made.
func (b *bed) folder() string {
	b.t.Helper()
	dir, err := cache.Folder(b.env(), "", b.vault)
	b.must(err)
	b.must(cache.Prepare(dir, b.vault))
	return dir
}

// indexed builds the index of the vault.
func (b *bed) indexed() string {
	b.t.Helper()
	dir := b.folder()
	v, err := vault.Open(b.vault)
	b.must(err)
	defer v.Close()
	ix := index.Open(v, dir, index.Options{Sweep: -1})
	ix.Start(b.t.Context())
	for ix.Status(nil).Phase != index.Ready {
		select {
		case <-b.t.Context().Done():
			b.t.Fatal("the index is never ready")
		case <-time.After(5 * time.Millisecond):
		}
	}
	b.must(ix.Close())
	return dir
}

// all are the findings with an id.
func (r Report) all(id string) (found []Finding) {
	for _, f := range r.Findings {
		if f.ID == id {
			found = append(found, f)
		}
	}
	return found
}

// level is the worst level of an id; "" if there is no such finding.
func (r Report) level(id string) (worst Level) {
	for _, f := range r.all(id) {
		if worst == "" || slices.Index(levels, f.Level) > slices.Index(levels, worst) {
			worst = f.Level
		}
	}
	return worst
}

// notRoot skips a test that root would pass.
func notRoot(t *testing.T) {
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Skip("nothing is closed to this account")
	}
}
