// Package clients knows the configuration of each MCP client: in which files it
// looks for servers, in what syntax, and what an entry there says. It only
// reads.
package clients

import (
	"os"
	"path/filepath"
	"slices"

	"vault-mcp/internal/config"
)

// System is where files are looked for. Tests pass their own.
type System struct {
	// OS is named as runtime.GOOS names it.
	OS  string
	Env config.Env
}

// Syntax is how a client reads its file.
type Syntax int

// The syntaxes, from the strictest on.
const (
	JSON           Syntax = iota // as RFC 8259 has it
	JSONComments                 // with comments
	JSONWithCommas               // with comments and trailing commas
	TOML
)

// Client is a program that starts MCP servers.
type Client struct {
	// ID names it in commands, and Title for people.
	ID, Title string
	// Key is the name under which its file lists the servers.
	Key    string
	Syntax Syntax

	user    func(System) []string
	project string // its file within a project, or ""
}

// Scope says for whom an entry is.
type Scope string

// The scopes. Of entries with one name, a client takes Local before Project
// before User.
const (
	User    Scope = "user"
	Project Scope = "project"
	Local   Scope = "local" // for one project, in the user's own file
)

// Place is a file where a client looks for servers. It need not exist.
type Place struct {
	Path  string
	Scope Scope
}

var all = []Client{
	{ID: "claude-desktop", Title: "Claude Desktop", Key: "mcpServers", Syntax: JSON, user: desktopFiles},
	{ID: "claude-code", Title: "Claude Code", Key: "mcpServers", Syntax: JSON, user: codeFiles, project: ".mcp.json"},
	{ID: "codex", Title: "Codex", Key: "mcp_servers", Syntax: TOML, user: codexFiles, project: ".codex/config.toml"},
	{ID: "cursor", Title: "Cursor", Key: "mcpServers", Syntax: JSONWithCommas, user: cursorFiles, project: ".cursor/mcp.json"},
	{ID: "vscode", Title: "VS Code", Key: "servers", Syntax: JSONWithCommas, user: vscodeFiles, project: ".vscode/mcp.json"},
	{ID: "zed", Title: "Zed", Key: "context_servers", Syntax: JSONWithCommas, user: zedFiles, project: ".zed/settings.json"},
	{ID: "gemini", Title: "Gemini CLI", Key: "mcpServers", Syntax: JSONComments, user: geminiFiles, project: ".gemini/settings.json"},
}

// All are the clients that are known, in the order of their documentation.
func All() []Client { return slices.Clone(all) }

// IDs are the names of all clients.
func IDs() (ids []string) {
	for _, c := range all {
		ids = append(ids, c.ID)
	}
	return ids
}

// Named is the client with an ID.
func Named(id string) (Client, bool) {
	i := slices.IndexFunc(all, func(c Client) bool { return c.ID == id })
	if i < 0 {
		return Client{}, false
	}
	return all[i], true
}

// Places are the files of a client: those of the user, the usual one first, then
// that of a project folder unless project is empty. Without a home folder there
// are none of the user.
func (c Client) Places(s System, project string) (places []Place) {
	for _, path := range c.user(s) {
		if filepath.IsAbs(path) {
			places = append(places, Place{path, User})
		}
	}
	if project != "" && c.project != "" {
		places = append(places, Place{filepath.Join(project, filepath.FromSlash(c.project)), Project})
	}
	return places
}

// Place is the user's file that an entry belongs in: the first that exists, else
// the first whose folder exists, else the usual one. It is false without a home
// folder.
func (c Client) Place(s System) (Place, bool) {
	places := c.Places(s, "")
	if len(places) == 0 {
		return Place{}, false
	}
	for _, p := range places {
		if _, err := os.Lstat(p.Path); err == nil {
			return p, true
		}
	}
	for _, p := range places {
		if isFolder(filepath.Dir(p.Path)) {
			return p, true
		}
	}
	return places[0], true
}

// Found reports whether the client seems to have been used by this account: one
// of its files is there, or its own folder.
func (c Client) Found(s System) bool {
	for _, p := range c.Places(s, "") {
		if _, err := os.Lstat(p.Path); err == nil {
			return true
		}
		if dir := filepath.Dir(p.Path); dir != s.Env.Home() && isFolder(dir) {
			return true
		}
	}
	return c.ID == "claude-code" && isFolder(filepath.Join(s.Env.Home(), ".claude"))
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func desktopFiles(s System) []string {
	const name = "claude_desktop_config.json"
	paths := []string{filepath.Join(s.AppData(), "Claude", name)}
	if s.OS == "windows" { // from its store, it has a folder of its own
		pattern := filepath.Join(s.Env("LOCALAPPDATA"), "Packages", "Claude_*", "LocalCache", "Roaming", "Claude")
		folders, _ := filepath.Glob(pattern) // the pattern is well-formed, but for brackets in a name: then there are none
		for _, f := range folders {
			paths = slices.Insert(paths, 0, filepath.Join(f, name))
		}
	}
	return paths
}

func codeFiles(s System) []string {
	dir := s.Env("CLAUDE_CONFIG_DIR")
	if dir == "" {
		dir = s.Env.Home()
	}
	return []string{filepath.Join(dir, ".claude.json")}
}

func codexFiles(s System) []string {
	dir := s.Env("CODEX_HOME")
	if dir == "" {
		dir = filepath.Join(s.Env.Home(), ".codex")
	}
	return []string{filepath.Join(dir, "config.toml")}
}

func cursorFiles(s System) []string {
	return []string{filepath.Join(s.Env.Home(), ".cursor", "mcp.json")}
}

func geminiFiles(s System) []string {
	return []string{filepath.Join(s.Env.Home(), ".gemini", "settings.json")}
}

func vscodeFiles(s System) (paths []string) {
	for _, build := range []string{"Code", "Code - Insiders", "VSCodium"} {
		paths = append(paths, filepath.Join(s.AppData(), build, "User", "mcp.json"))
	}
	return paths
}

func zedFiles(s System) []string {
	home := s.Env.Home()
	switch s.OS {
	case "windows":
		return []string{filepath.Join(s.AppData(), "Zed", "settings.json")}
	case "darwin":
		return []string{filepath.Join(home, ".config", "zed", "settings.json")}
	}
	return []string{
		filepath.Join(s.AppData(), "zed", "settings.json"),
		filepath.Join(home, ".var", "app", "dev.zed.Zed", "config", "zed", "settings.json"), // Flatpak
	}
}

// AppData is the folder where programs with a window keep the settings of this
// account. It is relative if nothing tells.
func (s System) AppData() string {
	home := s.Env.Home()
	switch s.OS {
	case "windows":
		if dir := s.Env("APPDATA"); dir != "" {
			return dir
		}
		return filepath.Join(home, "AppData", "Roaming")
	case "darwin":
		return filepath.Join(home, "Library", "Application Support")
	}
	if dir := s.Env("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(home, ".config")
}
