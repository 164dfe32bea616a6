package stdio

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
)

// maxIDDigits keeps integer ids within what mcp-go can parse as a number.
const maxIDDigits = 300

// envelope is what the transport reads of a message: enough to route it, never
// its arguments. Its slices point into the line.
type envelope struct {
	id     json.RawMessage // as sent; nil if there is none that could be answered
	method string

	isRequest  bool // has a method and an id
	isResponse bool // has no method, and a result or an error
	result     json.RawMessage
	err        json.RawMessage

	version       string          // protocol version in params._meta
	progressToken json.RawMessage // in params._meta
	requestID     json.RawMessage // in params: what notifications/cancelled is about
}

// modern reports whether the message belongs to an era without a handshake.
func (e *envelope) modern() bool { return mcp.IsModernProtocol(e.version) }

// parse reads the envelope of line, or says what is wrong with it. The id of a
// refused message is set if it can be answered under it.
//
// Names that mcp-go would also accept (it ignores case), and names that come
// twice, are refused: otherwise the two could disagree about what a message is.
func parse(line []byte) (envelope, *RPCError) {
	var e envelope
	if !utf8.Valid(line) || !json.Valid(line) {
		return e, &RPCError{Code: mcp.PARSE_ERROR, Message: "Parse error: the line is not valid JSON in UTF-8."}
	}
	switch line[0] {
	case '{':
	case '[':
		return e, invalid("Batches are not part of this protocol: send one message a line.")
	default:
		return e, invalid("A message must be a JSON object.")
	}

	var version, id, method, params json.RawMessage
	fault := readMembers(line, []member{
		{"jsonrpc", &version}, {"id", &id}, {"method", &method},
		{"params", &params}, {"result", &e.result}, {"error", &e.err},
	})
	e.isResponse = method == nil && (e.result != nil || e.err != nil)
	_, answerable := idKey(id)
	if answerable || e.isResponse {
		e.id = id
	}
	switch {
	case fault != nil:
		return e, fault
	case id != nil && !answerable && !e.isResponse:
		return e, invalid("The id must be a string or an integer.")
	case string(version) != `"2.0"`:
		return e, invalid(`The member "jsonrpc" must be "2.0".`)
	case e.isResponse:
		return e, nil
	case method == nil:
		return e, invalid("The message has neither a method nor a result.")
	case method[0] != '"':
		return e, invalid("The method must be a string.")
	case e.result != nil || e.err != nil:
		return e, invalid("A message is either a request or a response.")
	}
	e.isRequest = id != nil
	e.method = unquote(method)
	return e, e.readParams(params)
}

func (e *envelope) readParams(params json.RawMessage) *RPCError {
	var meta, state, answers json.RawMessage
	fault := readMembers(params, []member{
		{"_meta", &meta}, {"requestId", &e.requestID}, {"requestState", &state}, {"inputResponses", &answers},
	})
	if fault != nil {
		return fault
	}
	for key, value := range members(meta) {
		switch string(key) {
		case mcp.MetaKeyProtocolVersion: // the last one counts, as in mcp-go
			e.version = ""
			if value[0] == '"' {
				e.version = unquote(value)
			}
		case "progressToken":
			e.progressToken = value
		}
	}
	if e.modern() {
		return once(answers)
	}
	return nil
}

// once refuses two answers to one question: mcp-go would take the last of them,
// and what reads the message before this server does perhaps the first.
func once(answers json.RawMessage) *RPCError {
	seen := map[string]bool{}
	for key := range members(answers) {
		if seen[string(key)] {
			return &RPCError{
				Code: mcp.INVALID_PARAMS, Message: "An answer is there twice.",
				Data: map[string]any{"argument": "inputResponses", "reason": "malformed"},
			}
		}
		seen[string(key)] = true
	}
	return nil
}

// peekID finds the id of a request from the beginning of a line, or nil.
func peekID(head []byte) json.RawMessage {
	var id json.RawMessage
	var request bool
	for key, value := range members(bytes.TrimLeft(head, " \t\r")) {
		switch string(key) {
		case "id":
			if _, ok := idKey(value); ok && json.Valid(value) && utf8.Valid(value) {
				id = value
			}
		case "method":
			request = true
		}
	}
	if !request { // it may be a response, and those are never answered
		return nil
	}
	return id
}

type member struct {
	name  string
	value *json.RawMessage
}

// readMembers sets the values of the named members of obj, and says if one of
// them is misspelled or there twice.
func readMembers(obj []byte, want []member) *RPCError {
	var fault *RPCError
	for key, value := range members(obj) {
		for _, m := range want {
			switch {
			case string(key) == m.name:
				if *m.value != nil {
					fault = invalid(fmt.Sprintf("The member %q is there twice.", key))
					value = json.RawMessage("null") // neither of the two counts
				}
				*m.value = value
			case strings.EqualFold(string(key), m.name):
				fault = invalid(fmt.Sprintf("The member %q must be spelled %q.", key, m.name))
			}
		}
	}
	return fault
}

// idKey is the identity of a request id: equal for equal values, however their
// strings are escaped, and different for 1 and "1". It reports whether raw is an
// id at all: a string or an integer.
func idKey(raw json.RawMessage) (string, bool) {
	if len(raw) == 0 {
		return "", false
	}
	if raw[0] == '"' {
		return "s" + unquote(raw), true
	}
	digits := bytes.TrimPrefix(raw, []byte{'-'})
	if len(digits) == 0 || len(digits) > maxIDDigits {
		return "", false
	}
	for _, d := range digits {
		if d < '0' || d > '9' {
			return "", false
		}
	}
	return "n" + string(raw), true
}

func invalid(message string) *RPCError {
	return &RPCError{Code: mcp.INVALID_REQUEST, Message: "Invalid request: " + message}
}
