package doctor

import (
	"encoding/json"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"vault-mcp/internal/clients"
)

// habit is how a client starts a server and speaks with it, as far as that was
// tried or its vendor says so.
type habit struct {
	// modern is set if it asks with server/discover first; version is what it says in
	// initialize.
	modern  bool
	version string
	// info is its name in the handshake, and capabilities what it declares.
	info         string
	capabilities string
	// start and call are how long it waits for a start and for an answer; 0 is as
	// good as for ever.
	start, call time.Duration
	// expands are the forms of variables that it replaces in commands and arguments.
	expands []form
	// alone says what to know of runs without a screen; "" for nothing.
	alone string
}

// form is a form of variables.
type form int

const (
	braces   form = iota // ${NAME} and ${NAME:-default}
	prefixed             // ${env:NAME}
	folders              // ${userHome} and ${workspaceFolder}
)

const (
	formAndURL = `{"elicitation":{"form":{},"url":{}},"roots":{"listChanged":true}}`
	justForm   = `{"elicitation":{},"roots":{"listChanged":true}}`
)

// habits are those of each client, by its id.
var habits = map[string]habit{
	"claude-desktop": {version: "2025-11-25", info: "claude-ai", capabilities: `{}`, start: time.Minute, call: time.Minute},
	"claude-code": {
		modern: true, version: "2025-11-25", info: "claude-code", capabilities: formAndURL, start: 30 * time.Second, expands: []form{braces},
		alone: "without a screen (claude -p) it cancels forms by itself, and needs --allowedTools mcp__NAME",
	},
	"codex": {
		version: "2025-06-18", info: "codex-mcp-client", capabilities: `{"elicitation":{"form":{},"url":{}}}`, start: 30 * time.Second, call: 300 * time.Second,
		alone: `without a screen (codex exec) it declines forms by itself, and needs default_tools_approval_mode = "approve"`,
	},
	"cursor": {version: "2025-06-18", info: "cursor-vscode", capabilities: justForm, start: time.Minute, call: time.Minute, expands: []form{prefixed, folders}},
	"vscode": {version: "2025-11-25", info: "Visual Studio Code", capabilities: formAndURL, start: time.Minute, expands: []form{prefixed, folders}},
	"zed":    {version: "2025-03-26", info: "Zed", capabilities: `{}`, start: time.Minute, call: time.Minute},
	"gemini": {version: "2025-06-18", info: "gemini-cli-mcp-client", capabilities: `{}`, start: 10 * time.Minute, call: 10 * time.Minute},
}

// waits are the client's own times, or those that its entry or the environment sets.
func (e *exam) waits(h habit, in clients.Entry) (start, call time.Duration) {
	start, call = h.start, h.call
	set := func(d *time.Duration, value any, unit time.Duration) {
		if n, ok := amount(value); ok && n > 0 {
			*d = time.Duration(n * float64(unit))
		}
	}
	switch in.Client {
	case "claude-code":
		set(&start, e.o.Env("MCP_TIMEOUT"), time.Millisecond)
		set(&call, e.o.Env("MCP_TOOL_TIMEOUT"), time.Millisecond)
		set(&call, in.Keys["timeout"], time.Millisecond)
	case "codex":
		set(&start, in.Keys["startup_timeout_ms"], time.Millisecond)
		set(&start, in.Keys["startup_timeout_sec"], time.Second)
		set(&call, in.Keys["tool_timeout_sec"], time.Second)
	case "gemini":
		set(&start, in.Keys["timeout"], time.Millisecond)
		set(&call, in.Keys["timeout"], time.Millisecond)
	}
	return start, call
}

// amount is a number as any of the syntaxes gives it.
func amount(value any) (float64, bool) {
	switch v := value.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	case string:
		f, err := json.Number(v).Float64()
		return f, err == nil
	}
	return 0, false
}

// The variables that a client with a short list hands on.
var (
	desktopUnix    = []string{"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"}
	desktopWindows = []string{"APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATH", "PROCESSOR_ARCHITECTURE", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "USERNAME", "USERPROFILE"}
	codexUnix      = append(slices.Clone(desktopUnix), "LANG", "LC_ALL", "TMPDIR", "TZ", "__CF_USER_TEXT_ENCODING")
	codexWindows   = append(slices.Clone(desktopWindows), "COMSPEC", "PATHEXT", "PROGRAMDATA", "PROGRAMFILES", "TMP", "WINDIR")
	// redacted are parts of names that Gemini takes out.
	redacted = []string{"TOKEN", "SECRET", "KEY", "PASSWORD", "AUTH", "CREDENTIAL", "SSL_CERT", "NODE_EXTRA_CA_CERTS"}
)

// shortPath is PATH of a program that was started from a desktop.
func shortPath(now string) string {
	switch runtime.GOOS {
	case "windows":
		return now
	case "darwin":
		return "/usr/bin:/bin:/usr/sbin:/sbin"
	}
	return "/usr/local/bin:/usr/bin:/bin"
}

// environment is what the server of an entry gets from its client.
func (e *exam) environment(in clients.Entry) map[string]string {
	all := map[string]string{}
	for _, pair := range e.o.Environ {
		name, _, _ := strings.Cut(pair, "=")
		if value := e.o.Env(name); value != "" {
			all[name] = value
		}
	}
	if home := e.o.Env("HOME"); home != "" {
		all["HOME"] = home
	}
	only := func(unix, windows []string) {
		names := unix
		if runtime.GOOS == "windows" {
			names = windows
		}
		for name := range all {
			if !slices.Contains(names, name) && (runtime.GOOS != "windows" || !slices.Contains(names, strings.ToUpper(name))) {
				delete(all, name)
			}
		}
	}
	switch in.Client {
	case "claude-desktop":
		only(desktopUnix, desktopWindows)
		all["PATH"] = shortPath(all["PATH"])
	case "codex":
		passed, _ := in.Keys["env_vars"].([]any)
		unix, windows := slices.Clone(codexUnix), slices.Clone(codexWindows)
		for _, p := range passed {
			if name, ok := p.(string); ok {
				unix, windows = append(unix, name), append(windows, name)
			}
		}
		only(unix, windows)
	case "gemini":
		for name := range all {
			if slices.ContainsFunc(redacted, func(part string) bool { return strings.Contains(strings.ToUpper(name), part) }) {
				delete(all, name)
			}
		}
		all["GEMINI_CLI"] = "1"
	case "claude-code":
		all["CLAUDECODE"], all["CLAUDE_PROJECT_DIR"] = "1", e.o.Folder
	}
	for name, value := range in.Env {
		if in.Client == "gemini" {
			value = dollars(value, e.o.Env)
		} else {
			value, _ = e.expand(in, value)
		}
		all[name] = value
	}
	return all
}

// dollars replaces $NAME and ${NAME} as Gemini does in the variables of an entry.
func dollars(text string, env func(string) string) string {
	return variable.ReplaceAllStringFunc(text, func(found string) string {
		return env(strings.Trim(found, "${}"))
	})
}

// startFolder is where a client starts the server of an entry.
func (e *exam) startFolder(in clients.Entry) string {
	if in.Folder != "" {
		folder, _ := e.expand(in, in.Folder)
		return folder
	}
	switch in.Client {
	case "claude-desktop":
		return filepath.VolumeName(e.o.Folder) + string(filepath.Separator)
	case "claude-code", "codex", "gemini":
		return e.o.Folder
	}
	if in.Scope != clients.User {
		return e.o.Folder
	}
	return e.o.Env.Home()
}

// list is an environment as a process takes it, in order.
func list(env map[string]string) (all []string) {
	for name, value := range env {
		all = append(all, name+"="+value)
	}
	slices.Sort(all)
	return all
}
