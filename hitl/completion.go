package hitl

import (
	"context"
	"errors"
	"log/slog"
	"math/bits"
	"sync"
	"time"
)

// Party is for whom something is done: a user of a tenant. Ids count, not names.
type Party struct{ Tenant, User string }

// Consent is an address that a person was asked to open, and what became of it.
// It says who started it, which call waits, whether the outside has finished
// and with what result, and whether that result was applied.
type Consent struct {
	// ID is the opaque id in the address.
	ID string
	// Party has started it, and nobody else has a part in it.
	Party
	// Call is the id of what waits for it.
	Call   string
	Status ConsentStatus
	// Result is the outside's own lasting id of what it did; "" until it finished.
	Result string
	// Offered is when the address was shown. The others are zero as long as nothing
	// of the kind happened.
	Offered, Accepted, Finished, Applied time.Time
}

// ConsentStatus is where a consent stands.
type ConsentStatus string

// The statuses of a consent.
const (
	// ConsentOffered waits for a person to open the address.
	ConsentOffered ConsentStatus = "offered"
	// ConsentPending has a person who said that they open it. That is all it says.
	ConsentPending ConsentStatus = "pending"
	// ConsentFinished has evidence from the outside.
	ConsentFinished ConsentStatus = "finished"
	// ConsentApplied has had its effect, and never has it again.
	ConsentApplied ConsentStatus = "applied"
	// ConsentDeclined was refused, and ConsentAbandoned given up, by a person.
	ConsentDeclined  ConsentStatus = "declined"
	ConsentAbandoned ConsentStatus = "abandoned"
)

const (
	// ConsentWindow is how long after a person's consent evidence is taken.
	ConsentWindow = 15 * time.Minute
	// maxResult bounds the id of a result, in bytes.
	maxResult = 200
)

// Ruling is what the registry makes of something that comes in.
type Ruling string

// The rulings.
const (
	// RulingOffered: nobody has consented yet.
	RulingOffered Ruling = "offered"
	// RulingPending: consent is there, and nothing else. It is never an approval.
	RulingPending Ruling = "consent_pending"
	// RulingRetry: consent is there, but no word from the outside. It has neither
	// failed nor succeeded.
	RulingRetry Ruling = "retry_required"
	// RulingCompleted: the evidence was taken, or had been before.
	RulingCompleted Ruling = "completed"
	// RulingApply: the result is there, and whoever is told so applies it, as the only one.
	RulingApply Ruling = "apply"
	// RulingApplied: the result was handed out before.
	RulingApplied Ruling = "already_applied"
	// RulingRepeated: evidence for what has finished; ignored.
	RulingRepeated Ruling = "ignored_repeated"
	// RulingUnknown: there is no consent with that id; ignored. Outside, nobody must be
	// able to tell it from RulingForeign.
	RulingUnknown Ruling = "ignored_unknown"
	// RulingForeign: somebody else's, or another call's; denied, and a security signal.
	RulingForeign Ruling = "denied_foreign"
	// RulingLate: the time is over; denied.
	RulingLate Ruling = "denied_expired"
	// RulingUnproven: evidence without a result, or without a person's consent; denied.
	RulingUnproven Ruling = "denied_unproven"
	// RulingAbandoned and RulingDeclined: a person does not want it. What comes then is denied.
	RulingAbandoned Ruling = "abandoned"
	RulingDeclined  Ruling = "declined"
)

// Why a store of consents refuses.
var (
	// ErrNoConsent means that there is none with that id.
	ErrNoConsent = errors.New("there is no consent with that id")
	// ErrConsentTaken means that the id was used before.
	ErrConsentTaken = errors.New("the id was used for another consent")
	errUnfounded    = errors.New("a consent needs an opaque id, a tenant, a user and a call")
)

// Consents keeps consents. Each method is one transaction that no other process
// interrupts, and that is on the disk when it returns. Times are the greater of
// the clock and the highest time ever kept.
type Consents interface {
	// OfferConsent keeps a new consent and sets when. It forgets those that were
	// offered longer ago than RequestLife. It fails with ErrConsentTaken.
	OfferConsent(context.Context, *Consent) error
	// ChangeConsent calls f once with the consent that has an id, and keeps what f
	// makes of it if f says so. It fails with ErrNoConsent.
	ChangeConsent(ctx context.Context, id string, f func(c *Consent, now time.Time) (keep bool)) error
	// FindConsent is the consent with an id. It fails with ErrNoConsent.
	FindConsent(ctx context.Context, id string) (*Consent, error)
}

// Registry decides what consents and evidence lead to. Its methods may be
// called at the same time, by several processes on one store.
type Registry struct {
	Store Consents
	// Log gets what was ignored and denied: the kind and how often, never an id. A
	// kind is written each time that its number has doubled, so that nobody fills it.
	Log *slog.Logger

	mu     sync.Mutex
	counts map[Ruling]uint
}

// Offer registers an address before it is shown. It fails with ErrConsentTaken,
// and where c does not say who and what it is for.
func (r *Registry) Offer(ctx context.Context, c *Consent) error {
	if !Opaque(c.ID) || c.Tenant == "" || c.User == "" || c.Call == "" {
		return errUnfounded
	}
	c.Status = ConsentOffered
	return r.Store.OfferConsent(ctx, c)
}

// Answered takes what a client says that a person did with the address. A page
// that a person has opened may say the same. An accept begins the time in which
// evidence is taken; a second one does not prolong it.
func (r *Registry) Answered(ctx context.Context, who Party, id string, a Action) (Ruling, error) {
	return r.rule(ctx, who, id, func(c *Consent, now time.Time) (Ruling, bool) {
		keep := c.Status == ConsentOffered && !c.late(now) && a != Cancel
		if keep && a == Accept {
			c.Status, c.Accepted = ConsentPending, now
		} else if keep {
			c.Status = ConsentDeclined
		}
		return c.stands(now), keep
	})
}

// Complete takes the outside's word that somebody has done what was asked of
// them, with the lasting id of the result. The first word counts.
func (r *Registry) Complete(ctx context.Context, who Party, id, result string) (Ruling, error) {
	return r.rule(ctx, who, id, func(c *Consent, now time.Time) (Ruling, bool) {
		switch s := c.stands(now); {
		case s == RulingCompleted, s == RulingApplied:
			return RulingRepeated, false
		case s == RulingOffered, s == RulingPending && (result == "" || len(result) > maxResult):
			return RulingUnproven, false
		case s != RulingPending:
			return s, false
		}
		c.Status, c.Finished, c.Result = ConsentFinished, now, result
		return RulingCompleted, true
	})
}

// Retry is the call that waits, made again. If the outside has finished, it gets
// the result, and with RulingApply the duty to apply it: what asks after it gets
// RulingApplied. A process that dies in between has not applied it, and nobody
// will: an effect is lost rather than made twice.
func (r *Registry) Retry(ctx context.Context, who Party, id, call string) (ruling Ruling, result string, err error) {
	ruling, err = r.rule(ctx, who, id, func(c *Consent, now time.Time) (Ruling, bool) {
		if c.Call != call {
			return RulingForeign, false
		}
		result = c.Result
		switch s := c.stands(now); s {
		case RulingPending:
			return RulingRetry, false
		case RulingCompleted:
			c.Status, c.Applied = ConsentApplied, now
			return RulingApply, true
		default:
			return s, false
		}
	})
	if err != nil {
		return "", "", err
	}
	return ruling, result, nil
}

// Abandon gives up what has not finished.
func (r *Registry) Abandon(ctx context.Context, who Party, id string) (Ruling, error) {
	return r.rule(ctx, who, id, func(c *Consent, now time.Time) (Ruling, bool) {
		keep := c.Status == ConsentOffered || c.Status == ConsentPending
		if keep {
			c.Status = ConsentAbandoned
		}
		return c.stands(now), keep
	})
}

// late reports whether the time for the next step is over. A result that came in
// time has no such end: it is there until the consent is forgotten.
func (c *Consent) late(now time.Time) bool {
	switch c.Status {
	case ConsentOffered:
		return !now.Before(c.Offered.Add(RequestLife))
	case ConsentPending:
		return !now.Before(c.Accepted.Add(ConsentWindow))
	}
	return false
}

// Waits reports whether the outside may still finish it: it is offered or pending,
// and in time.
func (c *Consent) Waits(now time.Time) bool {
	return (c.Status == ConsentOffered || c.Status == ConsentPending) && !c.late(now)
}

// stands is where a consent stands at a time.
func (c *Consent) stands(now time.Time) Ruling {
	if c.late(now) {
		return RulingLate
	}
	switch c.Status {
	case ConsentOffered:
		return RulingOffered
	case ConsentPending:
		return RulingPending
	case ConsentFinished:
		return RulingCompleted
	case ConsentApplied:
		return RulingApplied
	case ConsentDeclined:
		return RulingDeclined
	}
	return RulingAbandoned
}

// rule lets f decide about a consent, if it is that of who asks.
func (r *Registry) rule(ctx context.Context, who Party, id string, f func(*Consent, time.Time) (Ruling, bool)) (Ruling, error) {
	ruling, kept := RulingUnknown, false
	if Opaque(id) {
		err := r.Store.ChangeConsent(ctx, id, func(c *Consent, now time.Time) bool {
			if c.Party != who {
				ruling = RulingForeign
				return false
			}
			ruling, kept = f(c, now)
			return kept
		})
		if err != nil && !errors.Is(err, ErrNoConsent) {
			return "", err
		}
	}
	if !kept {
		r.note(ctx, ruling)
	}
	return ruling, nil
}

// note writes what was ignored or denied, ever more rarely.
func (r *Registry) note(ctx context.Context, ruling Ruling) {
	level := slog.LevelInfo
	switch ruling {
	case RulingForeign:
		level = slog.LevelWarn
	case RulingUnknown, RulingRepeated, RulingLate, RulingUnproven, RulingAbandoned, RulingDeclined:
	default:
		return
	}
	r.mu.Lock()
	if r.counts == nil {
		r.counts = map[Ruling]uint{}
	}
	r.counts[ruling]++
	n := r.counts[ruling]
	r.mu.Unlock()
	if bits.OnesCount(n) == 1 {
		r.Log.Log(ctx, level, "consent not taken", "ruling", string(ruling), "count", n, "security", ruling == RulingForeign)
	}
}
