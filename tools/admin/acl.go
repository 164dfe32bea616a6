package admin

import (
	"context"

	"vault-mcp/internal/acl"
	"vault-mcp/internal/auth"
	"vault-mcp/tools"
)

type aclIn struct {
	tools.VaultArg
	Path string    `json:"path" jsonschema:"a note, file or folder that is there" limits:"minLength=1,maxLength=1024"`
	Op   operation `json:"op,omitempty" jsonschema:"only this one; all if left out"`
}

// operation is one that the rules speak of, by its name.
type operation string

// Values lists the operations for the schema.
func (operation) Values() []string {
	return []string{acl.Read.String(), acl.Write.String(), acl.Delete.String()}
}

type aclOut struct {
	Path       string   `json:"path" jsonschema:"the path that is judged; a link is judged where it leads"`
	KillSwitch bool     `json:"kill_switch" jsonschema:"the whole vault is read-only"`
	Scopes     string   `json:"effective_scopes" jsonschema:"what you may do at all"`
	Rows       []aclRow `json:"operations"`
}

type aclRow struct {
	Op   string `json:"op"`
	Verb string `json:"verb" jsonschema:"allow, ask (a person approves) or deny"`
	By   string `json:"decided_by" jsonschema:"scope, read_only, rule, or default: no rule says anything"`
	Rule int    `json:"rule,omitempty" jsonschema:"number of the rule, from 1"`
	Glob string `json:"matched_rule,omitempty" jsonschema:"its pattern, unless that may name what you may not know of"`
}

func inspectACL() tools.Tool {
	return tools.Query(tools.Spec{
		Name:  "inspect_acl",
		Title: "Inspect the folder rules",
		Doc:   "Tells whether a path may be read, written and deleted, and which rule says so. What a change does may need a person besides.",
		Scope: auth.Admin,
	}, func(ctx context.Context, c *tools.Call, in aclIn) (aclOut, error) {
		out := aclOut{KillSwitch: c.View.ReadOnly, Scopes: c.Caller.Scopes.String(), Rows: []aclRow{}}
		path, verdicts, err := c.View.Inspect(ctx, in.Path)
		if err != nil {
			return out, err
		}
		out.Path = path
		needs := []auth.Scope{acl.Read: auth.Read, acl.Write: auth.Write, acl.Delete: auth.Delete}
		for i, v := range verdicts {
			op := acl.Op(i)
			if in.Op != "" && string(in.Op) != op.String() {
				continue
			}
			row := aclRow{Op: op.String(), Verb: string(acl.Deny)}
			switch {
			case !c.Caller.Scopes.Has(needs[op]):
				row.By = "scope"
			case c.View.ReadOnly && op != acl.Read:
				row.By = "read_only"
			case v.Rule == 0:
				row.Verb, row.By = string(v.Verb), "default"
			default:
				row.Verb, row.By, row.Rule, row.Glob = string(v.Verb), "rule", v.Rule, c.View.Rules().Tellable(v.Rule)
			}
			out.Rows = append(out.Rows, row)
		}
		return out, nil
	})
}
