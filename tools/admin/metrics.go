package admin

import (
	"context"
	"errors"
	"maps"
	"runtime/metrics"
	"slices"
	"time"

	"vault-mcp/cache/index"
	"vault-mcp/internal/acl"
	"vault-mcp/internal/auth"
	"vault-mcp/tools"
)

type metricsIn struct {
	Vault string `json:"vault,omitempty" jsonschema:"only what is about this vault" limits:"minLength=1,maxLength=64"`
}

type metric struct {
	Name   string            `json:"name"`
	Type   metricType        `json:"type"`
	Value  int64             `json:"value"`
	Labels map[string]string `json:"labels" jsonschema:"vault, of what is about one"`
}

type metricType string

const (
	counter metricType = "counter"
	gauge   metricType = "gauge"
)

// Values lists the types for the schema.
func (metricType) Values() []string { return []string{string(counter), string(gauge)} }

type metricsOut struct {
	Metrics []metric `json:"metrics"`
}

func (o *metricsOut) add(name string, t metricType, value int64, labels map[string]string) {
	o.Metrics = append(o.Metrics, metric{name, t, value, labels})
}

func getMetrics(s Server) tools.Tool {
	return tools.Query(tools.Spec{
		Name:   "get_metrics",
		Title:  "Metrics",
		Doc:    "Gives what the server counted since its start, its memory, and the size of each vault's index, of what you may see.",
		Scope:  auth.Admin,
		Narrow: "vault names one",
	}, func(ctx context.Context, c *tools.Call, in metricsIn) (metricsOut, error) {
		out := metricsOut{Metrics: []metric{}}
		vaults, err := s.vaults(c, in.Vault)
		if err != nil {
			return out, err
		}
		if in.Vault == "" {
			s.process(&out)
		}
		for _, v := range vaults {
			if err := ofIndex(ctx, v, &out); err != nil {
				return out, err
			}
		}
		return out, nil
	})
}

// process adds what is about the whole server.
func (s Server) process(out *metricsOut) {
	counts := s.Meter.Counts()
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		out.add(name, counter, counts[name], map[string]string{})
	}
	out.add("uptime_seconds", gauge, int64(time.Since(s.Started).Seconds()), map[string]string{})
	// The memory grows with the notes that rules hide, so that it is not for every
	// caller where they hide some.
	if slices.ContainsFunc(s.Vaults, func(v *acl.View) bool { return v.Now().Rules().Hides() }) {
		return
	}
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/total:bytes"}}
	metrics.Read(samples)
	for i, name := range []string{"heap_bytes", "memory_bytes"} {
		if v := samples[i].Value; v.Kind() == metrics.KindUint64 {
			out.add(name, gauge, int64(v.Uint64()), map[string]string{})
		}
	}
}

// ofIndex adds how much a vault's index holds of what its caller may see. While
// the index does not answer, only that is told.
func ofIndex(ctx context.Context, v *acl.View, out *metricsOut) error {
	of := map[string]string{"vault": v.ID}
	var n index.Counts
	err := index.ErrNotReady
	if ix := v.Index(); ix != nil {
		err = ix.Read(ctx, func(m *index.Model) error {
			n = m.Counts(v.Sees)
			return nil
		})
	}
	if errors.Is(err, index.ErrNotReady) {
		out.add("index_ready", gauge, 0, of)
		return nil
	}
	if err != nil {
		return err
	}
	out.add("index_ready", gauge, 1, of)
	for _, k := range kindsOf(n) {
		out.add("index_"+k.name, gauge, int64(k.n), of)
	}
	return nil
}
