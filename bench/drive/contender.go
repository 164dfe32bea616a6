package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"vault-mcp/bench/vaultgen"
)

// contender is a server that can be measured, with its own words for what all
// of them can do.
type contender struct {
	who  string
	argv func(v *vaultgen.Vault) []string
	// configured is argv with settings under which nothing is refused for its
	// number or its size; nil if there is no difference.
	configured func(v *vaultgen.Vault) ([]string, error)
	read       func(path string) call
	search     func(query string) call
	list       func(order string) call // nil if it cannot
	big        call                    // an argument of 1 MiB
	ready      bool                    // it builds an index, and says when it is ready
}

// bench is one run of the driver.
type bench struct {
	ours, stub contender
	raw        string     // the program with the floor of the index
	ref        *contender // another floor, or nil
	rg         string     // the grep that the first search is measured against, or ""
	runs       int
	only       string // the parts to measure, or "" for all
	unwarmed   bool   // no round goes before those that count
	home       string // of the children, so that they leave nothing behind
	rows       []row
}

func (b *bench) all() []contender {
	list := []contender{b.ours, b.stub}
	if b.ref != nil {
		list = append(list, *b.ref)
	}
	return list
}

func (b *bench) env() []string {
	return append(os.Environ(), "HOME="+b.home, "XDG_STATE_HOME="+filepath.Join(b.home, "state"), "VAULT_MCP_LOG=error")
}

// spawn starts a contender for its start to be measured.
func (b *bench) spawn(c contender, v *vaultgen.Vault) (*server, error) {
	return start(c.argv(v), b.env())
}

// serve starts a contender for calls to be measured, when it builds nothing.
func (b *bench) serve(c contender, v *vaultgen.Vault) (*server, error) {
	s, err := b.start(c, v)
	if err == nil && c.ready {
		err = s.ready()
	}
	return s, err
}

// start starts a contender and shakes hands.
func (b *bench) start(c contender, v *vaultgen.Vault) (*server, error) {
	argv := c.argv(v)
	if c.configured != nil {
		var err error
		if argv, err = c.configured(v); err != nil {
			return nil, err
		}
	}
	s, err := start(argv, b.env())
	if err != nil {
		return nil, err
	}
	return s, s.initialize()
}

func ours(bin, home string) contender {
	return contender{
		who:  "vault-mcp",
		argv: func(v *vaultgen.Vault) []string { return []string{bin, v.Dir} },
		configured: func(v *vaultgen.Vault) ([]string, error) {
			name := filepath.Join(home, filepath.Base(v.Dir)+".yaml")
			text := fmt.Sprintf("vaults: [{id: main, path: %q}]\nthrottle: {read: {per_minute: 1000000, burst: 1000000}}\n"+
				"governor: {max_response_bytes: 4000000, soft_list_bytes: 4000000, soft_note_chars: 4000000}\nlog: {level: error}\n", v.Dir)
			return []string{bin, name}, os.WriteFile(name, []byte(text), 0o600)
		},
		read:   func(path string) call { return call{Name: "read_note", Arguments: map[string]any{"path": path}} },
		search: func(q string) call { return call{Name: "search_text", Arguments: map[string]any{"query": q}} },
		list:   func(order string) call { return call{Name: "list_notes", Arguments: map[string]any{"sort": order}} },
		big:    call{Name: "search_text", Arguments: map[string]any{"query": mebibyte()}, refused: true},
		ready:  true,
	}
}

func stub(bin string) contender {
	return contender{
		who:    "stub",
		argv:   func(v *vaultgen.Vault) []string { return []string{bin, v.Dir} },
		read:   func(path string) call { return call{Name: "read", Arguments: map[string]any{"path": path}} },
		search: func(q string) call { return call{Name: "search", Arguments: map[string]any{"query": q}} },
		list:   func(order string) call { return call{Name: "list", Arguments: map[string]any{"sort": order}} },
		big:    call{Name: "echo", Arguments: map[string]any{"s": mebibyte()}},
	}
}

// other is a server with the stub's tools but list, given as a command in
// which {vault} stands for the folder.
func other(command string) contender {
	return contender{
		who: "ref",
		argv: func(v *vaultgen.Vault) []string {
			argv := strings.Fields(command)
			for i := range argv {
				argv[i] = strings.ReplaceAll(argv[i], "{vault}", v.Dir)
			}
			return argv
		},
		read:   stub("").read,
		search: stub("").search,
		big:    stub("").big,
	}
}

func mebibyte() string { return strings.Repeat("abcdefg\n", 1<<17) }
