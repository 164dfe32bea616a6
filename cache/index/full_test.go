package index

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"vault-mcp/internal/racing"
	"vault-mcp/internal/smalldisk"
)

// onSmallDisk is a vault whose state folder is on a disk of its own.
func onSmallDisk(t *testing.T, size int, files map[string]string) (*home, smalldisk.Disk) {
	h := newHome(t, files)
	disk := smalldisk.New(t, size)
	h.state = filepath.Join(disk.Dir, "state")
	must(t, os.Mkdir(h.state, 0o700))
	return h, disk
}

// refused waits until an index says why it cannot be used.
func refused(t *testing.T, ix *Index, reason string) {
	t.Helper()
	eventually(t, "it says "+reason, func() bool {
		s := ix.Status(nil)
		return s.Phase == Degraded && s.Reason == reason
	})
	if err := ix.Read(t.Context(), func(*Model) error { return nil }); !errors.Is(err, ErrNotReady) {
		t.Errorf("Read: %v", err)
	}
}

// recovered waits until an index answers as a new one does.
func recovered(t *testing.T, h *home, ix *Index) {
	t.Helper()
	var got map[string]any
	eventually(t, "it answers", func() (ok bool) {
		var err error
		got, err = tryDump(ix)
		return err == nil
	})
	fresh := (&home{t, h.dir, t.TempDir()}).ready(Options{Sweep: -1, NoWatch: true})
	wants(t, "answers", dump(t, fresh), got)
	fresh.Close()
}

// newWords are some thousand that no other note has.
func newWords(note int) string {
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, "w%dx%d ", note, i)
	}
	return b.String()
}

func TestFullDiskWhereTheIndexIsToBeMade(t *testing.T) {
	racing.Skips(t)
	smalldisk.Run(t, func(t *testing.T) {
		for _, room := range []int64{0, 4 << 10, 16 << 10, 32 << 10, 96 << 10} {
			t.Run(fmt.Sprint(room), func(t *testing.T) {
				t.Parallel()
				h, disk := onSmallDisk(t, 8<<20, crowd(300))
				disk.Fill(t, room)
				var opened atomic.Int32
				ix := h.open(Options{Sweep: -1, Folder: func() error { opened.Add(1); return nil }})
				refused(t, ix, full)
				n := opened.Load()
				time.Sleep(time.Second)
				if again := opened.Load() - n; again > 2 {
					t.Errorf("it is tried %d times in a second", again)
				}
				h.write("N1.md", "[[Other]] word8")
				_ = ix.Changed(t.Context(), []string{"N1.md"}) // whatever becomes of it, it is not forgotten
				disk.Free(t)
				recovered(t, h, ix)
			})
		}
	})
}

// The room ends somewhere in the middle, again and again at another place.
func TestFullDiskWhileTheIndexIsBuilt(t *testing.T) {
	smalldisk.Run(t, func(t *testing.T) {
		files := map[string]string{}
		for i := range 3000 { // several transactions
			files[fmt.Sprintf("%d/N%d.md", i%30, i)] = fmt.Sprintf("[[X]] #t%d word%d %s", i%7, i%50, strings.Repeat("a b c ", 50))
		}
		h, disk := onSmallDisk(t, 32<<20, files)
		ix := h.open(Options{Sweep: -1})
		eventually(t, "some of it is stored", func() bool {
			m := ix.stored.Load()
			return m != nil && m.rev > 0
		})
		disk.Fill(t, 0)
		refused(t, ix, full)
		disk.Free(t)
		recovered(t, h, ix)
	})
}

func TestFullDiskAtAWarmStart(t *testing.T) {
	smalldisk.Run(t, func(t *testing.T) {
		h, disk := onSmallDisk(t, 8<<20, crowd(300))
		h.ready(quietly).Close()
		h.write("N1.md", "[[Other]] word7")
		must(t, os.Remove(h.path("N2.md")))
		disk.Fill(t, 0)
		ix := h.open(quietly)
		refused(t, ix, full)
		disk.Free(t)
		recovered(t, h, ix)
	})
}

// What one call changed must not be missing from the next answer.
func TestFullDiskAtTheWriteOfOneNote(t *testing.T) {
	smalldisk.Run(t, func(t *testing.T) {
		for _, watch := range []bool{false, true} {
			h, disk := onSmallDisk(t, 8<<20, crowd(50))
			ix := h.ready(Options{Sweep: -1, NoWatch: !watch})
			disk.Fill(t, 0)
			failed := false
			for i := 0; !failed && i < 1000; i++ { // what is there of the log may hold some
				name := fmt.Sprintf("M%d.md", i)
				h.write(name, "[[Y]] "+newWords(i))
				err := ix.Changed(t.Context(), []string{name})
				failed = err != nil
				err = ix.Read(t.Context(), func(m *Model) error {
					if !slices.Contains(m.named(m.Linking("y")), name) {
						t.Errorf("an answer without %s", name)
					}
					return nil
				})
				if err != nil && !errors.Is(err, ErrNotReady) {
					t.Fatal(err)
				}
				failed = failed || err != nil
			}
			if !failed {
				t.Fatal("the disk is never full")
			}
			refused(t, ix, full)
			disk.Free(t)
			recovered(t, h, ix)
			must(t, ix.Close())
		}
	})
}

// Several servers find the same disk full.
func TestFullDiskUnderSeveralServers(t *testing.T) {
	smalldisk.Run(t, func(t *testing.T) {
		h, disk := onSmallDisk(t, 16<<20, crowd(200))
		ix := h.ready(quietly)
		other := h.server(t)
		other.answers("status", "ready false")
		disk.Fill(t, 0)
		for i := range 200 {
			h.write(fmt.Sprintf("M%d.md", i), "[[Y]] "+newWords(i))
		}
		refused(t, ix, full)
		disk.Free(t)
		recovered(t, h, ix)
		eventually(t, "the other server sees all", func() bool {
			return len(strings.Fields(other.ask("links Y"))) == 200
		})
	})
}

func TestAStateFolderThatBecomesReadOnly(t *testing.T) {
	smalldisk.Run(t, func(t *testing.T) {
		h, disk := onSmallDisk(t, 8<<20, crowd(50))
		h.ready(quietly).Close()
		disk.ReadOnly(t, true)
		ix := h.open(quietly)
		refused(t, ix, readOnly)
		disk.ReadOnly(t, false)
		recovered(t, h, ix)
		must(t, ix.Close())

		// Without a database, too.
		must(t, os.RemoveAll(h.state))
		must(t, os.Mkdir(h.state, 0o700))
		disk.ReadOnly(t, true)
		ix = h.open(quietly)
		refused(t, ix, readOnly)
		disk.ReadOnly(t, false)
		recovered(t, h, ix)
	})
}

// Modes hold for everybody but root.
func TestFilesOfTheIndexThatMayNotBeOpened(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("nothing is closed to root")
	}
	for _, mode := range []os.FileMode{0, 0o400} {
		for _, name := range []string{"", "-wal", "-shm", "index.lock", "folder"} {
			h := newHome(t, crowd(20))
			h.ready(quietly).Close()
			path := map[string]string{"index.lock": filepath.Join(h.state, name), "folder": h.state}[name]
			if path == "" {
				path = databasePath(h.state) + name
			}
			if _, err := os.Lstat(path); err != nil {
				must(t, os.WriteFile(path, nil, 0o600))
			}
			must(t, os.Chmod(path, mode))
			ix := h.open(quietly)
			time.Sleep(100 * time.Millisecond)
			if s := ix.Status(nil); s.Phase == Degraded && s.Reason != readOnly && !strings.Contains(s.Reason, "state folder") {
				t.Errorf("%s %o: %q", name, mode, s.Reason)
			}
			must(t, os.Chmod(path, 0o700))
			recovered(t, h, ix)
			must(t, ix.Close())
		}
	}
}
