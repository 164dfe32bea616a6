package state

import (
	"errors"

	"modernc.org/sqlite"

	"vault-mcp/internal/fault"
)

// Result codes of SQLite, without what details them.
const (
	sqliteBusy     = 5
	sqliteReadOnly = 8
	sqliteIO       = 10
	sqliteFull     = 13
	sqliteCantOpen = 14
	// sqliteSharedSize is a sqliteIO: there was no room for the shared memory.
	sqliteSharedSize = 4874
)

// busy reports whether a statement failed for what another process does.
func busy(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && e.Code()&0xff == sqliteBusy
}

// refusal says for people why the state could not be written, and so nothing
// was changed. Errors that are not about that stay as they are.
func refusal(err error) error {
	if errors.Is(err, ErrNewer) {
		return fault.New(fault.ReadOnly, "Nothing can be changed: %s.", ErrNewer).Because(err)
	}
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return err
	}
	var why string
	switch code := e.Code(); {
	case busy(err):
		return fault.New(fault.VaultBusy, "Another process writes the state of the vault for longer than ten seconds.").Because(err)
	case code == sqliteSharedSize, code&0xff == sqliteFull:
		why = "its disk is full"
	case code&0xff == sqliteReadOnly:
		why = "it is read-only"
	case code&0xff == sqliteIO:
		why = "its disk reports errors"
	case code&0xff == sqliteCantOpen:
		why = "it cannot be opened"
	default:
		return err
	}
	return fault.New(fault.WriteFailed, "The server's state folder, which keeps what a change replaces, could not be written: %s. Nothing was changed.", why).Because(err)
}
