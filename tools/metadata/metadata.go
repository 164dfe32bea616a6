// Package metadata holds the tools for what notes say about themselves: their
// properties.
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
	return tools.Domain{Name: "metadata", Tools: []tools.Tool{readFrontmatter(), readProperty()}}
}

// maxNote is the largest note that is read, in bytes.
const maxNote = 64 << 20

// properties reads a note and its properties.
func properties(c *tools.Call, ref tools.Note) (path string, text []byte, _ note.Properties, err error) {
	p, err := ref.Path()
	if err != nil {
		return "", nil, note.Properties{}, err
	}
	content, err := c.View.Read(p, maxNote)
	if big, ok := errors.AsType[*vault.TooLargeError](err); ok {
		return "", nil, note.Properties{}, governor.Overflow(int(big.Size), int(big.Max), c.Tool.Narrow)
	}
	if err != nil {
		return "", nil, note.Properties{}, err
	}
	return p.String(), content.Bytes, note.ParseProperties(content.Bytes), nil
}

// broken is the refusal for properties that cannot be read.
func broken(path string, p note.Problem) error {
	return fault.New(fault.InvalidInput, "The properties of %q are no valid YAML: %s (line %d).", path, p.Reason, p.Line).
		With("path", path).With("line", p.Line).With("reason", p.Reason)
}
