// Package tools says what a tool is: one of three kinds, declared in one place
// with its name, its arguments, the permission it needs and what a person would
// confirm. It knows no protocol.
//
// A Query reads and answers. A Change returns a plan, which one shared path
// applies. An Effect does something outside the notes and says itself what a
// confirmation of it is about. There is no fourth kind.
package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"vault-mcp/hitl"
	"vault-mcp/internal/acl"
	"vault-mcp/internal/auth"
	"vault-mcp/vault/change"
)

// Kind is one of the three kinds of tools.
type Kind int

// The kinds.
const (
	KindQuery Kind = iota
	KindChange
	KindEffect
)

// String is the kind's name in the docs.
func (k Kind) String() string { return [...]string{"query", "change", "effect"}[k] }

// Hints tell a client how careful it has to be. All four go out with every
// tool: what is left out, clients take for the worst.
type Hints struct {
	ReadOnly, Destructive, Idempotent, OpenWorld bool
}

// Spec is what every tool declares.
type Spec struct {
	// Name is the tool's name on the wire: a-z, 0-9 and _, at most 40 bytes.
	Name string
	// Title is what a person sees.
	Title string
	// Doc says when to use the tool and what comes back, in at most two
	// sentences.
	Doc string
	// Scope is what the caller must hold.
	Scope auth.Scope
	// Narrow says how an answer that is too large can be made smaller.
	Narrow string
	// Long says that an answer may pass 50,000 characters because the caller
	// asked for that much.
	Long bool
}

// Tool is a declared tool, ready to be registered.
type Tool struct {
	Spec
	Kind  Kind
	Hints Hints
	// Domain groups tools; the registry sets it.
	Domain string
	// Hidden says that the tool is no part of the surface.
	Hidden bool
	// Plain says that an answer can be a text or a picture alone.
	Plain bool
	// Floor is the effect's or change's standing need for a person.
	Floor hitl.Floor
	// Settle is that of an effect, or nil.
	Settle func(ctx context.Context, view *acl.View, intent json.RawMessage) (done, known bool)

	args    func() *arguments         // reflected when the tool is first used: a start has no use for it
	output  func() *jsonschema.Schema // made when it is asked for
	plan    func(context.Context, *Call) (change.Plan, any, error)
	targets func(context.Context, *Call) (hitl.Targets, error)
	none    string
	begin   func(context.Context, *Call) (Begun, error)
	run     func(context.Context, *Call) (any, error) // of a query, or the dry run of an effect
}

// Query declares a tool that reads and answers.
func Query[In, Out any](s Spec, run func(context.Context, *Call, In) (Out, error)) Tool {
	t := newTool[In, Out](s, KindQuery)
	t.Hints = Hints{ReadOnly: true, Idempotent: true}
	if run == nil {
		return t // refused at registration
	}
	t.run = func(ctx context.Context, c *Call) (any, error) { return run(ctx, c, *c.in.(*In)) }
	return t
}

// Change declares a tool that plans edits of notes. plan only reads; what it
// returns beside the plan is the result once the plan is applied.
func Change[In, Out any](s Spec, plan func(context.Context, *Call, In) (change.Plan, Out, error)) Tool {
	t := newTool[In, Out](s, KindChange)
	t.Hints = Hints{Destructive: true}
	if plan == nil {
		return t // refused at registration
	}
	t.plan = func(ctx context.Context, c *Call) (change.Plan, any, error) {
		p, out, err := plan(ctx, c, *c.in.(*In))
		return p, &out, err // a pointer, so that it can be completed
	}
	return t
}

// EffectSpec is what a tool declares that acts outside the notes.
type EffectSpec[In, Out any] struct {
	Spec
	// Floor is Always for an effect that needs a person on every real run.
	Floor hitl.Floor
	// Targets lists what a confirmation is bound to. An effect has either
	// Targets, or says in None why there is nothing to bind to.
	Targets func(context.Context, *Call, In) (hitl.Targets, error)
	None    string
	Run     func(context.Context, *Call, In) (Out, error)
	// Begin is in place of Run where something can be held, so that nobody else
	// changes it: what run does is done to the very state that a person approved,
	// and release is called when all is over. An error means that nothing was done.
	Begin func(context.Context, *Call, In) (run func(context.Context) (Out, error), release func(), err error)
	// Dry answers a dry run; an effect that takes dry_run needs it.
	Dry func(context.Context, *Call, In) (Out, error)
	// Settle looks what became of a run that told its intent and then died with its
	// process. known is false if that cannot be said any more.
	Settle func(ctx context.Context, view *acl.View, intent json.RawMessage) (done, known bool)
}

// Begun is an effect that holds what it is about.
type Begun struct {
	Run     func(context.Context) (any, error)
	Release func()
}

// Effect declares a tool that acts outside the notes.
func Effect[In, Out any](s EffectSpec[In, Out]) Tool {
	t := newTool[In, Out](s.Spec, KindEffect)
	t.Hints = Hints{Destructive: t.Mutates()}
	t.Floor, t.none = s.Floor, s.None
	if s.Targets != nil {
		t.targets = func(ctx context.Context, c *Call) (hitl.Targets, error) { return s.Targets(ctx, c, *c.in.(*In)) }
	}
	switch {
	case s.Begin != nil:
		t.begin = func(ctx context.Context, c *Call) (b Begun, err error) {
			run, release, err := s.Begin(ctx, c, *c.in.(*In))
			if err != nil {
				return b, err
			}
			return Begun{func(ctx context.Context) (any, error) { return run(ctx) }, release}, nil
		}
	case s.Run != nil:
		t.begin = func(_ context.Context, c *Call) (Begun, error) {
			return Begun{func(ctx context.Context) (any, error) { return s.Run(ctx, c, *c.in.(*In)) }, func() {}}, nil
		}
	}
	if s.Dry != nil {
		t.run = func(ctx context.Context, c *Call) (any, error) { return s.Dry(ctx, c, *c.in.(*In)) }
	}
	t.Settle = s.Settle
	return t
}

// newTool makes a tool that panics when its arguments or its result have no
// schema and are asked for one: the first test that lists the tools finds it.
func newTool[In, Out any](s Spec, k Kind) Tool {
	return Tool{Spec: s, Kind: k, Plain: plain[Out](), args: sync.OnceValue(func() *arguments {
		args, err := argumentsOf[In]()
		if err != nil {
			panic(fmt.Sprintf("tool %s: %v", s.Name, err))
		}
		return args
	}), output: func() *jsonschema.Schema {
		out, err := outputSchema[Out]()
		if err == nil && !s.Long && argsHave[In]("Cursor") {
			err = addCut(out)
		}
		if err != nil {
			panic(fmt.Sprintf("tool %s: %v", s.Name, err))
		}
		return out
	}}
}

// Takes reports whether the tool has an argument.
func (t *Tool) Takes(name string) bool {
	return slices.ContainsFunc(t.args().fields, func(f field) bool { return f.name == name })
}

// NeedsVault reports whether the tool works on a vault.
func (t *Tool) NeedsVault() bool { return t.args().vault }

// InputSchema is the JSON Schema of the arguments; several says that more than
// one vault is configured, so that the call has to name one.
func (t *Tool) InputSchema(several bool) json.RawMessage { return t.args().render(several) }

// OutputSchema is the JSON Schema of the structured result.
func (t *Tool) OutputSchema() json.RawMessage { return t.encode(t.output()) }

// Plan makes a Change's plan. Nothing is written.
func (t *Tool) Plan(ctx context.Context, c *Call) (change.Plan, any, error) { return t.plan(ctx, c) }

// Targets lists what a confirmation of an Effect is bound to; none for an
// effect that said so.
func (t *Tool) Targets(ctx context.Context, c *Call) (hitl.Targets, error) {
	if t.targets == nil {
		return hitl.Targets{}, nil
	}
	return t.targets(ctx, c)
}

// Run runs a Query, or tells what an Effect would do.
func (t *Tool) Run(ctx context.Context, c *Call) (any, error) { return t.run(ctx, c) }

// Begin takes hold of what an Effect is about; nothing is done until it is run.
func (t *Tool) Begin(ctx context.Context, c *Call) (Begun, error) { return t.begin(ctx, c) }

// Mutates reports whether the tool changes something that is not only this
// server's own.
func (t *Tool) Mutates() bool {
	return t.Kind == KindChange || t.Kind == KindEffect && t.Scope&^auth.Read != 0
}

// named reports whether a name is one that every client takes.
func named(name string) bool {
	if len(name) == 0 || len(name) > 40 || name[0] < 'a' || name[0] > 'z' {
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// check is the registration rule: a tool that a client cannot use, or that
// could act without a person having seen on what, is not served.
func (t *Tool) check() error {
	switch {
	case !named(t.Name):
		return fmt.Errorf("tool %q: a name has a-z, 0-9 and _, begins with a letter and has at most 40 bytes", t.Name)
	case t.Title == "" || t.Doc == "":
		return fmt.Errorf("tool %s: no title or no description", t.Name)
	case t.Kind == KindChange && t.plan == nil:
		return fmt.Errorf("tool %s: a change without a plan", t.Name)
	case t.Kind == KindEffect && t.targets == nil && t.none == "":
		return fmt.Errorf("tool %s: gated, and neither a plan nor targets nor none: a confirmation of it would be about nothing", t.Name)
	case t.Kind == KindEffect && t.targets != nil && t.none != "":
		return fmt.Errorf("tool %s: both targets and none", t.Name)
	case t.Kind == KindEffect && t.run == nil && t.Takes("dry_run"):
		return fmt.Errorf("tool %s: takes dry_run, and nothing answers one", t.Name)
	case t.Kind == KindQuery && t.run == nil, t.Kind == KindEffect && t.begin == nil:
		return fmt.Errorf("tool %s: nothing to run", t.Name)
	case t.Kind == KindQuery && t.Scope&^auth.Read&^auth.Admin != 0:
		return fmt.Errorf("tool %s: a query whose scope (%s) is more than reading", t.Name, t.Scope)
	}
	return nil
}
