package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"vault-mcp/cache"
	"vault-mcp/cache/state"
	"vault-mcp/hitl"
	"vault-mcp/internal/audit"
	"vault-mcp/internal/secrets"
)

const (
	// littleRoom and noRoom are free bytes on the disk of the state.
	littleRoom, noRoom = 1 << 30, 50 << 20
	// stuck is when a call has waited long for a person.
	stuck = time.Hour
	// begun is how long a change may take.
	begun = time.Minute
	// lately is how far back it matters that a change went wrong.
	lately = 30 * 24 * time.Hour
	// maxUncertain is how many of those are looked at.
	maxUncertain = 20
)

// state checks the state folder of a vault.
func (s subject) state(ctx context.Context, dir string, vaults []string) {
	if err := cache.Usable(dir, vaults...); err != nil {
		s.broken("state.usable", oneLine(err.Error()), "set state_dir in a config file to a folder on a local disk, outside every vault")
		return
	}
	if found := syncs(dir); len(found) > 0 {
		s.warn("state.sync", "the state folder "+dir+" is synced by "+strings.Join(found, ", ")+", which can damage it", "set state_dir in a config file to a folder that is not synced")
	}
	if free, ok := room(above(dir)); ok && free < littleRoom {
		text, fix := "only "+size(int64(free))+" are free on the disk of the state folder", "make room on it"
		if free < noRoom {
			s.broken("state.space", text+": changes cannot be kept, so none is made", fix)
		} else {
			s.warn("state.space", text, fix)
		}
	} else if ok {
		s.ok("state.space", "%s are free on its disk", size(int64(free)))
	}
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		s.off("state.folder", dir+" is not there yet", "nothing: the first call of a client makes it")
		return
	}
	if err != nil || !info.IsDir() {
		s.broken("state.usable", dir+" is no folder that can be used", "move it away")
		return
	}
	if err := cache.Private(dir); err != nil {
		s.broken("state.private", oneLine(err.Error()), "do what it says: until then nothing can be changed or approved")
		return
	}
	if !writable(dir) {
		s.broken("state.usable", "this account may not write into "+dir, "chmod u+rwx "+cache.ShellQuote(dir))
		return
	}
	s.ok("state.folder", "%s", dir)
	s.ok("state.private", "only this account can open it")
	s.kept(ctx, dir, s.keys(dir))
}

// above is a folder, or the nearest above it that exists.
func above(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil {
			return dir
		}
		up := dir[:max(strings.LastIndexByte(dir, os.PathSeparator), 0)]
		if up == "" {
			return string(os.PathSeparator)
		}
		dir = up
	}
}

// keys checks the ring of keys; nil if there is none.
func (s subject) keys(dir string) *secrets.Ring {
	ring, err := secrets.Existing(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.off("state.keys", "there are no keys in this state folder yet", "nothing: they are made when they are first needed")
		return nil
	case err != nil:
		s.broken("state.keys", oneLine(err.Error()), "do what it says: until then nothing can be approved")
		return nil
	}
	s.ok("state.keys", "key %s signs, in a file of mode 0600", ring.Current())
	return ring
}

// kept checks what must not be lost.
func (s subject) kept(ctx context.Context, dir string, ring *secrets.Ring) {
	if !state.Exists(dir) {
		s.off("state.open", "nothing was changed or asked for yet", "nothing: the first change makes the database")
		return
	}
	var signer state.Signer
	if ring != nil {
		signer = ring
	}
	st, err := state.Inspect(ctx, dir, signer)
	switch {
	case errors.Is(err, state.ErrNewer):
		s.broken("state.open", "a newer vault-mcp has changed the layout of state.db, so this version only reads", "install the newer version, also where your clients start it")
		return
	case errors.Is(err, state.ErrOlder):
		s.ok("state.open", "state.db has an older layout, which the next call of a client brings up to date")
		return
	case err != nil:
		s.broken("state.open", "state.db cannot be read: "+oneLine(err.Error()), "quit all clients, put a copy of the state folder aside, and restore it from a backup; without one, move state.db away: history and open approvals are lost")
		return
	}
	defer st.Close()
	st.At(func() time.Time { return s.e.o.Now })
	s.ok("state.open", "state.db has layout %d", state.Layout())
	err = errors.Join(s.audit(ctx, st, ring != nil), s.changes(ctx, st), s.requests(ctx, st))
	if err != nil && ctx.Err() == nil {
		s.broken("state.open", "state.db cannot be read as a whole: "+oneLine(err.Error()), "quit all clients, and restore the state folder from a backup")
	}
}

func (s subject) audit(ctx context.Context, st *state.Store, signed bool) error {
	if !signed {
		s.off("state.audit", "the audit cannot be verified without the keys", "nothing, if the keys were never made")
		return nil
	}
	r, err := st.Verify(ctx)
	if err != nil {
		return err
	}
	var report strings.Builder
	if _, err := audit.PrintReport(&report, "audit", r); err != nil {
		return err
	}
	if len(r.Faults) == 0 {
		s.ok("state.audit", "the audit is whole: %s", plural(int(r.Rows), "row"))
		return nil
	}
	more := ""
	if len(r.Faults) > 1 || r.More {
		more = fmt.Sprintf(" (and %d more faults)", len(r.Faults)-1)
	}
	s.broken("state.audit", "somebody has changed the audit: "+oneLine(r.Faults[0])+more, "vault-mcp audit verify --vault "+cache.ShellQuote(s.vault))
	return nil
}

// changes looks for changes that did not come to an end.
func (s subject) changes(ctx context.Context, st *state.Store) error {
	open, err := st.Journal().Open(ctx)
	if err != nil {
		return err
	}
	effects, err := st.Unsettled(ctx)
	if err != nil {
		return err
	}
	old := 0
	for _, r := range append(open, effects...) {
		if s.e.o.Now.Sub(r.Began) > begun {
			old++
		}
	}
	if old > 0 {
		s.warn("state.open_work", plural(old, "change")+" interrupted, and neither done nor taken back", "make one call with a client: it settles that, if no other program has changed the files since")
	} else {
		s.ok("state.open_work", "no change was left half done")
	}
	uncertain, err := st.Uncertain(ctx, s.e.o.Now.Add(-lately), maxUncertain)
	if err != nil {
		return err
	}
	for _, r := range uncertain {
		if len(r.Foreign) == 0 {
			continue
		}
		var files sample
		for _, path := range r.Foreign {
			files.add(hitl.Display(path))
		}
		s.add(Finding{
			Level: Warning, ID: "state.uncertain", Paths: files.first,
			Text: fmt.Sprintf("%s of %s ago could not be taken back as a whole: another program had changed %s", hitl.Display(r.Tool), age(s.e.o.Now, r.Ended), plural(files.count, "file")),
			Fix:  "compare the files with what was there before: vault-mcp call --vault " + cache.ShellQuote(s.vault) + " read_change '{\"change_id\":\"" + r.ID + "\"}'",
		})
	}
	return nil
}

// requests tells which calls wait for a person.
func (s subject) requests(ctx context.Context, st *state.Store) error {
	list, err := st.List(ctx)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(r *hitl.Request) bool { return r.Status != hitl.Open })
	if len(list) == 0 {
		s.ok("requests.open", "no call waits for you")
	} else {
		oldest := list[0]
		text := fmt.Sprintf("%s waiting for you, the oldest (%s) since %s", plural(len(list), "call"), hitl.Display(oldest.Tool), age(s.e.o.Now, oldest.Raised))
		f := Finding{Level: OK, ID: "requests.open", Text: text, Fix: "vault-mcp elicit"}
		if s.e.o.Now.Sub(oldest.Raised) > stuck {
			f.Level, f.ID = Warning, "requests.stuck"
			f.Fix = "vault-mcp elicit answers it; vault-mcp elicit abandon " + oldest.ID + " gives it up"
		}
		s.add(f)
	}
	unused, err := st.Unused(ctx)
	if err != nil {
		return err
	}
	if len(unused) > 0 {
		s.add(Finding{Level: OK, ID: "requests.unused", Text: plural(len(unused), "approval") + " not used yet", Fix: "tell the agent to make the same call again, before it expires"})
	}
	return nil
}
