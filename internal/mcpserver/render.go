package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"vault-mcp/internal/fault"
	"vault-mcp/internal/mcpserver/stdio"
	"vault-mcp/tools"
)

// errNoSlot is a fault of the transport: it must take answers as they are.
var errNoSlot = errors.New("the transport has no slot for answers")

// modernFields is what every result of the modern era carries (2026-07-28,
// Result), as the end of an object.
func modernFields(version string, kind mcp.ResultType) []byte {
	info, err := json.Marshal(map[string]string{"name": Name, "version": version})
	if err != nil {
		panic(err) // two strings
	}
	return fmt.Appendf(nil, `,"resultType":%q,"_meta":{"io.modelcontextprotocol/serverInfo":%s}`, kind, info)
}

// renderResult is a tool's answer on the wire.
func (e *edge) renderResult(r *tools.Result, p stdio.Peer) json.RawMessage {
	content := r.Content()
	b := make([]byte, 0, len(content)+len(r.Structured)+len(e.modern)+64)
	b = append(b, `{"content":`...)
	b = append(b, content...)
	if r.Structured != nil {
		b = append(b, `,"structuredContent":`...)
		b = append(b, r.Structured...)
	}
	return e.end(b, p)
}

// wireError is a refusal as programs read it.
type wireError struct {
	Code      fault.Code     `json:"code"`
	Message   string         `json:"message"`
	Retryable bool           `json:"retryable"`
	Details   map[string]any `json:"details,omitempty"`
	Recovery  string         `json:"recovery"`
}

// renderError is a refusal on the wire: a result that a model can act on, not a
// fault of the protocol. Both halves say everything.
func (e *edge) renderError(err error, p stdio.Peer) json.RawMessage {
	f := fault.Of(err)
	r := &tools.Result{Text: ErrorText(f)}
	b := append([]byte(`{"content":`), r.Content()...)
	if !knowsOnlyText(p) {
		structured, err := plainJSON(wireError{f.Code, f.Message, f.Retryable(), f.Details, f.Advice()})
		if err != nil {
			panic(fmt.Sprintf("error %s: details that are no JSON: %v", f.Code, err)) // caught and logged by the transport
		}
		b = append(b, `,"structuredContent":`...)
		b = append(b, structured...)
	}
	b = append(b, `,"isError":true`...)
	return e.end(b, p)
}

func (e *edge) end(b []byte, p stdio.Peer) json.RawMessage {
	if p.Modern {
		b = append(b, e.modern...)
	}
	return append(b, '}')
}

// ResultJSON is the outcome of a call as a client of the newest protocol before
// 2026-07-28 gets it, without the envelope.
func ResultJSON(res *tools.Result, err error) json.RawMessage {
	var e edge
	if err != nil {
		return e.renderError(err, stdio.Peer{})
	}
	return e.renderResult(res, stdio.Peer{})
}

// plainJSON is json.Marshal without escaping for HTML.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// ErrorText is a refusal as a person or a model reads it.
func ErrorText(f *fault.Error) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Error [%s]: %s\n", f.Code, f.Message)
	for _, k := range slices.Sorted(maps.Keys(f.Details)) {
		if v, err := plainJSON(f.Details[k]); err == nil {
			fmt.Fprintf(&b, "%s: %s\n", k, v)
		}
	}
	if f.Retryable() {
		b.WriteString("The same call may succeed later.\n")
	}
	if f.Code == fault.ElicitRequired && f.Recovery != "" {
		// A command, but not one that a model should take for its next step.
		b.WriteString("Next: for the person, in a terminal of their own: " + f.Recovery)
	} else {
		b.WriteString("Next: " + f.Advice())
	}
	return b.String()
}

// unknownTool is the protocol's own fault for a name that is no tool.
func (e *edge) unknownTool(name string) stdio.RPCError {
	msg := fmt.Sprintf("Unknown tool: %.100q", name)
	data := map[string]any{"code": fault.NotFound}
	if near := e.Registry.Nearest(name); near != "" {
		msg += fmt.Sprintf("; did you mean %q?", near)
		data["nearest"] = near
	}
	return invalidParams(msg, data)
}

// resourceNotFoundBefore2026 is the protocol's code for a resource that does
// not exist, before 2026-07-28 made it one of invalid params.
const resourceNotFoundBefore2026 = -32002

// resourceNotFound is one answer for everything that is not there, without
// details: what is hidden must not show in what stands near it.
func resourceNotFound(uri string, p stdio.Peer) stdio.RPCError {
	data := map[string]any{"code": fault.NoteNotFound}
	if uri != "" {
		data["uri"] = uri
	}
	e := stdio.RPCError{Code: mcp.INVALID_PARAMS, Message: "Resource not found", Data: data}
	if !p.Modern {
		e.Code = resourceNotFoundBefore2026
	}
	return e
}

// rpcError is a refusal where the protocol has no result to carry it: about
// the resource with the URI, or about a list if that is "".
func rpcError(f *fault.Error, uri string) stdio.RPCError {
	data := map[string]any{}
	maps.Copy(data, f.Details)
	data["code"] = f.Code
	if uri != "" {
		data["uri"] = uri
	}
	e := stdio.RPCError{Code: mcp.INVALID_PARAMS, Message: f.Message, Data: data}
	if f.Retryable() { // not for anything in the params
		e.Code = mcp.INTERNAL_ERROR
	}
	return e
}

func invalidParams(message string, data map[string]any) stdio.RPCError {
	e := stdio.RPCError{Code: mcp.INVALID_PARAMS, Message: message}
	if data != nil {
		e.Data = data
	}
	return e
}

// malformed is the fault of params that are not what their method takes.
func malformed(err *server.UnparsableMessageError) stdio.RPCError {
	msg := "Invalid params for " + string(err.GetMethod())
	if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && t.Field != "" {
		field := t.Field // with the names of mcp-go's own types before it
		if _, param, ok := strings.Cut(field, "params."); ok {
			field = param
		}
		msg += fmt.Sprintf(": %q cannot be %s", field, article(t.Value))
	}
	return invalidParams(msg+".", nil)
}

// article puts one before the name of a JSON type.
func article(typ string) string {
	switch typ {
	case "array", "object":
		return "an " + typ
	case "string", "number":
		return "a " + typ
	case "bool":
		return "a boolean"
	}
	return typ // such as "number 1.5"
}
