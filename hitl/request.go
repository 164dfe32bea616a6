package hitl

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"vault-mcp/internal/fingerprint"
)

// Status is where a request stands.
type Status string

// The statuses.
const (
	// Open waits for a person.
	Open Status = "open"
	// Approved has a grant that was not used yet.
	Approved Status = "approved"
	// Used has a grant that was consumed.
	Used Status = "used"
	// Declined was refused by a person, or by what answered for one. A person can
	// still approve it by command, console or page.
	Declined Status = "declined"
	// Superseded was about a state that is no more.
	Superseded Status = "superseded"
	// Abandoned was given up by a person.
	Abandoned Status = "abandoned"
	// Expired was not answered, or its grant not used, in time.
	Expired Status = "expired"
)

// Route is the way by which a person answered.
type Route string

// The routes.
const (
	// RouteCommand is the command with a hash, and the prompt of a call that the
	// person makes at a terminal.
	RouteCommand Route = "cli"
	// RouteConsole is the console that lists open requests.
	RouteConsole Route = "console"
	// RoutePage is the page in a browser.
	RoutePage Route = "page"
	// RouteState is a form of the protocol since 2026-07-28, by a signed state.
	RouteState Route = "state"
	// RouteShim is a form that this server itself sent, of older protocols.
	RouteShim Route = "shim"
)

// Person reports whether the route shows that a person of this account has
// answered, not a client in their name.
func (r Route) Person() bool { return r == RouteCommand || r == RouteConsole || r == RoutePage }

// Client is who attests an answer that came through a client.
const Client = "client"

// RequestLife is how long a person may answer a request.
const RequestLife = 24 * time.Hour

// Target is one thing that a confirmation is about: a name that the person
// understands, and the state it had when they were asked.
type Target struct {
	// Name is a path in the vault, "" for what only the person may see, or with Word
	// a word that everybody may know, such as HEAD.
	Name  string
	Word  bool
	State []byte
}

// Targets is everything that a confirmation of one effect is bound to, and what
// the person sees of it.
type Targets struct {
	Items []Target
	// Summary says in one sentence what would be done, and Undo whether that can be
	// taken back. Notes are what the person should know besides; they pass through
	// the client, like the summary.
	Summary, Undo string
	Notes         []string
	// Preview shows what would be done, as far as shown lets a path of the vault be
	// seen; "" stands for what is outside of it. nil is nothing to show.
	Preview func(shown func(path string) bool) string
}

// Word reports whether the name of a target is a word that everybody may know.
func (t Targets) Word(name string) bool {
	return slices.ContainsFunc(t.Items, func(i Target) bool { return i.Word && i.Name == name })
}

// Equal reports whether two confirmations are bound to the same.
func (t Targets) Equal(other Targets) bool {
	return slices.EqualFunc(t.Items, other.Items, func(a, b Target) bool { return a.Name == b.Name && bytes.Equal(a.State, b.State) })
}

// Bound is what a request and its grant hold for, and for nothing else.
type Bound struct {
	// Vault is the id of the vault.
	Vault, Tool, Caller string
	Call                fingerprint.Call
	State               fingerprint.State
}

// Request is a call that waits for a person, or has waited.
type Request struct {
	// ID has 32 hex digits.
	ID string
	Bound
	// Floor says why a person is needed, Summary what would be done, in one
	// sentence, and Preview shows it, as a unified diff.
	Floor, Summary, Preview string
	// Undo says whether it can be taken back, and Notes what the person should know
	// besides; they may name what the caller may not see.
	Undo  string
	Notes []string
	// Marks tell which target has changed when the state is another one.
	Marks []Mark
	// Candidates are what a person can choose from; empty if there is no choice.
	Candidates []Candidate
	// Method is the JSON-RPC method of the call. Mode is how a person has to be
	// asked, Negotiated what the client can do, and Fallback what is done instead.
	Method, Mode, Negotiated, Fallback string
	// Reason says why nothing is sent through the client; "" if it may be.
	Reason          Reason
	Raised, Expires time.Time
	Status          Status
	// Answered is when the status was set that it has, and Route how; zero while
	// open.
	Answered time.Time
	Route    Route
}

// Mark is a target without what it holds.
type Mark struct {
	Name string `json:"n"`
	Sum  string `json:"s"`
}

// Candidate is one of several notes that a call may mean.
type Candidate struct {
	Path  string            `json:"path"`
	State fingerprint.State `json:"state,omitempty"`
	// About says what would be done with it; "" where the call only reads.
	About string `json:"about,omitempty"`
}

// Grant is a person's approval of a request, good for one use.
type Grant struct {
	ID, RequestID string
	Route         Route
	// By is Client, or the account of the person.
	By     string
	Choice string
	Uses   int
	// Issued and Expires bound when it can be used; the others are zero as long as
	// nothing of the kind happened.
	Issued, Expires, Consumed, Released, Revoked time.Time
	// Change is the id of what the grant was used for last, "" if it was not.
	Change string
}

// Approval is a person's yes.
type Approval struct {
	Route Route
	By    string
	// TokenHash is the SHA-256 of a token that redeems the grant, or nil.
	TokenHash []byte
	Choice    string
	// Life is how long the grant can be used.
	Life time.Duration
}

// Why a store refuses.
var (
	// ErrNoRequest means that there is no such request.
	ErrNoRequest = errors.New("there is no such request")
	// ErrTooMany means that the caller has as many open requests as it may.
	ErrTooMany = errors.New("too many open requests")
	// ErrStatus means that the request is no longer in a status that allows this.
	ErrStatus = errors.New("the request is no longer open")
	// ErrChoice means that an approval does not say which of the notes is meant, or
	// names one that is none of them.
	ErrChoice = errors.New("the call may mean several notes: it has to be made with the path of one of them")
)

// MaxPreview is how much of a preview a request keeps, in bytes.
const MaxPreview = 256 << 10

// MaxOpen is how many open requests one caller may have.
const MaxOpen = 50

// Store keeps requests and grants. Each method is one transaction that is on
// the disk when it returns. Times are those of Now, which never goes back.
type Store interface {
	// Now is the greater of the clock and the highest time ever kept.
	Now(context.Context) (time.Time, error)
	// Latest is the newest request for a call of a caller, whatever its status, with
	// its grant; nil where there is none.
	Latest(ctx context.Context, vault, tool, caller string, call fingerprint.Call) (*Request, *Grant, error)
	// Find is the request with an id, with its grant, or nil. It fails with
	// ErrNoRequest.
	Find(ctx context.Context, id string) (*Request, *Grant, error)
	// Redeem is the request whose grant has a token. It fails with ErrNoRequest.
	Redeem(ctx context.Context, tokenHash []byte) (*Request, *Grant, error)
	// Granted is the request that has a grant. It fails with ErrNoRequest.
	Granted(ctx context.Context, grant string) (*Request, *Grant, error)
	// Raise keeps a new request, and supersedes what the same call has open, approved
	// or declined. It sets the times. An open or approved request of the same call about the
	// same state is taken instead of a new one. It fails with ErrTooMany.
	Raise(ctx context.Context, r *Request) error
	// Approve gives a request its grant, or renews that of an approved one. From
	// declined it works by a person's routes only. It fails with ErrStatus,
	// ErrNoRequest, ErrChoice.
	Approve(ctx context.Context, id string, a Approval) (*Grant, error)
	// End sets the status of a request that has one of some others, and takes its
	// grant back if that was not used. It fails with ErrStatus.
	End(ctx context.Context, id string, to Status, route Route, by string, from ...Status) error
}
