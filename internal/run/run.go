// Package run is the only place that starts other programs: found in known
// places, with arguments as a list and no shell, a minimal environment, a
// deadline, bounded output, and killed with their children when a call ends.
package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Command is one run of a program. What it works on goes in by its standard
// input: a path among the arguments would let the program, and not the folder
// rules, say what is read. Only git works on files by their paths, which were
// judged before.
type Command struct {
	// Name is the program's name, such as pdftotext.
	Name string
	Args []string
	// Env are the variables that it sees besides LC_ALL, each as NAME=value.
	Env []string
	// Stdin is all that the program can read.
	Stdin []byte
	// MaxOutput is how many bytes it may write; more end it with ErrTooMuch.
	MaxOutput int64
	// Timeout is how long it may run.
	Timeout time.Duration
	// MaxMemory is how many bytes of address space it may have; 0 for no
	// bound. Only Linux keeps it.
	MaxMemory uint64
}

var (
	// ErrTimeout says that a program took longer than its Timeout.
	ErrTimeout = errors.New("the program took too long")
	// ErrTooMuch says that a program wrote more than its MaxOutput.
	ErrTooMuch = errors.New("the program wrote too much")
)

// ExitError says that a program ended with an error of its own.
type ExitError struct {
	Name string
	// Code is its exit code; -1 if it was ended by a signal.
	Code int
	// Stderr is how its messages begin. They may hold text of what it read, so
	// they are for the log alone.
	Stderr string
}

func (e *ExitError) Error() string {
	return fmt.Sprintf("%s ended with %d: %s", e.Name, e.Code, strings.TrimSpace(e.Stderr))
}

const (
	// maxStderr is how much of a program's messages is kept, in bytes.
	maxStderr = 4 << 10
	// grace is how long a killed program's pipes may stay open.
	grace = time.Second
)

// Run runs a program and hands what it writes to out. An error of out ends the
// program and is returned. The other errors are *MissingError, *ExitError,
// ErrTimeout, ErrTooMuch, and the context's own.
func (p *Programs) Run(ctx context.Context, c Command, out io.Writer) error {
	path, err := p.Find(c.Name)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	ctx, end := context.WithTimeoutCause(ctx, c.Timeout, ErrTimeout)
	defer end()
	cmd := exec.CommandContext(ctx, path)
	cmd.Args = append([]string{c.Name}, c.Args...)
	cmd.Env = append([]string{"LC_ALL=C"}, c.Env...)
	cmd.Dir = filepath.Dir(path) // never this process's own, which may be a vault
	cmd.WaitDelay = grace
	cmd.Stdin = bytes.NewReader(c.Stdin)
	cmd.Stdout = &sink{out, c.MaxOutput, stop}
	messages := &head{}
	cmd.Stderr = messages
	all := group(cmd)
	defer all.end()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", c.Name, err)
	}
	all.started(c)
	err = cmd.Wait()
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, new(*exec.ExitError)):
		return &ExitError{c.Name, cmd.ProcessState.ExitCode(), string(messages.b)}
	case errors.Is(err, exec.ErrWaitDelay):
		_ = cmd.Cancel() // a child that outlived the program and holds its output
	}
	return err
}

// sink passes a program's output on, and ends the program where that fails.
type sink struct {
	out  io.Writer
	left int64
	stop context.CancelCauseFunc
}

func (s *sink) Write(b []byte) (int, error) {
	err := ErrTooMuch
	if s.left -= int64(len(b)); s.left >= 0 {
		_, err = s.out.Write(b)
	}
	if err != nil {
		s.stop(err)
		return 0, err
	}
	return len(b), nil
}

// head keeps how a text begins and lets the rest pass.
type head struct{ b []byte }

func (h *head) Write(b []byte) (int, error) {
	h.b = append(h.b, b[:min(len(b), maxStderr-len(h.b))]...)
	return len(b), nil
}

// Launch starts a program that may outlive this one, as a browser does, with no
// input, whose output is dropped. It returns once the program has ended, or has run
// for its Timeout: then it goes on by itself. Errors are *MissingError and
// *ExitError of one that ended with an error in that time. MaxOutput and MaxMemory
// do not count.
func (p *Programs) Launch(ctx context.Context, c Command) error {
	path, err := p.Find(c.Name)
	if err != nil {
		return err
	}
	cmd := exec.Command(path)
	cmd.Args = append([]string{c.Name}, c.Args...)
	cmd.Env = c.Env
	cmd.Dir = filepath.Dir(path) // never this process's own, which may be a vault
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", c.Name, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	timer := time.NewTimer(c.Timeout)
	defer timer.Stop()
	select {
	case err := <-ended:
		if errors.As(err, new(*exec.ExitError)) {
			return &ExitError{c.Name, cmd.ProcessState.ExitCode(), ""}
		}
		return err
	case <-timer.C:
	case <-ctx.Done():
	}
	return nil
}
