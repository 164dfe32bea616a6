package hitl

import (
	"errors"
	"fmt"
	"maps"
	"strings"

	"vault-mcp/internal/fault"
)

// ProtocolError is a fault of the protocol: a JSON-RPC error, not a result.
type ProtocolError struct {
	Code    int
	Message string
	Data    map[string]any
}

// Error is the message.
func (e *ProtocolError) Error() string { return e.Message }

func (e *ProtocolError) with(key string, value any) *ProtocolError {
	data := maps.Clone(e.Data)
	data[key] = value
	return &ProtocolError{e.Code, e.Message, data}
}

// codeInvalidParams is JSON-RPC's own.
const codeInvalidParams = -32602

func invalidState(reason string) *ProtocolError {
	return &ProtocolError{codeInvalidParams, "The requestState is not one of this call.", map[string]any{"argument": "requestState", "reason": reason}}
}

// unsolicited reports whether a call brings an answer without the state that came
// with the question. Answers to what this server never asks are overlooked, as the
// protocol wants it.
func (r Reach) unsolicited() bool {
	_, answered := r.Answers[confirmKey]
	return answered && r.Modern && r.State == ""
}

// unasked is an answer that comes with the first call: nobody was asked, so
// nobody gave it.
func unasked() *ProtocolError {
	return &ProtocolError{
		codeInvalidParams, "The inputResponses answer nothing: the requestState that they belong to is missing.",
		map[string]any{"argument": "inputResponses", "reason": "unasked"},
	}
}

func malformedAnswer(err error) *ProtocolError {
	msg := "The answer is malformed."
	if errors.Is(err, ErrMalformed) {
		msg = strings.ToUpper(err.Error()[:1]) + err.Error()[1:] + "."
	}
	return &ProtocolError{codeInvalidParams, msg, map[string]any{"argument": "inputResponses", "reason": "malformed"}}
}

// Reasons of elicit_required.
const (
	approvalRequired    = "approval_required"
	approvalDeclined    = "approval_declined"
	approvalNotObtained = "approval_not_obtained"
	approvalExpired     = "expired"
)

// elicit is elicit_required with all that a person needs who answers somewhere
// else. r may be nil.
func elicit(c *Call, r *Request, reason, format string, args ...any) *fault.Error {
	e := fault.New(fault.ElicitRequired, format, args...).With("reason", reason).With("call_hash", string(c.Hash)).
		With("args_hash", string(c.Hash)).With("tool", c.Tool).With("vault", c.Vault).With("caller", c.Caller)
	if r == nil {
		return e
	}
	shown := r.State.Shown(r.ID)
	e = e.With("state_fp", shown).With("request_id", r.ID).With("floor_reason", Display(r.Floor)).With("summary", Display(r.Summary))
	e.Recovery = Command(c, shown)
	return e
}

// Command is the command by which a person mints a token for a call.
func Command(c *Call, shown string) string {
	return strings.Join([]string{
		"vault-mcp elicit", Flag("hash", string(c.Hash)), Flag("tool", c.Tool), Flag("vault", c.Vault),
		Flag("caller", c.Caller), Flag("state-fp", shown),
	}, " ")
}

// required says that nobody can be asked through the client.
func required(c *Call, r *Request) error {
	return elicit(c, r, approvalRequired, "Ask the person first: they have to approve this, because %s. They can run the command below in a terminal of their own, or approve it where they watch; then make the same call again. Do not run the command yourself.", Display(r.Floor))
}

// declined is a hard stop. It says who answered: a client that answers is not
// always a person.
func declined(c *Call, r *Request) error {
	who := "The client answered decline."
	if c.Client.Terminal != "" || r != nil && r.Route.Person() {
		who = "A person has declined this."
	}
	return elicit(c, r, approvalDeclined, "%s Do not retry this, and do not look for another way to do it; tell the person what was declined. Should they want it after all, they approve it themselves with the command below.", who)
}

// notObtained is no answer at all: nobody said no.
func notObtained(c *Call, r *Request) error {
	return elicit(c, r, approvalNotObtained, "Ask the person first: nobody has approved or declined this yet. They can run the command below in a terminal of their own, or approve it where they watch; then make the same call again. Do not run the command yourself.")
}

// notObtainedByForm is an answer by a form where forms do not count.
func notObtainedByForm(c *Call) error {
	return elicit(c, nil, approvalNotObtained, "Forms do not count here: the person approves calls in a terminal. Make the call again without an answer.")
}

// notCounted is an approval by a way that counted when it was given.
func notCounted(c *Call, r *Request) *fault.Error {
	return elicit(c, r, approvalNotObtained, "Ask the person again: the way by which they have approved this counts no longer (elicit.routes), so nothing was applied and the approval was not spent. They can run the command below in a terminal of their own, or approve it where they watch; then make the same call again. Do not run the command yourself.")
}

// expired is an answer that came too late. The request itself may still be open.
func expired(c *Call, r *Request) error {
	return elicit(c, r, approvalExpired, "The answer came too late, and nothing was done. Make the same call again to ask once more.")
}

// invalidToken is an approval that is none for this call, or none any more.
func invalidToken(c *Call, reason string, gr *Grant) error {
	texts := map[string]string{
		"unknown":    "The token is none that this server knows.",
		"foreign":    "The token was given for another call.",
		"expired":    "The approval has expired. Make the call again without a token to ask once more.",
		"used":       "The approval was used: what it allowed was done once, and is not done again.",
		"superseded": "The approval was for a state that is no more. Make the call again without a token to ask once more.",
		"abandoned":  "The person has given the request up.",
	}
	e := fault.New(fault.ElicitInvalid, "%s", texts[reason]).With("reason", reason).With("tool", c.Tool).With("call_hash", string(c.Hash))
	if reason == "used" && gr != nil && gr.Change != "" {
		e = e.With("change_id", gr.Change)
	}
	return e
}

// drifted says what has changed since the person was asked.
func drifted(c *Call, fresh *Request, names []string) error {
	var known []string
	for _, n := range names {
		if c.Knows == nil || c.Knows(n) {
			known = append(known, Display(n))
		}
	}
	e := elicit(c, fresh, "drift", "The vault has changed since the person was asked, so nothing was applied and the approval was not spent. Make the same call again: the person is asked anew.")
	e.Code, e.Recovery = fault.ReplayDrift, ""
	e = e.With("command", Command(c, fresh.State.Shown(fresh.ID)))
	if len(known) > 0 {
		e = e.With("changed", known)
	}
	if n := len(names) - len(known); n > 0 && len(known) == 0 {
		e = e.With("changed_elsewhere", true)
	}
	return e
}

// lost is drift that leaves nothing to ask about.
func lost(c *Call, e *fault.Error) error {
	d := fault.New(fault.ReplayDrift, "The vault has changed since the person was asked, so nothing was applied and the approval was not spent. The call can no longer be made: %s", e.Message).
		With("reason", "drift").With("tool", c.Tool).With("vault", c.Vault).With("call_hash", string(c.Hash)).With("now", string(e.Code))
	return d.Because(e)
}

// Flag is one flag of a command, quoted for a shell.
func Flag(name, value string) string {
	if strings.HasPrefix(value, "-") {
		return fmt.Sprintf("--%s=%s", name, quote(value))
	}
	return fmt.Sprintf("--%s %s", name, quote(value))
}

// quote is a value as a POSIX shell reads it back.
func quote(s string) string {
	plain := s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+=,") == ""
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(Display(s), "'", `'\''`) + "'"
}
