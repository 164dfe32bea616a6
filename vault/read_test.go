package vault

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vault-mcp/internal/fault"
)

func find(t testing.TB, v *Vault, arg string) Path {
	t.Helper()
	p, err := v.Find(arg, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestRead(t *testing.T) {
	big := strings.Repeat("0123456789abcdef", 1<<16)
	files := map[string]any{"empty.md": "", "a/b/note.md": "text\r\n", "big.bin": big}
	bothWays(t, func(t *testing.T, portable bool) {
		v := open(t, plant(t, files), portable)
		for name, content := range files {
			p := find(t, v, name)
			got, err := v.Read(p, int64(len(big)))
			if err != nil || string(got.Bytes) != content {
				t.Fatalf("%s: %d bytes, %v", name, len(got.Bytes), err)
			}
			if got.Size != p.Size() || !got.ModTime.Equal(p.ModTime()) {
				t.Errorf("%s: size %d and time %v, found as %d and %v", name, got.Size, got.ModTime, p.Size(), p.ModTime())
			}
		}
		_, err := v.Read(find(t, v, "big.bin"), int64(len(big)-1))
		if e, ok := errors.AsType[*TooLargeError](err); !ok || e.Size != int64(len(big)) || e.Max != int64(len(big)-1) {
			t.Errorf("too large: got %v", err)
		}
		if _, err := v.Read(find(t, v, "a"), 10); codeOf(err) != fault.NoteNotFound {
			t.Errorf("a folder: got %v", err)
		}
		if _, err := v.Read(Path{}, 10); codeOf(err) != fault.NoteNotFound {
			t.Errorf("the zero Path: got %v", err)
		}
	})
}

func TestReadOnlyTheFileThatWasJudged(t *testing.T) {
	bothWays(t, func(t *testing.T, portable bool) {
		dir := plant(t, map[string]any{"a/note.md": "judged", "a/other.md": "other", "a/gone.md": "", "denied/note.md": "denied"})
		v := open(t, dir, portable)
		note, gone := find(t, v, "a/note.md"), find(t, v, "a/gone.md")
		at := func(p string) string { return filepath.Join(dir, filepath.FromSlash(p)) }

		if err := os.Rename(at("a/other.md"), at("a/note.md")); err != nil {
			t.Fatal(err)
		}
		_, err := v.Read(note, 100)
		if codeOf(err) != fault.Internal || !errors.Is(err, ErrChanged) || !fault.Of(err).Retryable() {
			t.Errorf("another file in its place: got %v", err)
		}
		os.Remove(at("a/gone.md"))
		if _, err := v.Read(gone, 100); codeOf(err) != fault.NoteNotFound {
			t.Errorf("gone: got %v", err)
		}
		os.Remove(at("a/note.md"))
		os.Symlink("../denied/note.md", at("a/note.md"))
		if c, err := v.Read(note, 100); !errors.Is(err, ErrChanged) {
			t.Errorf("a link in its place: got %q, %v", c.Bytes, err)
		}
		os.RemoveAll(at("a"))
		os.Symlink("denied", at("a"))
		if c, err := v.Read(note, 100); !errors.Is(err, ErrChanged) {
			t.Errorf("a link in its folder's place: got %q, %v", c.Bytes, err)
		}
		if err := v.Scan(t.Context(), find(t, v, "denied"), ScanOptions{}, func(File, []byte, error) error { return nil }); err != nil {
			t.Error(err)
		}
	})
}

func TestReadSeesGrowth(t *testing.T) {
	for _, tt := range []struct {
		name           string
		size, max      int64
		content        string
		wantTooLarge   bool
		givenBufferCap int
	}{
		{"grew within the bound", 3, 100, "grown text", false, 0},
		{"grew beyond the bound", 3, 5, "grown text", true, 0},
		{"shrank", 100, 100, "short", false, 0},
		{"nothing expected", 0, 100, "something", false, 0},
		{"reused buffer", 5, 100, "exact", false, 64},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, err := fill(strings.NewReader(tt.content), tt.size, tt.max, make([]byte, 0, tt.givenBufferCap))
			if _, tooLarge := errors.AsType[*TooLargeError](err); tooLarge != tt.wantTooLarge {
				t.Fatalf("got %v", err)
			}
			if !tt.wantTooLarge && string(b) != tt.content {
				t.Errorf("got %q", b)
			}
		})
	}
}

func TestContentInTheCloudIsNotFetchedByAScan(t *testing.T) {
	away := node{away: true}
	if err := (reading{local: true}).admit(away); !errors.Is(err, ErrAway) {
		t.Errorf("scan: got %v", err)
	}
	if err := (reading{}).admit(away); err != nil {
		t.Errorf("read by name: got %v", err)
	}
	if err := readFault("a.md", ErrAway); codeOf(err) != fault.Internal || !strings.Contains(err.Error(), "cloud") {
		t.Errorf("got %v", err)
	}
}

func TestText(t *testing.T) {
	for s, want := range map[string]bool{"": true, "café": true, "\ufeffbom": true, "a\x00b": true, "caf\xe9": false, "\xff\xfe#\x00": false, "\xfe\xff\x00#": false} {
		if got := Text([]byte(s)); got != want {
			t.Errorf("%q: got %v", s, got)
		}
	}
}

// The same swap in the one moment that matters, where opening takes two steps.
func TestSwapBetweenLookAndOpen(t *testing.T) {
	tests := []struct {
		name        string
		swapped, by string
		links       map[string]any
	}{
		{"folder for a link", "a", "decoy", map[string]any{"decoy": link("denied")}},
		{"folder for a folder", "a", "denied", nil},
		{"file for a link", "a/n.md", "decoy", map[string]any{"decoy": link("../denied/n.md")}},
		{"file for a file", "a/n.md", "denied/n.md", nil},
		{"file for a folder", "a/n.md", "denied", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]any{"a/n.md": "fine", "denied/n.md": "DENIED"}
			for p, c := range tt.links {
				files[p] = c
			}
			dir := plant(t, files)
			v := open(t, dir, true)
			p := find(t, v, "a/n.md")
			swaps := 0
			v.enter = func(root *os.Root, path string) (folder, error) {
				d, err := openRootFolder(root, path)
				d.(*rootFolder).between = func(name string) {
					if name != filepath.Base(tt.swapped) {
						return
					}
					if os.Rename(filepath.Join(dir, tt.swapped), filepath.Join(dir, "aside")) == nil &&
						os.Rename(filepath.Join(dir, tt.by), filepath.Join(dir, tt.swapped)) == nil {
						swaps++
					}
				}
				return d, err
			}
			c, err := v.Read(p, 100)
			if !errors.Is(err, ErrChanged) || len(c.Bytes) > 0 {
				t.Errorf("got %q, %v", c.Bytes, err)
			}
			if swaps != 1 && runtime.GOOS != "windows" {
				t.Errorf("%d swaps", swaps)
			}
		})
	}
}

// Here the link stays inside the folder, where os.Root would follow it.
func TestRootFolderOpensNoLinkThatCameBetween(t *testing.T) {
	dir := plant(t, map[string]any{"a/n.md": "fine", "denied/n.md": "DENIED", "n.md": "fine", "to folder": link("denied"), "to file": link("denied/n.md")})
	d, err := open(t, dir, true).openDir("")
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	by := map[string]string{"a": "to folder", "n.md": "to file"}
	d.(*rootFolder).between = func(name string) {
		os.Rename(filepath.Join(dir, name), filepath.Join(dir, "was "+name))
		os.Rename(filepath.Join(dir, by[name]), filepath.Join(dir, name))
	}
	if child, err := d.openDir("a"); err != errNotFolder {
		t.Errorf("folder: got %v, %v", child, err)
	}
	if _, b, err := d.read("n.md", reading{max: 100}, nil); err != errNotRegular {
		t.Errorf("file: got %q, %v", b, err)
	}
}

// A folder is swapped for a link to a denied one, over and over, while every
// way to read goes on. No byte of a denied file may come out.
func TestSwappedFolderGivesNoDeniedByte(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open folder cannot be renamed here")
	}
	span := 500 * time.Millisecond
	if *soak {
		span *= 10
	}
	bothWays(t, func(t *testing.T, portable bool) {
		dir := plant(t, map[string]any{"open/a/n.md": "fine", "denied/n.md": "DENIED", "decoy": link("../denied"), "decoy file": link("../../denied/n.md")})
		v := open(t, dir, portable)
		keep := hide("denied")
		at := func(p string) string { return filepath.Join(dir, p) }
		ctx, stop := context.WithCancel(t.Context())
		defer stop()

		var swaps, reads atomic.Int64
		start := time.Now()
		more := func() bool { // on a busy machine the span alone may see nothing
			spent := time.Since(start)
			return ctx.Err() == nil && (spent < span || spent < 20*time.Second && (swaps.Load() == 0 || reads.Load() == 0))
		}
		var all sync.WaitGroup
		all.Go(func() {
			for more() {
				os.Rename(at("open/a"), at("aside"))
				os.Rename(at("decoy"), at("open/a"))
				os.Rename(at("open/a"), at("decoy"))
				os.Rename(at("aside"), at("open/a"))
				os.Rename(at("open/a/n.md"), at("aside file"))
				os.Rename(at("decoy file"), at("open/a/n.md"))
				os.Rename(at("open/a/n.md"), at("decoy file"))
				os.Rename(at("aside file"), at("open/a/n.md"))
				swaps.Add(4)
			}
		})
		check := func(what string, b []byte) {
			if len(b) > 0 {
				reads.Add(1)
			}
			if bytes.Contains(b, []byte("DENIED")) {
				t.Errorf("%s gave a denied file", what)
				stop()
			}
		}
		all.Go(func() {
			for more() {
				if p, err := v.FindNote("open/a/n", keep); err == nil {
					c, _ := v.Read(p, 100)
					check("Read", c.Bytes)
				}
			}
		})
		all.Go(func() {
			r := v.Reader()
			defer r.Close()
			for i := 0; more(); i++ {
				if i%2 == 0 {
					r.Close() // and look for the folder anew
				}
				c, _ := r.Read("open/a/n.md", 100)
				check("Reader", c.Bytes)
			}
		})
		all.Go(func() {
			root := find(t, v, "")
			for more() {
				v.Scan(ctx, root, ScanOptions{WalkOptions: WalkOptions{Keep: keep}, Workers: 2}, func(f File, b []byte, err error) error {
					check("Scan", b)
					return nil
				})
				v.Walk(ctx, root, WalkOptions{Keep: keep}, func(f File) error {
					c, _ := v.Read(f.AsPath(), 100)
					check("Walk", c.Bytes)
					return nil
				})
			}
		})
		all.Wait()
		if swaps.Load() == 0 || reads.Load() == 0 {
			t.Errorf("%d swaps, %d reads: nothing was tried", swaps.Load(), reads.Load())
		}
		t.Logf("%d swaps, %d reads", swaps.Load(), reads.Load())
	})
}
