package state

import (
	"context"
	"database/sql"

	"vault-mcp/hitl"
	"vault-mcp/internal/fingerprint"
)

// Asked is what a call of a caller was last asked in each vault of the state,
// within the time in which a person may answer, whatever became of it.
func (s *Store) Asked(ctx context.Context, tool, caller string, call fingerprint.Call) (list []*hitl.Request, err error) {
	err = s.read(ctx, func(t *transaction) error {
		now, err := t.now(s.clock)
		if err != nil {
			return err
		}
		return t.rows(func(rows *sql.Rows) error {
			r, _, err := scanRequest(rows, now)
			if err == nil {
				list = append(list, r)
			}
			return err
		}, requestColumns+`WHERE r.call_hash = ? AND r.caller = ? AND r.tool = ? AND r.raised_at > ? AND r.seq IN
			(SELECT max(seq) FROM requests WHERE call_hash = ? AND caller = ? AND tool = ? GROUP BY vault) ORDER BY r.vault`,
			string(call), caller, tool, now.Add(-hitl.RequestLife).UnixNano(), string(call), caller, tool)
	})
	return list, err
}
