package audit

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"vault-mcp/hitl"
	"vault-mcp/internal/fault"
	"vault-mcp/internal/telemetry"
)

// A call that asks a person has not failed, and one that the protocol refuses is
// no fault of the server.
func TestWhatIsAFailure(t *testing.T) {
	for _, tt := range []struct {
		err    error
		failed int64
		line   string
	}{
		{nil, 0, "level=DEBUG msg=call "},
		{&hitl.NeedsInput{}, 0, `level=DEBUG msg="call asks a person"`},
		{&hitl.ProtocolError{Code: -32602, Data: map[string]any{"reason": "altered"}}, 1, `level=DEBUG msg="call refused"`},
		{fault.New(fault.NotFound, "x"), 1, `level=DEBUG msg="call refused"`},
		{errors.New("x"), 1, `level=ERROR msg="call failed"`},
	} {
		var log bytes.Buffer
		l := Log{Meter: &telemetry.Meter{}, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
		l.Close(t.Context(), Record{Tool: "t", Err: tt.err})
		if got := l.Meter.Counts()[telemetry.CallFailuresTotal]; got != tt.failed || !strings.Contains(log.String(), tt.line) {
			t.Errorf("%v: %d failures, log %q", tt.err, got, log.String())
		}
	}
}
