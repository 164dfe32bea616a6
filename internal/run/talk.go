package run

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

// Spoken is a program that a client's config names, as that client starts it.
type Spoken struct {
	// Path is the program, absolute; Args are its arguments and Env all of its
	// environment, each as NAME=value. Dir is the folder that it starts in.
	Path string
	Args []string
	Env  []string
	Dir  string
}

// Talk is a program that runs and is spoken with in lines. One goroutine uses it;
// Close ends it.
type Talk struct {
	in       io.WriteCloser
	cmd      *exec.Cmd
	stop     context.CancelFunc
	end      func()
	messages *lockedHead
	lines    chan []byte
	closed   chan struct{} // by Close: lines are thrown away
	silent   chan struct{} // closed when there is no more output
	failed   error         // why there is none; set before silent is closed
}

const (
	// maxLine bounds a line that a program writes, in bytes.
	maxLine = 16 << 20
	// farewell is how long a program may take to end once its input is closed.
	farewell = 2 * time.Second
)

// Start starts a program of a client's config. It is looked for nowhere: what
// the config says is what the client would run. It is killed with its children
// when ctx ends.
func Start(ctx context.Context, s Spoken) (*Talk, error) {
	if !filepath.IsAbs(s.Path) {
		return nil, &MissingError{filepath.Base(s.Path), s.Path}
	}
	ctx, stop := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, s.Path, s.Args...)
	cmd.Env, cmd.Dir = s.Env, s.Dir
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would be all of this process's
	}
	cmd.WaitDelay = grace
	all := group(cmd)
	t := &Talk{
		cmd: cmd, stop: stop, end: all.end, messages: &lockedHead{},
		lines: make(chan []byte), closed: make(chan struct{}), silent: make(chan struct{}),
	}
	cmd.Stderr = t.messages
	var out io.Reader
	in, err := cmd.StdinPipe()
	if err == nil {
		t.in = in
		out, err = cmd.StdoutPipe()
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		stop()
		all.end()
		return nil, fmt.Errorf("start %s: %w", filepath.Base(s.Path), err)
	}
	all.started(Command{})
	go t.read(out)
	return t, nil
}

// read hands on the program's lines until it has closed its output.
func (t *Talk) read(out io.Reader) {
	defer close(t.silent)
	t.failed = io.EOF
	lines := bufio.NewScanner(out)
	lines.Buffer(make([]byte, 64<<10), maxLine)
	for lines.Scan() {
		select {
		case t.lines <- bytes.Clone(lines.Bytes()):
		case <-t.closed:
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		t.failed = ErrTooMuch
		_, _ = io.Copy(io.Discard, out) // so that it is not stuck on its way out
	}
}

// Send writes a line. The error is that the program reads no more.
func (t *Talk) Send(line []byte) error {
	_, err := t.in.Write(append(bytes.Clone(line), '\n'))
	return err
}

// Next is the next line that the program writes. It fails with io.EOF once there is
// no more, with ErrTooMuch after a line over 16 MiB, and with ctx's own error.
func (t *Talk) Next(ctx context.Context) ([]byte, error) {
	select {
	case line := <-t.lines:
		return line, nil
	case <-t.silent:
		return nil, t.failed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Stderr is how its messages begin so far.
func (t *Talk) Stderr() string { return t.messages.String() }

// Close closes its input, gives it two seconds to end, and kills it with all that it
// has started. It tells how it ended by itself: nil, or *ExitError. To have been
// killed is no error. It is called once.
func (t *Talk) Close() error {
	close(t.closed)
	_ = t.in.Close() // it may have closed its end already
	late := time.AfterFunc(farewell, t.stop)
	select {
	case <-t.silent:
	case <-time.After(farewell + grace): // something else holds its output
	}
	late.Stop()
	if t.cmd.Cancel != nil {
		_ = t.cmd.Cancel() // what it has started and left behind
	}
	t.stop()
	err := t.cmd.Wait()
	t.end()
	code := t.cmd.ProcessState.ExitCode()
	if code > 0 && errors.As(err, new(*exec.ExitError)) && (runtime.GOOS != "windows" || code != killedCode) {
		return &ExitError{filepath.Base(t.cmd.Path), code, t.Stderr()}
	}
	return nil
}

// killedCode is the exit code of what was killed on Windows.
const killedCode = 1

// InPath is the real file that a client finds for a command by a PATH; "" for
// none. A command with a folder in it is that file.
func InPath(command, path string) string {
	usable := func(file string) string {
		if !filepath.IsAbs(file) {
			return ""
		}
		for _, ext := range executableExtensions() {
			if executable(file + ext) {
				return file + ext
			}
		}
		return ""
	}
	if strings.ContainsRune(command, '/') || strings.ContainsRune(command, filepath.Separator) {
		return usable(command)
	}
	for _, dir := range filepath.SplitList(path) {
		if found := usable(filepath.Join(dir, command)); found != "" {
			return found
		}
	}
	return ""
}

// executableExtensions are what a system adds to the name of a program.
func executableExtensions() []string {
	if runtime.GOOS == "windows" {
		return []string{"", ".exe", ".cmd", ".bat"}
	}
	return []string{""}
}

// lockedHead is head for a reader beside the writer.
type lockedHead struct {
	mu sync.Mutex
	h  head
}

func (h *lockedHead) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.h.Write(b)
}

func (h *lockedHead) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return string(h.h.b)
}
