package app_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault-mcp/internal/racing"
)

// Every note and every folder of real vaults is renamed away and back, with the
// links to it: then the vault is byte for byte what it was.
func TestRenamesThereAndBackLeaveARealVaultAsItWas(t *testing.T) {
	racing.Skips(t)
	from := os.Getenv("ROUND_TRIP")
	if from == "" {
		from = "../../testdata/vaults"
	}
	vaults, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range vaults {
		if !v.IsDir() {
			continue
		}
		t.Run(v.Name(), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "vault")
			if err := os.CopyFS(dir, os.DirFS(filepath.Join(from, v.Name()))); err != nil {
				t.Fatal(err)
			}
			before := bytesOf(t, dir)
			a := start(t, t.TempDir(), fmt.Sprintf("vaults: [{path: %q}]\nthrottle: {write: {per_minute: 1000000, burst: 100000}, delete: {per_minute: 1000000, burst: 100000}, read: {per_minute: 1000000, burst: 100000}}\n", dir))
			person(a, agrees)
			begun(t, a)
			notes, folders, links := 0, 0, 0
			trip := func(tool, here, away string) {
				for _, m := range [][2]string{{here, away}, {away, here}} {
					var out struct {
						Updated struct{ Links int } `json:"backlinks_updated"`
					}
					if err := call(t, a, tool, args{"from": m[0], "to": m[1]}, &out); err != nil {
						t.Fatalf("%s %q: %v", tool, m, err)
					}
					links += out.Updated.Links
				}
			}
			var dirs []string
			err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
				rel, _ := filepath.Rel(dir, p)
				rel = filepath.ToSlash(rel)
				switch {
				case err != nil || rel == ".":
					return err
				case strings.HasPrefix(d.Name(), "."):
					if d.IsDir() {
						return filepath.SkipDir
					}
				case d.IsDir():
					dirs = append(dirs, rel)
				case strings.HasSuffix(rel, ".md"):
					notes++
					trip("move_note", rel, path.Join(path.Dir(rel), "Zz away.md"))
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range dirs {
				folders++
				trip("move_folder", d, d+" away")
			}
			if d := cmp.Diff(before, bytesOf(t, dir)); d != "" {
				t.Errorf("(-before +after):\n%s", d)
			}
			t.Logf("%d notes, %d folders, %d links respelled", notes, folders, links)
		})
	}
}

// bytesOf is every file of a vault.
func bytesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		files[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
