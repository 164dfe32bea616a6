package state_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"vault-mcp/vault/change"
)

// dyingVault and dyingState are the folders of the vault and the state in the process that is to be
// killed.
const dyingVault, dyingState = "STATE_TEST_VAULT", "STATE_TEST_STATE"

// Who waits for the lock of a process that is killed in the middle of a change
// gets it at once, takes back what is half done, and then makes its own change.
func TestTheNextProcessSettlesWhatAKilledOneLeft(t *testing.T) {
	was, plan := fiftyFiles()
	if dir := os.Getenv(dyingVault); dir != "" {
		s := openState(t, os.Getenv(dyingState))
		a := applier(t, dir, s)
		a.Lock = s.Lock
		swaps := 0
		a.Disk = acting{a.Disk, func(op, _ string) error {
			if op == "swap" {
				if swaps++; swaps == 10 {
					fmt.Println("half done")
					select {} // until the end
				}
			}
			return nil
		}}
		r := &change.Record{ID: change.NewID(), Tool: "dying", Caller: "test"}
		t.Error(a.Apply(t.Context(), r, plan, func(context.Context) (change.Plan, error) { return plan, nil }))
		return
	}
	dir, stateDir := t.TempDir(), t.TempDir()
	was.put(t, dir)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), dyingVault+"="+dir, dyingState+"="+stateDir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "half done\n" {
		t.Fatalf("%q, %v", line, err)
	}
	s := openState(t, stateDir)
	a := applier(t, dir, s)
	a.Lock = s.Lock
	if release, ok := s.TryLock(); ok {
		release()
		t.Fatal("the other process does not hold the lock")
	}
	const path = "B/put 1.md"
	own := change.Plan{Edits: []change.Edit{change.NewPut(path, []byte(was.files[path]), []byte("by the second process\n"))}}
	ended := make(chan error)
	go func() {
		r := &change.Record{ID: change.NewID(), Tool: "second", Caller: "test"}
		ended <- a.Apply(t.Context(), r, own, func(context.Context) (change.Plan, error) { return own, nil })
	}()
	select {
	case err := <-ended:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	want := was.clone()
	want.files[path] = "by the second process\n"
	if got := read(t, dir); !got.equal(want) {
		t.Error(differences(want, got))
	}
	open, err := s.Journal().Open(t.Context())
	if err != nil || len(open) != 0 {
		t.Errorf("%d changes are open, %v", len(open), err)
	}
}
