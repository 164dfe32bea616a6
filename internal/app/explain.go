package app

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"vault-mcp/cache"
	"vault-mcp/hitl"
	"vault-mcp/internal/acl"
	"vault-mcp/internal/dispatch"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/vault/change"
	"vault-mcp/vault/trash"
)

// The outcomes of an Explanation.
const (
	WouldRun  = "run"
	WouldAsk  = "ask"
	WouldFail = "refuse"
)

// Explanation says what would become of a call, and what decides it.
type Explanation struct {
	Tool  string `json:"tool"`
	Kind  string `json:"kind,omitempty"`
	Scope string `json:"scope,omitempty"`
	Vault string `json:"vault,omitempty"`
	// Outcome is run, ask or refuse. Stage is the one that decides.
	Outcome string `json:"outcome"`
	Stage   string `json:"stage"`
	// Refusal is the code and message of what would be answered.
	Refusal *Refusal `json:"refusal,omitempty"`
	// Paths are those that the call names, and those that its plan touches where a
	// rule decides.
	Paths []JudgedPath `json:"paths"`
	Plan  *PlanSummary `json:"plan,omitempty"`
	// Floor is why a person is needed; "" if none is.
	Floor string `json:"floor"`
	// Routes are how a person would be reached, if one is needed.
	Routes *Routes `json:"routes,omitempty"`
}

// Refusal is an error of the wire.
type Refusal struct {
	Code     string `json:"code"`
	Message  string `json:"message"`
	Recovery string `json:"recovery,omitempty"`
}

// JudgedPath is a path with what the rules say about each operation.
type JudgedPath struct {
	Path   string    `json:"path"`
	Named  bool      `json:"named"`
	Judged []Verdict `json:"judged"`
}

// Verdict is what decides one operation. Rule counts from 1 and is 0, without a
// glob, where no rule says anything, so that it is allowed.
type Verdict struct {
	Op   string `json:"op"`
	Verb string `json:"verb"`
	Rule int    `json:"rule"`
	Glob string `json:"glob,omitempty"`
}

// PlanSummary is what a change would do.
type PlanSummary struct {
	Summary string `json:"summary"`
	Files   int    `json:"files"`
	Links   int    `json:"links_only" jsonschema:"files that only have links kept right"`
	Added   int    `json:"lines_added"`
	Removed int    `json:"lines_removed"`
}

// Routes says how a person is reached by each kind of client.
type Routes struct {
	Forms      string `json:"client_with_forms"`
	OlderForms string `json:"older_client_with_forms"`
	NoForms    string `json:"client_without_forms"`
	// Watched says that a console or page is open, which is told at once.
	Watched bool `json:"console_watches"`
}

// maxExplained is how many paths of a plan are listed.
const maxExplained = 20

// Explain says what would become of a call, without making it.
func (a *App) Explain(ctx context.Context, r dispatch.Request) *Explanation {
	c, at, err := a.Dispatcher.Explain(ctx, r)
	x := &Explanation{Tool: r.Tool, Outcome: WouldRun, Stage: at, Paths: []JudgedPath{}}
	if c.Tool != nil {
		x.Kind, x.Scope = c.Tool.Kind.String(), c.Tool.Scope.String()
	}
	if c.View != nil {
		x.Vault = c.View.ID
		x.paths(c)
	}
	if c.Tool != nil && c.Tool.Kind == tools.KindChange && err == nil && c.Withheld() == nil {
		x.plan(c.Plan)
	}
	if e := fault.Of(err); e != nil {
		x.Outcome, x.Refusal = WouldFail, &Refusal{string(e.Code), e.Message, e.Recovery}
		return x
	}
	x.Floor = c.Reading
	if x.Floor == "" && c.View != nil && c.Acts() {
		x.Floor = a.floor(ctx, c)
	}
	if x.Floor == "" {
		x.Stage = "run"
		return x
	}
	x.Outcome, x.Routes = WouldAsk, a.routes(c)
	if e := fault.Of(c.Withheld()); e != nil { // what the caller learns behind the gate
		x.Refusal = &Refusal{string(e.Code), e.Message, e.Recovery}
	}
	return x
}

func (x *Explanation) paths(c *dispatch.Call) {
	named := c.View.Named()
	for _, p := range named {
		x.Paths = append(x.Paths, judged(c.View, p, true, acl.Read, acl.Write, acl.Delete))
	}
	for _, p := range c.Plan.Paths() {
		if trash.Is(p) || change.Passing(p) || slices.Contains(named, p) {
			continue
		}
		j := judged(c.View, p, false, acl.Read, acl.Write, acl.Delete)
		if slices.ContainsFunc(j.Judged, func(v Verdict) bool { return v.Rule > 0 }) && len(x.Paths) < len(named)+maxExplained {
			x.Paths = append(x.Paths, j)
		}
	}
}

func judged(w *acl.View, path string, named bool, ops ...acl.Op) JudgedPath {
	j := JudgedPath{Path: path, Named: named}
	for _, op := range ops {
		v := w.Judge(op, path)
		row := Verdict{Op: op.String(), Verb: string(v.Verb), Rule: v.Rule}
		if v.Rule > 0 {
			row.Glob = w.Rules().Glob(v.Rule)
		}
		j.Judged = append(j.Judged, row)
	}
	return j
}

func (x *Explanation) plan(p change.Plan) {
	x.Plan = &PlanSummary{Summary: p.Summary}
	for i := range p.Edits {
		if strings.HasPrefix(p.Edits[i].Path, "/") {
			continue // what the system's trash notes beside a file
		}
		f, _ := tools.FileOf(&p.Edits[i])
		x.Plan.Files, x.Plan.Added, x.Plan.Removed = x.Plan.Files+1, x.Plan.Added+f.Added, x.Plan.Removed+f.Removed
		if f.Links {
			x.Plan.Links++
		}
	}
}

// routes are how a person would be reached now. A person can always approve by
// vault-mcp elicit, whatever the client can do.
func (a *App) routes(c *dispatch.Call) *Routes {
	e := a.cfg.Elicit
	command := "no form: it gets elicit_required, and the person approves by vault-mcp elicit"
	r := &Routes{Forms: "a form, whose answer comes with the call made again", OlderForms: "a form, for which the call waits", NoForms: command}
	if !e.Takes("form") {
		r.Forms, r.OlderForms = command+" (elicit.routes has no form)", command+" (elicit.routes has no form)"
	} else if !e.LegacyShim {
		r.OlderForms = command + " (elicit.legacy_shim is off)"
	}
	if dir, err := a.state.folder(a.writers[c.View.ID].at); err == nil {
		r.Watched = cache.Watched(dir)
	}
	return r
}

// Text is the explanation for a person, in lines.
func (x *Explanation) Text() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	switch x.Outcome {
	case WouldRun:
		line("It would run.")
	case WouldAsk:
		line("A person would be asked, because %s.", x.Floor)
	default:
		line("It would be refused at the stage %s: %s: %s", x.Stage, x.Refusal.Code, x.Refusal.Message)
	}
	if x.Kind != "" {
		line("tool: %s (%s), which needs the scope %s", x.Tool, x.Kind, x.Scope)
	}
	if x.Vault != "" {
		line("vault: %s", x.Vault)
	}
	for _, p := range x.Paths {
		by := "named by the call"
		if !p.Named {
			by = "touched by its plan"
		}
		line("%q, %s:", p.Path, by)
		for _, v := range p.Judged {
			if v.Rule == 0 {
				line("  %s: %s, by no rule", v.Op, v.Verb)
			} else {
				line("  %s: %s, by rule %d (%q)", v.Op, v.Verb, v.Rule, v.Glob)
			}
		}
	}
	if p := x.Plan; p != nil {
		if p.Files == 0 {
			line("plan: nothing would change")
		} else {
			line("plan: %s; %s, of which %d only have links kept right; %d lines added, %d removed", p.Summary, tools.Many(p.Files, "file", "files"), p.Links, p.Added, p.Removed)
		}
	}
	if x.Outcome == WouldFail {
		if x.Refusal.Recovery != "" {
			line("next: %s", x.Refusal.Recovery)
		}
		return hitl.Text(b.String())
	}
	if x.Floor == "" {
		line("person: none is needed")
		return hitl.Text(b.String())
	}
	if x.Refusal != nil {
		line("after the approval it would fail: %s: %s", x.Refusal.Code, x.Refusal.Message)
	}
	line("a client with forms: %s", x.Routes.Forms)
	line("an older client with forms: %s", x.Routes.OlderForms)
	line("a client without forms: %s", x.Routes.NoForms)
	if x.Routes.Watched {
		line("a console watches: the call waits for it as well")
	} else {
		line("no console watches")
	}
	return hitl.Text(b.String())
}
