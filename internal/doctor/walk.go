package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/text/unicode/norm"

	"vault-mcp/vault"
)

// maxEntries is how many files and folders are looked at.
const maxEntries = 2_000_000

// maxRead is how many notes are read for what is in them.
const maxRead = 4000

// census is what one look at all names of a vault has found. It keeps counts and
// a few paths, never all.
type census struct {
	notes, others, folders int
	bytes                  int64
	cut                    bool // there are more than maxEntries

	unread, links, large, leftovers                 sample
	foreign, twins, placeholders, conflicts, copies sample
	notesToRead                                     *picker

	// cases says whether two spellings of a name that differ in case are one file,
	// and forms the same of Unicode forms; nil while no name could tell.
	oneCase, oneForm *bool

	root, host string
}

// take looks at all names of a vault that its tools can reach.
func take(ctx context.Context, root, host string) (*census, error) {
	c := &census{root: root, host: host, notesToRead: newPicker(maxRead)}
	err := c.folder(ctx, "")
	if c.cut {
		err = nil
	}
	return c, err
}

var errEnough = errors.New("enough was looked at")

// folder looks at one folder and those below it.
func (c *census) folder(ctx context.Context, rel string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.folders++
	entries, err := os.ReadDir(filepath.Join(c.root, filepath.FromSlash(rel)))
	if err != nil {
		if rel == "" {
			return err
		}
		c.unread.add(rel)
		return nil
	}
	names := make(map[string]bool, len(entries))
	folded := make(map[string]bool, len(entries))
	for _, e := range entries {
		names[e.Name()] = true
	}
	for _, e := range entries {
		name := e.Name()
		path := strings.TrimPrefix(rel+"/"+name, "/")
		if strings.HasPrefix(name, ".") {
			c.hidden(name, path)
			continue
		}
		if c.notes+c.others+c.folders > maxEntries {
			c.cut = true
			return errEnough
		}
		key := vault.FoldName(name)
		if folded[key] {
			c.twins.add(path)
		}
		folded[key] = true
		if vault.CheckNew(name) != nil {
			c.foreign.add(path)
		}
		c.spelling(rel, name)
		switch kind := e.Type(); {
		case kind&fs.ModeSymlink != 0:
			c.link(path)
		case e.IsDir():
			if err := c.folder(ctx, path); err != nil {
				return err
			}
		case kind.IsRegular():
			c.file(e, path, names)
		}
	}
	return nil
}

// hidden looks at a name that begins with a dot, which no tool reaches.
func (c *census) hidden(name, path string) {
	switch {
	case strings.HasPrefix(name, ".vault-mcp-"):
		c.leftovers.add(path)
	case strings.HasSuffix(name, ".icloud") && len(name) > len("..icloud"):
		c.placeholders.add(path)
	}
}

// file looks at a file.
func (c *census) file(e fs.DirEntry, path string, beside map[string]bool) {
	name := e.Name()
	info, err := e.Info()
	if err != nil {
		return // it has just gone
	}
	c.bytes += info.Size()
	switch conflict(name, c.host, beside) {
	case surely:
		c.conflicts.add(path)
	case maybe:
		c.copies.add(path)
	}
	away := elsewhere(info)
	if away {
		c.placeholders.add(path)
	}
	if vault.Kind(name) != vault.Note {
		c.others++
		return
	}
	c.notes++
	switch {
	case info.Size() > vault.DefaultMaxBytes:
		c.large.add(path)
	case !away: // reading would fetch it
		c.notesToRead.add(path)
	}
}

// link finds a link that leads out of the vault, or nowhere.
func (c *census) link(path string) {
	real, err := filepath.EvalSymlinks(filepath.Join(c.root, filepath.FromSlash(path)))
	if err == nil {
		rel, rerr := filepath.Rel(c.root, real)
		if rerr == nil && filepath.IsLocal(rel) {
			return
		}
	}
	c.links.add(path)
}

// spelling tries names that are there in another spelling.
func (c *census) spelling(rel, name string) {
	try := func(said **bool, other string) {
		if *said != nil || other == name {
			return
		}
		a, aerr := os.Lstat(filepath.Join(c.root, filepath.FromSlash(rel), name))
		b, berr := os.Lstat(filepath.Join(c.root, filepath.FromSlash(rel), other))
		one := aerr == nil && berr == nil && os.SameFile(a, b)
		*said = &one
	}
	if c.oneCase == nil {
		try(&c.oneCase, swapCase(name))
	}
	if c.oneForm == nil {
		other := norm.NFD.String(name)
		if other == name {
			other = norm.NFC.String(name)
		}
		try(&c.oneForm, other)
	}
}

// swapCase is a name of ASCII letters in the other case.
func swapCase(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return r
	}, name)
}
