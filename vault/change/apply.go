package change

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"
)

// Applier applies plans to one vault. Its methods may be called at the same
// time, in several processes: one applies at a time.
type Applier struct {
	Disk    Disk
	Journal Journal
	// Lock takes the lock that all processes on the vault share. Its error is the
	// caller's: vault_busy.
	Lock func(context.Context) (release func(), err error)
	// Now is the time that the journal keeps.
	Now func() time.Time
	// Stop, once closed, ends an Apply after the edit in hand: recovery does the
	// rest.
	Stop <-chan struct{}

	wrote map[string]stamp // under Lock
}

// ErrStopped says that the process ends in the middle of a change, which
// recovery will take back.
var ErrStopped = errors.New("the server is stopping; the change will be taken back")

// NewID is an id for a Record.
func NewID() string {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// Apply carries out a plan. again makes the same plan anew, under the lock: if
// it is another, the error is *DriftError and nothing was written. r says who
// asks; Apply fills in what happened. Once the journal has begun, ctx no longer
// counts. A nil error means that every edit is on the disk and the journal says
// so.
//
// With an error, r.Outcome is "" if the journal never began, and tells how far
// it went otherwise. Errors are *fault.Error (concurrent_modification,
// write_failed), *DriftError, ErrStopped, or those of Lock, again and Journal.
func (a *Applier) Apply(ctx context.Context, r *Record, plan Plan, again func(context.Context) (Plan, error)) error {
	release, err := a.Lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := a.Settle(ctx); err != nil {
		return err
	}
	if _, err := a.rest(ctx, plan.Edits); err != nil {
		return err
	}
	now, err := again(ctx)
	if err == nil {
		// The files that are found only now have to be at rest as well.
		var waited bool
		if waited, err = a.rest(ctx, now.Edits); err == nil && waited {
			now, err = again(ctx)
		}
	}
	if err != nil {
		return err
	}
	if paths := drift(plan, now); paths != nil {
		return &DriftError{paths, now}
	}
	permissions(a.Disk, now.Edits)
	r.Edits, r.Began = now.Edits, a.Now()
	if r.Summary == "" {
		r.Summary = now.Summary
	}
	if err := a.Journal.Begin(ctx, r); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	w := a.newWork(r)
	defer w.close()
	failure := w.run(a.Stop)
	a.remember(r.Edits)
	if errors.Is(failure, ErrStopped) {
		return failure
	}
	r.Ended = a.Now()
	if failure == nil {
		r.Outcome = Applied
		if err := w.drop(); err != nil {
			return nil // done, but not tidied up: left open, for the next one to settle
		}
	} else if err := w.takeBack(w.reached); err != nil {
		return indeterminate(r, failure) // left open, for the next one to try again
	}
	// Should this fail, the next one to settle finds the same outcome.
	_ = a.Journal.End(ctx, r)
	if r.Outcome == Indeterminate {
		return indeterminate(r, failure)
	}
	return failure
}

// Settle ends what dead processes have left open. Its caller holds the lock.
func (a *Applier) Settle(ctx context.Context) error {
	open, err := a.Journal.Open(ctx)
	if err != nil {
		return err
	}
	for _, r := range open {
		w := a.newWork(r)
		err := w.recover()
		w.close()
		if err != nil {
			return fmt.Errorf("settle change %s: %w", r.ID, err)
		}
		r.Ended = a.Now()
		if err := a.Journal.End(context.WithoutCancel(ctx), r); err != nil {
			return err
		}
	}
	return nil
}
