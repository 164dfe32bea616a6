package state_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vault-mcp/internal/fingerprint"
	"vault-mcp/vault/change"
)

// A folder is swapped for a link, over and over, to a folder outside the vault
// and to a denied one inside, while every kind of edit is made below it. Both
// have a file with just the name and content that the edits expect.
func TestASwappedFolderLeadsNoWriteOutOfTheVaultOrIntoADeniedFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open folder cannot be renamed here")
	}
	swaps := 4_000
	if *soak {
		swaps = 100_000
	}
	base := t.TempDir()
	at := func(p string) string { return filepath.Join(base, filepath.FromSlash(p)) }
	secrets := map[string]string{"n.md": "fine\n", "x.md": "fine\n", "secret.md": "DENIED\n"}
	plantAll := func(dir string, files map[string]string) {
		for name, text := range files {
			if err := os.MkdirAll(at(dir), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at(dir+"/"+name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	plantAll("outside", secrets)
	plantAll("vault/denied", secrets)
	plantAll("vault/open/a", map[string]string{"n.md": "fine\n", "x.md": "fine\n", "secret.md": "not secret here\n"})
	plantAll("vault/open/b", map[string]string{"other.md": "fine\n"})
	plantAll("vault/.trash", map[string]string{".keep": ""})
	for _, l := range [][2]string{{at("outside"), "vault/to outside"}, {"../denied", "vault/to denied"}} {
		if err := os.Symlink(l[0], at(l[1])); err != nil {
			t.Fatal(err)
		}
	}
	was := map[string]string{"outside": traces(t, at("outside")), "denied": traces(t, at("vault/denied"))}

	var done atomic.Bool
	var all sync.WaitGroup
	all.Go(func() {
		defer done.Store(true)
		for i := range swaps {
			link := at([]string{"vault/to outside", "vault/to denied"}[i%2])
			swap := func(from, to string) {
				if err := os.Rename(from, to); err != nil {
					t.Error(err)
				}
			}
			swap(at("vault/open/a"), at("vault/aside"))
			swap(link, at("vault/open/a"))
			if i%8 == 0 {
				runtime.Gosched()
			}
			swap(at("vault/open/a"), link)
			swap(at("vault/aside"), at("vault/open/a"))
			time.Sleep(time.Duration(i%8) * 50 * time.Microsecond) // now and then an edit has to get through
		}
	})
	s := openState(t, t.TempDir())
	a := applier(t, at("vault"), s)
	a.Disk = watchful{a.Disk, func(b []byte) {
		if bytes.Contains(b, []byte("DENIED")) {
			t.Error("a denied file was read")
		}
	}}
	outcomes := map[string]int{}
	for n := 0; !done.Load(); n++ {
		plan, err := anyPlan(a.Disk, n)
		if err != nil {
			outcomes["no plan"]++
			continue
		}
		r := &change.Record{ID: change.NewID(), Tool: "t", Caller: "test"}
		err = a.Apply(t.Context(), r, plan, func(context.Context) (change.Plan, error) { return plan, nil })
		switch {
		case err == nil:
			outcomes["applied"]++
		default:
			outcomes["failed "+string(r.Outcome)]++
		}
	}
	all.Wait()
	for _, link := range []string{"vault/to outside", "vault/to denied"} {
		if err := os.Remove(at(link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Settle(t.Context()); err != nil {
		t.Error(err)
	}
	if is := traces(t, at("outside")); is != was["outside"] {
		t.Errorf("outside the vault:\n%s\nbefore:\n%s", is, was["outside"])
	}
	if is := traces(t, at("vault/denied")); is != was["denied"] {
		t.Errorf("in the denied folder:\n%s\nbefore:\n%s", is, was["denied"])
	}
	for f, text := range read(t, at("vault")).files {
		if strings.Contains(text, "DENIED") && !strings.HasPrefix(f, "denied/") {
			t.Errorf("%s holds a denied text", f)
		}
	}
	if outcomes["applied"] == 0 || len(outcomes) < 2 {
		t.Errorf("nothing was tried: %v", outcomes)
	}
	t.Log(outcomes)
}

// anyPlan makes a plan with the files that are in open/a, if it is a folder now.
func anyPlan(d change.Disk, n int) (p change.Plan, err error) {
	dir, err := d.Place("open/a")
	if err != nil {
		return p, err
	}
	defer dir.Close()
	text := func(name string) []byte {
		b, e := dir.Read(name, 1000)
		err = errors.Join(err, e)
		return b
	}
	switch n % 6 {
	case 0: // several at once, so that they are written ahead
		for _, name := range []string{"n.md", "x.md", "secret.md"} {
			old := text(name)
			now := []byte("fine\n")
			if bytes.Equal(old, now) {
				now = []byte("fine again\n")
			}
			p.Edits = append(p.Edits, change.NewPut("open/a/"+name, old, now))
		}
	case 1:
		p.Edits = []change.Edit{change.NewCreate(fmt.Sprintf("open/a/new %d.md", n), []byte("new\n"))}
	case 2:
		h := fingerprint.OfContent(text("n.md"))
		p.Edits = []change.Edit{
			{Kind: change.Move, Path: "open/a/n.md", To: "open/b/n.md", Before: h, After: h},
			{Kind: change.Move, Path: "open/b/n.md", To: "open/a/n.md", Before: h, After: h},
		}
	case 3:
		name := fmt.Sprintf("new %d.md", n-2)
		e := change.NewRemove("open/a/"+name, text(name))
		if n%12 == 3 {
			e.To = fmt.Sprintf(".trash/%d.md", n)
		}
		p.Edits = []change.Edit{e}
	case 4:
		p.Edits = []change.Edit{{Kind: change.Mkdir, Path: fmt.Sprintf("open/a/sub %d", n)}}
	case 5:
		p.Edits = []change.Edit{{Kind: change.Remove, Dir: true, Path: fmt.Sprintf("open/a/sub %d", n-1)}}
	}
	return p, err
}

// watchful is a disk that shows what is read from it.
type watchful struct {
	change.Disk
	seen func([]byte)
}

type watchfulPlace struct {
	change.Place
	seen func([]byte)
}

func (d watchful) Place(rel string) (change.Place, error) {
	p, err := d.Disk.Place(rel)
	if err != nil {
		return nil, err
	}
	return watchfulPlace{p, d.seen}, nil
}

func (p watchfulPlace) Read(name string, max int64) ([]byte, error) {
	b, err := p.Place.Read(name, max)
	p.seen(b)
	return b, err
}

func (p watchfulPlace) Move(name string, to change.Place, as string) error {
	return p.Place.Move(name, to.(watchfulPlace).Place, as)
}

// traces are the files of a folder with all that a write, or a name that was
// there for a moment only, would change.
func traces(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %v %d %v", d.Name(), info.Mode(), info.Size(), info.ModTime())
		if !d.IsDir() {
			text, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %q", text)
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
