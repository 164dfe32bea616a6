package fault

import "sort"

// Code names a kind of failure. The names are part of the wire contract.
type Code string

// The codes. Each has a row in table below; a test walks them.
const (
	ACLDenied              Code = "acl_denied"
	Aborted                Code = "aborted"
	ConcurrentModification Code = "concurrent_modification"
	ElicitInvalid          Code = "elicit_invalid"
	ElicitRequired         Code = "elicit_required"
	Forbidden              Code = "forbidden"
	GitRefused             Code = "git_refused"
	IdempotencyInFlight    Code = "idempotency_in_flight"
	IdempotencyKeyMismatch Code = "idempotency_key_mismatch"
	IndeterminateOutcome   Code = "indeterminate_outcome"
	Internal               Code = "internal"
	InvalidInput           Code = "invalid_input"
	NotFound               Code = "not_found"
	NoteExists             Code = "note_exists"
	NoteNotFound           Code = "note_not_found"
	OperationTimeout       Code = "operation_timeout"
	Overflow               Code = "overflow"
	PathAmbiguous          Code = "path_ambiguous"
	PathInvalid            Code = "path_invalid"
	ReadOnly               Code = "read_only"
	ReplayDrift            Code = "replay_drift"
	Throttled              Code = "throttled"
	ValidationError        Code = "validation_error"
	VaultBusy              Code = "vault_busy"
	VaultNotFound          Code = "vault_not_found"
	WriteFailed            Code = "write_failed"
)

// Row says what a code means, for the docs and for the caller.
type Row struct {
	Code      Code
	Retryable bool
	// Recovery is what the caller should do next.
	Recovery string
	// Doc is one sentence for docs/errors.md.
	Doc string
}

var table = func() map[Code]Row {
	m := map[Code]Row{}
	for _, r := range []Row{
		{ACLDenied, false, "Work with another path, or ask the person to change the folder rules.", "A folder rule forbids this operation on this path."},
		{Aborted, true, "Call again if the answer is still wanted.", "The call was cancelled, or its client went away."},
		{ConcurrentModification, true, "Read the note again, and make the change to what it holds now.", "A file is not as the call expected it, or another program wrote it meanwhile; nothing was changed."},
		{ElicitInvalid, false, "Read what details say; make the call again without a token if it is still wanted.", "The approval is none for this call, or none any more: details.reason is unknown, foreign, expired, used (with change_id), superseded or abandoned."},
		{ElicitRequired, false, "Ask the person to approve the call.", "A person has to approve the call first."},
		{Forbidden, false, "Use a tool that this caller may use.", "The caller lacks the scope for this tool or vault."},
		{GitRefused, false, "Do with git what the message says, or tell the person.", "The repository was not read or not changed: none holds the vault, a merge is in progress, another program has it locked, or the like; details.reason is the kind."},
		{IdempotencyInFlight, true, "Wait a moment and call again with the same key.", "A call with the same idempotency key is being made just now."},
		{IdempotencyKeyMismatch, false, "Use a new key for a new call.", "The idempotency key belongs to a call with other arguments."},
		{IndeterminateOutcome, false, "Read the named files before doing anything else, and tell the person.", "Something failed after the change had begun, and not everything could be taken back; details name the files, or the commit."},
		{Internal, true, "Call again once; if it fails again, tell the person to look at the server's log.", "A fault of the server; the cause is in its log, never in the answer."},
		{InvalidInput, false, "Correct the arguments by the message and call again.", "The arguments are well formed but cannot be carried out; details say which and why."},
		{NoteExists, false, "Choose another path, or read the note and change it.", "A file with that path exists already."},
		{NotFound, false, "Look up the right name first.", "The named thing (a tool, a section, a property) does not exist."},
		{NoteNotFound, false, "Use list_notes or search_text to find the path; closest, if given, has similar ones.", "No file with that path is in the vault, or the caller may not know of it."},
		{OperationTimeout, false, "Ask for less: a narrower folder, or a pattern with more literal text in it.", "The call took longer than a client waits for an answer."},
		{Overflow, false, "Ask for less: a lower limit, one folder, one section, or fewer paths.", "The answer would be larger than governor.max_response_bytes; details give result_size and limit in bytes."},
		{PathAmbiguous, false, "Call again with the path of the note that is meant; ask the person if that is not clear.", "Several notes have the title, and nobody has said which is meant; details.candidates are their paths."},
		{PathInvalid, false, "Use a path relative to the vault's root, with / between folders.", "The path cannot name a file of the vault; the message gives the reason."},
		{ReadOnly, false, "Only read from this vault, or ask the person to allow writing.", "The vault, or the whole server, is read-only."},
		{ReplayDrift, false, "Make the same call again: the person is asked about the vault as it is now.", "The vault has changed since the person was asked; nothing was applied, and the approval was not spent."},
		{Throttled, true, "Wait retry_after_ms milliseconds, then call again.", "Too many calls in a short time; a refused call draws nothing from the budget."},
		{ValidationError, false, "Correct the named argument and call again.", "The arguments do not fit the tool's schema; details name the argument."},
		{VaultBusy, true, "Call again in a moment.", "Another change of this vault is being made and takes long; nothing was changed."},
		{VaultNotFound, false, "Use list_vaults to see the ids.", "No vault with that id is configured."},
		{WriteFailed, false, "Tell the person why; what was there is unchanged.", "The system did not let a file be written: full disk, no permission, read-only. Nothing was changed."},
	} {
		m[r.Code] = r
	}
	return m
}()

// Table is every code with its meaning, sorted by code.
func Table() []Row {
	rows := make([]Row, 0, len(table))
	for _, r := range table {
		rows = append(rows, r)
	}
	sort.Slice(rows, func(i, j int) bool { return rows[i].Code < rows[j].Code })
	return rows
}
