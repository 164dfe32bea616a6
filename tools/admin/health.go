package admin

import (
	"context"
	"time"

	"vault-mcp/internal/auth"
	"vault-mcp/tools"
)

type healthIn struct{}

type healthOut struct {
	Status   string           `json:"status"`
	Name     string           `json:"name"`
	Version  string           `json:"version"`
	Vaults   []string         `json:"vaults" jsonschema:"ids of the vaults that you may use"`
	UptimeMS int64            `json:"uptime_ms"`
	Counters map[string]int64 `json:"counters" jsonschema:"what happened since the start"`
}

func serverHealth(s Server) tools.Tool {
	return tools.Query(tools.Spec{
		Name:  "server_health",
		Title: "Server health",
		Doc:   "Tells whether the server is well, its version and what it counted since it started.",
		Scope: auth.None,
	}, func(_ context.Context, c *tools.Call, _ healthIn) (healthOut, error) {
		out := healthOut{
			Status: "ok", Name: "vault-mcp", Version: s.Version, Vaults: []string{},
			UptimeMS: time.Since(s.Started).Milliseconds(), Counters: s.Meter.Counts(),
		}
		for _, v := range s.Vaults {
			if c.Caller.MayUse(v.ID) {
				out.Vaults = append(out.Vaults, v.ID)
			}
		}
		return out, nil
	})
}
