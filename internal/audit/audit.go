// Package audit records what became of each call.
//
// Reads only count. The row of a call that changes something is opened before
// it runs; if it cannot be, the call does not run.
package audit

import (
	"context"
	"log/slog"

	"vault-mcp/internal/fault"
	"vault-mcp/internal/telemetry"
)

// Record is one call and its outcome.
type Record struct {
	Tool, Caller, Vault string
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
}

// Close records the outcome of a call that read.
func (l *Log) Close(ctx context.Context, r Record) {
	l.Meter.Add(telemetry.CallsTotal, 1)
	attrs := []any{"tool", r.Tool, "caller", r.Caller, "vault", r.Vault, "stage", r.Stage}
	if r.Err == nil {
		l.Log.DebugContext(ctx, "call", append(attrs, "bytes", r.Size)...)
		return
	}
	l.Meter.Add(telemetry.CallFailuresTotal, 1)
	f := fault.Of(r.Err)
	attrs = append(attrs, "code", string(f.Code))
	if f.Code != fault.Internal {
		l.Log.DebugContext(ctx, "call refused", attrs...)
		return
	}
	l.Log.ErrorContext(ctx, "call failed", append(attrs, "cause", f.Unwrap())...)
}
