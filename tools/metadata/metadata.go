// Package metadata holds the tools for what notes say about themselves: their
// properties and their tags.
//
// What is asked about many notes is answered over those that the caller may
// read, without the files that Obsidian's settings exclude.
package metadata

import (
	"errors"

	"vault-mcp/governor"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/vault"
	"vault-mcp/vault/note"
)

// Tools are the domain's tools.
func Tools() tools.Domain {
	return tools.Domain{Name: "metadata", Tools: []tools.Tool{
		readFrontmatter(),
		readProperty(),
		listProperties(),
		findNotesByProperty(),
		getNoteTags(),
		listTags(),
		findNotesByTag(),
		updateFrontmatter(),
		bulkSetProperty(),
		renameProperty(),
		addTag(),
		removeTag(),
		renameTag(),
	}}
}

// maxNote is the largest note that is read, in bytes.
const maxNote = 64 << 20

// text reads a note.
func text(c *tools.Call, ref tools.Note) (path string, text []byte, err error) {
	p, err := ref.Path()
	if err != nil {
		return "", nil, err
	}
	content, err := c.View.Read(p, maxNote)
	if big, ok := errors.AsType[*vault.TooLargeError](err); ok {
		return "", nil, governor.Overflow(int(big.Size), int(big.Max), c.Tool.Narrow)
	}
	return p.String(), content.Bytes, err
}

// properties reads a note and its properties.
func properties(c *tools.Call, ref tools.Note) (path string, b []byte, _ note.Properties, err error) {
	path, b, err = text(c, ref)
	if err != nil {
		return "", nil, note.Properties{}, err
	}
	return path, b, note.ParseProperties(b), nil
}

// broken is the refusal for properties that cannot be read.
func broken(path string, p note.Problem) error {
	return fault.New(fault.InvalidInput, "The properties of %q are no valid YAML: %s (line %d).", path, p.Reason, p.Line).
		With("path", path).With("line", p.Line).With("reason", p.Reason)
}
