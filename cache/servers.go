package cache

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

// maxList bounds the list of servers that is read; a line has some hundred bytes.
const maxList = 4 << 20

// Entry is one running server in the per-user list.
type Entry struct {
	// PID is the process; zero means this one when registering.
	PID int `json:"pid"`
	// Birth is when the process began, as the system counts it, so that a
	// later process with the same id is not taken for it. Register sets it.
	Birth string `json:"birth,omitempty"`
	// Parent is the process that spawned the server, which is most often the
	// client. Register sets it for this process.
	Parent Process `json:"parent,omitzero"`
	// Started is when the server registered; zero means now when registering.
	Started time.Time `json:"started"`
	// StateDir is the state folder with the server's own secrets.
	StateDir string `json:"state_dir"`
	// Config is the absolute path of the config file, or empty for a bare folder.
	Config string `json:"config,omitempty"`
	// Vaults are the vaults that it serves, in the order of its config.
	Vaults []ServedVault `json:"vaults"`
	// Version is the version of the program.
	Version string `json:"version"`
}

// ServedVault is a vault of a running server.
type ServedVault struct {
	ID string `json:"id"`
	// Path is the real path of the vault.
	Path string `json:"path"`
	// StateDir is the state folder of this vault. It is recorded, because
	// another command may have another XDG_STATE_HOME.
	StateDir string `json:"state_dir,omitempty"`
}

// Register adds a server to the per-user list, in place of an older entry of
// the same process, and returns what takes it out again. Entries of dead
// processes are dropped on the way. Other servers may do the same at once.
func Register(env func(string) string, e Entry) (remove func() error, err error) {
	list, err := listOf(env)
	if err != nil {
		return nil, err
	}
	if e.PID == 0 {
		e.PID = os.Getpid()
	}
	if e.Started.IsZero() {
		e.Started = time.Now()
	}
	e.Started = e.Started.Truncate(time.Second)
	if e.Vaults == nil {
		e.Vaults = []ServedVault{}
	}
	e.Birth, _ = process(e.PID)
	if e.PID == os.Getpid() {
		e.Parent = spawner
	}
	raw, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("write the entry of this server: %w", err)
	}
	mine := func(r record) bool { return r.PID == e.PID }
	if err := list.update(func(rs []record) []record {
		return append(slices.DeleteFunc(rs, mine), record{e, raw})
	}); err != nil {
		return nil, err
	}
	return func() error {
		return list.update(func(rs []record) []record { return slices.DeleteFunc(rs, mine) })
	}, nil
}

// List is the servers of this account that run now, in the order in which they
// registered. Damaged lines and dead processes are passed over. No list is
// made where there is none.
func List(env func(string) string) ([]Entry, error) {
	running, _, err := Listed(env)
	return running, err
}

// Listed is List with the entries of processes that are gone: those were killed,
// and the next server takes them off.
func Listed(env func(string) string) (running, gone []Entry, err error) {
	list, err := listOf(env)
	if err != nil {
		return nil, nil, err
	}
	all, err := list.all()
	for _, r := range all {
		if r.runs() {
			running = append(running, r.Entry)
		} else {
			gone = append(gone, r.Entry)
		}
	}
	return running, gone, err
}

// serverList is the path of the list: JSON lines, replaced as a whole.
type serverList string

// record keeps the line as it was read: another version may have written more.
type record struct {
	Entry
	raw []byte
}

func listOf(env func(string) string) (serverList, error) {
	base, err := stateHome(runtime.GOOS, env, false)
	if err != nil {
		return "", err
	}
	return serverList(filepath.Join(base, "servers")), nil
}

// read are the records of running servers.
func (l serverList) read() ([]record, error) {
	records, err := l.all()
	return slices.DeleteFunc(records, func(r record) bool { return !r.runs() }), err
}

// all are the records, also those of dead processes.
func (l serverList) all() ([]record, error) {
	path := string(l)
	// Whoever could write the list could send a person to a forged config.
	err := Private(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the list of servers: %w", err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() > maxList {
		return nil, fmt.Errorf("the list of servers %q cannot be read or is too large: remove it, and restart the servers", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the list of servers: %w", err)
	}
	var records []record
	for line := range bytes.Lines(data) {
		r := record{raw: bytes.TrimSpace(line)}
		if json.Unmarshal(r.raw, &r.Entry) == nil {
			records = append(records, r)
		}
	}
	return records, nil
}

// runs reports whether the very process that registered is alive.
func (e Entry) runs() bool { return Process{e.PID, e.Birth}.runs() }

// update changes the list while no other process can. It is not synced to the
// disk: after a loss of power no server runs.
func (l serverList) update(edit func([]record) []record) error {
	path := string(l)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the folder of the list of servers: %w", err)
	}
	err := Update(path, false, func() (text []byte, err error) {
		records, err := l.read()
		if err != nil {
			return nil, err
		}
		for _, r := range edit(records) {
			text = append(append(text, r.raw...), '\n')
		}
		return text, nil
	})
	if err != nil {
		return fmt.Errorf("the list of servers: %w", err)
	}
	return nil
}
