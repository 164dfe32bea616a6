// Package resources serves the files of the vaults as MCP resources, through
// the same stages as the tools.
package resources

import (
	"vault-mcp/internal/acl"
	"vault-mcp/tools"
)

// Names of the queries behind the protocol's methods. They are no tools that a
// client could list or call.
const (
	List = "resources_list"
	Read = "resources_read"
	Look = "resources_look"
)

// Tools are the queries behind resources/list, resources/read and the
// subscriptions to resources.
func Tools(vaults []*acl.View) tools.Domain {
	return tools.Domain{Name: "resources", Hidden: true, Tools: []tools.Tool{list(vaults), read(), look()}}
}
