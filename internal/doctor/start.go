package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"vault-mcp/cache"
	"vault-mcp/cache/state"
	"vault-mcp/internal/clients"
	"vault-mcp/internal/config"
	"vault-mcp/internal/run"
)

const (
	// longest is how long any server is waited for, whatever its client would.
	longest = time.Minute
	// forPerson is how long a call may wait for a person.
	forPerson = 50 * time.Second
	// mostTools is how many tools VS Code gives to a model.
	mostTools = 128
)

// start starts the command of an entry as its client does, and speaks with it.
func (s subject) start(ctx context.Context, in clients.Entry, l launch) {
	cfg, err := s.e.o.Env.Load(l.arg)
	if err != nil {
		for line := range strings.Lines(err.Error()) {
			s.broken("client.args", oneLine(line), "correct the last argument in "+in.File)
		}
		return
	}
	h := habits[in.Client]
	start, call := s.e.waits(h, in)
	if call > 0 && call < forPerson {
		s.warn("client.timeout", fmt.Sprintf("this client gives a call up after %s, and a call may wait %s for you", call, forPerson), "raise its timeout to 60 seconds or more")
	}
	if s.e.o.NoStart {
		return
	}
	patience := longest
	if start > 0 {
		patience = min(patience, start)
	}
	if s.e.o.patience > 0 {
		patience = s.e.o.patience
	}
	if s.speak(ctx, in, l, cfg, h, patience) {
		s.prompt(ctx, in, l, cfg, h, patience)
	}
}

// speak shakes hands, lists the tools and searches; false if that fails.
func (s subject) speak(ctx context.Context, in clients.Entry, l launch, cfg *config.Config, h habit, patience time.Duration) bool {
	times := map[string]int64{}
	step, began := "start", time.Now()
	took := func(name string) {
		times[name] = time.Since(began).Milliseconds()
		began = time.Now()
	}
	within, end := context.WithTimeout(ctx, patience)
	defer end()
	talk, err := run.Start(within, l.Spoken)
	if err != nil {
		s.broken("client.start", oneLine(startProblem(err)), "run it yourself to see: "+commandLine(l))
		return false
	}
	c := &conversation{talk: talk, habit: h}
	var protocol string
	var names []string
	var bytes int
	step = "the handshake"
	if protocol, err = c.shake(within); err == nil {
		took("handshake")
		step = "tools/list"
		if names, bytes, err = c.tools(within); err == nil {
			took("tools_list")
		}
	}
	var got called
	search := err == nil && slices.Contains(names, "search_text") && !s.unsettled(ctx, cfg)
	if search {
		step = "search_text"
		args := map[string]any{"query": "the", "limit": 1}
		if len(cfg.Vaults) > 1 {
			args["vault"] = cfg.Vaults[0].ID
		}
		if got, err = c.call(within, "search_text", args); err == nil {
			took("search")
		}
	}
	ended := talk.Close()
	if ctx.Err() != nil {
		return false
	}
	if junk, ok := errors.AsType[*notProtocol](err); ok {
		s.broken("client.stdout", fmt.Sprintf("it writes what is no protocol to stdout: %q", junk.line), "take out of the entry whatever wraps the command and prints, or install the binary again")
		return false
	}
	if err != nil {
		s.broken("client.start", failure(err, ended, step, patience, talk.Stderr()), "run it yourself to see: "+commandLine(l))
		return false
	}
	s.add(Finding{Level: OK, ID: "client.start", Text: "starts, and speaks protocol " + printable(protocol), Times: times})
	text := fmt.Sprintf("%s, %s of definitions", plural(len(names), "tool"), size(int64(bytes)))
	if in.Client == "vscode" && len(names) > mostTools {
		s.warn("client.tools", text+fmt.Sprintf("; VS Code gives a model %d of all servers' tools", mostTools), "switch some off in its list of tools")
	} else {
		s.ok("client.tools", "%s", text)
	}
	switch {
	case !search:
		s.off("client.search", "no search was made: the server has no search_text, or a change waits to be settled by its next call", "nothing")
	case got.IsError:
		s.broken("client.search", "a search fails: "+printable(got.text()), "do what it says")
		return false
	default:
		s.ok("client.search", "a search takes %d ms", times["search"])
	}
	return true
}

// text is how an answer begins.
func (c called) text() string {
	for _, part := range c.Content {
		if part.Text != "" {
			return oneLine(part.Text)
		}
	}
	return ""
}

// unsettled reports whether the first call of a server would take a change back, which
// is not for this program to set off.
func (s subject) unsettled(ctx context.Context, cfg *config.Config) bool {
	for _, v := range cfg.Vaults {
		dir, err := cache.Folder(s.e.o.Env, cfg.StateDir, v.Real)
		if err != nil || !state.Exists(dir) {
			continue
		}
		st, err := state.Inspect(ctx, dir, nil)
		if err != nil {
			continue // then the server cannot settle anything either
		}
		open, oerr := st.Journal().Open(ctx)
		effects, eerr := st.Unsettled(ctx)
		_ = st.Close() // it was only read
		if oerr != nil || eerr != nil || len(open)+len(effects) > 0 {
			return true
		}
	}
	return false
}

// startProblem says what the system says about a program that it does not start.
func startProblem(err error) string {
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		return "the system cannot start this file: it is for another system or processor, or damaged"
	case errors.Is(err, os.ErrNotExist):
		return "the system cannot start this file: what it needs to run is not there"
	case errors.Is(err, os.ErrPermission):
		return "the system does not let this account start it; on macOS, allow it under Privacy & Security"
	}
	return err.Error()
}

// commandLine is what a person can type to start it.
func commandLine(l launch) string {
	words := []string{cache.ShellQuote(l.Path)}
	for _, a := range l.Args {
		words = append(words, cache.ShellQuote(a))
	}
	return strings.Join(words, " ")
}

// prompt finds out how a person is asked with this client, on a vault of its own that
// is gone afterwards.
func (s subject) prompt(ctx context.Context, in clients.Entry, l launch, cfg *config.Config, h habit, patience time.Duration) {
	home, err := os.MkdirTemp("", "vault-mcp-doctor-")
	if err != nil {
		s.off("client.prompt", "not tried: no temporary folder can be made", "make room in it")
		return
	}
	defer os.RemoveAll(home)
	file, err := trial(home, cfg)
	if err != nil {
		s.off("client.prompt", "not tried: "+oneLine(err.Error()), "make room in the folder for temporary files")
		return
	}
	env := s.e.environment(in)
	for _, name := range []string{"XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"} {
		delete(env, name)
	}
	for _, name := range []string{"HOME", "USERPROFILE", "LOCALAPPDATA", "APPDATA"} {
		env[name] = home
	}
	within, end := context.WithTimeout(ctx, patience)
	defer end()
	talk, err := run.Start(within, run.Spoken{Path: l.Path, Args: []string{"serve", file}, Env: list(env), Dir: home})
	if err != nil {
		return // it has just been started, and told
	}
	c := &conversation{talk: talk, habit: h}
	var got called
	if _, err = c.shake(within); err == nil {
		got, err = c.call(within, "delete_note", map[string]any{"path": "trial.md"})
	}
	ended := talk.Close()
	if ctx.Err() != nil {
		return
	}
	_, kept := os.Stat(filepath.Join(home, "vault", "trial.md"))
	id := "client.prompt"
	switch {
	case err != nil:
		s.broken(id, "a call that needs you: "+failure(err, ended, "delete_note", patience, talk.Stderr()), "install this version of the program again")
	case kept != nil:
		s.broken(id, "a call that needs you was made without you", "do not use this binary: install the program again")
	case c.asked || got.Type == "input_required" && len(got.Requests) > 0:
		text := "a call that needs you shows a form in this client"
		if h.alone != "" {
			text += "; " + strings.ReplaceAll(h.alone, "NAME", in.Name)
		}
		s.add(Finding{Level: OK, ID: id, Text: text, Fix: answering(h)})
	case strings.Contains(got.text(), "elicit_required"):
		s.off(id, "this client is shown no form, so you answer beside it", "keep vault-mcp elicit page open in a browser, or vault-mcp elicit watch in a terminal")
	default:
		s.broken(id, "a call that needs you gets another answer: "+printable(got.text()), "install this version of the program again")
	}
}

// answering is what helps where a client answers by itself.
func answering(h habit) string {
	if h.alone == "" {
		return ""
	}
	return "without a screen: vault-mcp elicit watch in a terminal of your own"
}

// trial makes a vault with one note, and a config that asks as cfg does.
func trial(home string, cfg *config.Config) (file string, err error) {
	dir := filepath.Join(home, "vault")
	err = os.Mkdir(dir, 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "trial.md"), []byte("A note to try with.\n"), 0o600)
	}
	if err == nil {
		var routes []string
		for _, r := range cfg.Elicit.Routes {
			routes = append(routes, string(r))
		}
		file = filepath.Join(home, "trial.yaml")
		text := fmt.Sprintf("vaults: [{path: vault}]\nelicit: {routes: [%s], legacy_shim: %t}\nlog: {level: error}\n", strings.Join(routes, ", "), cfg.Elicit.LegacyShim)
		err = os.WriteFile(file, []byte(text), 0o600)
	}
	return file, err
}
