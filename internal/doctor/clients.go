package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"vault-mcp/internal/clients"
	"vault-mcp/internal/obsidian"
)

func (e *exam) system() clients.System { return clients.System{OS: runtime.GOOS, Env: e.o.Env} }

// entries are what a client's files say: those that can be read, and what is wrong
// with the others.
func (e *exam) entries(c clients.Client) (all []clients.Entry, read int, wrong map[string]error) {
	wrong = map[string]error{}
	seen := map[string]bool{}
	for _, place := range c.Places(e.system(), e.o.Folder) {
		if seen[place.Path] { // a project in the home folder
			continue
		}
		seen[place.Path] = true
		list, err := c.Read(place)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if read++; err != nil {
			wrong[place.Path] = err
			continue
		}
		for _, in := range list {
			// An entry for another project is not taken in this one.
			if in.Project == "" || within(in.Project, e.o.Folder) {
				all = append(all, in)
			}
		}
	}
	return all, read, wrong
}

func within(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// served are the vaults and configs that the clients' entries name.
func (e *exam) served() (args []string) {
	quiet := &exam{o: e.o, report: Report{Counts: map[Level]int{}}}
	for _, c := range clients.All() {
		if e.o.Client != "" && c.ID != e.o.Client {
			continue
		}
		all, _, _ := e.entries(c)
		for _, in := range all {
			if !in.Ours() || in.Disabled {
				continue
			}
			if l, ok := quiet.general().launch(in); ok && !slices.Contains(args, l.arg) {
				args = append(args, l.arg)
			}
		}
	}
	return args
}

// known are the vaults that Obsidian knows.
func (e *exam) known() (dirs []string) {
	vaults, _ := obsidian.Vaults(e.system()) // what can be read is enough
	for _, v := range vaults {
		if !v.Gone {
			dirs = append(dirs, v.Path)
		}
	}
	return dirs
}

// clients checks the configs of all clients, and starts their servers.
func (e *exam) clients(ctx context.Context) {
	found := 0
	for _, c := range clients.All() {
		if e.o.Client != "" && c.ID != e.o.Client {
			continue
		}
		all, read, wrong := e.entries(c)
		found += read
		at := subject{e: e, client: c.ID}
		for _, path := range slices.Sorted(keysOf(wrong)) {
			at.unreadable(path, wrong[path])
		}
		if read == 0 && e.o.Client != "" {
			at.off("client.config", c.Title+" has no config file", "vault-mcp install "+c.ID+" makes one")
		}
		if read > len(wrong) {
			at.entries(ctx, c, all)
		}
	}
	if found == 0 && e.o.Client == "" {
		e.general().off("client.none", "no config of a known client was found", "vault-mcp install --list shows which are known")
	}
}

func keysOf(m map[string]error) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func (s subject) unreadable(path string, err error) {
	fix := "correct it there: this client starts no server until then"
	if u, ok := errors.AsType[*clients.Unreadable](err); ok {
		where := path
		if u.Line > 0 {
			where = fmt.Sprintf("%s, line %d", path, u.Line)
		}
		s.broken("client.config", where+": "+oneLine(u.Why), fix)
		return
	}
	s.broken("client.config", path+" cannot be read: "+oneLine(err.Error()), fix)
}

// entries checks the entries of one client.
func (s subject) entries(ctx context.Context, c clients.Client, all []clients.Entry) {
	ours := 0
	for _, in := range all {
		at := s
		at.server = in.Name
		if !in.Ours() {
			at.other(in)
			continue
		}
		ours++
		if in.Disabled {
			at.off("client.off", "the entry in "+in.File+" is switched off", "switch it on in "+c.Title)
			continue
		}
		if by, hidden := shadow(in, all); hidden {
			at.warn("client.shadow", fmt.Sprintf("the entry of scope %s in %s is hidden by one of scope %s in %s", in.Scope, in.File, by.Scope, by.File), "take one of them out")
			continue
		}
		at.ok("client.entry", "%s, scope %s", in.File, in.Scope)
		if l, ok := at.launch(in); ok {
			at.start(ctx, in, l)
		}
	}
	if ours == 0 {
		s.off("client.entry", c.Title+" has no entry of this program", "vault-mcp install "+c.ID)
	}
}

// shadow is the entry that is taken in place of another one.
func shadow(in clients.Entry, all []clients.Entry) (by clients.Entry, hidden bool) {
	rank := []clients.Scope{clients.User, clients.Project, clients.Local}
	by = in
	for _, other := range all {
		if other.Name == in.Name && slices.Index(rank, other.Scope) > slices.Index(rank, by.Scope) {
			by = other
		}
	}
	return by, by.Scope != in.Scope
}

// other warns of a server of another program on a vault that was looked at.
func (s subject) other(in clients.Entry) {
	if in.Disabled {
		return
	}
	said := slices.Clone(in.Args)
	for _, value := range in.Env {
		said = append(said, value)
	}
	for _, f := range s.e.report.Findings {
		if f.ID != "vault.open" || f.Vault == "" {
			continue
		}
		if slices.ContainsFunc(said, func(text string) bool {
			return text == f.Vault || strings.HasPrefix(text, f.Vault+string(filepath.Separator))
		}) {
			s.vault = f.Vault
			s.warn("client.other", "another program serves the same vault, and asks nobody for what it changes", "if that is not meant, take the entry out of "+in.File)
			return
		}
	}
}
