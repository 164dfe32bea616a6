//go:build unix

package run

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// shell is a program that is on every Unix, to stand for any other.
func shell() *Programs { return New(Options{Paths: map[string]string{"sh": "/bin/sh"}}) }

// script runs a script with some arguments; its bounds are generous.
func script(text string, args ...string) Command {
	return Command{Name: "sh", Args: append([]string{"-c", text, "script"}, args...), MaxOutput: 1 << 20, Timeout: time.Minute}
}

func TestArgumentsAndInputGoInAsTheyAre(t *testing.T) {
	var out strings.Builder
	c := script(`printf '%s|' "$@"; cat`, "$(id)", "; ls", "-x", "")
	c.Stdin = []byte("input \x00 \xff")
	if err := shell().Run(t.Context(), c, &out); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "$(id)|; ls|-x||input \x00 \xff"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A program sees nothing of this process: no variable, and not its folder.
func TestEnvironmentIsMinimal(t *testing.T) {
	t.Setenv("VAULT_TEST_SECRET", "secret")
	t.Chdir(t.TempDir())
	var out strings.Builder
	if err := shell().Run(t.Context(), script("export; echo at=$(pwd -P)"), &out); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"SECRET", "HOME", "GO"} {
		if strings.Contains(out.String(), name) {
			t.Errorf("%s is known: %s", name, out.String())
		}
	}
	here, err := os.Getwd()
	if err != nil || strings.Contains(out.String(), "at="+here) {
		t.Errorf("it runs in the folder of this process: %s, %v", out.String(), err)
	}
}

// What a program sees is what its command lists, and LC_ALL.
func TestEnvironmentIsWhatTheCommandSays(t *testing.T) {
	c := script(`echo "$LC_ALL $GIVEN"`)
	c.Env = []string{"GIVEN=some text"}
	var out strings.Builder
	if err := shell().Run(t.Context(), c, &out); err != nil || out.String() != "C some text\n" {
		t.Errorf("got %q, %v", out.String(), err)
	}
}

// A program that starts others finds none of them in a vault.
func TestSearchPathLeavesVaultsOut(t *testing.T) {
	dir := t.TempDir()
	at := func(p ...string) string { return filepath.Join(append([]string{dir}, p...)...) }
	for _, d := range []string{"vault/bin", "bin", "usual"} {
		if err := os.MkdirAll(at(d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(at("vault", "bin"), at("link")); err != nil {
		t.Fatal(err)
	}
	p := New(Options{Vaults: []string{at("vault")}})
	p.usual = []string{at("usual")}
	got := p.SearchPath(strings.Join([]string{at("vault", "bin"), "", ".", "bin", at("link"), at("usual"), at("bin"), at("bin", "..", "vault")}, ":"))
	if want := at("usual") + ":" + at("bin"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestExitCodeAndTheBeginningOfItsMessages(t *testing.T) {
	err := shell().Run(t.Context(), script(`echo problem >&2; head -c 100000 /dev/zero >&2; exit 3`), io.Discard)
	e, ok := errors.AsType[*ExitError](err)
	if !ok || e.Code != 3 || !strings.HasPrefix(e.Stderr, "problem\n") || len(e.Stderr) != maxStderr {
		t.Errorf("got %.100v", err)
	}
}

func TestOutputIsBounded(t *testing.T) {
	c := script(`cat /dev/zero`)
	c.MaxOutput = 1000
	var out strings.Builder
	if err := shell().Run(t.Context(), c, &out); !errors.Is(err, ErrTooMuch) || out.Len() > 1000 {
		t.Errorf("%d bytes, %v", out.Len(), err)
	}
	c.MaxOutput = 5
	c.Args[1] = "printf 12345"
	out.Reset()
	if err := shell().Run(t.Context(), c, &out); err != nil || out.String() != "12345" {
		t.Errorf("just as much as it may: got %q, %v", out.String(), err)
	}
}

type refusing struct{ err error }

func (r refusing) Write([]byte) (int, error) { return 0, r.err }

// Who reads enough ends the program.
func TestTheReaderEndsTheProgram(t *testing.T) {
	enough := errors.New("enough")
	c := script(`trap "" PIPE; while :; do echo x; done`)
	if err := shell().Run(t.Context(), c, refusing{enough}); err != enough {
		t.Errorf("got %v", err)
	}
}

// A program that takes too long, or is no longer wanted, ends with its
// children: the reader of the pipe that a child holds sees its end.
func TestChildrenEndToo(t *testing.T) {
	for name, tt := range map[string]struct {
		timeout time.Duration
		want    error
	}{
		"too long":  {200 * time.Millisecond, ErrTimeout},
		"cancelled": {time.Minute, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			pipe := filepath.Join(t.TempDir(), "pipe")
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			go func() {
				f, err := os.Open(pipe) // waits for the child
				if err == nil {
					defer f.Close()
					if tt.want == context.Canceled {
						cancel()
					}
					_, err = io.Copy(io.Discard, f)
				}
				ended <- err
			}()
			c := script(`sleep 300 >"$1" & wait`, pipe)
			c.Timeout = tt.timeout
			if err := shell().Run(ctx, c, io.Discard); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			select {
			case err := <-ended:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(30 * time.Second):
				t.Error("the child goes on")
			}
		})
	}
}

func TestMemoryIsBounded(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux bounds another process")
	}
	c := script(`until [ "$(ulimit -v)" != unlimited ]; do :; done; ulimit -v`)
	c.MaxMemory = 512 << 20
	var out strings.Builder
	if err := shell().Run(t.Context(), c, &out); err != nil || out.String() != "524288\n" {
		t.Errorf("got %q, %v", out.String(), err)
	}
}

// Only what is installed where programs are, or what the config names, is
// started, and never anything from inside a vault.
func TestWhereProgramsAreFound(t *testing.T) {
	dir := t.TempDir()
	at := func(p ...string) string { return filepath.Join(append([]string{dir}, p...)...) }
	for _, d := range []string{"usual", "path", "vault/bin", "links"} {
		if err := os.MkdirAll(at(d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write := func(mode os.FileMode, p ...string) {
		t.Helper()
		if err := os.WriteFile(at(p...), []byte("#!/bin/sh\necho "+filepath.Base(at(p...))+"\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	link := func(target, name string) {
		t.Helper()
		if err := os.Symlink(target, name); err != nil {
			t.Fatal(err)
		}
	}
	write(0o755, "usual", "tool")
	write(0o644, "usual", "plain")
	write(0o755, "path", "elsewhere")
	write(0o755, "vault", "bin", "evil")
	link(at("vault", "bin", "evil"), at("usual", "toevil"))
	link(at("usual", "tool"), at("vault", "bin", "fromvault"))
	link(at("usual", "tool"), at("links", "tool"))
	t.Setenv("PATH", at("path")+":"+os.Getenv("PATH"))
	t.Chdir(at("vault", "bin"))
	p := New(Options{Vaults: []string{at("vault")}, Paths: map[string]string{
		"named": at("links", "tool"), "gone": at("usual", "gone"), "inside": at("vault", "bin", "evil"),
		"linked": at("vault", "bin", "fromvault"), "relative": "evil", "folder": at("usual"), "up": at("usual", "..", "vault", "bin", "evil"),
	}})
	p.usual = []string{at("usual")}
	for name, ok := range map[string]bool{
		"tool": true, "named": true, "plain": false, "elsewhere": false, "toevil": false, "gone": false, "inside": false,
		"linked": false, "relative": false, "folder": false, "up": false, "absent": false,
	} {
		err := p.Run(t.Context(), Command{Name: name, MaxOutput: 100, Timeout: time.Minute}, io.Discard)
		e, missing := errors.AsType[*MissingError](err)
		if ok && err != nil || !ok && (!missing || e.Name != name || e.Path != p.o.Paths[name]) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.Remove(at("usual", "toevil")); err != nil {
		t.Fatal(err)
	}
	write(0o755, "usual", "toevil")
	if err := p.Run(t.Context(), Command{Name: "toevil", MaxOutput: 100, Timeout: time.Minute}, io.Discard); err != nil {
		t.Errorf("installed meanwhile: %v", err)
	}
}

// What is launched goes on when its time is over, and is told of when it fails before.
func TestALaunchedProgramOutlivesItsTime(t *testing.T) {
	done := filepath.Join(t.TempDir(), "done")
	c := script(`while [ ! -e "$1.go" ]; do sleep 0.02; done; echo "$GIVEN" >"$1.part"; mv "$1.part" "$1"`, done)
	c.Timeout, c.Env = 50*time.Millisecond, []string{"GIVEN=x", "PATH=/usr/bin:/bin"}
	if err := shell().Launch(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(done+".go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if text, err := os.ReadFile(done); err == nil {
			if string(text) != "x\n" {
				t.Errorf("%q", text)
			}
			break
		}
		if time.Now().After(end) {
			t.Fatal("it has ended with its time")
		}
	}
	e, ok := errors.AsType[*ExitError](shell().Launch(t.Context(), script("exit 3")))
	if !ok || e.Code != 3 {
		t.Errorf("%v", e)
	}
	if err := shell().Launch(t.Context(), Command{Name: "none", Timeout: time.Minute}); !errors.As(err, new(*MissingError)) {
		t.Errorf("%v", err)
	}
}
