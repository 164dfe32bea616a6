package cache

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestOnePageIsClaimed(t *testing.T) {
	home := t.TempDir()
	env := func(name string) string {
		if name == "HOME" || name == "LOCALAPPDATA" {
			return home
		}
		return ""
	}
	now := time.Now()
	if address, err := AddCode(env, "c", now); err != nil || address != "" {
		t.Fatalf("no page runs: %q, %v", address, err)
	}
	serves, release, err := ClaimPage(env, "http://127.0.0.1:1")
	if err != nil || serves != "http://127.0.0.1:1" {
		t.Fatal(serves, err)
	}
	other, leave, err := ClaimPage(env, "http://127.0.0.1:2")
	if err != nil || other != serves {
		t.Fatal(other, err)
	}
	leave() // claims nothing, and so ends nothing
	for _, code := range []string{"one", "two", "late"} {
		if address, err := AddCode(env, code, now); err != nil || address != serves {
			t.Fatal(address, err)
		}
	}
	take := func(code string, at time.Time) bool {
		from, ok, err := TakeCode(env, code, at)
		if err != nil || ok && len(from) == 0 {
			t.Error(from, err)
		}
		return ok
	}
	if take("none", now) || !take("one", now) || take("one", now) || !take("two", now.Add(CodeLife-time.Second)) || take("late", now.Add(CodeLife)) {
		t.Error("a code is good once, within its time")
	}
	if _, err := AddCode(env, "set back", now); err != nil {
		t.Fatal(err)
	}
	if take("set back", now.Add(-time.Hour)) {
		t.Error("a clock that was set back has made a code good for longer")
	}
	path := func() string { dir, _ := Home(env); return filepath.Join(dir, "page") }()
	if _, err := AddCode(env, "a secret code", now); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var kept map[string]any
	if err := json.Unmarshal(text, &kept); err != nil || len(kept["codes"].([]any)) != 1 {
		t.Errorf("%s, %v", text, err)
	}
	if info, err := os.Stat(path); err != nil || os.PathSeparator == '/' && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	release()
	if address, err := AddCode(env, "c", now); err != nil || address != "" {
		t.Errorf("it has ended: %q, %v", address, err)
	}
	// The record of a dead process, and a damaged one, are none.
	for _, text := range []string{`{"pid":4194304,"address":"http://127.0.0.1:9"}`, `{`, ``} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		serves, release, err := ClaimPage(env, "http://127.0.0.1:3")
		if err != nil || serves != "http://127.0.0.1:3" {
			t.Errorf("%s: %s, %v", text, serves, err)
		}
		release()
	}
	if err := os.Chmod(path, 0o644); err == nil && os.PathSeparator == '/' {
		if _, _, err := ClaimPage(env, "http://127.0.0.1:4"); err == nil {
			t.Error("a record that others can read is taken")
		}
	}
}
