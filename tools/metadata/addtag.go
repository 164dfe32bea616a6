package metadata

import (
	"bytes"
	"context"
	"fmt"

	"vault-mcp/internal/auth"
	"vault-mcp/tools"
	"vault-mcp/vault/change"
	"vault-mcp/vault/note"
)

// tagPlace is where add_tag puts a tag.
type tagPlace string

// Values implements tools' enums.
func (tagPlace) Values() []string { return []string{"frontmatter", "inline"} }

type addTagIn struct {
	tools.VaultArg
	tools.TargetArg
	Tag      string   `json:"tag" jsonschema:"with or without #" limits:"minLength=1,maxLength=500"`
	Location tagPlace `json:"location,omitempty" jsonschema:"the property tags, or the end of the text" limits:"default=frontmatter"`
	tools.VersionArg
	tools.WriteArg
}

type addTagOut struct {
	Path     string `json:"path"`
	Tag      string `json:"tag" jsonschema:"without #"`
	Location string `json:"location"`
	Added    bool   `json:"added" jsonschema:"false if it was there, in whatever case"`
	tools.Versions
	tools.Written
}

func addTag() tools.Tool {
	return tools.Change(tools.Spec{
		Name:  "add_tag",
		Title: "Add a tag to a note",
		Doc:   "Adds a tag to a note's properties or at the end of its text, unless it is there already.",
		Scope: auth.Read | auth.Write,
	}, func(ctx context.Context, c *tools.Call, in addTagIn) (change.Plan, addTagOut, error) {
		out := addTagOut{Location: string(in.Location)}
		t, err := in.Path.Note(c)
		if err != nil {
			return change.Plan{}, out, err
		}
		if out.Tag, err = note.TagName(in.Tag); err != nil {
			return change.Plan{}, out, noEdit(t.Path, err)
		}
		place := note.TagsInProperties
		if in.Location == "inline" {
			place = note.TagsInText
		}
		p, e, err := c.EditNote(ctx, &in.Path, in.PrevHash, fmt.Sprintf("Add the tag #%s to %s", out.Tag, t.Path), func(text []byte) ([]byte, error) {
			if place == note.TagsInProperties {
				if err := sound(t.Path, text); err != nil {
					return nil, err
				}
			}
			now, err := note.AddTag(text, out.Tag, place)
			out.Added = !bytes.Equal(text, now)
			return now, noEdit(t.Path, err)
		})
		out.Path, out.Versions = t.Path, tools.VersionsOf(e)
		return p, out, err
	})
}
