// Package admin holds the tools about the server itself.
package admin

import (
	"time"

	"vault-mcp/internal/acl"
	"vault-mcp/internal/telemetry"
	"vault-mcp/tools"
)

// Server is what the tools report about the running server.
type Server struct {
	Version string
	Started time.Time
	Vaults  []*acl.View
	Meter   *telemetry.Meter
}

// Tools are the domain's tools.
func Tools(s Server) tools.Domain {
	return tools.Domain{Name: "admin", Tools: []tools.Tool{serverHealth(s)}}
}
