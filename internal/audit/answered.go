package audit

import (
	"context"

	"vault-mcp/cache/state"
	"vault-mcp/hitl"
	"vault-mcp/internal/telemetry"
)

// Answers makes an event of each answer among rows that were kept. It is for who
// answers without a gate, in another process than the server: the gate reports
// itself what comes through it.
func Answers(m *telemetry.Meter, rows []state.AuditRow) {
	for _, r := range rows {
		outcome := ""
		switch r.Kind {
		case state.AuditApproved:
			outcome = hitl.Accepted
		case state.AuditDeclined:
			outcome = hitl.Refused
		default:
			continue
		}
		m.Event(context.Background(), hitl.EventAnswered, "request_id", r.Request, "route", r.Route, "outcome", outcome, "tool", r.Tool, "caller", r.Caller, "vault", r.Vault)
	}
}
