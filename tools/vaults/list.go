package vaults

import (
	"context"

	"vault-mcp/internal/acl"
	"vault-mcp/internal/auth"
	"vault-mcp/tools"
)

type listIn struct{}

type vaultRow struct {
	ID       string `json:"id"`
	Name     string `json:"name" jsonschema:"name of the vault's folder"`
	ReadOnly bool   `json:"read_only"`
}

type listOut struct {
	Vaults []vaultRow `json:"vaults"`
}

func listVaults(vaults []*acl.View) tools.Tool {
	return tools.Query(tools.Spec{
		Name:  "list_vaults",
		Title: "List vaults",
		Doc:   "Lists the vaults that you may use, with their ids.",
		Scope: auth.Read,
	}, func(_ context.Context, c *tools.Call, _ listIn) (listOut, error) {
		out := listOut{Vaults: []vaultRow{}}
		for _, v := range vaults {
			if c.Caller.MayUse(v.ID) {
				out.Vaults = append(out.Vaults, vaultRow{v.ID, v.Name(), v.Now().ReadOnly})
			}
		}
		return out, nil
	})
}
