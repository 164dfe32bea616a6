package doctor

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"vault-mcp/vault"
)

// syncs names the programs that sync a folder, by the folders above it and what
// they leave in them.
func syncs(folder string) (found []string) {
	add := func(name string) {
		if !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	slashed := filepath.ToSlash(folder) + "/"
	if strings.Contains(slashed, "/Library/Mobile Documents/") || strings.Contains(slashed, "/iCloudDrive/") || strings.Contains(slashed, "/iCloud Drive/") {
		add("iCloud Drive")
	}
	for name := range strings.SplitSeq(slashed, "/") {
		switch {
		case name == "Dropbox" || strings.HasPrefix(name, "Dropbox (") || strings.HasPrefix(name, "Dropbox-"):
			add("Dropbox")
		case name == "OneDrive" || strings.HasPrefix(name, "OneDrive - ") || strings.HasPrefix(name, "OneDrive-"):
			add("OneDrive")
		case name == "Google Drive" || name == "GoogleDrive" || strings.HasPrefix(name, "GoogleDrive-"):
			add("Google Drive")
		case name == "Nextcloud":
			add("Nextcloud")
		}
	}
	for at := folder; ; at = filepath.Dir(at) {
		for _, mark := range []struct{ file, name string }{
			{".stfolder", "Syncthing"}, {".dropbox", "Dropbox"}, {".dropbox.cache", "Dropbox"}, {".tmp.drivedownload", "Google Drive"},
			{".sync_journal.db", "Nextcloud"}, {".sync/ID", "Resilio Sync"},
		} {
			// Dropbox keeps a folder .dropbox with its settings in every home.
			if info, err := os.Lstat(filepath.Join(at, filepath.FromSlash(mark.file))); err == nil && (mark.file != ".dropbox" || info.Mode().IsRegular()) {
				add(mark.name)
			}
		}
		if filepath.Dir(at) == at {
			return found
		}
	}
}

// sync tells who syncs the vault, and what they have left in it.
func (s subject) sync(v *vault.Vault, c *census) {
	found := syncs(v.Dir())
	if b, err := v.ReadConfig("core-plugins.json"); err == nil && coreSync(b) {
		found = append(found, "Obsidian Sync")
	}
	switch len(found) {
	case 0:
		s.ok("sync.folder", "no program is known to sync the vault")
	case 1:
		s.ok("sync.folder", "synced by %s", found[0])
	default:
		s.warn("sync.several", "synced by several programs: "+strings.Join(found, ", "), "use one alone: two that sync one vault make copies of each other's changes")
	}
	s.some("sync.placeholders", "file", c.placeholders, "not on this machine, only the name: searches miss what is in it",
		"tell "+orAny(found)+" to keep the vault's folder on this device, and wait until it has come down")
	s.some("sync.conflicts", "file", c.conflicts, "the copy that a sync made of two versions", "compare each with the note that it belongs to, then delete it")
	if slices.Contains(found, "Google Drive") || slices.Contains(found, "iCloud Drive") {
		s.some("sync.conflicts", "file", c.copies, "named as "+strings.Join(found, " or ")+" names the copy of two versions", "if you did not name them so, compare each with the note that it belongs to")
	}
}

func orAny(names []string) string {
	if len(names) == 0 {
		return "the program that syncs it"
	}
	return strings.Join(names, " or ")
}
