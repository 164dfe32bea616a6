package fault

import (
	"sort"
	"strings"
)

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
	// Recovery is what the caller should do next: it names a tool, an argument,
	// a command or a setting.
	Recovery string
	// Doc says what it means and when it comes, for docs/errors.md.
	Doc string
	// Details are the keys that details may have, each where it is known.
	Details []string
}

var table = func() map[Code]Row {
	m := map[Code]Row{}
	for _, r := range []Row{
		{ACLDenied, false, "Work with another path, or ask the person to change the rules in the config; inspect_acl tells which rule decides.", "A folder rule forbids this operation on this path.", keys("op path")},
		{Aborted, true, "Make the call again if its answer is still wanted; list_changes tells whether a change was made.", "The call was cancelled, or the server was told to end, before the call had an answer.", nil},
		{ConcurrentModification, true, "Read the note again with read_note, and make the change to what it holds now, with its content_hash as prev_hash.", "A file is not as the call expected it, or another program wrote it meanwhile; nothing was changed.", keys("actual expected line path paths")},
		{ElicitInvalid, false, "Read what details say; make the call again without elicit_token if it is still wanted.", "The approval is none for this call, or none any more: details.reason is unknown, foreign, expired, used (with change_id), superseded or abandoned.", keys("call_hash change_id reason tool")},
		{ElicitRequired, false, "Ask the person to approve the call with vault-mcp elicit.", "A person has to approve the call first; details.reason is approval_required, approval_declined, approval_not_obtained or expired. The recovery is the command for the person.", keys("args_hash call_hash caller floor_reason reason request_id state_fp summary tool vault")},
		{Forbidden, false, "Use a tool that this caller may use; inspect_acl tells what it may do with a path.", "The caller lacks the scope for this tool. A client over stdio has every scope.", nil},
		{GitRefused, false, "Look with git_status, and do with git what the message says, or tell the person.", "The repository was not read or not changed: none holds the vault, a merge is in progress, there is no git program, a hook said no, or the like; details.reason is the kind.", keys("reason")},
		{IdempotencyInFlight, true, "Wait a moment and call again with the same idempotency_key.", "A call with the same idempotency key is being made just now.", nil},
		{IdempotencyKeyMismatch, false, "Use a new idempotency_key for a new call.", "The idempotency key belongs to a call with other arguments.", nil},
		{IndeterminateOutcome, false, "Look at what details name, with read_note or git_log, before doing anything else, and tell the person.", "Something failed after the change had begun, and not everything could be taken back; details name the files, or the commit.", keys("change_id commit paths")},
		{Internal, true, "Call again once; if it fails again, look at server_health, and tell the person to look at the server's log.", "A fault of the server or of the system; the cause is in the log, never in the answer.", keys("path")},
		{InvalidInput, false, "Correct the argument that the message is about, and call again.", "The arguments are well formed but cannot be carried out; details say which and why, and what there is instead.", keys("argument candidates column construct errors failed headings key limit line lines name op pages path paths paths_more position reason rows size steps tasks tasks_more tool total_lines")},
		{NoteExists, false, "Choose another path, or read the note with read_note and change it with patch_note.", "A file with that path exists already.", keys("path")},
		{NotFound, false, "Take a name from details, or look it up first with read_section, list_properties or list_changes.", "The named thing (a tool, a section, a property, a change) does not exist; details list what there is.", keys("argument blocks columns headings nearest path tables tables_more")},
		{NoteNotFound, false, "Use list_notes or search_text to find the path; closest, if given, has similar ones.", "No file with that path is in the vault, or the caller may not know of it.", keys("argument closest path")},
		{OperationTimeout, false, "Ask for less: a narrower folder, fewer pages, or a pattern with more literal text in it.", "The call took longer than a client waits for an answer.", nil},
		{Overflow, false, "Ask for less: a lower limit, one folder, one section, or fewer paths.", "The answer would be larger than governor.max_response_bytes; details give result_size and limit in bytes, and narrow, the arguments that make it smaller.", keys("limit narrow result_size size")},
		{PathAmbiguous, false, "Call again with the path of the note that is meant; ask the person if that is not clear.", "Several notes have the title, and nobody has said which is meant; details.candidates are their paths.", keys("candidates total")},
		{PathInvalid, false, "Use a path relative to the vault's root, with / between folders; list_notes shows them.", "The path cannot name a file of the vault; the message gives the reason.", nil},
		{ReadOnly, false, "Only read from this vault, or ask the person to allow writing: read_only in the config, and a state folder that can be written.", "The vault is read-only, or the server has no state folder in which a change could be kept.", nil},
		{ReplayDrift, false, "Make the same call again without elicit_token: the person is asked about the vault as it is now.", "The vault has changed since the person was asked; nothing was applied, and the approval was not spent.", keys("args_hash call_hash caller changed changed_elsewhere command floor_reason now reason request_id state_fp summary tool vault")},
		{Throttled, true, "Wait details.retry_after_ms milliseconds, then call again; throttle in the config sets how often.", "Too many calls in a short time, or too many that wait for a person; a refused call draws nothing from the budget.", keys("class retry_after_ms")},
		{ValidationError, false, "Correct the argument that details name, and call again.", "The arguments do not fit the tool's schema; details name the argument, and what is valid.", keys("argument nearest valid")},
		{VaultBusy, true, "Call again in a moment, with the same idempotency_key if it had one.", "Another change of this vault or its repository is being made and takes long, or the index is not ready; nothing was changed.", keys("reason")},
		{VaultNotFound, false, "Use list_vaults to see the ids.", "No vault with that id is configured.", nil},
		{WriteFailed, false, "Tell the person what the message says of the path; what was there is unchanged.", "The system did not let a file be written: full disk, no permission, marked read-only. Nothing was changed.", keys("path")},
	} {
		m[r.Code] = r
	}
	return m
}()

// keys are the names in a list with blanks.
func keys(list string) []string { return strings.Fields(list) }

// Table is every code with its meaning, sorted by code.
func Table() []Row {
	rows := make([]Row, 0, len(table))
	for _, r := range table {
		rows = append(rows, r)
	}
	sort.Slice(rows, func(i, j int) bool { return rows[i].Code < rows[j].Code })
	return rows
}
