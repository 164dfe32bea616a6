package doctor

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// watching compares the folders of the vault with what the system lets this account
// watch. Processes of others are not seen, and have a bound of their own.
func (s subject) watching(c *census) {
	watches, ok := number(filepath.Join(s.e.o.proc, "sys/fs/inotify/max_user_watches"))
	instances, also := number(filepath.Join(s.e.o.proc, "sys/fs/inotify/max_user_instances"))
	if !ok || !also {
		s.off("index.room", "the system does not tell how many folders can be watched", "nothing: files are compared where it refuses")
		return
	}
	usedInstances, usedWatches := watched(s.e.o.proc)
	switch free := watches - usedWatches; {
	case c.folders > watches:
		s.warn("index.room", fmt.Sprintf("the vault has %d folders, and the system lets this account watch %d: files are compared every minute or so instead", c.folders, watches),
			fmt.Sprintf("sudo sysctl fs.inotify.max_user_watches=%d, and the same in /etc/sysctl.d to keep it", enough(c.folders)))
	case c.folders > free:
		s.warn("index.room", fmt.Sprintf("the vault has %d folders, and of the %d that this account can watch %d are in use, maybe by a server on this vault", c.folders, watches, usedWatches),
			fmt.Sprintf("if no server runs on it: sudo sysctl fs.inotify.max_user_watches=%d", enough(watches)))
	case usedInstances >= instances:
		s.warn("index.room", fmt.Sprintf("all %d watchers that this account can have are in use: files are compared every minute or so instead", instances),
			fmt.Sprintf("end programs that watch files, or: sudo sysctl fs.inotify.max_user_instances=%d", max(2*instances, 512)))
	default:
		s.ok("index.room", "%s to watch, room for %d; %d of %d watchers in use", plural(c.folders, "folder"), free, usedInstances, instances)
	}
}

// enough is a usual limit that has room for a number of folders.
func enough(folders int) int {
	n := 524288
	for n < 2*folders {
		n *= 2
	}
	return n
}

// number reads a file with one number.
func number(path string) (int, bool) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	return n, err == nil
}

// watched counts what the processes of this account use, as far as they can be
// looked at.
func watched(proc string) (instances, watches int) {
	files, _ := filepath.Glob(filepath.Join(proc, "[0-9]*", "fd", "*")) // the pattern is well-formed
	for _, f := range files {
		if to, err := os.Readlink(f); err != nil || to != "anon_inode:inotify" {
			continue
		}
		instances++
		info, err := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(f)), "fdinfo", filepath.Base(f)))
		if err == nil {
			watches += bytes.Count(info, []byte("inotify wd:"))
		}
	}
	return instances, watches
}
