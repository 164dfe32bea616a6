package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"vault-mcp/internal/app"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/config"
	"vault-mcp/internal/fault"
	"vault-mcp/internal/mcpserver"
	"vault-mcp/internal/mcpserver/stdio"
)

// wire is a vault with a server behind a real pipe.
type wire struct {
	*deletion
	t *testing.T // of the code that is provoked
	c *client
	n int // the last request
}

func newWire(t *testing.T) *wire {
	d := newDeletion(t)
	return &wire{deletion: d, t: t}
}

// config is what is served: the vault with these lines of its own, and more.
func (w *wire) config(vault, more string) {
	w.t.Helper()
	w.write(w.file, fmt.Sprintf("vaults: [{path: %q, %s}]\n%s", w.dir, vault, more), 0o600)
}

func (w *wire) write(path, text string, mode os.FileMode) {
	w.t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		w.t.Fatal(err)
	}
}

// note writes a file of the vault.
func (w *wire) note(path, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(filepath.Join(w.dir, path)), 0o755); err != nil {
		w.t.Fatal(err)
	}
	w.write(filepath.Join(w.dir, path), text, 0o644)
}

// git runs the person's own git.
func (w *wire) git(args ...string) {
	w.t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		w.t.Skip("this machine has no git program")
	}
	c := exec.Command("git", append([]string{"-C", w.dir, "-c", "user.name=Ada", "-c", "user.email=ada@example.org"}, args...)...)
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "GIT_CONFIG_NOSYSTEM=1"}
	if out, err := c.CombinedOutput(); err != nil {
		w.t.Fatalf("git %q: %v: %s", args, err, out)
	}
}

// repository makes the vault one, with a staged change and a hook.
func (w *wire) repository(hook string) {
	w.t.Helper()
	w.write(filepath.Join(w.home, ".gitconfig"), "[user]\n\tname = Ada\n\temail = ada@example.org\n", 0o600)
	w.config("", "git: {hooks: true}\n")
	w.git("init", "-q", "-b", "main")
	w.git("add", "-A")
	w.git("commit", "-q", "-m", "first")
	w.note("b.md", "changed\n")
	w.git("add", "-A")
	w.write(filepath.Join(w.dir, ".git/hooks/pre-commit"), "#!/bin/sh\n"+hook, 0o755)
}

// commitInHook begins a commit that stands in its hook until the file go is there.
func (w *wire) commitInHook() {
	w.t.Helper()
	w.repository("touch \"$HOME/begun\"\nn=0\nwhile [ ! -e \"$HOME/go\" ] && [ $n -lt 200 ]; do sleep 0.1; n=$((n+1)); done\n")
	w.call("git_commit", commits)
	w.approve(nil)
	w.send("git_commit", commits)
	w.await(func() bool { _, err := os.Stat(filepath.Join(w.home, "begun")); return err == nil })
}

func (w *wire) start() {
	w.t.Helper()
	w.c = spawn(w.t, w.home, w.file)
	w.t.Cleanup(func() { w.c.in.Close(); _ = w.c.cmd.Wait() })
	w.c.ask(w.t, 0, "initialize", initialize)
}

// send makes a call and does not wait.
func (w *wire) send(tool, args string) {
	w.t.Helper()
	w.n++
	if _, err := fmt.Fprintf(w.c.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`+"\n", w.n, tool, args); err != nil {
		w.t.Fatal(err)
	}
}

// answer is the next answer that the server gives.
func (w *wire) answer() map[string]any {
	w.t.Helper()
	line, err := w.c.out.ReadBytes('\n')
	if err != nil {
		w.t.Fatalf("%v; stderr: %s", err, w.c.stderr.String())
	}
	var m struct {
		Result map[string]any `json:"result"`
	}
	if err := json.Unmarshal(line, &m); err != nil || m.Result == nil {
		w.t.Fatalf("%s: %v", line, err)
	}
	return m.Result
}

func (w *wire) call(tool, args string) map[string]any {
	w.t.Helper()
	if w.c == nil {
		w.start()
	}
	w.send(tool, args)
	return w.answer()
}

const (
	deletes = `{"path":"a.md"}`
	commits = `{"message":"second","idempotency_key":"k"}`
)

// provocations bring about each code as a client sees it: by a call of a real
// server over a pipe.
var provocations = map[fault.Code]func(w *wire) map[string]any{
	fault.ACLDenied: func(w *wire) map[string]any {
		w.config(`rules: [{glob: "**", verbs: {write: deny}}]`, "")
		return w.call("append_note", `{"path":"a.md","content":"x"}`)
	},
	fault.Aborted: func(w *wire) map[string]any {
		w.call("append_note", `{"path":"b.md","content":"x"}`)
		release, err := w.store().Lock(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		defer release()
		w.send("append_note", `{"path":"b.md","content":"x"}`)
		w.c.in.Close()
		return w.answer()
	},
	fault.ConcurrentModification: func(w *wire) map[string]any {
		return w.call("append_note", `{"path":"a.md","content":"x","prev_hash":"`+strings.Repeat("0", 64)+`"}`)
	},
	fault.ElicitInvalid: func(w *wire) map[string]any {
		return w.call("delete_note", `{"path":"a.md","elicit_token":"`+strings.Repeat("0", 32)+`"}`)
	},
	fault.ElicitRequired: func(w *wire) map[string]any { return w.call("delete_note", deletes) },
	fault.Forbidden:      (*wire).asAReader,
	fault.GitRefused:     func(w *wire) map[string]any { return w.call("git_status", `{}`) },
	fault.IdempotencyInFlight: func(w *wire) map[string]any {
		w.commitInHook()
		r := w.call("git_commit", commits)
		w.write(filepath.Join(w.home, "go"), "", 0o600)
		if first := w.answer(); first["isError"] == true {
			w.t.Errorf("the first call: %v", first)
		}
		return r
	},
	fault.IdempotencyKeyMismatch: func(w *wire) map[string]any {
		w.call("append_note", `{"path":"a.md","content":"x","idempotency_key":"k"}`)
		return w.call("append_note", `{"path":"a.md","content":"y","idempotency_key":"k"}`)
	},
	fault.IndeterminateOutcome: func(w *wire) map[string]any {
		w.repository("echo more >> b.md; git add b.md\n")
		w.call("git_commit", commits)
		w.approve(nil)
		return w.call("git_commit", commits)
	},
	fault.Internal:     (*wire).unreadable,
	fault.InvalidInput: func(w *wire) map[string]any { return w.call("read_note", `{"path":"a.md","from_line":9}`) },
	fault.NoteExists: func(w *wire) map[string]any {
		return w.call("write_note", `{"path":"a.md","content":"x","mode":"create"}`)
	},
	fault.NotFound:     func(w *wire) map[string]any { return w.call("read_section", `{"path":"a.md","heading":"None"}`) },
	fault.NoteNotFound: func(w *wire) map[string]any { return w.call("read_note", `{"path":"c.md"}`) },
	fault.OperationTimeout: func(w *wire) map[string]any {
		slow := filepath.Join(w.home, "pdfinfo")
		w.write(slow, "#!/bin/sh\nexec sleep 300\n", 0o755)
		w.config("", fmt.Sprintf("programs: {pdfinfo: %q, pdftotext: %q}\n", slow, slow))
		w.note("a.pdf", "%PDF-1.4\n")
		return w.call("get_attachment", `{"path":"a.pdf"}`)
	},
	fault.Overflow: func(w *wire) map[string]any {
		w.config("", "governor: {max_response_bytes: 10000}\n")
		w.note("long.md", strings.Repeat("A note of one long line. ", 1000))
		return w.call("read_note", `{"path":"long.md","format":"json"}`)
	},
	fault.PathAmbiguous: func(w *wire) map[string]any {
		w.note("one/Same.md", "1")
		w.note("two/Same.md", "2")
		return w.call("read_note", `{"title":"Same"}`)
	},
	fault.PathInvalid: func(w *wire) map[string]any { return w.call("read_note", `{"path":"../a.md"}`) },
	fault.ReadOnly: func(w *wire) map[string]any {
		w.config("read_only: true", "")
		return w.call("append_note", `{"path":"a.md","content":"x"}`)
	},
	fault.ReplayDrift: func(w *wire) map[string]any {
		w.call("delete_note", deletes)
		w.approve(nil)
		w.note("a.md", "an editor has saved\n")
		return w.call("delete_note", deletes)
	},
	fault.Throttled: func(w *wire) map[string]any {
		w.config("", "throttle: {read: {per_minute: 1, burst: 1}}\n")
		w.call("list_notes", `{}`)
		return w.call("list_notes", `{}`)
	},
	fault.ValidationError: func(w *wire) map[string]any { return w.call("read_note", `{"pth":"a.md"}`) },
	fault.VaultBusy: func(w *wire) map[string]any {
		w.repository("")
		w.write(filepath.Join(w.dir, ".git/index.lock"), "", 0o600)
		return w.call("git_stage", `{"paths":["b.md"]}`)
	},
	fault.VaultNotFound: func(w *wire) map[string]any { return w.call("list_notes", `{"vault":"other"}`) },
	fault.WriteFailed: func(w *wire) map[string]any {
		w.write(filepath.Join(w.dir, "a.md"), "text\n", 0o444)
		return w.call("append_note", `{"path":"a.md","content":"x"}`)
	},
}

// asAReader makes a call for a caller who may only read. A client that starts the
// server itself may do all, so this server is put behind the pipe by hand.
func (w *wire) asAReader() map[string]any {
	env := config.Env(func(k string) string { return map[string]string{"HOME": w.home}[k] })
	cfg, err := env.Load(w.file)
	if err != nil {
		w.t.Fatal(err)
	}
	a, err := app.New(cfg, app.Options{Env: env, Version: Version, Log: logger(io.Discard, "", cfg)})
	if err != nil {
		w.t.Fatal(err)
	}
	defer a.Close()
	in, toServer, err := os.Pipe()
	if err != nil {
		w.t.Fatal(err)
	}
	fromServer, out, err := os.Pipe()
	if err != nil {
		w.t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		s := mcpserver.New(mcpserver.Options{Version: Version, Registry: a.Registry, Do: a.Dispatcher.Do, Caller: auth.Caller{ID: "reader", Scopes: auth.Read}})
		ended <- stdio.Serve(context.WithoutCancel(w.t.Context()), s, in, out, stdio.Options{})
	}()
	w.c = &client{in: toServer, out: bufio.NewReader(fromServer)}
	w.c.ask(w.t, 0, "initialize", initialize)
	r := w.call("append_note", `{"path":"a.md","content":"x"}`)
	toServer.Close()
	if err := <-ended; err != nil {
		w.t.Error(err)
	}
	return r
}

// unreadable reads a note that the system does not let the server read. Nothing
// is closed to root, so the server is then another account's.
func (w *wire) unreadable() map[string]any {
	w.write(filepath.Join(w.dir, "a.md"), "text\n", 0)
	binary, attr := os.Args[0], (*syscall.SysProcAttr)(nil)
	if os.Getuid() == 0 {
		const nobody = 65534
		binary, attr = filepath.Join(w.home, "vault-mcp"), &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		// By a program: a file that this process has open for writing could not be
		// started, as the children of other tests inherit it for a moment.
		if out, err := exec.Command("install", "-m", "755", os.Args[0], binary).CombinedOutput(); err != nil {
			w.t.Fatalf("%v: %s", err, out)
		}
		for dir := w.home; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
			if err := os.Chmod(dir, 0o755); err != nil {
				w.t.Fatal(err)
			}
		}
		if err := os.Chown(w.home, nobody, nobody); err != nil {
			w.t.Fatal(err)
		}
	}
	w.c = spawnAs(w.t, binary, attr, w.home, w.dir)
	w.t.Cleanup(func() { w.c.in.Close(); _ = w.c.cmd.Wait() })
	w.c.ask(w.t, 0, "initialize", initialize)
	return w.call("read_note", `{"path":"a.md"}`)
}

// Every code is one that a client can meet, with the same facts in both halves of
// the answer, only details that docs/errors.md lists, and the next step.
func TestEveryCodeIsMetOverTheWire(t *testing.T) {
	next := nextSteps(t)
	for _, row := range fault.Table() {
		t.Run(string(row.Code), func(t *testing.T) {
			t.Parallel()
			provoke := provocations[row.Code]
			if provoke == nil {
				t.Fatal("nothing brings it about: add a provocation, or delete the code")
			}
			r := provoke(newWire(t))
			e, _ := r["structuredContent"].(map[string]any)
			if r["isError"] != true || e["code"] != string(row.Code) {
				t.Fatalf("got %v", r)
			}
			if e["retryable"] != row.Retryable {
				t.Errorf("retryable is %v", e["retryable"])
			}
			recovery, _ := e["recovery"].(string)
			text, _ := r["content"].([]any)[0].(map[string]any)["text"].(string)
			if !next.MatchString(recovery) {
				t.Errorf("the recovery names no tool, argument, command or setting: %q", recovery)
			}
			if message, _ := e["message"].(string); message == "" || !strings.Contains(text, message) || !strings.Contains(text, recovery) {
				t.Errorf("the text does not say what the structure says: %q, %v", text, e)
			}
			details, _ := e["details"].(map[string]any)
			for key := range details {
				if !strings.Contains(" "+strings.Join(row.Details, " ")+" ", " "+key+" ") {
					t.Errorf("the detail %q is not in its row", key)
				}
			}
			for _, secret := range []string{"/home", os.TempDir(), ".go:"} {
				if strings.Contains(text, secret) {
					t.Errorf("the text holds %q: %s", secret, text)
				}
			}
		})
	}
}

// Every code's advice names the next step, also where a call has one of its own.
func TestEveryRecoveryNamesTheNextStep(t *testing.T) {
	next := nextSteps(t)
	for _, row := range fault.Table() {
		if !next.MatchString(row.Recovery) {
			t.Errorf("%s names no tool, argument, command or setting: %q", row.Code, row.Recovery)
		}
	}
}

// Nobody is asked again for a call of which nobody can say whether it was done.
func TestARepeatOfAnUnknownOutcomeDoesNothingAgain(t *testing.T) {
	w := newWire(t)
	provocations[fault.IndeterminateOutcome](w)
	r := w.call("git_commit", commits)
	if e, _ := r["structuredContent"].(map[string]any); e["code"] != string(fault.IndeterminateOutcome) {
		t.Errorf("got %v", r)
	}
}

// Who repeats a call whose server was killed is not told to wait for it for ever.
func TestARepeatDoesNotWaitForADeadServer(t *testing.T) {
	w := newWire(t)
	w.commitInHook()
	other := &wire{deletion: w.deletion, t: t}
	other.call("list_changes", `{}`) // so that it has looked at what was left before
	if err := w.c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = w.c.cmd.Wait() // it was killed
	r := other.call("git_commit", commits)
	if e, _ := r["structuredContent"].(map[string]any); e["code"] == string(fault.IdempotencyInFlight) {
		t.Errorf("got %v", r)
	}
	w.write(filepath.Join(w.home, "go"), "", 0o600)
}

// nextSteps matches the name of a tool, an argument, a command or a setting.
func nextSteps(t *testing.T) *regexp.Regexp {
	t.Helper()
	r, err := app.Registry()
	if err != nil {
		t.Fatal(err)
	}
	words := []string{"vault-mcp [a-z]+", "details", "[a-z_]+ in the config"}
	for _, tool := range r.All() {
		words = append(words, regexp.QuoteMeta(tool.Name))
		for _, a := range tool.Arguments() {
			name, _, _ := strings.Cut(a, " ")
			words = append(words, regexp.QuoteMeta(name))
		}
	}
	return regexp.MustCompile(`\b(` + strings.Join(words, "|") + `)\b`)
}
