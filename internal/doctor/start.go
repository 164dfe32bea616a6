package doctor

import (
	"cmp"
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
	"vault-mcp/hitl"
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
	s.home(l, cfg)
	if s.e.o.NoStart {
		return
	}
	if in.Scope == clients.Project {
		// Whoever made the project chose the command and its variables; a client asks
		// the person before it starts that.
		s.off("client.start", "not started: "+in.File+" came with the project, and may name any program", "if you trust it, start the client there, or run it yourself: "+commandLine(l))
		return
	}
	if s.speak(ctx, in, l, cfg, h, start, call) {
		s.prompt(ctx, in, l, cfg, h, atMost(start))
	}
}

// home tells if this client makes the server keep its state in another place than this
// command and other clients do.
func (s subject) home(l launch, cfg *config.Config) {
	for _, v := range cfg.Vaults {
		here, err := cache.Folder(s.e.o.Env, cfg.StateDir, v.Real)
		there, terr := cache.Folder(l.lookup, cfg.StateDir, v.Real)
		if err == nil && terr == nil && here != there {
			s.warn("client.state", "with this client the state of "+v.Real+" is kept in "+there+", and elsewhere in "+here+": changes made there cannot be taken back here",
				"set state_dir in a config file, or hand XDG_STATE_HOME on in the env of the entry")
			return
		}
	}
}

// atMost is how long something is waited for: as the client does, but no longer than a
// minute.
func atMost(d time.Duration) time.Duration {
	if d <= 0 {
		return longest
	}
	return min(d, longest)
}

// visit is what came of speaking with a server.
type visit struct {
	protocol string
	tools    []string
	bytes    int
	searched bool
	found    called
	times    map[string]int64
	step     string        // the last one
	waited   time.Duration // how long that may take
}

// visit shakes hands, lists the tools, and searches with args unless they are nil.
func (c *conversation) visit(ctx context.Context, start, call time.Duration, args map[string]any) (v visit, err error) {
	v = visit{times: map[string]int64{}, step: "the handshake", waited: start}
	began := time.Now()
	took := func(name string) {
		v.times[name] = time.Since(began).Milliseconds()
		began = time.Now()
	}
	starting, end := context.WithTimeout(ctx, start)
	defer end()
	if v.protocol, err = c.shake(starting); err != nil {
		return v, err
	}
	took("handshake")
	v.step = "tools/list"
	if v.tools, v.bytes, err = c.tools(starting); err != nil {
		return v, err
	}
	took("tools_list")
	if v.searched = args != nil && slices.Contains(v.tools, "search_text"); !v.searched {
		return v, nil
	}
	v.step, v.waited = "search_text", call
	calling, end := context.WithTimeout(ctx, call)
	defer end()
	if v.found, err = c.call(calling, "search_text", args); err == nil {
		took("search")
	}
	return v, err
}

// speak starts the server, speaks with it as the client does, and tells what came of
// it; false if it does not work.
func (s subject) speak(ctx context.Context, in clients.Entry, l launch, cfg *config.Config, h habit, start, call time.Duration) bool {
	talk, err := run.Start(ctx, l.Spoken)
	if err != nil {
		s.broken("client.start", oneLine(startProblem(err)), "run it yourself to see: "+commandLine(l))
		return false
	}
	var args map[string]any
	if !s.unsettled(ctx, l, cfg) {
		args = map[string]any{"query": "the", "limit": 1}
		if len(cfg.Vaults) > 1 {
			args["vault"] = cfg.Vaults[0].ID
		}
	}
	c := &conversation{talk: talk, habit: h}
	v, err := c.visit(ctx, atMost(start), atMost(call), args)
	ended := talk.Close()
	if ctx.Err() != nil {
		return false
	}
	junk, printed := errors.AsType[*notProtocol](err)
	switch {
	case printed:
		s.broken("client.stdout", fmt.Sprintf("it writes what is no protocol to stdout: %q", junk.line), "take out of the entry whatever wraps the command and prints, or install the binary again")
		return false
	case v.step == "search_text" && errors.Is(err, context.DeadlineExceeded) && v.waited < cmp.Or(call, time.Hour):
		s.warn("client.search", "a search takes more than "+v.waited.String()+", for which this client would go on waiting", "vault-mcp index "+cache.ShellQuote(l.arg))
		return true
	case err != nil:
		s.broken("client.start", failure(err, ended, v.step, v.waited, talk.Stderr()), "run it yourself to see: "+commandLine(l))
		return false
	}
	s.add(Finding{Level: OK, ID: "client.start", Text: "starts, and speaks protocol " + hitl.Display(v.protocol), Times: v.times})
	s.visited(in, v)
	return !v.found.IsError
}

// visited tells what a server that works has said.
func (s subject) visited(in clients.Entry, v visit) {
	text := fmt.Sprintf("%s, %s of definitions", plural(len(v.tools), "tool"), size(int64(v.bytes)))
	if in.Client == "vscode" && len(v.tools) > mostTools {
		s.warn("client.tools", text+fmt.Sprintf("; VS Code gives a model %d of all servers' tools", mostTools), "switch some off in its list of tools")
	} else {
		s.ok("client.tools", "%s", text)
	}
	switch {
	case !v.searched:
		s.off("client.search", "no search was made: the server has no search_text, or a change waits to be settled by its next call", "nothing")
	case v.found.IsError:
		s.broken("client.search", "a search fails: "+v.found.text(), "do what it says")
	default:
		s.ok("client.search", "a search takes %d ms", v.times["search"])
	}
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
func (s subject) unsettled(ctx context.Context, l launch, cfg *config.Config) bool {
	for _, v := range cfg.Vaults {
		dir, err := cache.Folder(l.lookup, cfg.StateDir, v.Real)
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
	talk, err := run.Start(ctx, run.Spoken{Path: l.Path, Args: []string{"serve", file}, Env: list(env), Dir: home})
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
		s.broken(id, "a call that needs you gets another answer: "+hitl.Display(got.text()), "install this version of the program again")
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
