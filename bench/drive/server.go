package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"sync"
	"time"
)

// callTimeout is when a call counts as lost.
const callTimeout = 2 * time.Minute

// server is a running child that speaks the protocol over its pipes.
type server struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	begun   time.Time
	drained chan struct{} // its stdout has ended

	mu      sync.Mutex
	last    int
	pending map[int]chan reply
}

// reply is an answer and when its last byte came.
type reply struct {
	line []byte
	at   time.Time
}

// start spawns a server. It says nothing to it.
func start(argv, env []string) (*server, error) {
	s := &server{cmd: exec.Command(argv[0], argv[1:]...), drained: make(chan struct{}), pending: map[int]chan reply{}}
	s.cmd.Env = env
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.begun = time.Now()
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go s.read(out)
	return s, nil
}

func (s *server) pid() int { return s.cmd.Process.Pid }

// read hands every answer to who waits for it. All servers measured begin an
// answer in this way; notifications do not, and are dropped.
func (s *server) read(out io.Reader) {
	defer close(s.drained)
	r := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		at := time.Now()
		rest, ok := bytes.CutPrefix(line, []byte(`{"jsonrpc":"2.0","id":`))
		if !ok {
			continue
		}
		end := bytes.IndexByte(rest, ',')
		id, err := strconv.Atoi(string(rest[:max(end, 0)]))
		if err != nil {
			continue
		}
		s.mu.Lock()
		wait := s.pending[id]
		delete(s.pending, id)
		s.mu.Unlock()
		if wait != nil {
			wait <- reply{line, at}
		}
	}
}

// request is a request as it goes over the pipe.
func (s *server) request(method string, params any) (line []byte, wait chan reply, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	line, err = json.Marshal(struct {
		JSONRPC string `json:"jsonrpc"`
		ID      int    `json:"id"`
		Method  string `json:"method"`
		Params  any    `json:"params,omitempty"`
	}{"2.0", s.last, method, params})
	wait = make(chan reply, 1)
	s.pending[s.last] = wait
	return append(line, '\n'), wait, err
}

// do sends a request and waits for its answer; took is from the first byte
// written to the last one read.
func (s *server) do(method string, params any) (line []byte, took time.Duration, err error) {
	request, wait, err := s.request(method, params)
	if err != nil {
		return nil, 0, err
	}
	sent := time.Now()
	if _, err := s.in.Write(request); err != nil {
		return nil, 0, fmt.Errorf("%s: write: %w", method, err)
	}
	select {
	case r := <-wait:
		return r.line, r.at.Sub(sent), nil
	case <-s.drained:
		return nil, 0, fmt.Errorf("%s: the server ended", method)
	case <-time.After(callTimeout):
		return nil, 0, fmt.Errorf("%s: no answer", method)
	}
}

// initialize is the handshake of the protocol's older era.
func (s *server) initialize() error {
	_, _, err := s.do("initialize", map[string]any{
		"protocolVersion": "2025-11-25", "capabilities": map[string]any{},
		"clientInfo": map[string]string{"name": "drive", "version": "1"},
	})
	if err != nil {
		return err
	}
	_, err = io.WriteString(s.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	return err
}

// discover is the first request of the protocol's newer era.
func (s *server) discover() error {
	_, _, err := s.do("server/discover", map[string]any{"_meta": map[string]any{
		"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
		"io.modelcontextprotocol/clientInfo":         map[string]string{"name": "drive", "version": "1"},
		"io.modelcontextprotocol/clientCapabilities": map[string]any{},
	}})
	return err
}

// call is a tool call and its arguments.
type call struct {
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments"`
	refused   bool           // an error is the expected answer
}

func (s *server) call(c call) (time.Duration, error) {
	line, took, err := s.do("tools/call", c)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", c.Name, err)
	}
	return took, c.judge(line)
}

// judge fails for an answer that is not what the call expects: figures of
// refusals would look very good.
func (c call) judge(line []byte) error {
	failed := bytes.Contains(line, []byte(`"isError":true`)) || bytes.Contains(line[:min(len(line), 60)], []byte(`"error":`))
	if failed != c.refused {
		return fmt.Errorf("%s: unexpected answer %.300s", c.Name, line)
	}
	return nil
}

// flood keeps width calls in flight until n are answered.
func (s *server) flood(c call, n, width int) error {
	var workers sync.WaitGroup
	errs := make([]error, width)
	for w := range width {
		workers.Go(func() {
			for i := w; i < n && errs[w] == nil; i += width {
				_, errs[w] = s.call(c)
			}
		})
	}
	workers.Wait()
	return errors.Join(errs...)
}

// stop closes the server's stdin and tells how long it took to end and the
// processor time of its whole life.
func (s *server) stop() (took, cpu time.Duration, err error) {
	closed := time.Now()
	if err := s.in.Close(); err != nil {
		return 0, 0, err
	}
	kill := time.AfterFunc(5*time.Second, func() { _ = s.cmd.Process.Kill() })
	defer kill.Stop()
	<-s.drained
	err = s.cmd.Wait()
	took = time.Since(closed)
	if state := s.cmd.ProcessState; state != nil {
		cpu = state.UserTime() + state.SystemTime()
	}
	return took, cpu, err
}
