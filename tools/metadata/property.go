package metadata

import (
	"context"

	"vault-mcp/internal/auth"
	"vault-mcp/tools"
	"vault-mcp/vault/note"
)

type propertyIn struct {
	tools.VaultArg
	tools.NoteArg
	Key    string `json:"key" limits:"minLength=1,maxLength=1000"`
	Nested bool   `json:"nested,omitempty" jsonschema:"the key is a dotted path into maps and lists, such as author.name"`
}

type propertyOut struct {
	Path   string `json:"path"`
	Key    string `json:"key" jsonschema:"as spelled in the note if it is there"`
	Value  any    `json:"value" jsonschema:"null if it is not there, or is null"`
	Found  bool   `json:"found"`
	Nested bool   `json:"nested"`
}

func readProperty() tools.Tool {
	return tools.Query(tools.Spec{
		Name:  "read_property",
		Title: "Read one property",
		Doc:   "Reads one property of a note; case does not count in its name.",
		Scope: auth.Read,
	}, func(_ context.Context, c *tools.Call, in propertyIn) (propertyOut, error) {
		path, _, p, err := properties(c, in.Path)
		if err != nil {
			return propertyOut{}, err
		}
		if p.State == note.StateInvalid {
			return propertyOut{}, broken(path, *p.Problem)
		}
		out := propertyOut{Path: path, Key: in.Key, Nested: in.Nested}
		if in.Nested {
			out.Value, out.Found = p.Lookup(in.Key)
		} else if prop, ok := p.Find(in.Key); ok {
			out.Key, out.Value, out.Found = prop.Key, prop.Value, true
		}
		return out, nil
	})
}
