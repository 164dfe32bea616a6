// Package dispatch is the one way through: every call of every client passes
// Do, whose stages are read top to bottom. Whatever can refuse without a
// person comes before the person; whatever can fail without touching a note
// comes before an approval is spent.
package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"vault-mcp/governor"
	"vault-mcp/hitl"
	"vault-mcp/internal/acl"
	"vault-mcp/internal/audit"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/internal/telemetry"
	"vault-mcp/tools"
	"vault-mcp/vault/change"
)

// Request is a call as it came in.
type Request struct {
	Caller auth.Caller
	Tool   string
	Args   json.RawMessage
	// TextOnly says that the client knows no structured content.
	TextOnly bool
	// Reach is how the person behind the call can be reached.
	Reach hitl.Reach
}

// Call is a request on its way, with what the stages found out.
type Call struct {
	tools.Call
	Request Request
	Plan    change.Plan
	Targets hitl.Targets
	// Asked is the call as the gate sees it, once it has come to the gate.
	Asked *hitl.Call
	// Permit is a person's approval of the plan, which must not become another one;
	// nil where none is needed.
	Permit *change.Permit
	// Reading is why a person has to approve that something is read, where that is
	// all that is asked: of a query, an effect, or a change that changes nothing. Bound
	// is what would be read.
	Reading string
	Bound   []acl.Bound

	outcome  any   // what a change answers once its plan is applied
	withheld error // what a person has to approve that the caller learns
	result   *tools.Result
}

// Gate decides whether a call may run now. It answers with a fault, a
// *hitl.NeedsInput or a *hitl.ProtocolError when a person has to be asked first.
type Gate interface {
	// Answered looks at what came back with a retry, before anything else.
	Answered(context.Context, *Call) error
	// Choose tells which of several notes with a title a call means, or asks. try
	// plans the call with one of them, and fails with acl_denied or note_not_found for
	// one that it cannot mean.
	Choose(ctx context.Context, c *Call, title string, paths []string, try func(path string) error) (string, error)
	// Confirm sets the permit of the call where it needs one.
	Confirm(context.Context, *Call) error
	// Drifted explains that a plan that a person approved has become another one.
	Drifted(context.Context, *Call, change.Plan) error
	// Lost is err, or explains that a call that a person was asked about cannot be
	// planned any more.
	Lost(context.Context, *Call, error) error
}

// Applier carries out the plan of a confirmed change, and tells the id of what
// it did. If the vault is no longer as the plan expects, the error is
// *change.DriftError and nothing was done.
type Applier interface {
	Apply(context.Context, *Call) (id string, err error)
	// Spend uses the permit of a call that only reads up, before it runs; ended is
	// called with what became of it.
	Spend(context.Context, *Call) (ended func(error), err error)
	// Act runs an effect that a person may have approved: as long as it is held, what
	// it is about is compared with that, the permit is spent, and it runs.
	Act(context.Context, *Call) (any, error)
	// Seen is the receipt of an earlier call with the same idempotency key; nil if
	// there is none.
	Seen(context.Context, *Call) (json.RawMessage, error)
	// Foresee is what a caller should know of how a plan would be applied, besides
	// the plan's own warnings: Apply tells the same.
	Foresee(*Call, change.Plan) []string
}

// Complete fills in what became of the plan, and is what the caller will be
// answered.
func (c *Call) Complete(plan change.Plan, id string) (receipt json.RawMessage, err error) {
	if o, ok := c.outcome.(tools.Outcome); ok {
		o.Complete(plan, id, c.DryRun(), c.View.Knows, c.View.Sees)
	}
	return json.Marshal(c.outcome)
}

// Again makes the plan of a change anew, over the vault as it is now.
func (c *Call) Again(ctx context.Context) (change.Plan, error) {
	seal := c.View.Reopen()
	plan, err := c.again(ctx)
	if seal() {
		plan.Bound = append(plan.Bound, moreAsked) // so that it is another plan
	}
	return plan, err
}

func (c *Call) again(ctx context.Context) (change.Plan, error) {
	if err := c.Resolve(ctx); err != nil {
		return change.Plan{}, err
	}
	plan, outcome, err := c.Tool.Plan(ctx, &c.Call)
	if err == nil {
		c.outcome = outcome
	}
	return plan, err
}

// Config is what a Dispatcher needs. Gate and Applier may be nil as long as no
// tool is registered that needs them.
type Config struct {
	Registry *tools.Registry
	// Views are the configured vaults by id.
	Views map[string]*acl.View
	// Vaults are the ids in the order of the config.
	Vaults []string
	// MaxResponseBytes is the most that an answer may have.
	MaxResponseBytes int
	// Soft is how much of an answer is enough.
	Soft     governor.Soft
	Throttle *governor.Throttle
	Cursors  governor.Cursors
	Gate     Gate
	Applier  Applier
	Audit    *audit.Log
	Meter    *telemetry.Meter
	Log      *slog.Logger
	// RequireCAS refuses a change of text that does not name the version that its
	// caller has read.
	RequireCAS bool
	// Refresh takes up folder rules that have changed, before a call; it may be nil.
	Refresh func()
	// Entered is told each stage that a call enters, for tests; it may be nil.
	Entered func(stage string)
}

// Dispatcher runs calls.
type Dispatcher struct {
	Config
	stages []stage
}

// stage passes a call on, or ends it with an error.
type stage struct {
	name  string
	check func(context.Context, *Call) error
}

// New checks that every registered tool can be governed.
func New(c Config) (*Dispatcher, error) {
	for _, t := range c.Registry.All() { // hidden ones are queries
		if t.Kind != tools.KindQuery && c.Gate == nil {
			return nil, fmt.Errorf("tool %s changes something, and there is no gate", t.Name)
		}
		if t.Kind == tools.KindChange && c.Applier == nil {
			return nil, fmt.Errorf("tool %s plans edits, and nothing applies them", t.Name)
		}
	}
	d := &Dispatcher{Config: c}
	d.stages = d.all()
	return d, nil
}

func (d *Dispatcher) all() []stage {
	return []stage{
		{"bind", d.bind},
		{"caller", d.caller},
		{"answer", d.answer},
		{"folders", d.folders},
		{"replay", d.replay},
		{"throttle", d.throttle},
		{"title", d.title},
		{"plan", d.plan},
		{"folders", d.planFolders},
		{"confirm", d.confirm},
		{"run", d.run},
		{"govern", d.govern},
	}
}

// Stages are the names of the stages in order, as the docs print them.
func Stages() []string {
	var names []string
	for _, s := range (&Dispatcher{}).all() {
		names = append(names, s.name)
	}
	return append(names, "audit")
}

// Do runs one call through every stage. The error is a *fault.Error,
// *hitl.NeedsInput or *hitl.ProtocolError.
func (d *Dispatcher) Do(ctx context.Context, req Request) (*tools.Result, error) {
	c := &Call{Request: req}
	c.Caller, c.TextOnly, c.Began = req.Caller, req.TextOnly, time.Now()
	c.Budget, c.Soft, c.Cursors = d.MaxResponseBytes, d.Soft, d.Cursors
	at, err := d.pass(ctx, c)
	d.enter("audit")
	d.record(context.WithoutCancel(ctx), c, at, err)
	if err != nil {
		return nil, outward(err)
	}
	return c.result, nil
}

// outward is an error as it leaves.
func outward(err error) error {
	if n, ok := errors.AsType[*hitl.NeedsInput](err); ok {
		return n
	}
	if p, ok := errors.AsType[*hitl.ProtocolError](err); ok {
		return p
	}
	return fault.Of(err)
}

// pass runs the stages up to the first that ends the call and names the one
// that decided. A panic ends the call, not the server.
func (d *Dispatcher) pass(ctx context.Context, c *Call) (at string, err error) {
	defer func() {
		if r := recover(); r != nil {
			d.Log.ErrorContext(ctx, "panic", "tool", c.Request.Tool, "stage", at, "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
			err = fault.New(fault.Internal, "Something went wrong inside the server; its log has the details.").
				Because(fmt.Errorf("panic in %s", at))
		}
	}()
	for _, s := range d.stages {
		at = s.name
		d.enter(at)
		if err := ctx.Err(); err != nil && !c.done() {
			return at, err
		}
		if err := s.check(ctx, c); err == errAnswered {
			return at, nil
		} else if s, ok := errors.AsType[*hitl.Settled](err); ok {
			c.result, err = c.Render(s)
			return at, err
		} else if err != nil {
			return at, err
		}
	}
	return at, nil
}

// done reports whether something was changed that a late cancel must not turn
// into an error.
func (c *Call) done() bool { return c.result != nil && c.Tool.Kind != tools.KindQuery }

func (d *Dispatcher) enter(stage string) {
	if d.Entered != nil {
		d.Entered(stage)
	}
}

func (d *Dispatcher) record(ctx context.Context, c *Call, at string, err error) {
	if e, ok := errors.AsType[*fault.Error](err); ok {
		switch e.Code {
		case fault.Overflow:
			d.Meter.Add(telemetry.GovernorTruncationsTotal, 1)
			d.Meter.Event(ctx, telemetry.EventOverflow, "tool", c.Request.Tool, "result_size", e.Details["result_size"], "limit", e.Details["limit"])
		case fault.Throttled:
			d.Meter.Add(telemetry.ThrottledTotal, 1)
		}
	}
	r := audit.Record{Tool: c.Request.Tool, Caller: c.Caller.ID, Call: c.Hash, Stage: at, Err: err}
	if c.View != nil {
		r.Vault = c.View.ID
	}
	if c.result != nil {
		r.Size = c.result.Size()
	}
	d.Audit.Close(ctx, r)
}
