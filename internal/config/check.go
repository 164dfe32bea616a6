package config

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/bmatcuk/doublestar/v4"

	"vault-mcp/cache"
)

var vaultID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9_-]{1,64}$`) })

// check resolves the paths of a decoded config, takes up the environment, and
// reports what single values cannot show.
func (e Env) check(c *Config, p *problems) {
	if len(c.Vaults) == 0 && !p.wrong["vaults"] && !p.wrong[""] {
		p.at("vaults", "name at least one vault, as in vaults: [{path: ~/Notes}]")
	}
	ids := map[string]int{}
	for i := range c.Vaults {
		v := &c.Vaults[i]
		key := fmt.Sprintf("vaults[%d]", i)
		if before, taken := ids[v.ID]; taken {
			p.at(key+".id", "vaults[%d] has the id %s too: give each vault an id of its own", before, quote(v.ID))
		}
		ids[v.ID] = i
		if !vaultID().MatchString(v.ID) {
			p.at(key+".id", "%s cannot be an id: use 1 to 64 of a-z, 0-9, _ and -", quote(v.ID))
		}
		e.resolve(v, c.File, key+".path", p)
		for j, r := range v.Rules {
			checkRule(r, fmt.Sprintf("%s.rules[%d]", key, j), p)
		}
	}
	checkNesting(c.Vaults, p)
	checkOutside(c, p)
	e.checkStateDir(c, p)
	e.checkProgram(&c.Programs.PDFToText, "programs.pdftotext", c, p)
	e.checkProgram(&c.Programs.PDFInfo, "programs.pdfinfo", c, p)
	e.checkProgram(&c.Programs.Git, "programs.git", c, p)
	if err := Loopback(c.Page.Listen); err != nil && !p.wrong["page.listen"] {
		p.at("page.listen", "%v", err)
	}
	if level := e("VAULT_MCP_LOG"); level != "" {
		if !slices.Contains([]string{"debug", "info", "warn", "error"}, level) {
			p.environment("VAULT_MCP_LOG: %s is not one of debug, info, warn, error", quote(level))
		}
		c.Log.Level = level
	}
}

// resolve makes the path of a vault absolute and finds its real folder.
func (e Env) resolve(v *Vault, file, key string, p *problems) {
	if p.wrong[key] {
		return
	}
	if v.Path == "" {
		p.at(key, "is empty: give the folder of the vault")
		return
	}
	path, err := e.expand(filepath.Dir(file), v.Path)
	if err != nil {
		p.at(key, "%s: %v", quote(v.Path), err)
		return
	}
	v.Path = path
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		p.at(key, "no folder at %s: correct the path, or make the folder", quote(path))
		return
	case err != nil:
		p.at(key, "cannot look at %s: %v", quote(path), reason(err))
		return
	case !info.IsDir():
		p.at(key, "%s is a file: give the folder of the vault", quote(path))
		return
	}
	real, err := realPath(path)
	if err == nil {
		err = readable(real)
	}
	if err != nil {
		p.at(key, "cannot read the folder %s: %v; give this account the right to list and open it", quote(path), reason(err))
		return
	}
	v.Real = real
}

// Loopback says why a page may not listen at an address, or nil: others than this
// machine could reach it.
func Loopback(address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !at.Addr().IsLoopback() || at.Addr().Zone() != "" || at.Addr().Is4In6() {
		return fmt.Errorf("%s is no address of this machine alone: give a loopback IP and a port, as in 127.0.0.1:0", quote(address))
	}
	return nil
}

func readable(folder string) error {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	return f.Close()
}

// checkRule refuses a rule that would silently match less than it seems to.
func checkRule(r Rule, key string, p *problems) {
	set := func(name string) bool { return p.lines[key+".verbs."+name] > 0 }
	if !p.wrong[key+".verbs"] && !set("read") && !set("write") && !set("delete") {
		p.at(key+".verbs", "sets nothing: give at least one of read, write, delete")
	}
	key += ".glob"
	if p.wrong[key] {
		return
	}
	parts := strings.FieldsFunc(r.Glob, func(c rune) bool { return strings.ContainsRune("/{},", c) })
	said := quote(r.Glob)
	switch {
	case r.Glob == "":
		p.at(key, "is empty: for the whole vault write \"**\"")
	case strings.Contains(r.Glob, `\`):
		p.at(key, "%s: write / between folders, not \\", said)
	case strings.HasPrefix(r.Glob, "/"), strings.Contains(r.Glob, "{/"):
		p.at(key, "%s: paths are relative to the vault, without / in front", said)
	case slices.Contains(parts, ".."), slices.Contains(parts, "."):
		p.at(key, "%s: . and .. are not for globs, paths are relative to the vault", said)
	case strings.Contains(r.Glob, "//"):
		p.at(key, "%s matches nothing: write one / between folders", said)
	case !doublestar.ValidatePattern(r.Glob):
		p.at(key, "%s is no valid glob: a bracket or brace is not closed", said)
	}
}

// checkNesting refuses two vaults that share notes: each would be governed by
// the rules of the other.
func checkNesting(vaults []Vault, p *problems) {
	for j := range vaults {
		for i := range j {
			a, b := vaults[i], vaults[j]
			if a.Real == "" || b.Real == "" {
				continue
			}
			inA, errA := cache.Within(b.Real, a.Real)
			inB, errB := cache.Within(a.Real, b.Real)
			key := fmt.Sprintf("vaults[%d].path", j)
			switch {
			case errA != nil || errB != nil:
				p.at(key, "cannot compare with vaults[%d].path: %v", i, errors.Join(errA, errB))
			case inA && inB:
				p.at(key, "%s is the same folder as vaults[%d].path: serve it once", quote(b.Path), i)
			case inA:
				p.at(key, "%s is inside vaults[%d].path (%s): serve one of the two", quote(b.Path), i, quote(a.Path))
			case inB:
				p.at(key, "%s has vaults[%d].path (%s) inside it: serve one of the two", quote(b.Path), i, quote(a.Path))
			}
		}
	}
}

// checkOutside refuses a config file that lies among the notes: whoever writes
// notes could give itself other rules. Names that begin with a dot are no part
// of a vault.
func checkOutside(c *Config, p *problems) {
	if c.File == "" {
		return
	}
	file, err := filepath.EvalSymlinks(c.File)
	if err != nil {
		return // it was read a moment ago; whoever moved it away has no rules to change
	}
	for i, v := range c.Vaults {
		rel, err := filepath.Rel(v.Real, file)
		if v.Real == "" || err != nil || !filepath.IsLocal(rel) || strings.Contains("/"+filepath.ToSlash(rel), "/.") {
			continue
		}
		p.at(fmt.Sprintf("vaults[%d].path", i), "the config file itself is in this vault, where an agent could change its rules: move it out, or give it a name that begins with a dot")
	}
}

func (e Env) checkStateDir(c *Config, p *problems) {
	if c.StateDir == "" {
		return
	}
	path, err := e.expand("", c.StateDir)
	if err != nil {
		p.at("state_dir", "%s: %v", quote(c.StateDir), err)
		return
	}
	if !filepath.IsAbs(path) {
		p.at("state_dir", "%s is relative: give a path from the root, or one that starts with ~/", quote(c.StateDir))
		return
	}
	c.StateDir = path
	for i, v := range c.Vaults {
		if v.Real == "" {
			continue
		}
		in, err := cache.Within(path, v.Real)
		if err != nil {
			p.at("state_dir", "%s cannot be used: %v", quote(path), err)
			return
		}
		if in {
			p.at("state_dir", "%s is inside vaults[%d].path, where sync and git would carry it away: choose a folder outside every vault", quote(path), i)
		}
	}
}

// checkProgram makes the path of a program absolute, and refuses one that could
// not be started, or that whoever writes notes could replace.
func (e Env) checkProgram(path *string, key string, c *Config, p *problems) {
	if *path == "" {
		return
	}
	full, err := e.expand("", *path)
	if err != nil {
		p.at(key, "%s: %v", quote(*path), err)
		return
	}
	if !filepath.IsAbs(full) {
		p.at(key, "%s is relative: give a path from the root, or one that starts with ~/", quote(*path))
		return
	}
	*path = full
	if info, err := os.Stat(full); err != nil || !info.Mode().IsRegular() {
		p.at(key, "no program at %s: correct the path, or leave the key out", quote(full))
		return
	}
	for i, v := range c.Vaults {
		if v.Real == "" {
			continue
		}
		for _, at := range []string{full, filepath.Dir(full)} {
			if in, err := cache.Within(at, v.Real); in || err != nil {
				p.at(key, "%s is inside vaults[%d].path, where an agent could replace it: choose a program outside every vault", quote(full), i)
				return
			}
		}
	}
}
