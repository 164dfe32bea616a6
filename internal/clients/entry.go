package clients

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// Entry is a server that a client starts, as its file says it: nothing is
// expanded or checked.
type Entry struct {
	Name    string
	Command string // "" for a server that is not started, but reached by a URL
	Args    []string
	Env     map[string]string
	// Folder is where the command is started, or "" if the client decides.
	Folder string
	// Disabled is whether the file says that it is not to be started.
	Disabled bool
	// Keys is all that the entry says, decoded.
	Keys map[string]any

	Client  string // the client's ID
	File    string
	Scope   Scope
	Project string // the folder that an entry of scope Local is for
}

// Ours reports whether the entry starts this program: its command is named as
// our binaries are.
func (e Entry) Ours() bool { return OurCommand(e.Command) }

// OurCommand reports whether a command is named as our binaries are: vault-mcp,
// with the version and system that a download may add.
func OurCommand(command string) bool {
	base := strings.ToLower(command[strings.LastIndexAny(command, `/\`)+1:])
	rest, ok := strings.CutPrefix(strings.TrimSuffix(base, ".exe"), "vault-mcp")
	return ok && (rest == "" || rest[0] == '-' || rest[0] == '_')
}

// Read reads the entries of a file, in the order of their names. A file that is
// not there is an fs.ErrNotExist; one that the client cannot read is an
// *Unreadable.
func (c Client) Read(p Place) ([]Entry, error) {
	text, err := os.ReadFile(p.Path)
	if err != nil {
		return nil, err
	}
	entries, err := c.Parse(text)
	for i := range entries {
		entries[i].File = p.Path
		if entries[i].Scope == "" {
			entries[i].Scope = p.Scope
		}
	}
	return entries, err
}

// Parse reads the entries of a file's text.
func (c Client) Parse(text []byte) ([]Entry, error) {
	said, err := c.Syntax.Decode(text)
	if err != nil {
		return nil, err
	}
	entries, err := c.servers(said[c.Key])
	if err != nil {
		return nil, err
	}
	switch c.ID {
	case "claude-code":
		projects, _ := said["projects"].(map[string]any)
		for _, folder := range slices.Sorted(maps.Keys(projects)) {
			project, _ := projects[folder].(map[string]any)
			local, err := c.servers(project[c.Key])
			if err != nil {
				return nil, err
			}
			for _, e := range local {
				e.Scope, e.Project = Local, folder
				entries = append(entries, e)
			}
		}
	case "gemini":
		for i := range entries {
			entries[i].Disabled = entries[i].Disabled || filtered(said["mcp"], entries[i].Name)
		}
	}
	return entries, nil
}

// servers reads the part of a file that lists servers. null is as good as none.
func (c Client) servers(list any) (entries []Entry, err error) {
	named, ok := list.(map[string]any)
	if !ok && list != nil {
		return nil, &Unreadable{0, fmt.Sprintf("%q is no list of servers by their names", c.Key)}
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		keys, ok := named[name].(map[string]any)
		if !ok {
			return nil, &Unreadable{0, fmt.Sprintf("the entry %q of %q is no object", name, c.Key)}
		}
		e := entryOf(keys)
		e.Name, e.Client = name, c.ID
		entries = append(entries, e)
	}
	return entries, nil
}

func entryOf(keys map[string]any) Entry {
	e := Entry{Keys: keys}
	from := keys
	if nested, ok := keys["command"].(map[string]any); ok { // older files of Zed
		e.Command, _ = nested["path"].(string)
		from = nested
	} else {
		e.Command, _ = keys["command"].(string)
	}
	args, _ := from["args"].([]any)
	for _, a := range args {
		text, ok := a.(string)
		if !ok {
			text = fmt.Sprint(a)
		}
		e.Args = append(e.Args, text)
	}
	env, _ := from["env"].(map[string]any)
	for name, value := range env {
		if e.Env == nil {
			e.Env = map[string]string{}
		}
		e.Env[name] = fmt.Sprint(value)
	}
	e.Folder, _ = keys["cwd"].(string)
	e.Disabled = keys["disabled"] == true || keys["enabled"] == false
	return e
}

// filtered reports whether Gemini's lists leave a server out.
func filtered(mcp any, name string) bool {
	lists, _ := mcp.(map[string]any)
	has := func(list any) bool {
		names, _ := list.([]any)
		return slices.Contains(names, any(name))
	}
	return has(lists["excluded"]) || lists["allowed"] != nil && !has(lists["allowed"])
}
