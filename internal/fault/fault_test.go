package fault

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestEveryCodeHasARow(t *testing.T) {
	codes := names(t)
	for _, code := range codes {
		if row, ok := table[code]; !ok || row.Recovery == "" || row.Doc == "" {
			t.Errorf("code %q has no full row in table", code)
		}
	}
	if len(codes) != len(table) {
		t.Errorf("%d constants, %d rows", len(codes), len(table))
	}
}

func TestOfHidesTheCause(t *testing.T) {
	secret := errors.New("open /home/ana/Notes/x.md: permission denied")
	e := Of(fmt.Errorf("read: %w", secret))
	if e.Code != Internal || strings.Contains(e.Error(), "ana") {
		t.Errorf("got %v", e)
	}
	if !errors.Is(e, secret) {
		t.Error("the cause is lost for the log")
	}
}

func TestOf(t *testing.T) {
	known := New(NoteNotFound, "no note at %q", "a.md")
	tests := []struct {
		name string
		err  error
		want Code
	}{
		{"a fault stays itself through wrapping", fmt.Errorf("x: %w", known), NoteNotFound},
		{"cancelled", fmt.Errorf("x: %w", context.Canceled), Aborted},
		{"deadline", context.DeadlineExceeded, Aborted},
		{"anything else", errors.New("x"), Internal},
	}
	for _, tt := range tests {
		if got := Of(tt.err); got.Code != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got.Code, tt.want)
		}
	}
	if Of(nil) != nil {
		t.Error("Of(nil) is not nil")
	}
}

func TestWithDoesNotChangeTheOriginal(t *testing.T) {
	a := New(InvalidInput, "x").With("k", 1)
	b := a.With("k", 2)
	if a.Details["k"] != 1 || b.Details["k"] != 2 {
		t.Errorf("a=%v b=%v", a.Details, b.Details)
	}
}
