package vault

import (
	"io/fs"
	"os"
	"strings"
	"time"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Filter reports whether a path, spelled as on disk, may be known of; dir says
// whether it is a folder. A folder that may not be known of hides all that is
// below it. A nil Filter lets everything be known. A symbolic link is asked
// for as both, and has to pass as both.
type Filter func(rel string, dir bool) bool

func (keep Filter) lets(rel string, dir bool) bool { return keep == nil || keep(rel, dir) }

// Path is an existing file or folder of the vault, found once: its real
// components and its identity on disk. Reading by it reads that file or fails,
// whatever was moved into its place meanwhile. The zero Path is the root
// folder without an identity, and no method of Vault takes it.
type Path struct {
	rel  string
	node node
}

// String is the path from the vault's root, "/"-separated, without links and
// spelled as on disk; "" is the root folder.
func (p Path) String() string { return p.rel }

// IsDir reports whether it is a folder.
func (p Path) IsDir() bool { return p.node.isDir() }

// Size is the file's length in bytes when it was found.
func (p Path) Size() int64 { return p.node.size }

// ModTime is when the file was last written, as of when it was found.
func (p Path) ModTime() time.Time { return p.node.mtime }

// node is what is known of one file or folder without opening it.
type node struct {
	typ   fs.FileMode // type bits only; 0 is a regular file
	size  int64
	mtime time.Time
	// away is set if the content is with a cloud service and reading the
	// file would fetch it.
	away bool
	// Identity: info where the platform keeps it in there, else dev and ino.
	dev, ino uint64
	info     fs.FileInfo
}

func (n node) isDir() bool     { return n.typ == fs.ModeDir }
func (n node) isLink() bool    { return n.typ == fs.ModeSymlink }
func (n node) isRegular() bool { return n.typ == 0 }

// same reports whether both are the same file on disk.
func (n node) same(m node) bool {
	if n.info != nil || m.info != nil {
		return n.info != nil && m.info != nil && os.SameFile(n.info, m.info)
	}
	return n.ino == m.ino && n.dev == m.dev
}

// unchanged reports whether nothing was written between two looks.
func (n node) unchanged(m node) bool {
	return n.size == m.size && n.mtime.Equal(m.mtime)
}

// join is the path of name in the folder rel.
func join(rel, name string) string {
	if rel == "" {
		return name
	}
	return rel + "/" + name
}

// FoldName is what two names have in common that a look-up takes for the same:
// composed (NFC) and with full Unicode case folding.
func FoldName(name string) string {
	upper := false
	for i := range len(name) {
		c := name[i]
		if c >= 0x80 {
			return norm.NFC.String(cases.Fold().String(norm.NFC.String(name)))
		}
		upper = upper || c >= 'A' && c <= 'Z'
	}
	if !upper {
		return name
	}
	return strings.ToLower(name)
}
