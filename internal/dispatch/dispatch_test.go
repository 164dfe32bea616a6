package dispatch_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault-mcp/governor"
	"vault-mcp/hitl"
	"vault-mcp/internal/acl"
	"vault-mcp/internal/audit"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/dispatch"
	"vault-mcp/internal/fault"
	"vault-mcp/internal/secrets"
	"vault-mcp/internal/telemetry"
	"vault-mcp/tools"
	"vault-mcp/vault"
	"vault-mcp/vault/change"
)

type pathIn struct {
	tools.VaultArg
	Path tools.Note `json:"path"`
}
type plainIn struct {
	tools.VaultArg
	Path string `json:"path"`
}
type sizeIn struct {
	tools.VaultArg
	Size int `json:"size" limits:"max=10000000"`
}
type textOut struct {
	Text string `json:"text"`
}

// bench is a dispatcher over a real vault, which records its stages.
type bench struct {
	*dispatch.Dispatcher
	stages []string
	log    strings.Builder
	meter  *telemetry.Meter
	ran    int
	asked  []string // for which reasons
	cancel context.CancelFunc
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{}
	dir := t.TempDir()
	for p, text := range map[string]string{"a.md": "one\n", "Denied/x.md": "secret\n"} {
		full := filepath.Join(dir, p)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	v, err := vault.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.Close() })
	rules, err := acl.Compile([]acl.Rule{
		{Glob: "Denied/**", Read: acl.Deny, Write: acl.Deny, Delete: acl.Deny},
		{Glob: "Kept/**", Delete: acl.Deny},
		{Glob: "Rules/**", Write: acl.Deny},
	})
	if err != nil {
		t.Fatal(err)
	}
	query := func(name string, scope auth.Scope, run func(context.Context, *tools.Call, pathIn) (textOut, error)) tools.Tool {
		return tools.Query(tools.Spec{Name: name, Title: name, Doc: name, Scope: scope}, run)
	}
	reg, err := tools.NewRegistry(tools.Domain{Name: "test", Tools: []tools.Tool{
		query("read", auth.Read, func(_ context.Context, c *tools.Call, in pathIn) (textOut, error) {
			b.ran++
			p, err := in.Path.Path()
			if err != nil {
				return textOut{}, err
			}
			content, err := c.View.Read(p, 1000)
			return textOut{string(content.Bytes)}, err
		}),
		query("panics", auth.Read, func(context.Context, *tools.Call, pathIn) (textOut, error) {
			panic("secret /home/ana")
		}),
		query("administer", auth.Admin, func(context.Context, *tools.Call, pathIn) (textOut, error) { return textOut{}, nil }),
		query("waits", auth.Read, func(ctx context.Context, _ *tools.Call, _ pathIn) (textOut, error) {
			b.cancel()
			<-ctx.Done()
			return textOut{}, ctx.Err()
		}),
		tools.Query(tools.Spec{Name: "grow", Title: "Grow", Doc: "Grow.", Scope: auth.Read, Narrow: "a smaller size"},
			func(_ context.Context, _ *tools.Call, in sizeIn) (textOut, error) {
				return textOut{strings.Repeat("x", in.Size)}, nil
			}),
		tools.Change(tools.Spec{Name: "remove", Title: "Remove", Doc: "Remove.", Scope: auth.Delete},
			func(_ context.Context, _ *tools.Call, in pathIn) (change.Plan, textOut, error) {
				return change.Plan{Summary: "remove", Edits: []change.Edit{{Kind: change.Remove, Path: in.Path.Arg}}}, textOut{"removed"}, nil
			}),
		tools.Change(tools.Spec{Name: "keep", Title: "Keep", Doc: "Keep.", Scope: auth.Write},
			func(_ context.Context, _ *tools.Call, in plainIn) (change.Plan, textOut, error) {
				return change.Plan{Edits: []change.Edit{{Kind: change.Put, Path: in.Path, Upkeep: true}}}, textOut{}, nil
			}),
		tools.Effect(tools.EffectSpec[sizeIn, textOut]{
			Spec:  tools.Spec{Name: "act", Title: "Act", Doc: "Act.", Scope: auth.Execute},
			Floor: hitl.Always("test"), None: "it is a test",
			Run: func(_ context.Context, _ *tools.Call, in sizeIn) (textOut, error) {
				b.ran++
				return textOut{strings.Repeat("x", in.Size)}, nil
			},
		}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(&b.log, nil))
	b.meter = &telemetry.Meter{Log: log}
	b.Dispatcher, err = dispatch.New(dispatch.Config{
		Registry: reg,
		Views: map[string]*acl.View{
			"main":   acl.NewView("main", v, rules, false),
			"closed": acl.NewView("closed", v, nil, true),
		},
		Vaults:           []string{"main"},
		MaxResponseBytes: 10_000,
		Throttle:         &governor.Throttle{Limits: map[string]governor.Limit{"read": {PerMinute: 60, Burst: 3}}},
		Cursors:          governor.Cursors{Signer: secrets.NewProcessRing()},
		Gate:             b, Applier: b,
		Audit:   &audit.Log{Meter: b.meter, Log: log},
		Meter:   b.meter,
		Log:     log,
		Entered: func(s string) { b.stages = append(b.stages, s) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Confirm lets effects and changes run that name no path with "ask" in it.
func (b *bench) Confirm(_ context.Context, c *dispatch.Call) error {
	b.asked = c.Plan.Ask
	if strings.Contains(string(c.Request.Args), "ask") {
		return fault.New(fault.ElicitRequired, "A person has to approve.")
	}
	return nil
}

func (b *bench) Choose(_ context.Context, _ *dispatch.Call, title string, paths []string, _ func(string) error) (string, error) {
	return "", hitl.Ambiguous(title, paths)
}

func (b *bench) Answered(context.Context, *dispatch.Call) error             { return nil }
func (b *bench) Drifted(context.Context, *dispatch.Call, change.Plan) error { return nil }
func (b *bench) Lost(_ context.Context, _ *dispatch.Call, err error) error  { return err }
func (b *bench) Apply(context.Context, *dispatch.Call) (string, error)      { b.ran++; return "1", nil }
func (b *bench) Spend(context.Context, *dispatch.Call) (func(error), error) {
	return func(error) {}, nil
}
func (b *bench) Act(ctx context.Context, c *dispatch.Call) (any, error) {
	begun, err := c.Tool.Begin(ctx, &c.Call)
	if err != nil {
		return nil, err
	}
	defer begun.Release()
	return begun.Run(ctx)
}
func (b *bench) Seen(context.Context, *dispatch.Call) (json.RawMessage, error) { return nil, nil }
func (b *bench) Foresee(*dispatch.Call, change.Plan) []string                  { return nil }

func (b *bench) do(ctx context.Context, tool, args string) (*tools.Result, error) {
	b.stages = nil
	return b.Do(ctx, dispatch.Request{Caller: auth.Caller{ID: "stdio", Scopes: auth.All &^ auth.Admin}, Tool: tool, Args: json.RawMessage(args)})
}

// Each call passes exactly these stages, in this order.
func TestStages(t *testing.T) {
	all := []string{"bind", "caller", "answer", "folders", "replay", "throttle", "title", "plan", "folders", "confirm", "run", "govern", "audit"}
	upTo := func(n int) []string { return append(append([]string{}, all[:n]...), "audit") }
	tests := []struct {
		name, tool, args string
		code             fault.Code
		stages           []string
	}{
		{"success", "read", `{"path":"a.md"}`, "", all},
		{"bad arguments", "read", `{"pth":"a.md"}`, fault.ValidationError, upTo(1)},
		{"arguments that are no object", "read", `[1]`, fault.ValidationError, upTo(1)},
		{"unknown tool", "reed", `{}`, fault.NotFound, upTo(1)},
		{"unknown vault", "read", `{"path":"a.md","vault":"x"}`, fault.VaultNotFound, upTo(2)},
		{"scope that the caller lacks", "administer", `{"path":"a.md"}`, fault.Forbidden, upTo(2)},
		{"denied folder", "read", `{"path":"Denied/x.md"}`, fault.ACLDenied, upTo(4)},
		{"denied folder, absent note", "read", `{"path":"Denied/y.md"}`, fault.ACLDenied, upTo(4)},
		{"absent note", "read", `{"path":"b.md"}`, fault.NoteNotFound, upTo(11)},
		{"over budget", "grow", `{"size":20000}`, fault.Overflow, all},
		{"panic", "panics", `{"path":"a.md"}`, fault.Internal, upTo(11)},
		{"change", "remove", `{"path":"a.md"}`, "", all},
		{"change of a denied path, found in its plan", "remove", `{"path":"Kept/y.md"}`, fault.ACLDenied, upTo(9)},
		{"change that a person has to approve", "remove", `{"path":"ask.md"}`, fault.ElicitRequired, upTo(10)},
		{"change in a read-only vault", "remove", `{"path":"a.md","vault":"closed"}`, fault.ReadOnly, upTo(2)},
		{"reading from a read-only vault", "read", `{"path":"a.md","vault":"closed"}`, "", all},
		{"effect", "act", `{"size":1}`, "", all},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			_, err := b.do(t.Context(), tt.tool, tt.args)
			if got := code(err); got != tt.code {
				t.Errorf("code %q, want %q (%v)", got, tt.code, err)
			}
			if d := cmp.Diff(tt.stages, b.stages); d != "" {
				t.Errorf("stages (-want +got):\n%s", d)
			}
		})
	}
	if d := cmp.Diff(all, dispatch.Stages()); d != "" {
		t.Errorf("Stages() (-want +got):\n%s", d)
	}
}

func code(err error) fault.Code {
	if err == nil {
		return ""
	}
	return err.(*fault.Error).Code
}

func TestThrottledCallRunsNothing(t *testing.T) {
	b := newBench(t)
	for range 3 {
		if _, err := b.do(t.Context(), "read", `{"path":"a.md"}`); err != nil {
			t.Fatal(err)
		}
	}
	// Calls that are refused before the throttle draw nothing from it.
	_, err := b.do(t.Context(), "read", `{"path":"a.md"}`)
	if code(err) != fault.Throttled || b.ran != 3 {
		t.Errorf("got %v after %d runs", err, b.ran)
	}
	want := []string{"bind", "caller", "answer", "folders", "replay", "throttle", "audit"}
	if d := cmp.Diff(want, b.stages); d != "" {
		t.Errorf("stages (-want +got):\n%s", d)
	}
	if n := b.meter.Counts()[telemetry.ThrottledTotal]; n != 1 {
		t.Errorf("%s = %d", telemetry.ThrottledTotal, n)
	}
}

func TestRefusedCallsDrawNothing(t *testing.T) {
	b := newBench(t)
	for range 10 {
		_, _ = b.do(t.Context(), "read", `{"path":"Denied/x.md"}`)
		_, _ = b.do(t.Context(), "read", `{}`)
	}
	if _, err := b.do(t.Context(), "read", `{"path":"a.md"}`); err != nil {
		t.Error(err)
	}
}

func TestCancelled(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := b.do(ctx, "read", `{"path":"a.md"}`)
	if code(err) != fault.Aborted || b.ran != 0 {
		t.Errorf("cancelled before: got %v after %d runs", err, b.ran)
	}
	if d := cmp.Diff([]string{"bind", "audit"}, b.stages); d != "" {
		t.Errorf("stages (-want +got):\n%s", d)
	}

	ctx, b.cancel = context.WithCancel(t.Context())
	defer b.cancel()
	_, err = b.do(ctx, "waits", `{"path":"a.md"}`)
	if code(err) != fault.Aborted {
		t.Errorf("cancelled while it runs: got %v", err)
	}
	want := []string{"bind", "caller", "answer", "folders", "replay", "throttle", "title", "plan", "folders", "confirm", "run", "audit"}
	if d := cmp.Diff(want, b.stages); d != "" {
		t.Errorf("stages (-want +got):\n%s", d)
	}
}

func TestPanicIsLoggedNotShown(t *testing.T) {
	b := newBench(t)
	_, err := b.do(t.Context(), "panics", `{"path":"a.md"}`)
	if code(err) != fault.Internal || strings.Contains(err.Error(), "ana") {
		t.Errorf("got %v", err)
	}
	if log := b.log.String(); !strings.Contains(log, "secret /home/ana") || !strings.Contains(log, "dispatch_test.go") {
		t.Errorf("the log lacks the panic or its stack:\n%s", log)
	}
	if _, err := b.do(t.Context(), "read", `{"path":"a.md"}`); err != nil {
		t.Errorf("the server did not live on: %v", err)
	}
}

func TestOverflowIsCountedAndReported(t *testing.T) {
	b := newBench(t)
	_, err := b.do(t.Context(), "grow", `{"size":20000}`)
	e := err.(*fault.Error)
	if e.Details["limit"] != 10_000 || e.Details["result_size"].(int) < 40_000 || e.Details["narrow"] != "a smaller size" {
		t.Errorf("details %v", e.Details)
	}
	if n := b.meter.Counts()[telemetry.GovernorTruncationsTotal]; n != 1 {
		t.Errorf("%s = %d", telemetry.GovernorTruncationsTotal, n)
	}
	if !strings.Contains(b.log.String(), telemetry.EventOverflow) {
		t.Errorf("no event in the log:\n%s", b.log.String())
	}
}

// What was done is never reported as an error, however long its answer is.
func TestDoneEffectSurvivesTheBudget(t *testing.T) {
	b := newBench(t)
	res, err := b.do(t.Context(), "act", `{"size":20000}`)
	if err != nil || b.ran != 1 {
		t.Fatalf("got %v after %d runs", err, b.ran)
	}
	if res.Size() > 10_000 || !strings.Contains(string(res.Structured), `"done":true`) {
		t.Errorf("answer %s", res.Structured)
	}
}

func TestNumbersThatWouldBeRoundedAreRefused(t *testing.T) {
	b := newBench(t)
	_, err := b.do(t.Context(), "grow", `{"size":9007199254740993}`)
	if code(err) != fault.ValidationError || err.(*fault.Error).Details["argument"] != "size" {
		t.Errorf("got %v", err)
	}
	_, err = b.do(t.Context(), "grow", `{"size":1,"size":2}`)
	if code(err) != fault.ValidationError {
		t.Errorf("the same key twice: got %v", err)
	}
}

func TestNothingThatChangesIsServedWithoutGateAndApplier(t *testing.T) {
	reg, err := tools.NewRegistry(tools.Domain{Name: "t", Tools: []tools.Tool{
		tools.Change(tools.Spec{Name: "c", Title: "c", Doc: "c"}, func(context.Context, *tools.Call, pathIn) (change.Plan, textOut, error) {
			return change.Plan{}, textOut{}, errors.New("unused")
		}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dispatch.New(dispatch.Config{Registry: reg}); err == nil {
		t.Error("a change without a gate is served")
	}
	if _, err := dispatch.New(dispatch.Config{Registry: reg, Gate: &bench{}}); err == nil {
		t.Error("a change that nothing applies is served")
	}
}
