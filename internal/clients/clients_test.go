package clients

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault-mcp/internal/config"
)

func system(os string, vars map[string]string) System {
	return System{OS: os, Env: config.Env(func(name string) string { return vars[name] })}
}

func TestWhereEachClientLooks(t *testing.T) {
	mac := system("darwin", map[string]string{"HOME": "/Users/ana", "XDG_CONFIG_HOME": "/elsewhere"})
	linux := system("linux", map[string]string{"HOME": "/home/ana"})
	moved := system("linux", map[string]string{"HOME": "/home/ana", "XDG_CONFIG_HOME": "/x", "CODEX_HOME": "/c", "CLAUDE_CONFIG_DIR": "/d"})
	windows := system("windows", map[string]string{"HOME": "/u/ana", "APPDATA": "/u/ana/AppData/Roaming"})
	tests := []struct {
		client string
		sys    System
		want   []string
	}{
		{"claude-desktop", mac, []string{"/Users/ana/Library/Application Support/Claude/claude_desktop_config.json"}},
		{"claude-desktop", linux, []string{"/home/ana/.config/Claude/claude_desktop_config.json"}},
		{"claude-desktop", windows, []string{"/u/ana/AppData/Roaming/Claude/claude_desktop_config.json"}},
		{"claude-code", linux, []string{"/home/ana/.claude.json"}},
		{"claude-code", moved, []string{"/d/.claude.json"}},
		{"codex", mac, []string{"/Users/ana/.codex/config.toml"}},
		{"codex", moved, []string{"/c/config.toml"}},
		{"cursor", windows, []string{"/u/ana/.cursor/mcp.json"}},
		{"vscode", mac, []string{"/Users/ana/Library/Application Support/Code/User/mcp.json", "/Users/ana/Library/Application Support/Code - Insiders/User/mcp.json", "/Users/ana/Library/Application Support/VSCodium/User/mcp.json"}},
		{"zed", mac, []string{"/Users/ana/.config/zed/settings.json"}},
		{"zed", moved, []string{"/x/zed/settings.json", "/home/ana/.var/app/dev.zed.Zed/config/zed/settings.json"}},
		{"zed", windows, []string{"/u/ana/AppData/Roaming/Zed/settings.json"}},
		{"gemini", linux, []string{"/home/ana/.gemini/settings.json"}},
	}
	for _, tt := range tests {
		c, ok := Named(tt.client)
		if !ok {
			t.Fatal(tt.client)
		}
		var got []string
		for _, p := range c.Places(tt.sys, "") {
			got = append(got, filepath.ToSlash(p.Path))
		}
		if filepath.Separator == '/' && cmp.Diff(tt.want, got) != "" {
			t.Errorf("%s on %s: %q", tt.client, tt.sys.OS, got)
		}
	}
	for _, c := range All() {
		if got := c.Places(system("linux", nil), ""); len(got) != 0 {
			t.Errorf("%s without a home folder: %v", c.ID, got)
		}
	}
}

// From Microsoft's store, Claude Desktop has a folder of its own, and reads no other.
func TestTheStoresClaudeDesktopIsFound(t *testing.T) {
	home := t.TempDir()
	s := system("windows", map[string]string{"HOME": home, "APPDATA": filepath.Join(home, "R"), "LOCALAPPDATA": filepath.Join(home, "L")})
	store := filepath.Join(home, "L", "Packages", "Claude_x1", "LocalCache", "Roaming", "Claude")
	c, _ := Named("claude-desktop")
	if p, ok := c.Place(s); !ok || p.Path != filepath.Join(home, "R", "Claude", "claude_desktop_config.json") || c.Found(s) {
		t.Errorf("with nothing: %v", p)
	}
	if err := os.MkdirAll(store, 0o755); err != nil {
		t.Fatal(err)
	}
	if p, _ := c.Place(s); p.Path != filepath.Join(store, "claude_desktop_config.json") || !c.Found(s) {
		t.Errorf("with the store's folder: %v", p)
	}
}

func TestEntriesOfEachClient(t *testing.T) {
	plain := Entry{Name: "vault", Command: "/opt/vault-mcp/vault-mcp", Args: []string{"serve", "/home/ana/Notes"}}
	tests := []struct {
		name, client, text string
		want               []Entry
	}{
		{"nothing", "cursor", "", nil},
		{"BOM alone", "cursor", BOM, nil},
		{"null", "claude-code", `{"mcpServers": null}`, nil},
		{"plain", "claude-desktop", BOM + `{"mcpServers": {"vault": {"command": "/opt/vault-mcp/vault-mcp", "args": ["serve", "/home/ana/Notes"]}}}`, []Entry{plain}},
		{"a URL", "cursor", `{"mcpServers": {"web": {"url": "https://example.com"}}}`, []Entry{{Name: "web"}}},
		{"VS Code, comments", "vscode", "{\"servers\": { // ours\n\"vault\": {\"type\": \"stdio\", \"command\": \"/opt/vault-mcp/vault-mcp\", \"args\": [\"serve\", \"/home/ana/Notes\",]},}} // end", []Entry{plain}},
		{"an older Zed", "zed", `{"context_servers": {"vault": {"command": {"path": "/opt/vault-mcp/vault-mcp", "args": ["serve", "/home/ana/Notes"], "env": {"A": "b"}}}}}`,
			[]Entry{{Name: "vault", Command: plain.Command, Args: plain.Args, Env: map[string]string{"A": "b"}}}},
		{"switched off in Zed", "zed", `{"context_servers": {"a": {"command": "x", "enabled": false}}}`, []Entry{{Name: "a", Command: "x", Disabled: true}}},
		{"Codex", "codex", "[mcp_servers.vault]\ncommand = \"/opt/vault-mcp/vault-mcp\"\nargs = ['serve', \"/home/ana/Notes\"]\nenabled = false\ncwd = '/tmp'\n[mcp_servers.vault.env]\nLANG = \"C\"\n",
			[]Entry{{Name: "vault", Command: plain.Command, Args: plain.Args, Env: map[string]string{"LANG": "C"}, Folder: "/tmp", Disabled: true}}},
		{"left out in Gemini", "gemini", `{"mcp": {"excluded": ["a"]}, "mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}`, []Entry{{Name: "a", Command: "x", Disabled: true}, {Name: "b", Command: "y"}}},
		{"not let in in Gemini", "gemini", `{"mcp": {"allowed": ["a"]}, "mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}`, []Entry{{Name: "a", Command: "x"}, {Name: "b", Command: "y", Disabled: true}}},
		{"for one project in Claude Code", "claude-code", `{"projects": {"/p": {"mcpServers": {"vault": {"command": "x"}}}}, "mcpServers": {"vault": {"command": "y"}}}`,
			[]Entry{{Name: "vault", Command: "y"}, {Name: "vault", Command: "x", Scope: Local, Project: "/p"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := Named(tt.client)
			got, err := c.Parse([]byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			for i := range got {
				if got[i].Client != tt.client || got[i].Keys == nil {
					t.Errorf("%+v", got[i])
				}
				got[i].Client, got[i].Keys = "", nil
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatAClientCannotRead(t *testing.T) {
	tests := []struct {
		name, client, text string
		line               int
		why                string
	}{
		{"half a file", "cursor", "{\n\"mcpServers\": {", 2, "unexpected EOF"},
		{"an array", "claude-code", "[]", 1, "no object"},
		{"a list", "cursor", `{"mcpServers": []}`, 0, "no list of servers"},
		{"an entry", "cursor", `{"mcpServers": {"a": 1}}`, 0, `"a"`},
		{"a comment", "claude-desktop", "{\n// mine\n\"a\": 1}", 3, "a comment"},
		{"a comment at the end", "claude-code", "{\"a\": 1\n/* mine */}", 2, "a comment"},
		{"a comma", "gemini", "{// fine\n\"a\": [1,]}", 2, "a comma"},
		{"UTF-16", "claude-desktop", "\xff\xfe{\x00}\x00", 0, "UTF-8"},
		{"a table twice", "codex", "[a]\nx = 1\n[a]\ny = 1\n", 3, ""},
		{"no TOML", "codex", "x = \n", 1, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := Named(tt.client)
			got, err := c.Parse([]byte(tt.text))
			u, ok := errors.AsType[*Unreadable](err)
			if !ok || u.Line != tt.line || !strings.Contains(u.Why, tt.why) {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}

func TestOursIsToldByTheCommandsName(t *testing.T) {
	for command, want := range map[string]bool{
		"/opt/vault-mcp/vault-mcp": true, `C:\Tools\Vault-MCP.EXE`: true, "vault-mcp": true, "/d/vault-mcp_0.2.0_linux_amd64": true,
		"/opt/vault-mcp/node": false, "npx": false, "": false, "/x/vault-mcpx": false, "/x/my-vault-mcp": false,
	} {
		if got := OurCommand(command); got != want {
			t.Errorf("%q: %t", command, got)
		}
	}
}

func TestReadSaysWhereAnEntryIs(t *testing.T) {
	c, _ := Named("codex")
	dir := t.TempDir()
	places := c.Places(system("linux", map[string]string{"HOME": t.TempDir()}), dir)
	if _, err := c.Read(places[0]); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("none: %v", err)
	}
	if err := os.MkdirAll(filepath.Dir(places[1].Path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(places[1].Path, []byte("[mcp_servers.a]\ncommand = 'x'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := c.Read(places[1])
	if err != nil || len(got) != 1 || got[0].File != filepath.Join(dir, ".codex", "config.toml") || got[0].Scope != Project {
		t.Errorf("%+v, %v", got, err)
	}
}
