package governor

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestAPointLivesForMonthsAndIsBoundLikeACursor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := Cursors{signer("key")}
		p, err := c.Point(bound, 7)
		if err != nil {
			t.Fatal(err)
		}
		other := bound
		other.Caller = "cli"
		var got int
		if r := reason(c.Read(other, p, &got)); r != "foreign" {
			t.Errorf("another caller: %q", r)
		}
		time.Sleep(PointLife - time.Minute)
		if err := c.Read(bound, p, &got); err != nil || got != 7 {
			t.Errorf("before its end: %d, %v", got, err)
		}
		time.Sleep(2 * time.Minute)
		if r := reason(c.Read(bound, p, &got)); r != "expired" {
			t.Errorf("behind its end: %q", r)
		}
	})
}
