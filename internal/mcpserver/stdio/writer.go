package stdio

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
)

// writer puts whole messages on the output, one Write each. The first error is
// the last: it ends the connection, and nothing is written after it.
type writer struct {
	out  io.Writer
	fail func(error) // called once, with the first error

	mu     sync.Mutex
	closed atomic.Bool
	failed atomic.Pointer[error]
}

// send writes msg, which ends with its newline. With the output held, it first
// asks still, so that what ends a message's right to be sent (a cancel, the end of
// the connection) also keeps it from being written late.
func (w *writer) send(msg []byte, still func() bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !still() {
		return nil
	}
	if w.closed.Load() {
		return ErrClosed
	}
	if err := w.err(); err != nil {
		return err
	}
	if _, err := w.out.Write(msg); err != nil {
		err = fmt.Errorf("write message: %w", err)
		w.failed.Store(&err)
		w.fail(err)
		return err
	}
	return nil
}

// close lets no further message out. It does not wait for one that is being
// written to a client that does not read.
func (w *writer) close() { w.closed.Store(true) }

func (w *writer) err() error {
	if p := w.failed.Load(); p != nil {
		return *p
	}
	return nil
}

func always() bool { return true }

// errorLine is an error answer as it goes on the wire. A nil id is null.
func errorLine(id json.RawMessage, e RPCError) ([]byte, error) {
	return answerLine(id, "error", e)
}

// answerLine is an answer whose member (result or error) is value.
func answerLine(id json.RawMessage, member string, value any) ([]byte, error) {
	var b bytes.Buffer
	b.Write(answerHead(id, member, 0))
	if err := encode(&b, value); err != nil {
		return nil, err
	}
	b.WriteString("}\n")
	return b.Bytes(), nil
}

// rawResultLine is an answer around a result that is JSON already.
func rawResultLine(id, result json.RawMessage) ([]byte, error) {
	if bytes.IndexByte(result, '\n') >= 0 || bytes.IndexByte(result, '\r') >= 0 { // a newline would end the message
		var b bytes.Buffer
		if err := json.Compact(&b, result); err != nil {
			return nil, err
		}
		result = b.Bytes()
	}
	if len(result) < 2 || result[0] != '{' || result[len(result)-1] != '}' {
		return nil, fmt.Errorf("the result is not a JSON object")
	}
	line := append(answerHead(id, "result", len(result)+2), result...)
	return append(line, "}\n"...), nil
}

func answerHead(id json.RawMessage, member string, room int) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	const open, mid, end = `{"jsonrpc":"2.0","id":`, `,"`, `":`
	b := make([]byte, 0, len(open)+len(id)+len(mid)+len(member)+len(end)+room)
	b = append(append(b, open...), id...)
	return append(append(append(b, mid...), member...), end...)
}

// outgoing is a request or a notification of the server.
type outgoing struct {
	JSONRPC string `json:"jsonrpc"`
	ID      int64  `json:"id,omitempty"`
	Method  string `json:"method"`
	Params  any    `json:"params,omitempty"`
}

func (o outgoing) line() ([]byte, error) {
	o.JSONRPC = "2.0"
	var b bytes.Buffer
	if err := encode(&b, o); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// encode appends v without a newline, and without the escapes that HTML would
// need.
func encode(b *bytes.Buffer, v any) error {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("encode message: %w", err)
	}
	b.Truncate(b.Len() - 1)
	return nil
}
