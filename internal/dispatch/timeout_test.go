package dispatch_test

import (
	"context"
	"testing"
	"testing/synctest"

	"vault-mcp/internal/fault"
)

// A query that takes too long ends with the reason while its client still
// listens.
func TestQueryEndsBeforeItsClientGivesUp(t *testing.T) {
	b := newBench(t)
	synctest.Test(t, func(t *testing.T) {
		b.cancel = func() {} // nobody cancels it
		_, err := b.do(context.Background(), "waits", `{"path":"a.md"}`)
		if code(err) != fault.OperationTimeout {
			t.Errorf("got %v", err)
		}
	})
}
