package link

import (
	"path"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"vault-mcp/vault/settings"
)

// NewNote is the path of the note that is made when a link is followed that leads nowhere yet. A folder in the link
// counts from the vault's root, or for "./" and "../" from the note that holds it; without a folder the settings decide
// (help page Linking notes and files/Internal links). The name is composed and has plain blanks only, and ends in ".md".
// ok is false if the link names no file of the vault. Whether a file system can hold the name is for the caller to check.
func NewNote(from, target string, s settings.Settings) (p string, ok bool) {
	t := clean(target)
	if !t.ok || t.self {
		return "", false
	}
	switch {
	case t.relative:
		p = path.Join(folderOf(from), t.text)
	case strings.IndexByte(t.text, '/') < 0 && !isRooted(target):
		p = path.Join(s.NewFileFolderFor(from), t.text)
	default:
		p = t.text
	}
	p = norm.NFC.String(plainBlanks.Replace(p))
	if !strings.HasSuffix(strings.ToLower(p), noteExt) {
		p += noteExt
	}
	if !isPath(p) {
		return "", false
	}
	return p, true
}

// isRooted reports whether a target begins with a slash.
func isRooted(target string) bool { return strings.HasPrefix(strings.TrimSpace(target), "/") }

// AttachmentPath is where a new attachment of a note goes: the folder that the settings give, and the name, with a number
// if it is taken; see FreePath. Of a name with folders only the last part is used. ok is false too if no file in a vault
// can have it (help page Editing and formatting/Attachments).
func AttachmentPath(note, name string, s settings.Settings, exists func(path string) bool) (p string, ok bool) {
	if name = nameOf(name); !isPath(name) {
		return "", false
	}
	return FreePath(path.Join(s.AttachmentFolderFor(note), name), exists)
}

// maxNumber is the highest number that a taken name is tried with.
const maxNumber = 10_000

// FreePath is the path, or the first of "pic 1.png", "pic 2.png" and so on that does not exist, which is how Obsidian
// avoids taken names. exists should not regard case; Index.Has does not. ok is false if ten thousand are taken.
func FreePath(p string, exists func(path string) bool) (free string, ok bool) {
	if !exists(p) {
		return p, true
	}
	stem, ext := p, ""
	if dot := strings.LastIndexByte(nameOf(p), '.'); dot > 0 {
		dot += len(p) - len(nameOf(p))
		stem, ext = p[:dot], p[dot:]
	}
	for n := 1; n <= maxNumber; n++ {
		if free = stem + " " + strconv.Itoa(n) + ext; !exists(free) {
			return free, true
		}
	}
	return "", false
}
