package facade

import (
	"context"
	"encoding/json"

	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
)

const nameOfDescribe = "describe_capability"

type describeIn struct {
	Name  string   `json:"name,omitempty" limits:"maxLength=100"`
	Names []string `json:"names,omitempty" limits:"maxItems=20,maxLength=100"`
}

type annotations struct {
	ReadOnly    bool `json:"read_only"`
	Destructive bool `json:"destructive"`
	Idempotent  bool `json:"idempotent"`
	OpenWorld   bool `json:"open_world"`
}

func annotationsOf(t *tools.Tool) annotations {
	return annotations{t.Hints.ReadOnly, t.Hints.Destructive, t.Hints.Idempotent, t.Hints.OpenWorld}
}

type described struct {
	Name        string         `json:"name"`
	Title       string         `json:"title"`
	Description string         `json:"description"`
	Domain      string         `json:"domain"`
	Input       map[string]any `json:"input_schema"`
	Output      map[string]any `json:"output_schema"`
	Scopes      []string       `json:"required_scopes"`
	Annotations annotations    `json:"annotations"`
	Gate        string         `json:"gate" jsonschema:"when a person has to approve"`
	Narrow      string         `json:"narrow,omitempty" jsonschema:"how to ask for less"`
}

type unknown struct {
	Name    string `json:"name"`
	Nearest string `json:"nearest,omitempty"`
}

type describeOut struct {
	Capabilities []described `json:"capabilities"`
	Unknown      []unknown   `json:"unknown,omitempty" jsonschema:"names of no tool that you may use"`
	Next         string      `json:"next"`
}

func describeCapability(s Source) tools.Tool {
	return tools.Query(tools.Spec{
		Name: nameOfDescribe, Title: "Describe tools",
		Doc:    "Tells all about tools by name, or names of several: arguments, results, and when a person has to approve.",
		Scope:  auth.None,
		Narrow: "describe fewer tools at once",
	}, func(_ context.Context, c *tools.Call, in describeIn) (describeOut, error) {
		out := describeOut{Capabilities: []described{}, Next: "Call them by their names, or with " + CallCapability + " {name, args}."}
		names := in.Names
		if in.Name != "" {
			names = append([]string{in.Name}, names...)
		}
		if len(names) == 0 {
			return out, fault.New(fault.ValidationError, "Give name or names; %s finds them.", nameOfFind).With("argument", "name")
		}
		for _, name := range names {
			t := s.find(c.Caller, name)
			if t == nil {
				near := s.Registry().Nearest(name)
				if s.find(c.Caller, near) == nil {
					near = ""
				}
				out.Unknown = append(out.Unknown, unknown{tools.Cut(name, 100), near})
				continue
			}
			d, err := describe(t, len(s.Vaults) > 1)
			if err != nil {
				return out, err
			}
			out.Capabilities = append(out.Capabilities, d)
		}
		if len(out.Capabilities) == 0 {
			u := out.Unknown[0]
			e := fault.New(fault.NotFound, "There is no tool %q; %s finds tools by what they do.", u.Name, nameOfFind)
			if u.Nearest != "" {
				e = e.With("nearest", u.Nearest)
			}
			return out, e
		}
		return out, nil
	})
}

// find is the tool with a name, if the caller may use it; those of this room too.
func (s Source) find(c auth.Caller, name string) *tools.Tool {
	for _, t := range s.usable(c) {
		if t.Name == name {
			return t
		}
	}
	if t := s.Registry().Tool(name); t != nil && t.Domain == tools.Always {
		return t
	}
	return nil
}

func describe(t *tools.Tool, several bool) (described, error) {
	d := described{
		Name: t.Name, Title: t.Title, Description: t.Doc, Domain: t.Domain, Scopes: t.Scope.Families(),
		Annotations: annotationsOf(t), Gate: gate(t), Narrow: t.Narrow,
	}
	if d.Scopes == nil {
		d.Scopes = []string{}
	}
	if err := json.Unmarshal(t.InputSchema(several), &d.Input); err != nil {
		return d, err
	}
	return d, json.Unmarshal(t.OutputSchema(), &d.Output)
}
