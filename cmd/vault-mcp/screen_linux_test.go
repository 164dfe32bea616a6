package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// screen is a real pseudo-terminal with a command that has it as its own. What
// the command writes to its stdout is kept apart.
type screen struct {
	t      *testing.T
	cmd    *exec.Cmd
	master *os.File
	slave  *os.File
	before unix.Termios
	stdout bytes.Buffer
	stderr bytes.Buffer

	mu   sync.Mutex
	text string
	seen int // how much of text expect has passed
}

// onScreen starts a command of this program in a terminal of its own.
func onScreen(t *testing.T, env []string, args ...string) *screen {
	t.Helper()
	s := &screen{t: t}
	var err error
	if s.master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(s.master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(s.master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if s.slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	s.before = s.termios()
	s.cmd = exec.CommandContext(t.Context(), os.Args[0], args...)
	s.cmd.Env = append([]string{"VAULT_MCP_TEST_CHILD=1"}, env...)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = s.slave, &s.stdout, &s.stderr
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		var buf [4096]byte
		for {
			n, err := s.master.Read(buf[:])
			s.mu.Lock()
			s.text += string(buf[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = s.slave.Close()
		_ = s.master.Close()
	})
	return s
}

func (s *screen) termios() unix.Termios {
	s.t.Helper()
	got, err := unix.IoctlGetTermios(int(s.slave.Fd()), unix.TCGETS)
	if err != nil {
		s.t.Fatal(err)
	}
	return *got
}

func (s *screen) shown() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text
}

// expect waits until the screen shows a text behind what was expected before.
func (s *screen) expect(want string) {
	s.t.Helper()
	for range 2000 {
		s.mu.Lock()
		at := strings.Index(s.text[s.seen:], want)
		if at >= 0 {
			s.seen += at + len(want)
		}
		s.mu.Unlock()
		if at >= 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.t.Fatalf("the screen never shows %q, but\n%s\nstderr: %s", want, s.shown(), s.stderr.String())
}

func (s *screen) press(keys string) {
	s.t.Helper()
	if _, err := s.master.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// end waits for the command, and sees that the terminal is as it was.
func (s *screen) end(code int) {
	s.t.Helper()
	_ = s.cmd.Wait() // the exit code tells
	if got := s.cmd.ProcessState.ExitCode(); got != code {
		s.t.Errorf("exit code %d, want %d; stderr: %s; screen:\n%s", got, code, s.stderr.String(), s.shown())
	}
	if got := s.termios(); got != s.before {
		s.t.Errorf("the terminal is left in another mode: %+v, was %+v", got, s.before)
	}
}
