package rename

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vault-mcp/vault/settings"
)

// TestRoundTrip renames every note and every folder of the vaults in the folder that RENAME_VAULTS names, and back: the
// vault is byte for byte what it was.
func TestRoundTrip(t *testing.T) {
	root := os.Getenv("RENAME_VAULTS")
	if root == "" {
		t.Skip("RENAME_VAULTS names no folder")
	}
	dirs, err := filepath.Glob(filepath.Join(root, "*", ".obsidian"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no vaults in %q: %v", root, err)
	}
	for _, dir := range dirs {
		dir = filepath.Dir(dir)
		t.Run(filepath.Base(dir), func(t *testing.T) { roundTrips(t, loadVault(t, dir)) })
	}
}

func loadVault(t *testing.T, dir string) *memory {
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if strings.HasPrefix(d.Name(), ".") {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			return nil
		}
		b, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		files[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return newMemory(files)
}

func roundTrips(t *testing.T, m *memory) {
	was := maps.Clone(m.files)
	trips, links := 0, 0
	trip := func(there, back []Move, same func(a, b []byte) bool) {
		links += m.run(t, there, settings.Default()).Report.Links()
		m.run(t, back, settings.Default())
		trips++
		for p, b := range was {
			if !same(b, m.files[p]) {
				t.Errorf("%v: %s is not as it was\n%s", there, p, firstDifference(b, m.files[p]))
			}
		}
		if !maps.EqualFunc(was, m.files, bytes.Equal) {
			m.files = maps.Clone(was)
			m.index()
		}
	}
	for _, p := range slices.Sorted(maps.Keys(was)) {
		ext := path.Ext(p)
		to := strings.TrimSuffix(p, ext) + " $1 there" + ext
		trip([]Move{{From: p, To: to}}, []Move{{From: to, To: p}}, bytes.Equal)
		// A link in another case than the name cannot know of it when the name is gone altogether.
		to = path.Join(path.Dir(p), "Zzz' (y"+ext)
		trip([]Move{{From: p, To: to}}, []Move{{From: to, To: p}}, bytes.EqualFold)
	}
	for _, d := range slices.Sorted(maps.Keys(m.folders)) {
		for _, to := range []string{d + " there", path.Join(path.Dir(d), "Qqq")} {
			trip([]Move{{From: d, To: to, Dir: true}}, []Move{{From: to, To: d, Dir: true}}, bytes.Equal)
		}
	}
	t.Logf("%d files, %d trips, %d links respelled on the way there", len(was), trips, links)
}

func firstDifference(a, b []byte) string {
	as, bs := strings.Split(string(a), "\n"), strings.Split(string(b), "\n")
	for i := range min(len(as), len(bs)) {
		if as[i] != bs[i] {
			return "-" + as[i] + "\n+" + bs[i]
		}
	}
	return "length"
}
