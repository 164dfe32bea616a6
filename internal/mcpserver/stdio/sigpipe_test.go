//go:build unix

package stdio

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// A client that is gone is a write error on the real standard output too, not a
// signal that kills the process before it has cleaned up.
func TestClosedStandardOutput(t *testing.T) {
	const child = "STDIO_TEST_CHILD"
	if os.Getenv(child) != "" {
		err := Serve(context.Background(), testServer(), os.Stdin, os.Stdout, Options{})
		fmt.Fprintln(os.Stderr, "cleaned up:", errors.Is(err, syscall.EPIPE))
		os.Exit(0)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestClosedStandardOutput$")
	cmd.Env = append(os.Environ(), child+"=1")
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n")
	cmd.Stdout = w
	var log strings.Builder
	cmd.Stderr = &log
	err = cmd.Run()
	w.Close()
	if err != nil || !strings.Contains(log.String(), "cleaned up: true") {
		t.Errorf("%v, log %q", err, log.String())
	}
}
