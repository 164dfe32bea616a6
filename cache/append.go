package cache

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// appendWait bounds how long a line waits for those of others.
const appendWait = 250 * time.Millisecond

// EventsFile is the name of the file in a server's state folder that events are
// kept in, of the server and of the commands that answer for a person.
const EventsFile = "events.jsonl"

// AppendLine adds a line to a file of mode 0600, to which several processes may
// add at once. A file that would become larger than half of limit bytes becomes
// path.1, in the place of an older one, so that both together stay within limit.
// The line is not synced to the disk. It fails if others keep the file for a
// quarter of a second.
func AppendLine(path string, line []byte, limit int64) error {
	line = append(line[:len(line):len(line)], '\n')
	half := limit / 2
	if int64(len(line)) > half {
		return fmt.Errorf("a line of %d bytes is too long for %q", len(line), path)
	}
	brief, cancel := context.WithTimeout(context.Background(), appendWait)
	defer cancel()
	// All the time, not only while the files turn: else one could be turned twice, or
	// grow behind the back of who has measured it.
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	defer lock.Close()
	if held, err := lock.TryLockContext(brief, time.Millisecond); !held {
		return fmt.Errorf("lock %q: %w", path+".lock", err)
	}
	if info, err := os.Stat(path); err == nil && info.Size()+int64(len(line)) > half {
		if err := os.Rename(path, path+".1"); err != nil {
			return fmt.Errorf("turn %q: %w", path, err)
		}
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("add to %q: %w", path, err)
	}
	_, err = f.Write(line)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("add to %q: %w", path, err)
	}
	return nil
}
