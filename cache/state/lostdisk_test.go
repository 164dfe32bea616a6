package state_test

import (
	"context"
	"path/filepath"
	"testing"

	"vault-mcp/internal/fault"
	"vault-mcp/internal/smalldisk"
	"vault-mcp/vault/change"
)

// A disk that reports errors is often made read-only by the system. Then nothing
// can be taken back either, before it is writable again.
func TestADiskThatBecomesReadOnlyInTheMiddleOfAChange(t *testing.T) {
	smalldisk.Run(t, func(t *testing.T) {
		was, plan := fiftyFiles()
		disk := smalldisk.New(t, 4<<20)
		dir := filepath.Join(disk.Dir, "vault")
		was.put(t, dir)
		a := applier(t, dir, openState(t, t.TempDir()))
		whole := a.Disk
		swaps := 0
		a.Disk = acting{a.Disk, func(op, _ string) error {
			if op == "swap" {
				if swaps++; swaps == 10 {
					disk.ReadOnly(t, true)
				}
			}
			return nil
		}}
		r := &change.Record{ID: change.NewID(), Tool: "t", Caller: "test"}
		err := a.Apply(t.Context(), r, plan, func(context.Context) (change.Plan, error) { return plan, nil })
		if c := fault.Of(err).Code; c != fault.IndeterminateOutcome {
			t.Fatalf("%s: %v", c, err)
		}
		disk.ReadOnly(t, false)
		a.Disk = whole
		if err := a.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := read(t, dir); !got.equal(was) {
			t.Error(differences(was, got))
		}
	})
}
