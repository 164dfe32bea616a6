//go:build unix && !darwin

package page

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vault-mcp/hitl"
	"vault-mcp/internal/config"
	"vault-mcp/internal/run"
)

// desktop is a person's desktop whose programs note how they were called.
func desktop(t *testing.T, end string) (o *Outside, called func() string) {
	t.Helper()
	dir := t.TempDir()
	paths := map[string]string{}
	for _, name := range []string{"xdg-open", "notify-send"} {
		paths[name] = filepath.Join(dir, name)
		script := fmt.Sprintf("#!/bin/sh\nprintf '%%s|' %s \"$@\" \"$DISPLAY\" \"$SECRET\" >'%s/called'\n%s\n", name, dir, end)
		if err := os.WriteFile(paths[name], []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	env := config.Env(func(name string) string { return map[string]string{"DISPLAY": ":7", "SECRET": "x"}[name] })
	o = NewOutside(env, nil)
	o.programs = run.New(run.Options{Paths: paths})
	return o, func() string {
		text, err := os.ReadFile(filepath.Join(dir, "called"))
		if err != nil {
			t.Error(err)
		}
		return string(text)
	}
}

func TestTheBrowserIsOpened(t *testing.T) {
	o, called := desktop(t, "")
	if err := o.Open(t.Context(), "http://127.0.0.1:1/in/x"); err != nil {
		t.Fatal(err)
	}
	if got := called(); got != "xdg-open|http://127.0.0.1:1/in/x|:7||" {
		t.Errorf("%q", got)
	}
	o, _ = desktop(t, "exit 3")
	if err := o.Open(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "cannot be opened") {
		t.Errorf("%v", err)
	}
}

// A notification says which tool and vault, and nothing of a note.
func TestANotificationSaysNothingOfANote(t *testing.T) {
	o, called := desktop(t, "")
	request := func(tool string) *hitl.Request {
		return &hitl.Request{Bound: hitl.Bound{Tool: tool, Vault: "main"}, Summary: "secret.md", Preview: "secret", Floor: "secret"}
	}
	title, text := announcement([]*hitl.Request{request("delete_note")})
	if err := o.Notify(t.Context(), title, text); err != nil {
		t.Fatal(err)
	}
	if got := called(); got != "notify-send|--app-name=vault-mcp|--|A call waits for you|delete_note in the vault main|:7||" {
		t.Errorf("%q", got)
	}
	if title, text = announcement([]*hitl.Request{request("a"), request("b")}); title != "2 calls wait for you" || strings.Contains(text, "secret") {
		t.Errorf("%q, %q", title, text)
	}
}

// Who watches is told of what comes, once, and not of what was there.
func TestAPersonIsToldOnce(t *testing.T) {
	r := newRoom(t, nil)
	there := r.raise(nil)
	told := make(chan string, 10)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	watched := func() bool { return r.store.Watched() }
	go func() {
		defer close(ended)
		r.page.Watch(ctx, func(_ context.Context, title, text string) error { told <- title + ": " + text; return nil })
	}()
	for end := time.Now().Add(20 * time.Second); !watched(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no call waits for the page")
		}
	}
	r.page.atDesk(&session{})() // which it holds while it looks for the first time
	r.raise(func(q *hitl.Request) { q.Tool = "move_note" })
	select {
	case got := <-told:
		if got != "A call waits for you: move_note in the vault main" {
			t.Errorf("%q", got)
		}
	case <-time.After(20 * time.Second):
		t.Error("nobody is told")
	}
	stop()
	<-ended
	if q, _ := r.request(there); q.Status != hitl.Open || len(told) > 0 {
		t.Errorf("%s, %d more", q.Status, len(told))
	}
}

func TestManyCallsAreFewNotifications(t *testing.T) {
	n := &news{seen: map[string]bool{}}
	now := time.Now()
	list := func(ids ...string) (l []*hitl.Request) {
		for _, id := range ids {
			l = append(l, &hitl.Request{ID: id})
		}
		return l
	}
	steps := []struct {
		after time.Duration
		open  []*hitl.Request
		want  int
	}{
		{0, list("a"), 0}, {time.Second, list("a", "b"), 1}, {2 * time.Second, list("a", "b", "c"), 0}, {9 * time.Second, list("a", "b", "c", "d"), 0},
		{11 * time.Second, list("b", "c", "d"), 2}, {30 * time.Second, list("b", "c", "d"), 0}, {31 * time.Second, list("a"), 1},
	}
	for i, s := range steps {
		if got := n.of(s.open, now.Add(s.after), i == 0); len(got) != s.want {
			t.Errorf("step %d: %d", i, len(got))
		}
	}
}
