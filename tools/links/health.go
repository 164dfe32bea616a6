package links

import (
	"context"
	"math"

	"vault-mcp/internal/auth"
	"vault-mcp/tools"
)

type healthIn struct {
	tools.VaultArg
	Hub int `json:"hub_threshold,omitempty" jsonschema:"notes that link to a hub, at least" limits:"min=1,max=10000,default=20"`
}

type healthMetrics struct {
	Orphans    int `json:"orphans"`
	Unresolved int `json:"unresolved_links"`
	Hubs       int `json:"hubs"`
	Cycles     int `json:"cycles"`
}

type healthBreakdown struct {
	Orphans    float64 `json:"orphan_penalty"`
	Unresolved float64 `json:"unresolved_penalty"`
	Cycles     float64 `json:"cycle_penalty"`
	Hubs       float64 `json:"hub_penalty"`
}

type healthOut struct {
	Score      int             `json:"score"`
	TotalNotes int             `json:"total_notes"`
	TotalLinks int             `json:"total_links" jsonschema:"inside the vault"`
	Metrics    healthMetrics   `json:"metrics"`
	Breakdown  healthBreakdown `json:"breakdown" jsonschema:"points off 100"`
	Excluded   int             `json:"excluded,omitempty" jsonschema:"notes left out because Obsidian's settings exclude them"`
	Warnings   []tools.Warning `json:"warnings,omitempty"`
}

func healthScore() tools.Tool {
	return tools.Query(tools.Spec{
		Name:  "vault_health_score",
		Title: "Score the vault's links",
		Doc:   "Scores how well the notes are linked, from 0 to 100, with what points are lost for.",
		Scope: auth.Read,
	}, func(ctx context.Context, c *tools.Call, in healthIn) (healthOut, error) {
		s, err := look(ctx, c, false)
		if err != nil {
			return healthOut{}, err
		}
		m := healthMetrics{Orphans: len(s.orphans()), Unresolved: s.unresolved}
		groups, _ := s.graph.components()
		for _, nodes := range groups {
			if len(nodes) > 1 {
				m.Cycles++
			}
		}
		for node := range int32(s.graph.nodes()) {
			if len(s.graph.in.of(node)) >= in.Hub {
				m.Hubs++
			}
		}
		out := healthOut{TotalNotes: s.graph.nodes(), TotalLinks: s.links, Metrics: m, Excluded: s.excluded, Warnings: s.warnings.List()}
		out.Breakdown = healthBreakdown{
			Orphans: 30 * ratio(m.Orphans, out.TotalNotes), Unresolved: 30 * ratio(m.Unresolved, out.TotalLinks),
			Cycles: 2 * float64(min(m.Cycles, 10)), Hubs: 20 * ratio(m.Hubs, out.TotalNotes),
		}
		b := &out.Breakdown
		out.Score = int(max(0, math.Round(100-b.Orphans-b.Unresolved-b.Cycles-b.Hubs)))
		for _, p := range []*float64{&b.Orphans, &b.Unresolved, &b.Cycles, &b.Hubs} {
			*p = math.Round(*p*100) / 100
		}
		return out, nil
	})
}

func ratio(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
