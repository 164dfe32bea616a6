// Package admin holds the tools about the server itself.
package admin

import (
	"time"

	"vault-mcp/internal/acl"
	"vault-mcp/internal/config"
	"vault-mcp/internal/fault"
	"vault-mcp/internal/telemetry"
	"vault-mcp/tools"
)

// Server is what the tools report about the running server.
type Server struct {
	Version string
	Started time.Time
	Vaults  []*acl.View
	Config  *config.Config
	Meter   *telemetry.Meter
}

// Tools are the domain's tools.
func Tools(s Server) tools.Domain {
	return tools.Domain{Name: "admin", Tools: []tools.Tool{serverHealth(s), getMetrics(s), getServerConfig(s), inspectACL(), resetCache()}}
}

// vaults are those that a caller may use, under the rules of now; with an id only
// that one, which fails with vault_not_found.
func (s Server) vaults(c *tools.Call, id string) (all []*acl.View, err error) {
	for _, v := range s.Vaults {
		if c.Caller.MayUse(v.ID) && (id == "" || id == v.ID) {
			all = append(all, v.Now())
		}
	}
	if id != "" && len(all) == 0 {
		return nil, fault.New(fault.VaultNotFound, "There is no vault %.100q.", id)
	}
	return all, nil
}
