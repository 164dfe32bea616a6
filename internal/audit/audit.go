// Package audit records what became of each call, and shows it.
//
// Reads only count. What a call asks a person for, is approved for and changes
// is kept by the transaction that does it; what the gate refuses is kept here.
package audit

import (
	"context"
	"errors"
	"log/slog"

	"vault-mcp/cache/state"
	"vault-mcp/hitl"
	"vault-mcp/internal/fault"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/internal/telemetry"
)

// Record is one call and its outcome.
type Record struct {
	Tool, Caller, Vault string
	// Call is the hash of the call, "" if it was not understood.
	Call fingerprint.Call
	// Stage is the stage of the pipeline that decided the outcome.
	Stage string
	// Err is why the call failed, or nil.
	Err error
	// Size is the size of the answer in bytes.
	Size int
}

// Log counts calls and writes their failures to the server's log.
type Log struct {
	Meter *telemetry.Meter
	Log   *slog.Logger
	// Keep keeps that the gate has refused a call; it may be nil.
	Keep func(context.Context, state.AuditRow) error
}

// Close records the outcome of a call.
func (l *Log) Close(ctx context.Context, r Record) {
	l.Meter.Add(telemetry.CallsTotal, 1)
	attrs := []any{"tool", r.Tool, "caller", r.Caller, "vault", r.Vault, "stage", r.Stage}
	if r.Err == nil {
		l.Log.DebugContext(ctx, "call", append(attrs, "bytes", r.Size)...)
		return
	}
	if _, ok := errors.AsType[*hitl.NeedsInput](r.Err); ok { // no failure: it comes again
		l.Log.DebugContext(ctx, "call asks a person", attrs...)
		return
	}
	if row, ok := refusal(r); ok && l.Keep != nil {
		if err := l.Keep(ctx, row); err != nil {
			l.Log.WarnContext(ctx, "a refusal could not be audited", append(attrs, "err", err)...)
		}
	}
	l.Meter.Add(telemetry.CallFailuresTotal, 1)
	if p, ok := errors.AsType[*hitl.ProtocolError](r.Err); ok {
		l.Log.DebugContext(ctx, "call refused", append(attrs, "rpc_code", p.Code, "reason", p.Data["reason"])...)
		return
	}
	f := fault.Of(r.Err)
	attrs = append(attrs, "code", string(f.Code))
	if f.Code != fault.Internal {
		l.Log.DebugContext(ctx, "call refused", attrs...)
		return
	}
	l.Log.ErrorContext(ctx, "call failed", append(attrs, "cause", f.Unwrap())...)
}

// refusal is the row of a call that the gate has refused. That a person was asked
// is a row of its own already.
func refusal(r Record) (row state.AuditRow, ok bool) {
	row = state.AuditRow{Tool: r.Tool, Caller: r.Caller, Vault: r.Vault, Call: string(r.Call)}
	if p, ok := errors.AsType[*hitl.ProtocolError](r.Err); ok {
		row.Code = "invalid_params"
		row.Reason, _ = p.Data["reason"].(string)
		return row, r.Vault != ""
	}
	f, ok := errors.AsType[*fault.Error](r.Err)
	if !ok {
		return row, false
	}
	switch row.Code = string(f.Code); f.Code {
	case fault.ElicitRequired, fault.ElicitInvalid, fault.ReplayDrift:
	default:
		return row, false
	}
	row.Reason, _ = f.Details["reason"].(string)
	row.Request, _ = f.Details["request_id"].(string)
	return row, r.Vault != "" && row.Reason != "approval_required"
}
