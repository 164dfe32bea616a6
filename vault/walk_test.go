package vault

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// walkAll is the paths that Walk visits, in order.
func walkAll(t testing.TB, v *Vault, from string, o WalkOptions) []string {
	t.Helper()
	var got []string
	err := v.Walk(t.Context(), find(t, v, from), o, func(f File) error {
		got = append(got, f.Path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// scanAll is the paths that Scan visits, sorted.
func scanAll(t testing.TB, v *Vault, from string, o WalkOptions) []string {
	t.Helper()
	var mu sync.Mutex
	var got []string
	err := v.Scan(t.Context(), find(t, v, from), ScanOptions{WalkOptions: o, Workers: 3}, func(f File, b []byte, err error) error {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, f.Path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	sort.Strings(got)
	return got
}

var sorting = map[string]any{
	"a/b.md": "1", "a.md": "2", "a b/c.md": "3", "a-b.md": "4", "a/b/c.md": "5", "a/b-c.md": "6", "a0.md": "7", "A.md": "8",
	"\u00e9.md": "9", "a/.hidden.md": "", ".obsidian/app.json": "", "x.md/inner.md": "in", "z/y/x.md": "", "a/empty": folderOnly{},
}

func TestWalkOrderIsThatOfSortedPaths(t *testing.T) {
	want := []string{"A.md", "a b/c.md", "a-b.md", "a.md", "a/b-c.md", "a/b.md", "a/b/c.md", "a0.md", "x.md/inner.md", "z/y/x.md", "\u00e9.md"}
	if !sort.StringsAreSorted(want) {
		t.Fatal("the test is wrong")
	}
	bothWays(t, func(t *testing.T, portable bool) {
		v := open(t, plant(t, sorting), portable)
		if diff := cmp.Diff(want, walkAll(t, v, "", WalkOptions{})); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(want, scanAll(t, v, "", WalkOptions{})); diff != "" {
			t.Error(diff)
		}
	})
}

func TestWalkAfterSkipsNothingAndRepeatsNothing(t *testing.T) {
	v := open(t, plant(t, sorting), false)
	for _, from := range []string{"", "a", "z"} {
		all := walkAll(t, v, from, WalkOptions{})
		afters := append([]string{"", "a", "a/", "a/b", "a/b/", "a/b/zzz", "a/zz", "a1", "zzz", "\xff"}, all...)
		for _, after := range afters {
			var want []string
			for _, p := range all {
				if p > after {
					want = append(want, p)
				}
			}
			o := WalkOptions{After: after}
			if diff := cmp.Diff(want, walkAll(t, v, from, o)); diff != "" {
				t.Errorf("Walk from %q after %q: %s", from, after, diff)
			}
			if diff := cmp.Diff(want, scanAll(t, v, from, o)); diff != "" {
				t.Errorf("Scan from %q after %q: %s", from, after, diff)
			}
		}
	}
}

func TestWalkOptions(t *testing.T) {
	v := open(t, plant(t, map[string]any{
		"a.md": "", "b.png": "", "sub/c.md": "", "sub/deep/d.md": "", "hidden/e.md": "", "sub/f.MD": "",
	}), false)
	isNote := func(name string) bool { return Kind(name) == Note }
	tests := []struct {
		name string
		from string
		o    WalkOptions
		want []string
	}{
		{"everything", "", WalkOptions{}, []string{"a.md", "b.png", "hidden/e.md", "sub/c.md", "sub/deep/d.md", "sub/f.MD"}},
		{"flat", "", WalkOptions{Flat: true}, []string{"a.md", "b.png"}},
		{"flat below", "sub", WalkOptions{Flat: true}, []string{"sub/c.md", "sub/f.MD"}},
		{"notes", "", WalkOptions{Accept: isNote}, []string{"a.md", "hidden/e.md", "sub/c.md", "sub/deep/d.md", "sub/f.MD"}},
		{"hidden", "", WalkOptions{Keep: hide("hidden", "sub/c.md")}, []string{"a.md", "b.png", "sub/deep/d.md", "sub/f.MD"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, walkAll(t, v, tt.from, tt.o)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.want, scanAll(t, v, tt.from, tt.o)); diff != "" {
				t.Error(diff)
			}
		})
	}
	if err := v.Walk(t.Context(), find(t, v, "a.md"), WalkOptions{}, nil); err == nil {
		t.Error("a file was walked")
	}
}

func TestWalkFollowsNoLinkAndEnds(t *testing.T) {
	bothWays(t, func(t *testing.T, portable bool) {
		v := open(t, plant(t, map[string]any{
			"a/n.md": "#t", "a/loop": link("../a"), "b": link("."), "dead.md": link("nowhere.md"),
			"out.md": link("/etc/hostname"), "mirror": link("a"), "same.md": link("a/n.md"),
		}), portable)
		want := []string{"a/n.md"}
		o := WalkOptions{Problem: func(p string, err error) { t.Errorf("%s: %v", p, err) }}
		if diff := cmp.Diff(want, walkAll(t, v, "", o)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(want, scanAll(t, v, "", o)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestScanGivesEveryFileOnceWithItsBytes(t *testing.T) {
	files := map[string]any{}
	for i := range 500 {
		files[fmt.Sprintf("flat/%d.md", i)] = fmt.Sprint("flat ", i)
		files[fmt.Sprintf("d%d/e%d/n.md", i%7, i)] = strings.Repeat("x", i*300)
	}
	bothWays(t, func(t *testing.T, portable bool) {
		v := open(t, plant(t, files), portable)
		var mu sync.Mutex
		seen := map[string]string{}
		err := v.Scan(t.Context(), find(t, v, ""), ScanOptions{Workers: 4}, func(f File, b []byte, err error) error {
			mu.Lock()
			defer mu.Unlock()
			if _, twice := seen[f.Path]; twice || err != nil || int64(len(b)) != f.Size || f.ModTime.IsZero() {
				t.Errorf("%s: twice %v, %v, %d bytes of %d", f.Path, twice, err, len(b), f.Size)
			}
			seen[f.Path] = string(b)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for p, want := range files {
			if seen[p] != want {
				t.Errorf("%s: %d bytes, want %d", p, len(seen[p]), len(want.(string)))
			}
		}
		if len(seen) != len(files) {
			t.Errorf("%d files, want %d", len(seen), len(files))
		}
	})
}

func TestScanTellsOfLargeFilesAndGoesOn(t *testing.T) {
	v := open(t, plant(t, map[string]any{"big.md": strings.Repeat("x", 100), "small.md": "s"}), false)
	var mu sync.Mutex
	got := map[string]string{}
	err := v.Scan(t.Context(), find(t, v, ""), ScanOptions{MaxBytes: 99}, func(f File, b []byte, err error) error {
		mu.Lock()
		defer mu.Unlock()
		got[f.Path] = strings.TrimSpace(fmt.Sprintln(string(b), err, f.Size))
		return nil
	})
	want := map[string]string{"big.md": "the file has 100 bytes; at most 99 are read 100", "small.md": "s <nil> 1"}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

func TestWalkAndScanEndEarly(t *testing.T) {
	files := map[string]any{}
	for i := range 2000 {
		files[fmt.Sprintf("d%d/%d.md", i%5, i)] = ""
	}
	v := open(t, plant(t, files), false)
	root := find(t, v, "")
	stop := errors.New("stop")
	if err := v.Walk(t.Context(), root, WalkOptions{}, func(File) error { return stop }); err != stop {
		t.Errorf("Walk: got %v", err)
	}
	if err := v.Scan(t.Context(), root, ScanOptions{Workers: 2}, func(File, []byte, error) error { return stop }); err != stop {
		t.Errorf("Scan: got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	visits := 0
	err := v.Scan(ctx, root, ScanOptions{Workers: 1}, func(File, []byte, error) error {
		visits++
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) || visits != 1 {
		t.Errorf("cancelled Scan: %v after %d visits", err, visits)
	}
	if err := v.Walk(ctx, root, WalkOptions{}, func(File) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled Walk: %v", err)
	}
	func() {
		defer func() {
			if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), "boom") {
				t.Errorf("panic of visit: got %v", r)
			}
		}()
		v.Scan(t.Context(), root, ScanOptions{}, func(File, []byte, error) error { panic("boom") })
	}()
}

func TestScanLeavesNoDescriptorOpen(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("descriptors cannot be counted here")
	}
	count := func() int { l, _ := os.ReadDir("/proc/self/fd"); return len(l) }
	bothWays(t, func(t *testing.T, portable bool) {
		v := open(t, plant(t, sorting), portable)
		root := find(t, v, "")
		before := count()
		for i := range 20 {
			v.Scan(t.Context(), root, ScanOptions{}, func(File, []byte, error) error {
				if i%2 == 0 {
					return errors.New("stop")
				}
				return nil
			})
			v.Walk(t.Context(), root, WalkOptions{}, func(File) error { return errors.New("stop") })
			v.Find("a/B/c.md", nil)
			v.Find("a/nothing/c.md", nil)
		}
		if after := count(); after > before {
			t.Errorf("%d descriptors, before %d", after, before)
		}
	})
}

func TestNamesThatNoPathCanHoldAreProblems(t *testing.T) {
	dir := plant(t, map[string]any{"ok.md": ""})
	for _, name := range []string{"bad\xff.md", "line\nbreak.md", `back\slash.md`} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Skip("the file system refuses such names")
		}
	}
	v := open(t, dir, false)
	var problems []string
	o := WalkOptions{Keep: hide("line\nbreak.md"), Problem: func(p string, err error) { problems = append(problems, p+": "+err.Error()) }}
	if diff := cmp.Diff([]string{"ok.md"}, walkAll(t, v, "", o)); diff != "" {
		t.Error(diff)
	}
	slices.Sort(problems)
	want := []string{`back\slash.md: ` + ErrName.Error(), "bad\uFFFD.md: " + ErrName.Error()}
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Error(diff)
	}
}

func TestUnreadableFolderIsAProblem(t *testing.T) {
	if os.Getuid() <= 0 {
		t.Skip("every folder can be read by this user")
	}
	dir := plant(t, map[string]any{"a/n.md": "", "b/n.md": "", "c/n.md": "", "d.md": ""})
	for _, p := range []string{"a", "b", "d.md"} {
		os.Chmod(filepath.Join(dir, p), 0)
		defer os.Chmod(filepath.Join(dir, p), 0o755)
	}
	v := open(t, dir, false)
	var problems []string
	o := WalkOptions{Keep: hide("b"), Problem: func(p string, err error) { problems = append(problems, p) }}
	if diff := cmp.Diff([]string{"c/n.md", "d.md"}, walkAll(t, v, "", o)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a"}, problems); diff != "" {
		t.Error(diff)
	}
	if _, err := v.Read(find(t, v, "d.md"), 10); err == nil || strings.Contains(err.Error(), dir) {
		t.Errorf("got %v", err)
	}
}

func TestFilesThatVanishAreLeftOut(t *testing.T) {
	dir := plant(t, map[string]any{"a/1.md": "", "a/2.md": "", "b/3.md": "", "c.md": ""})
	v := open(t, dir, false)
	var got []string
	o := WalkOptions{Problem: func(p string, err error) { t.Errorf("%s: %v", p, err) }}
	err := v.Walk(t.Context(), find(t, v, ""), o, func(f File) error {
		got = append(got, f.Path)
		os.Remove(filepath.Join(dir, "a", "2.md"))
		os.RemoveAll(filepath.Join(dir, "b"))
		return nil
	})
	if diff := cmp.Diff([]string{"a/1.md", "c.md"}, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

func generate(b *testing.B, notes, perFolder int) *Vault {
	b.Helper()
	dir := b.TempDir()
	text := strings.Repeat("Some words of a note, with a [[link]] and a #tag.\n", 40)
	for i := range notes {
		folder := filepath.Join(dir, fmt.Sprintf("area %d", i/perFolder/20), fmt.Sprintf("topic %d", i/perFolder))
		if i%perFolder == 0 {
			if err := os.MkdirAll(folder, 0o755); err != nil {
				b.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("note number %d.md", i)), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	return open(b, dir, false)
}

func benchmarkVaults(b *testing.B, run func(b *testing.B, v *Vault, root Path)) {
	for name, perFolder := range map[string]int{"folders": 50, "flat": 10000} {
		b.Run(name, func(b *testing.B) {
			v := generate(b, 10000, perFolder)
			root := find(b, v, "")
			b.ReportAllocs()
			start := time.Now()
			for b.Loop() {
				run(b, v, root)
			}
			b.ReportMetric(float64(time.Since(start).Microseconds())/float64(b.N)/10000, "µs/file")
		})
	}
}

func BenchmarkWalk(b *testing.B) {
	benchmarkVaults(b, func(b *testing.B, v *Vault, root Path) {
		n := 0
		err := v.Walk(b.Context(), root, WalkOptions{}, func(File) error { n++; return nil })
		if err != nil || n != 10000 {
			b.Fatal(n, err)
		}
	})
}

func BenchmarkScan(b *testing.B) {
	benchmarkVaults(b, func(b *testing.B, v *Vault, root Path) {
		err := v.Scan(b.Context(), root, ScanOptions{}, func(f File, text []byte, err error) error { return err })
		if err != nil {
			b.Fatal(err)
		}
	})
}

// What was listed and is gone when its turn comes is told of.
func TestWhatVanishesIsTold(t *testing.T) {
	bothWays(t, func(t *testing.T, portable bool) {
		dir := plant(t, map[string]any{"a.md": "", "gone.md": "x", "sub/folder.md": "x", "z.md": ""})
		v := open(t, dir, portable)
		remove := func(path string, _ bool) bool { // it is asked just before its turn
			full := filepath.Join(dir, path)
			switch path {
			case "gone.md":
				os.Remove(full)
			case "sub/folder.md":
				os.Remove(full)
				os.Mkdir(full, 0o755)
			}
			return true
		}
		want := []string{"gone.md", "sub/folder.md"}
		for _, walk := range []func(o WalkOptions) []string{
			func(o WalkOptions) []string { return walkAll(t, v, "", o) }, func(o WalkOptions) []string { return scanAll(t, v, "", o) },
		} {
			os.RemoveAll(filepath.Join(dir, "sub/folder.md"))
			for _, p := range want {
				if err := os.WriteFile(filepath.Join(dir, p), nil, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			var mu sync.Mutex
			var gone []string
			visited := walk(WalkOptions{Keep: remove, Gone: func(path string) {
				mu.Lock()
				defer mu.Unlock()
				gone = append(gone, path)
			}})
			slices.Sort(gone)
			if d := cmp.Diff(want, gone); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
			if d := cmp.Diff([]string{"a.md", "z.md"}, visited); d != "" {
				t.Errorf("visited: -want +got:\n%s", d)
			}
		}
	})
}
