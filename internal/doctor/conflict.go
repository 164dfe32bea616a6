package doctor

import (
	"path"
	"regexp"
	"strings"
)

// certainty is how sure it is that a sync made a file of two versions.
type certainty int

const (
	no certainty = iota
	maybe
	surely
)

// made are the names that syncs give to the other version of a file: Dropbox,
// Nextcloud and Obsidian Sync (in words), Syncthing, ownCloud, Resilio.
var made = regexp.MustCompile(`(?i)\((?:.*['’]s )?(?:conflicted copy|case conflict|unicode encoding conflict)[^()]*\)` +
	`|\.sync-conflict-\d{8}-\d{6}(?:-[A-Z0-9]+)?(?:\.|$)|_conflict-\d{8}-\d{6}(?:\.|$)|\.conflict(?:\.|$)`)

// numbered are the names of Google Drive (1) and iCloud Drive (2), which people give
// as well; device is that of OneDrive, with the name of a Windows computer.
var (
	numbered = regexp.MustCompile(`^(.+?)(?: \(\d{1,2}\)| [2-9])$`)
	device   = regexp.MustCompile(`^(.+)-(?:DESKTOP|LAPTOP)-[A-Z0-9]{4,}$`)
)

// conflict tells whether a name is that of a copy which a sync made; beside are the
// names in its folder, and host is the name of this computer.
func conflict(name, host string, beside map[string]bool) certainty {
	if made.MatchString(name) {
		return surely
	}
	ext := path.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	if original, ok := strings.CutSuffix(stem, "-"+host); ok && host != "" && beside[original+ext] {
		return surely
	}
	if m := device.FindStringSubmatch(stem); m != nil && beside[m[1]+ext] {
		return surely
	}
	if m := numbered.FindStringSubmatch(stem); m != nil && beside[m[1]+ext] {
		return maybe
	}
	return no
}
