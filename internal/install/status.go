package install

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"vault-mcp/internal/clients"
)

// State is what a client's file has under the name of our entry.
type State string

// The states.
const (
	None       State = "none"
	InPlace    State = "current"
	Outdated   State = "outdated"   // another binary, or an older form
	HandTuned  State = "hand-tuned" // arguments that install does not write
	Foreign    State = "another program's"
	Unreadable State = "unreadable"
)

// Status is how things stand with one client.
type Status struct {
	Client string `json:"client"`
	Title  string `json:"title"`
	// Found is whether the client seems to be used on this machine.
	Found bool   `json:"found"`
	File  string `json:"file"`
	State State  `json:"entry"`
	// Serves is the vault or config file of an entry of ours.
	Serves   string `json:"serves,omitempty"`
	Disabled bool   `json:"disabled,omitempty"`
	// Others are the names of further entries that start this program.
	Others []string `json:"others,omitempty"`
	Why    string   `json:"why,omitempty"`
}

// Look tells how things stand with a client, for an entry of this name that starts
// this command; "" is any of ours.
func Look(s clients.System, c clients.Client, name, command string) Status {
	st := Status{Client: c.ID, Title: c.Title, Found: c.Found(s), State: None}
	place, ok := c.Place(s)
	if !ok {
		st.State, st.Why = Unreadable, "there is no home folder"
		return st
	}
	st.File = place.Path
	entries, err := c.Read(place)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		st.State, st.Why = Unreadable, err.Error()
		return st
	}
	for _, e := range entries {
		switch {
		case e.Scope == clients.Local:
		case e.Name == name:
			st.State, st.Serves, st.Disabled = stateOf(c, e, command)
		case e.Ours():
			st.Others = append(st.Others, e.Name)
		}
	}
	return st
}

func stateOf(c clients.Client, e clients.Entry, command string) (State, string, bool) {
	if !e.Ours() {
		return Foreign, "", e.Disabled
	}
	vault, ok := Serves(e)
	switch {
	case !ok:
		return HandTuned, "", e.Disabled
	case command == "" || Wanted{Client: c, Name: e.Name, Command: command, Vault: vault}.is(&e):
		return InPlace, vault, e.Disabled
	}
	return Outdated, vault, e.Disabled
}

// Advice is what a person has to know about a client.
type Advice struct {
	// Restart makes the client take the entry up.
	Restart string `json:"restart"`
	// Check shows whether it has.
	Check string `json:"check,omitempty"`
	// Headless lets the client use the tools without a person before it.
	Headless string `json:"headless,omitempty"`
}

// Advise is the advice for a client with an entry of this name.
func Advise(c clients.Client, name string) Advice {
	switch c.ID {
	case "claude-desktop":
		return Advice{Restart: "quit Claude Desktop (closing its window is not enough) and start it again",
			Check: "its settings list the server; its log is mcp-server-" + name + ".log"}
	case "claude-code":
		return Advice{Restart: "start a new session of Claude Code, or reconnect with /mcp", Check: "claude mcp list says Connected",
			Headless: "claude -p needs the tools named: claude -p '...' --allowedTools mcp__" + name}
	case "codex":
		return Advice{Restart: "start a new session of Codex", Check: "codex mcp get " + name,
			Headless: fmt.Sprintf("codex exec asks nobody, so it only runs tools that read, until default_tools_approval_mode = \"approve\" stands in [mcp_servers.%s]", name)}
	case "cursor":
		return Advice{Restart: "restart Cursor, or switch the server on in its settings", Check: "its MCP settings list the tools"}
	case "vscode":
		return Advice{Restart: "VS Code takes it up when the file is saved, and asks whether you trust the server", Check: "the command MCP: List Servers"}
	case "zed":
		return Advice{Restart: "Zed takes it up when the file is saved", Check: "its agent settings show a green dot"}
	default:
		return Advice{Restart: "restart Gemini CLI, or /mcp refresh", Check: "gemini mcp list says Connected",
			Headless: "in a folder that Gemini CLI does not trust no server starts: trust it there first. \"trust\": true would skip every question of the client, so it is not written"}
	}
}

// Known is the client of an ID, or an error that lists them.
func Known(id string) (clients.Client, error) {
	c, ok := clients.Named(id)
	if !ok {
		return c, fmt.Errorf("there is no client %q; known are %s", id, strings.Join(clients.IDs(), ", "))
	}
	return c, nil
}
