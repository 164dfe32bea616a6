package metadata

import (
	"context"
	"fmt"

	"vault-mcp/internal/auth"
	"vault-mcp/tools"
	"vault-mcp/vault/change"
	"vault-mcp/vault/note"
)

// tagPlaces is where remove_tag takes a tag away.
type tagPlaces string

// Values implements tools' enums.
func (tagPlaces) Values() []string { return []string{"frontmatter", "inline", "all"} }

type removeTagIn struct {
	tools.VaultArg
	tools.TargetArg
	Tag      string    `json:"tag" jsonschema:"with or without #; tags nested in it stay" limits:"minLength=1,maxLength=500"`
	Location tagPlaces `json:"location,omitempty" jsonschema:"the text is only changed if inline or all asks for it; code never" limits:"default=frontmatter"`
	tools.VersionArg
	tools.WriteArg
}

type removeTagOut struct {
	Path     string `json:"path"`
	Tag      string `json:"tag" jsonschema:"without #"`
	Location string `json:"location"`
	Removed  int    `json:"removed" jsonschema:"how often it was there"`
	Left     int    `json:"left,omitempty" jsonschema:"how often it still is, in the other place"`
	tools.Versions
	tools.Written
}

func removeTag() tools.Tool {
	return tools.Change(tools.Spec{
		Name:  "remove_tag",
		Title: "Remove a tag from a note",
		Doc:   "Takes a tag out of a note's properties, and if asked out of its text. Nothing else of the note changes.",
		Scope: auth.Read | auth.Write,
	}, func(ctx context.Context, c *tools.Call, in removeTagIn) (change.Plan, removeTagOut, error) {
		out := removeTagOut{Location: string(in.Location)}
		t, err := in.Path.Note(c)
		if err != nil {
			return change.Plan{}, out, err
		}
		if out.Tag, err = note.TagName(in.Tag); err != nil {
			return change.Plan{}, out, noEdit(t.Path, err)
		}
		place := map[tagPlaces]note.TagPlace{
			"frontmatter": note.TagsInProperties, "inline": note.TagsInText, "all": note.TagsEverywhere,
		}[in.Location]
		p, e, err := c.EditNote(ctx, &in.Path, in.PrevHash, fmt.Sprintf("Remove the tag #%s from %s", out.Tag, t.Path), func(text []byte) ([]byte, error) {
			if in.Location != "inline" {
				if err := sound(t.Path, text); err != nil {
					return nil, err
				}
			}
			now, removed, err := note.RemoveTag(text, out.Tag, place)
			if err != nil {
				return nil, noEdit(t.Path, err)
			}
			out.Removed = removed
			if _, left, err := note.RemoveTag(now, out.Tag, note.TagsEverywhere); err == nil {
				out.Left = left
			}
			return now, nil
		})
		out.Path, out.Versions = t.Path, tools.VersionsOf(e)
		return p, out, err
	})
}
