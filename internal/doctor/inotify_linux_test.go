package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRoomForWatchingIsWhatTheSystemGivesWithoutWhatIsInUse(t *testing.T) {
	for _, tt := range []struct {
		watches, instances string
		level              Level
		fix                string
	}{
		{"100", "128", OK, ""},
		{"1", "128", Warning, "max_user_watches=524288"},
		{"4", "128", Warning, "if no server runs on it"}, // three are in use
		{"100", "1", Warning, "max_user_instances=512"},
		{"", "", Off, "nothing"},
	} {
		b := newBed(t, "Notes")
		b.o.proc = filepath.Join(b.home, "proc")
		if tt.watches != "" {
			b.put("proc/sys/fs/inotify/max_user_watches", tt.watches+"\n")
			b.put("proc/sys/fs/inotify/max_user_instances", tt.instances+"\n")
		}
		b.put("proc/12/fdinfo/7", "pos: 0\ninotify wd:1 ino:2\ninotify wd:2 ino:3\ninotify wd:3 ino:4\n")
		b.must(os.MkdirAll(filepath.Join(b.o.proc, "12", "fd"), 0o755))
		b.must(os.Symlink("anon_inode:inotify", filepath.Join(b.o.proc, "12", "fd", "7")))
		found := b.examine().all("index.room")
		if len(found) != 1 || found[0].Level != tt.level || !strings.Contains(found[0].Fix, tt.fix) {
			t.Errorf("%+v: %+v", tt, found)
		}
	}
}
