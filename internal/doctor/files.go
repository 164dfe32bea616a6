package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"vault-mcp/cache"
	"vault-mcp/internal/config"
	"vault-mcp/vault"
	"vault-mcp/vault/settings"
)

// files checks the folder of a vault and what is in it; nil if it cannot be served.
func (s subject) files(ctx context.Context, vc config.Vault) *census {
	v, err := vault.Open(vc.Path)
	if err != nil {
		s.broken("vault.open", oneLine(err.Error()), "give the folder that you open as a vault in Obsidian")
		return nil
	}
	defer v.Close()
	host, _ := os.Hostname() // without it, copies of this computer are not told
	c, err := take(ctx, v.Dir(), host)
	if err != nil {
		if ctx.Err() == nil {
			s.broken("vault.open", "the vault's folder cannot be listed: "+oneLine(err.Error()), "give this account the right to list and open it")
		}
		return nil
	}
	s.ok("vault.open", "the vault %q can be read", vc.ID)
	text := fmt.Sprintf("%s, %s, %s, %s", plural(c.notes, "note"), plural(c.others, "other file"), plural(c.folders, "folder"), size(c.bytes))
	if c.cut {
		text += fmt.Sprintf("; only the first %d names were looked at", maxEntries)
	}
	s.ok("vault.size", "%s", text)
	s.writing(vc)
	s.obsidian(v)
	s.system(v, c)
	s.names(c)
	s.content(ctx, v, c)
	s.sync(v, c)
	return c
}

func (s subject) writing(vc config.Vault) {
	switch {
	case vc.ReadOnly:
		s.ok("vault.write", "declared read-only: every change is refused")
	case !writable(vc.Real):
		s.broken("vault.write", "this account may not write into the vault's folder, so every change would fail",
			"give it the right to (chmod u+w), or declare the vault in a config file with read_only: true")
	default:
		s.ok("vault.write", "can be written to")
	}
}

// obsidian tells the settings that matter.
func (s subject) obsidian(v *vault.Vault) {
	if _, err := v.ReadConfig("app.json"); errors.Is(err, fs.ErrNotExist) {
		if info, err := os.Stat(v.Dir() + string(os.PathSeparator) + v.ConfigDir()); err != nil || !info.IsDir() {
			s.off("vault.obsidian", "there is no "+v.ConfigDir()+": Obsidian never opened this folder as a vault, so its defaults are used", "open the folder in Obsidian once, if it is a vault")
			return
		}
	}
	s.ok("vault.obsidian", "settings in %s", v.ConfigDir())
	set := settings.Load(v.ReadConfig)
	links := "[[wikilinks]]"
	if set.UseMarkdownLinks {
		links = "[markdown](links)"
	}
	s.ok("vault.settings", "new links are %s with %s paths, %s of excluded files", links, set.NewLinkFormat, plural(len(set.IgnoreFilters), "filter"))
	for _, p := range set.Problems {
		s.warn("vault.settings", p, "set it again in Obsidian's settings")
	}
	switch set.Trash {
	case settings.TrashNone:
		s.warn("vault.trash", "Obsidian is set to delete for good: a deleted note is in no trash, only in this program's journal",
			"in Obsidian: Settings, Files and links, Deleted files: choose a trash")
	case settings.TrashLocal:
		s.ok("vault.trash", "deleted notes go to the folder .trash of the vault")
	default:
		s.ok("vault.trash", "deleted notes go to the system's trash")
	}
}

// system tells what kind of file system it is.
func (s subject) system(v *vault.Vault, c *census) {
	s.ok("vault.names", "upper and lower case: %s; Unicode forms: %s", differ(c.oneCase), differ(c.oneForm))
	if kind, err := cache.Network(v.Dir()); err == nil && kind != "" {
		s.warn("vault.network", "the vault is on a network file system ("+kind+"), which reports no changes that others make",
			"nothing, if you can wait up to a minute for them; else keep the vault on a local disk and sync it")
	}
	s.some("vault.links", "link", c.links, "out of the vault or nowhere, and so not followed", "move what they lead to into the vault, or serve its folder as a vault of its own")
	s.some("vault.unread", "folder", c.unread, "not to be listed", "give this account the right to list and open them")
	s.some("vault.large", "note", c.large, "more than "+size(vault.DefaultMaxBytes)+", which is not searched", "split them")
	s.some("vault.leftover", "file", c.leftovers, "left from a change that was interrupted", "make one call with a client: it takes the change back; what is left then can be deleted")
}

func differ(one *bool) string {
	switch {
	case one == nil:
		return "no name could tell"
	case *one:
		return "one file"
	}
	return "two files"
}

func (s subject) names(c *census) {
	s.some("names.foreign", "file", c.foreign, "named as Windows or a phone cannot hold it, so a sync may leave them out", "rename them with move_note or in Obsidian")
	s.some("names.twins", "file", c.twins, "named as another one in its folder but for case or Unicode form: on other systems both are one file", "rename one of each two")
}

// content reads some notes.
func (s subject) content(ctx context.Context, v *vault.Vault, c *census) {
	slices.Sort(c.notesToRead.chosen)
	t, err := readTexts(ctx, v.Dir(), c.notesToRead.chosen)
	if err != nil {
		return // ctx has ended
	}
	all := "all"
	if c.notesToRead.seen > t.read {
		all = fmt.Sprintf("%d of %d", t.read, c.notesToRead.seen)
	}
	s.ok("text.sample", "%s notes were read, up to %s of each: %d with line ends LF, %d with CRLF, %d with CR", all, size(maxText), t.lf, t.crlf, t.cr)
	s.some("text.encoding", "note", t.encoding, "not UTF-8: found and read in part, and never changed", "save them as UTF-8")
	s.some("text.bom", "note", t.bom, "a byte order mark at the beginning, which is kept", "nothing; some programs do not see the properties of such notes")
	s.some("text.mixed", "note", t.mixed, "mixed line ends, which are kept", "nothing; an editor can make them the same")
}

// size is a number of bytes as people say it.
func size(n int64) string {
	const unit = 1000
	units := []string{"bytes", "kB", "MB", "GB", "TB"}
	f, i := float64(n), 0
	for f >= unit && i < len(units)-1 {
		f, i = f/unit, i+1
	}
	if i == 0 {
		return plural(int(n), "byte")
	}
	return strings.Replace(fmt.Sprintf("%.1f %s", f, units[i]), ".0 ", " ", 1)
}

// coreSync reports whether the list of core plugins has Obsidian Sync switched on.
// It is a list in old vaults and a table in new ones.
func coreSync(text []byte) bool {
	var table map[string]bool
	if json.Unmarshal(text, &table) == nil {
		return table["sync"]
	}
	var list []string
	return json.Unmarshal(text, &list) == nil && slices.Contains(list, "sync")
}
