package run

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// spoken starts a script as a server.
func spoken(t *testing.T, script string) *Talk {
	t.Helper()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no shell")
	}
	talk, err := Start(t.Context(), Spoken{Path: sh, Args: []string{"-c", script}, Env: []string{"A=b"}, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return talk
}

func TestASpokenProgramGetsItsVariablesAndItsFolderAlone(t *testing.T) {
	talk := spoken(t, `read line; echo "$line $A $HOME"; echo no >&2; exit 4`)
	if err := talk.Send([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	line, err := talk.Next(t.Context())
	if err != nil || string(line) != "hello b " {
		t.Errorf("%q, %v", line, err)
	}
	if line, err := talk.Next(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("%q, %v", line, err)
	}
	e, ok := errors.AsType[*ExitError](talk.Close())
	if !ok || e.Code != 4 || e.Stderr != "no\n" {
		t.Errorf("%+v", e)
	}
}

// One that does not end by itself, and what it leaves behind, is ended, and that is no
// error of it.
func TestASpokenProgramIsEnded(t *testing.T) {
	talk := spoken(t, `sleep 600 & trap '' TERM; while :; do sleep 600; done`)
	brief, end := context.WithTimeout(t.Context(), time.Millisecond)
	defer end()
	if _, err := talk.Next(brief); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if err := talk.Close(); err != nil {
		t.Error(err)
	}
}

func TestALineWithoutAnEndIsRefused(t *testing.T) {
	talk := spoken(t, `head -c 17000000 /dev/zero`)
	if _, err := talk.Next(t.Context()); !errors.Is(err, ErrTooMuch) {
		t.Error(err)
	}
	if err := talk.Close(); err != nil {
		t.Error(err)
	}
}

func TestInPathTakesWhatMayBeExecuted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("every file may be executed here")
	}
	dir, other := t.TempDir(), t.TempDir()
	for path, mode := range map[string]os.FileMode{filepath.Join(dir, "tool"): 0o644, filepath.Join(other, "tool"): 0o755} {
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	path := dir + ":relative::" + other
	for command, want := range map[string]string{
		"tool": filepath.Join(other, "tool"), "none": "", "./tool": "", filepath.Join(other, "tool"): filepath.Join(other, "tool"), filepath.Join(dir, "tool"): "", other: "",
	} {
		if got := InPath(command, path); got != want {
			t.Errorf("%s: %q", command, got)
		}
	}
}
