package index

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// A person waits for the answer, nobody for the index.
func TestABuildGivesWayToQueriesThatReadTheFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ix := Open(nil, "", Options{})
		ix.giveWay(t.Context()) // nobody reads
		began := time.Now()
		one, two := ix.Reading(), ix.Reading()
		go func() {
			time.Sleep(time.Second)
			one()
			time.Sleep(time.Second)
			two()
		}()
		ix.giveWay(t.Context())
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("it gave way for %v", took)
		}
	})
}

// An agent that searches without a pause must not keep the index away for ever.
func TestABuildGivesWayForSoLongOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ix := Open(nil, "", Options{})
		var waited time.Duration
		for range 10 {
			done := ix.Reading()
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			ix.giveWay(ctx)
			cancel()
			waited += time.Since(began)
			done()
		}
		if waited != deference {
			t.Errorf("it gave way for %v, not %v", waited, deference)
		}
	})
}
