package admin

import (
	"context"

	"vault-mcp/internal/auth"
	"vault-mcp/tools"
)

type configIn struct{}

type configVault struct {
	ID       string `json:"id"`
	ReadOnly bool   `json:"read_only"`
}

type configOut struct {
	Version string         `json:"version"`
	Vaults  []configVault  `json:"vaults_summary" jsonschema:"the vaults that you may use"`
	Config  map[string]any `json:"config" jsonschema:"the sections of the config as they are in effect, without paths, rules and secrets"`
}

func getServerConfig(s Server) tools.Tool {
	return tools.Query(tools.Spec{
		Name:  "get_server_config",
		Title: "Server configuration",
		Doc:   "Tells the settings that are in effect, such as limits. inspect_acl tells what the folder rules say about a path.",
		Scope: auth.Admin,
	}, func(_ context.Context, c *tools.Call, _ configIn) (configOut, error) {
		out := configOut{Version: s.Version, Vaults: []configVault{}, Config: s.Config.Told()}
		vaults, err := s.vaults(c, "")
		for _, v := range vaults {
			out.Vaults = append(out.Vaults, configVault{v.ID, v.ReadOnly})
		}
		return out, err
	})
}
