// Package change owns what changes a vault: the plan, which everything that
// governs a change reads, and the one way in which a plan is applied, so that
// after any failure every file is wholly before or wholly after, and the plan
// as a whole is either.
package change

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"path"
	"slices"
	"strings"

	"vault-mcp/internal/fingerprint"
)

// Kind is what an edit does to a path.
type Kind int

// The kinds of edits.
const (
	// Put replaces the content of an existing file.
	Put Kind = iota
	// Create writes a file that must not exist.
	Create
	// Move gives a file or folder another path.
	Move
	// Remove takes a file or an empty folder away, to the trash or for good.
	Remove
	// Mkdir makes a folder.
	Mkdir
)

// String is the kind's name in journals and answers.
func (k Kind) String() string {
	if k < 0 || k > Mkdir {
		return "unknown"
	}
	return [...]string{"put", "create", "move", "remove", "mkdir"}[k]
}

// MaxImage is the size in bytes above which no content of a file is kept: its
// size, time and place on disk stand for the bytes then, and removing it for
// good cannot be taken back.
const MaxImage = 64 << 20

// Edit is one step of a plan. Steps are taken in their order, and each expects
// the vault as the ones before have left it.
type Edit struct {
	Kind Kind
	// Path is what is edited, from the vault's root and spelled as on disk; for
	// Move, where it was.
	Path string
	// To is where Move puts it, or where Remove puts it in the vault's own trash;
	// "" if Remove is for good.
	To string
	// Dir says that Path is a folder: of Move and Remove.
	Dir bool
	// Before and After are the content expected before the edit and left after
	// it; the zero value stands for an absent file, and for a folder. Of Move
	// both are that of the file.
	Before, After fingerprint.Content
	// Content is what Put and Create write.
	Content []byte
	// Old is what Put and Remove find, unless it is larger than MaxImage.
	Old []byte
	// Mode are the permissions that Create gives; 0 is what the system gives. A
	// Remove for good is given those of its file when it is applied, so that the
	// file can come back with them.
	Mode fs.FileMode
	// Upkeep marks a put that only keeps links right in another note.
	Upkeep bool
	// Whole marks a put whose content is wholly the caller's, whatever was there.
	Whole bool
}

// Plan is what a change would do. Nothing has been written.
type Plan struct {
	// Summary says in one sentence what the person would be approving.
	Summary string
	// Warnings are what the person and the caller should know besides.
	Warnings []string
	// Ask are reasons to ask a person that the edits do not show: a bulk run, for
	// example.
	Ask   []string
	Edits []Edit
	// Undoes is the id of the change that this one takes back, or "".
	Undoes string
	// Aside is what only the person is told besides: of files that the caller may
	// not know of.
	Aside string
	// Bound is state that a confirmation is bound to besides what the edits expect:
	// what is in a folder that is moved or removed as a whole.
	Bound [][]byte
	// Searched is set if which files are edited was found with the index, so that
	// the index has to be up to date when the plan is made again.
	Searched bool
}

// NewPut is the edit that replaces a file's content.
func NewPut(path string, old, content []byte) Edit {
	return Edit{
		Kind: Put, Path: path, Old: old, Content: content,
		Before: fingerprint.OfContent(old), After: fingerprint.OfContent(content),
	}
}

// NewCreate is the edit that writes a new file.
func NewCreate(path string, content []byte) Edit {
	return Edit{Kind: Create, Path: path, Content: content, After: fingerprint.OfContent(content)}
}

// NewRemove is the edit that removes a file for good; with To set afterwards, to
// a trash.
func NewRemove(path string, old []byte) Edit {
	return Edit{Kind: Remove, Path: path, Old: old, Before: fingerprint.OfContent(old)}
}

// Empty reports whether the plan changes nothing.
func (p Plan) Empty() bool { return len(p.Edits) == 0 }

// Paths are all paths that the plan touches, sorted, each once.
func (p Plan) Paths() []string {
	var all []string
	for _, e := range p.Edits {
		all = append(all, e.Path)
		if e.To != "" {
			all = append(all, e.To)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Essential are the edits that a confirmation of the plan is bound to: all but the
// making of a folder for what is removed. Whichever removal is the first makes it.
func (p Plan) Essential() []Edit {
	if !slices.ContainsFunc(p.Edits, func(e Edit) bool { return e.Kind == Mkdir }) {
		return p.Edits
	}
	return slices.DeleteFunc(slices.Clone(p.Edits), func(e Edit) bool {
		return e.Kind == Mkdir && slices.ContainsFunc(p.Edits, func(r Edit) bool { return r.Kind == Remove && r.To != "" && path.Dir(r.To) == e.Path })
	})
}

// Fingerprint is everything that a confirmation of the plan is bound to: each
// essential edit, with the content before and after, and Bound. Two plans with
// equal parts do the same to the same state.
func (p Plan) Fingerprint() [][]byte {
	edits := p.Essential()
	parts := make([][]byte, 0, len(edits))
	for _, e := range edits {
		if strings.HasPrefix(e.Path, "/") {
			parts = append(parts, []byte("/")) // what the system's trash notes beside a file
			continue
		}
		switch { // which name it gets in a trash is nobody's business
		case strings.HasPrefix(e.To, "/"):
			e.To = "/"
		case e.Kind == Remove && e.To != "":
			e.To = path.Dir(e.To)
		}
		var b bytes.Buffer
		flags := byte(0)
		if e.Dir {
			flags |= 1
		}
		if e.Upkeep {
			flags |= 2
		}
		b.WriteByte(byte(e.Kind))
		b.WriteByte(flags)
		for _, s := range []string{e.Path, e.To} {
			b.Write(binary.AppendUvarint(nil, uint64(len(s))))
			b.WriteString(s)
		}
		b.Write(e.Before[:])
		b.Write(e.After[:])
		b.Write(binary.AppendUvarint(nil, uint64(e.Mode)))
		parts = append(parts, b.Bytes())
	}
	return append(parts, p.Bound...)
}

// Passing reports whether a path is there only while a plan is carried out.
func Passing(p string) bool { return strings.HasPrefix(path.Base(p), TempPrefix) }

// drift are the paths at which two plans differ, sorted; nil if they do the
// same to the same state.
func drift(was, is Plan) []string {
	a, b := was.Fingerprint(), is.Fingerprint()
	if slices.EqualFunc(a, b, bytes.Equal) {
		return nil
	}
	seen := map[string]bool{}
	var differ []string
	note := func(p Plan, mine, other [][]byte) {
		for i, e := range p.Essential() {
			if !slices.ContainsFunc(other, func(o []byte) bool { return bytes.Equal(o, mine[i]) }) && !seen[e.Path] {
				seen[e.Path] = true
				differ = append(differ, e.Path)
			}
		}
	}
	note(was, a, b)
	note(is, b, a)
	slices.Sort(differ)
	if differ == nil { // the same edits in another order
		differ = was.Paths()
	}
	return differ
}

// split is the folder of a path and its name in it.
func split(p string) (dir, name string) {
	dir, name = path.Split(p)
	return strings.TrimSuffix(dir, "/"), name
}
