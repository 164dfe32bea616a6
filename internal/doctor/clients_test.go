package doctor

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"vault-mcp/internal/clients"
)

// configured writes the config of a client into its place.
func (b *bed) configured(client, text string) (path string) {
	b.t.Helper()
	c, ok := clients.Named(client)
	place, found := c.Place(clients.System{OS: runtime.GOOS, Env: b.env()})
	if !ok || !found {
		b.t.Fatal(client)
	}
	b.must(os.MkdirAll(filepath.Dir(place.Path), 0o755))
	b.must(os.WriteFile(place.Path, []byte(text), 0o600))
	return place.Path
}

// program is a file with our name that may be executed, in a folder of its own.
func (b *bed) program() string {
	name := "vault-mcp"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	path := b.put("bin/"+name, "#!/bin/sh\n")
	b.must(os.Chmod(path, 0o755))
	return path
}

func quoted(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What people get wrong when they write an entry by hand is told, and what is right is
// not.
func TestMistakesInAnEntry(t *testing.T) {
	type entry = map[string]any
	tests := []struct {
		name, client, id string
		level            Level
		entry            func(b *bed) entry
		fix              string
	}{
		{"all is well", "cursor", "client.command", OK, func(b *bed) entry { return entry{"command": b.program(), "args": []string{"serve", b.vault}} }, ""},
		{"no such file", "cursor", "client.command", Broken, func(b *bed) entry {
			return entry{"command": filepath.Join(b.home, "vault-mcp"), "args": []string{b.vault}}
		}, "absolute path"},
		{"a folder", "cursor", "client.command", Broken, func(b *bed) entry {
			b.put("vault-mcp/x", "")
			return entry{"command": filepath.Join(b.home, "vault-mcp"), "args": []string{b.vault}}
		}, "absolute path"},
		{"not executable", "cursor", "client.command", Broken, func(b *bed) entry { return entry{"command": b.put("vault-mcp", "x"), "args": []string{b.vault}} }, "chmod +x"},
		{"a tilde", "claude-desktop", "client.command", Broken, func(b *bed) entry { return entry{"command": "~/bin/vault-mcp", "args": []string{b.vault}} }, "absolute path"},
		{"a name that PATH has", "claude-code", "client.command", Warning, func(b *bed) entry {
			b.vars["PATH"] = filepath.Dir(b.program())
			return entry{"command": filepath.Base(b.program()), "args": []string{b.vault}}
		}, "absolute path"},
		{"a name that a desktop's PATH has not", "claude-desktop", "client.command", Broken, func(b *bed) entry {
			if runtime.GOOS == "windows" {
				b.vars["PATH"] = b.home
			} else {
				b.vars["PATH"] = filepath.Dir(b.program())
			}
			return entry{"command": "vault-mcp", "args": []string{b.vault}}
		}, "absolute path"},
		{"relative", "claude-code", "client.command", Warning, func(b *bed) entry { b.program(); return entry{"command": "bin/vault-mcp", "args": []string{b.vault}} }, "absolute path"},
		{"relative, from where it is not", "claude-desktop", "client.command", Broken, func(b *bed) entry { b.program(); return entry{"command": "bin/vault-mcp", "args": []string{b.vault}} }, "absolute path"},
		{"the whole line as the command", "cursor", "client.command", Broken, func(b *bed) entry { return entry{"command": b.program() + " serve /x/vault-mcp"} }, "into args"},
		{"a variable that is not replaced", "claude-desktop", "client.args", Broken, func(b *bed) entry { return entry{"command": b.program(), "args": []string{"serve", "$HOME/Notes"}} }, "path itself"},
		{"a variable of another client", "claude-code", "client.args", Broken, func(b *bed) entry {
			return entry{"command": b.program(), "args": []string{"serve", "${env:HOME}/Notes"}}
		}, "path itself"},
		{"a variable that is replaced", "claude-code", "client.command", OK, func(b *bed) entry {
			return entry{"command": b.program(), "args": []string{"serve", "${HOME}/Notes"}}
		}, ""},
		{"a variable with another value to take", "claude-code", "client.args", "", func(b *bed) entry {
			return entry{"command": b.program(), "args": []string{"serve", "${NO_SUCH:-" + b.vault + "}"}}
		}, ""},
		{"a variable without a value", "cursor", "client.args", Broken, func(b *bed) entry {
			return entry{"command": b.program(), "args": []string{"serve", "${env:NO_SUCH}/Notes"}}
		}, "path itself"},
		{"a folder that the editor replaces", "vscode", "client.args", "", func(b *bed) entry {
			return entry{"command": b.program(), "args": []string{"serve", "${workspaceFolder}/Notes"}}
		}, ""},
		{"a variable of Windows", "cursor", "client.args", Broken, func(b *bed) entry {
			return entry{"command": b.program(), "args": []string{"serve", `%USERPROFILE%\Notes`}}
		}, "path itself"},
		{"single backslashes", "cursor", "client.args", Broken, func(b *bed) entry { return entry{"command": b.program(), "args": []string{"serve", "C:\notes"}} }, "two backslashes"},
		{"quotes in quotes", "zed", "client.args", Broken, func(b *bed) entry {
			return entry{"command": b.program(), "args": []string{"serve", `"` + b.vault + `"`}}
		}, "inner ones"},
		{"blanks at the end", "zed", "client.args", Broken, func(b *bed) entry { return entry{"command": b.program(), "args": []string{"serve", b.vault + " "}} }, "take them out"},
		{"arguments as one text", "cursor", "client.args", Broken, func(b *bed) entry { return entry{"command": b.program(), "args": "serve " + b.vault} }, "as a list"},
		{"a path cut at its blanks", "cursor", "client.args", Broken, func(b *bed) entry {
			b.put("My Notes/a.md", "x")
			return entry{"command": b.program(), "args": []string{"serve", filepath.Join(b.home, "My"), "Notes"}}
		}, "My Notes"},
		{"two vaults", "cursor", "client.args", Broken, func(b *bed) entry { return entry{"command": b.program(), "args": []string{b.vault, b.home}} }, "config file"},
		{"no vault", "cursor", "client.args", Broken, func(b *bed) entry {
			return entry{"command": b.program(), "args": []string{"serve", "--log-level", "debug"}}
		}, "/path/of/the/vault"},
		{"a vault that is gone", "cursor", "client.args", Broken, func(b *bed) entry {
			return entry{"command": b.program(), "args": []string{"serve", filepath.Join(b.home, "Gone")}}
		}, "last argument"},
		{"a relative vault", "claude-code", "client.args", Warning, func(b *bed) entry { return entry{"command": b.program(), "args": []string{"serve", "Notes"}} }, "absolute path"},
		{"a relative vault, from where it is not", "claude-desktop", "client.args", Broken, func(b *bed) entry { return entry{"command": b.program(), "args": []string{"serve", "Notes"}} }, "absolute path"},
		{"switched off", "zed", "client.off", Off, func(b *bed) entry { return entry{"command": b.program(), "args": []string{b.vault}, "enabled": false} }, "switch it on"},
		{"a short timeout", "claude-code", "client.timeout", Warning, func(b *bed) entry { return entry{"command": b.program(), "args": []string{b.vault}, "timeout": 5000} }, "60 seconds"},
		{"a state of its own", "claude-desktop", "client.state", Warning, func(b *bed) entry {
			if runtime.GOOS != "linux" {
				t.Skip("no variable moves the state here")
			}
			b.vars["XDG_STATE_HOME"] = filepath.Join(b.home, "state")
			return entry{"command": b.program(), "args": []string{b.vault}}
		}, "state_dir"},
		{"the state of all", "claude-code", "client.state", "", func(b *bed) entry {
			b.vars["XDG_STATE_HOME"] = filepath.Join(b.home, "state")
			return entry{"command": b.program(), "args": []string{b.vault}}
		}, ""},
		{"another program on the vault", "cursor", "client.other", Warning, func(b *bed) entry { return entry{"command": "npx", "args": []string{"-y", "obsidian-mcp", b.vault}} }, "take the entry out"},
		{"another program elsewhere", "cursor", "client.other", "", func(b *bed) entry {
			return entry{"command": "npx", "args": []string{"-y", "obsidian-mcp", b.vault + "2"}}
		}, ""},
		{"no entry of ours", "cursor", "client.entry", Off, func(*bed) entry { return entry{"url": "https://example.com/mcp"} }, "vault-mcp install cursor"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBed(t, "Notes")
			c, _ := clients.Named(tt.client)
			b.configured(tt.client, quoted(t, map[string]any{c.Key: map[string]any{"vault": tt.entry(b)}}))
			b.o.Client = tt.client
			r := b.examine()
			found := r.all(tt.id)
			if r.level(tt.id) != tt.level {
				t.Fatalf("%s: %+v", tt.id, r.Findings)
			}
			if tt.level != "" && !strings.Contains(found[0].Fix, tt.fix) {
				t.Errorf("fix %q", found[0].Fix)
			}
			if tt.level == "" && r.Counts[Broken] > 0 {
				t.Errorf("%+v", r.Findings)
			}
		})
	}
}

// A file that its client cannot read is broken, with the line; other clients are looked
// at all the same.
func TestAConfigThatItsClientCannotRead(t *testing.T) {
	b := newBed(t, "Notes")
	b.configured("cursor", quoted(t, map[string]any{"mcpServers": map[string]any{"vault": map[string]any{"command": b.program(), "args": []string{b.vault}}}}))
	b.configured("claude-desktop", "{\n  \"mcpServers\": {\n    // mine\n  }\n}\n")
	b.configured("codex", "[mcp_servers.vault]\ncommand = \"a\"\n[mcp_servers.vault]\ncommand = \"b\"\n")
	r := b.examine()
	found := r.all("client.config")
	if len(found) != 2 || found[0].Client != "claude-desktop" || !strings.Contains(found[0].Text, "line ") || found[1].Client != "codex" || !strings.Contains(found[1].Text, "line 3") {
		t.Errorf("%+v", found)
	}
	if r.level("client.command") != OK {
		t.Error("Cursor was not looked at")
	}
}

// Of entries with one name the narrowest is taken, and those that it hides are told.
func TestAnEntryThatAnotherOneHides(t *testing.T) {
	b := newBed(t, "Notes")
	server := map[string]any{"vault": map[string]any{"command": b.program(), "args": []string{b.vault}}}
	b.o.Folder = filepath.Join(b.home, "project", "sub")
	b.must(os.MkdirAll(b.o.Folder, 0o755))
	b.configured("claude-code", quoted(t, map[string]any{"mcpServers": server, "projects": map[string]any{
		filepath.Join(b.home, "project"):   map[string]any{"mcpServers": server},
		filepath.Join(b.home, "elsewhere"): map[string]any{"mcpServers": map[string]any{"vault": map[string]any{"command": "/gone/vault-mcp"}}},
	}}))
	b.put("project/sub/.mcp.json", quoted(t, map[string]any{"mcpServers": server}))
	b.o.Client = "claude-code"
	r := b.examine()
	if hidden := r.all("client.shadow"); len(hidden) != 2 || !strings.Contains(hidden[0].Text, "scope user") || !strings.Contains(hidden[0].Text, "scope local") {
		t.Errorf("%+v", hidden)
	}
	if used := r.all("client.entry"); len(used) != 1 || !strings.Contains(used[0].Text, "scope local") || r.Status == Broken {
		t.Errorf("%+v", r.Findings)
	}
}

// Each client hands on what it hands on, and no more.
func TestTheEnvironmentOfEachClient(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the lists of Windows are other ones")
	}
	b := newBed(t, "Notes")
	for name, value := range map[string]string{"LANG": "C.UTF-8", "XDG_STATE_HOME": "/x", "API_TOKEN": "t", "EDITOR": "vi", "PATH": "/opt/bin"} {
		b.vars[name] = value
	}
	e := &exam{o: b.o}
	e.o.Env = b.env()
	for name, value := range b.vars {
		e.o.Environ = append(e.o.Environ, name+"="+value)
	}
	for client, want := range map[string]map[string]bool{
		"claude-desktop": {"HOME": true, "LANG": false, "XDG_STATE_HOME": false, "API_TOKEN": false, "EDITOR": false},
		"codex":          {"HOME": true, "LANG": true, "XDG_STATE_HOME": false, "API_TOKEN": false, "EDITOR": true},
		"gemini":         {"HOME": true, "LANG": true, "XDG_STATE_HOME": true, "API_TOKEN": false, "EDITOR": true},
		"claude-code":    {"HOME": true, "LANG": true, "XDG_STATE_HOME": true, "API_TOKEN": true, "EDITOR": true},
	} {
		in := clients.Entry{Client: client, Env: map[string]string{"MINE": "$EDITOR"}, Keys: map[string]any{"env_vars": []any{"EDITOR"}}}
		got := e.environment(in)
		for name, there := range want {
			if _, is := got[name]; is != there {
				t.Errorf("%s: %s is there: %t", client, name, is)
			}
		}
		if mine := map[bool]string{true: "vi", false: "$EDITOR"}[client == "gemini"]; got["MINE"] != mine {
			t.Errorf("%s: its own variable is %q", client, got["MINE"])
		}
		if client == "claude-desktop" && got["PATH"] == "/opt/bin" {
			t.Error("a desktop has the PATH of a shell")
		}
	}
}
