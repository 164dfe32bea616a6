package state_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"vault-mcp/internal/fault"
	"vault-mcp/vault/change"
)

// manyFolders is a plan over more folders than are open at once, whose edits
// come in no order of theirs; some files are edited twice, and one folder is
// moved in the middle.
func manyFolders() (tree, change.Plan) {
	t := tree{map[string]bool{}, map[string]string{}}
	var p change.Plan
	put := func(path, old, now string) {
		p.Edits = append(p.Edits, change.NewPut(path, []byte(old), []byte(now)))
	}
	for i := range 300 {
		dir := fmt.Sprintf("F%d", i%150)
		t.dirs[dir] = true
		f := fmt.Sprintf("%s/n%d.md", dir, i)
		t.files[f] = strings.Repeat("text of "+f+"\n", 50)
		put(f, t.files[f], t.files[f]+"one\n")
		if i%40 == 0 {
			put(f, t.files[f]+"one\n", t.files[f]+"one\ntwo\n")
		}
		if i%60 == 0 {
			p.Edits = append(p.Edits, change.NewCreate(dir+"/new.md", []byte("new\n")))
		}
		if i == 200 {
			p.Edits = append(p.Edits, change.Edit{Kind: change.Move, Dir: true, Path: "F7", To: "Moved"})
		}
	}
	return t, p
}

// Files are written ahead of their edits: whatever fails, none of those is left.
func TestNoFileThatWasWrittenAheadIsLeft(t *testing.T) {
	was, plan := manyFolders()
	ops, _, is := recordOps(t, was, plan)
	for f := range is.files {
		if strings.Contains(f, change.TempPrefix) {
			t.Fatalf("%s is left after a change", f)
		}
	}
	step := len(ops) / 7
	if *soak {
		step = 5
	}
	s := openState(t, t.TempDir())
	for at := 1; at < len(ops)-2; at += step {
		dir := t.TempDir()
		was.put(t, dir)
		a := applier(t, dir, s)
		var left atomic.Int64
		left.Store(int64(at))
		a.Disk = failing{a.Disk, &left, syscall.ENOSPC}
		r := &change.Record{ID: change.NewID(), Tool: "t", Caller: "test"}
		err := a.Apply(t.Context(), r, plan, func(context.Context) (change.Plan, error) { return plan, nil })
		if fault.Of(err).Code != fault.WriteFailed || !strings.Contains(err.Error(), "the disk is full") {
			t.Fatalf("operation %d (%s %s) fails: %v", at, ops[at].what, ops[at].a, err)
		}
		if got := read(t, dir); !got.equal(was) {
			t.Fatalf("operation %d (%s %s) fails:\n%s", at, ops[at].what, ops[at].a, differences(was, got))
		}
	}
}

// A file that something else changes after its new text was written ahead, and
// before its turn, keeps what it was given.
func TestWhatIsSavedBetweenWritingAheadAndItsTurnStays(t *testing.T) {
	was, plan := manyFolders()
	for _, how := range []string{"in place", "permissions"} {
		t.Run(how, func(t *testing.T) {
			dir := t.TempDir()
			was.put(t, dir)
			a := applier(t, dir, openState(t, t.TempDir()))
			var once atomic.Bool
			a.Disk = acting{a.Disk, func(op, name string) error {
				// The first exchange: dozens of others are written by then.
				if op != "swap" || once.Swap(true) {
					return nil
				}
				last := dir + "/" + plan.Edits[20].Path
				if how == "permissions" {
					return os.Chmod(last, 0o640)
				}
				return os.WriteFile(last, []byte("saved by an editor\n"), 0o644)
			}}
			r := &change.Record{ID: change.NewID(), Tool: "t", Caller: "test"}
			err := a.Apply(t.Context(), r, plan, func(context.Context) (change.Plan, error) { return plan, nil })
			got := read(t, dir)
			if how == "permissions" {
				info, e := os.Stat(dir + "/" + plan.Edits[20].Path)
				if err != nil || e != nil || info.Mode().Perm() != 0o640 {
					t.Errorf("%v, %v, %v", info.Mode(), err, e)
				}
				return
			}
			want := was.clone()
			want.files[plan.Edits[20].Path] = "saved by an editor\n"
			if fault.Of(err).Code != fault.ConcurrentModification || !got.equal(want) {
				t.Errorf("%v\n%s", err, differences(want, got))
			}
		})
	}
}

// acting is a disk that does something just before an operation.
type acting struct {
	change.Disk
	before func(op, name string) error
}

type actingPlace struct {
	change.Place
	before func(op, name string) error
}

func (d acting) Place(rel string) (change.Place, error) {
	p, err := d.Disk.Place(rel)
	return actingPlace{p, d.before}, err
}

func (p actingPlace) Write(name string, content []byte, mode fs.FileMode, like string) error {
	return errors.Join(p.before("write", name), p.Place.Write(name, content, mode, like))
}

func (p actingPlace) Swap(a, b string) error {
	return errors.Join(p.before("swap", b), p.Place.Swap(a, b))
}

func (p actingPlace) Move(name string, to change.Place, as string) error {
	return errors.Join(p.before("move", name), p.Place.Move(name, to.(actingPlace).Place, as))
}
