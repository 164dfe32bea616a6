package metadata

import (
	"context"
	"fmt"

	"vault-mcp/internal/acl"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/vault/change"
	"vault-mcp/vault/note"
)

// operation is what update_frontmatter does.
type operation string

// Values implements tools' enums.
func (operation) Values() []string { return []string{"set", "merge", "remove", "replace"} }

type updateIn struct {
	tools.VaultArg
	tools.TargetArg
	Operation  operation    `json:"operation" jsonschema:"set or remove one key, merge properties into those there, or replace all by properties"`
	Property   string       `json:"key,omitempty" jsonschema:"of set and remove" limits:"minLength=1,maxLength=1000"`
	Value      tools.Value  `json:"value,omitempty" jsonschema:"of set; any JSON value, null too, dates as text"`
	Properties tools.Object `json:"properties,omitempty" jsonschema:"of merge and replace"`
	Nested     bool         `json:"nested,omitempty" jsonschema:"the key is a dotted path, such as author.name"`
	Create     bool         `json:"create_if_missing,omitempty" jsonschema:"make a missing note"`
	tools.VersionArg
	tools.WriteArg
}

type updateOut struct {
	Path        string `json:"path"`
	Operation   string `json:"operation"`
	Created     bool   `json:"created"`
	Frontmatter any    `json:"frontmatter" jsonschema:"the properties after the change, null where there are none"`
	tools.Versions
	tools.Written
}

func updateFrontmatter() tools.Tool {
	return tools.Change(tools.Spec{
		Name:  "update_frontmatter",
		Title: "Change a note's properties",
		Doc:   "Sets, merges, removes or replaces properties (YAML frontmatter) of a note. Comments, order and the text of all other values stay as they are.",
		Scope: auth.Read | auth.Write,
	}, func(ctx context.Context, c *tools.Call, in updateIn) (change.Plan, updateOut, error) {
		out := updateOut{Operation: string(in.Operation)}
		edit, err := in.edit()
		if err != nil {
			return change.Plan{}, out, err
		}
		t, err := in.Path.Note(c)
		if err != nil {
			return change.Plan{}, out, err
		}
		out.Path = t.Path
		if !t.Exists && in.Create && in.Operation != "remove" {
			return in.create(t, edit, out)
		}
		replaced := false
		p, e, err := c.EditNote(ctx, &in.Path, in.PrevHash, in.summary(t.Path), func(text []byte) ([]byte, error) {
			if err := sound(t.Path, text); err != nil {
				return nil, err
			}
			replaced = in.Operation == "replace" && note.ParseProperties(text).State != note.StateNone
			text, err := note.EditProperties(text, edit)
			return text, noEdit(t.Path, err)
		})
		if err != nil {
			return change.Plan{}, out, err
		}
		if replaced {
			p.Ask = []string{fmt.Sprintf("it replaces all properties of %q", t.Path)}
		}
		out.show(e)
		return p, out, nil
	})
}

// edit is the edit that the arguments mean.
func (in *updateIn) edit() (note.PropertyEdit, error) {
	byKey := in.Operation == "set" || in.Operation == "remove"
	wrong := func(argument, says string) (note.PropertyEdit, error) {
		return note.PropertyEdit{}, fault.New(fault.InvalidInput, "The operation %s %s.", in.Operation, says).With("argument", argument)
	}
	switch {
	case byKey && in.Property == "":
		return wrong("key", "needs a key")
	case byKey && in.Properties.Sent():
		return wrong("properties", "takes a key, not properties")
	case in.Operation == "set" && !in.Value.Sent():
		return wrong("value", "needs a value; null is one")
	case in.Operation != "set" && in.Value.Sent():
		return wrong("value", "takes no value")
	case !byKey && in.Property != "":
		return wrong("key", "takes properties, not a key")
	case !byKey && in.Nested:
		return wrong("nested", "takes properties, not a key")
	case !byKey && !in.Properties.Sent():
		return wrong("properties", "needs properties")
	}
	switch {
	case in.Operation == "remove" && in.Nested:
		return note.RemoveNested(in.Property), nil
	case in.Operation == "remove":
		return note.RemoveProperty(in.Property), nil
	case in.Operation == "set":
		v, err := in.Value.Get()
		if err != nil {
			return note.PropertyEdit{}, noValue("value", err)
		}
		if in.Nested {
			return note.SetNested(in.Property, v), nil
		}
		return note.SetProperty(in.Property, v), nil
	}
	m, err := in.Properties.Get()
	if err != nil {
		return note.PropertyEdit{}, noValue("properties", err)
	}
	if _, ok := m.Get(""); ok {
		return wrong("properties", "takes no property without a name")
	}
	if in.Operation == "merge" {
		return note.SetProperties(m), nil
	}
	return note.ReplaceProperties(m), nil
}

func (in *updateIn) summary(path string) string {
	switch in.Operation {
	case "set":
		return fmt.Sprintf("Set the property %q of %s", tools.Cut(in.Property, longest), path)
	case "remove":
		return fmt.Sprintf("Remove the property %q of %s", tools.Cut(in.Property, longest), path)
	case "merge":
		return "Set properties of " + path
	}
	return "Replace all properties of " + path
}

// create is the plan of a new note that has nothing but properties.
func (in *updateIn) create(t acl.Target, edit note.PropertyEdit, out updateOut) (change.Plan, updateOut, error) {
	if err := acl.Same(t.Path, nil, false, in.PrevHash); err != nil {
		return change.Plan{}, out, err
	}
	text, err := note.EditProperties(nil, edit)
	if err != nil {
		return change.Plan{}, out, noEdit(t.Path, err)
	}
	e := change.NewCreate(t.Path, text)
	out.Created = true
	out.show(e)
	return change.Plan{Summary: "Create " + t.Path, Edits: append(t.Folders(), e)}, out, nil
}

// show tells what the note has after an edit.
func (o *updateOut) show(e change.Edit) {
	o.Versions = tools.VersionsOf(e)
	if p := note.ParseProperties(e.Content); p.State == note.StateOK || p.State == note.StateEmpty {
		o.Frontmatter = p.Map()
	}
}
