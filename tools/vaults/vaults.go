// Package vaults holds the tools about the vaults themselves.
package vaults

import (
	"vault-mcp/internal/acl"
	"vault-mcp/tools"
)

// Tools are the domain's tools over the configured vaults.
func Tools(vaults []*acl.View) tools.Domain {
	return tools.Domain{Name: "vault", Tools: []tools.Tool{
		listVaults(vaults),
		getVault(),
		changesSince(),
		indexStatus(),
		indexVault(),
		reloadVault(),
	}}
}
