package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"vault-mcp/bench/vaultgen"
)

// grown is how one thing cost on vaults of several sizes.
type grown struct {
	Name   string    `json:"name"`
	Unit   string    `json:"unit"`
	Values []float64 `json:"values"`
	CPU    []float64 `json:"cpu,omitempty"`
}

// growth measures ours on vaults of rising size: medians of the wall time and
// of the processor time, and memory at the end of each.
func (b *bench) growth(vaults []*vaultgen.Vault) ([]grown, error) {
	get := call{Name: "get_vault", Arguments: map[string]any{}}
	many := call{Name: "search_text", Arguments: map[string]any{"query": "the"}}
	steps := []struct {
		name string
		call call
	}{
		{"list a page by path", b.ours.list("path")},
		{"list a page by -mtime", b.ours.list("-mtime")},
		{"get_vault", get},
		{"search, " + vaultgen.Rare, b.ours.search(vaultgen.Rare)},
		{"search, " + vaultgen.Common, b.ours.search(vaultgen.Common)},
		{"search, the", many},
	}
	out := []grown{{Name: "start → initialize", Unit: "ms"}}
	for _, s := range steps {
		out = append(out, grown{Name: s.name, Unit: "ms"})
	}
	out = append(out, grown{Name: "RssAnon after lists", Unit: "MB"}, grown{Name: "RssAnon after searches", Unit: "MB"},
		grown{Name: "VmHWM", Unit: "MB"})
	for _, v := range vaults {
		wall, cpu, err := b.repeat(func() (sample, error) { return b.life(b.ours, v, nil, initialized) })
		if err != nil {
			return nil, err
		}
		out[0].add(wall, cpu)
		s, err := b.serve(b.ours, v)
		if err != nil {
			return nil, err
		}
		defer s.stop()
		for i, step := range steps {
			if step.call.Name == "search_text" && len(out[len(out)-3].Values) < len(out[0].Values) {
				m, err := memoryOf(s.pid())
				if err != nil {
					return nil, err
				}
				out[len(out)-3].add(m.Anon, 0)
			}
			wall, cpu, err := b.repeat(func() (sample, error) {
				before := cpuOf(s.pid())
				took, err := s.call(step.call)
				return sample{took, cpuOf(s.pid()) - before}, err
			})
			if err != nil {
				return nil, err
			}
			out[1+i].add(wall, cpu)
		}
		m, err := memoryOf(s.pid())
		if err != nil {
			return nil, err
		}
		out[len(out)-2].add(m.Anon, 0)
		out[len(out)-1].add(m.Peak, 0)
	}
	return out, nil
}

func (g *grown) add(value, cpu float64) {
	g.Values = append(g.Values, value)
	if cpu > 0 {
		g.CPU = append(g.CPU, cpu)
	}
}

// repeat is the medians of all runs but the first.
func (b *bench) repeat(run func() (sample, error)) (wall, cpu float64, err error) {
	var walls, cpus []float64
	for i := range b.runs + 1 {
		s, err := run()
		if err != nil {
			return 0, 0, err
		}
		if i > 0 {
			walls, cpus = append(walls, millis(s.wall)), append(cpus, millis(max(s.cpu, time.Duration(0))))
		}
	}
	return median(walls), median(cpus), nil
}

func printGrowth(w io.Writer, vaults []*vaultgen.Vault, table []grown) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "what\tunit")
	for _, v := range vaults {
		fmt.Fprintf(t, "\t%d notes", v.Notes)
	}
	fmt.Fprintln(t, "\tlast : first")
	for _, g := range table {
		fmt.Fprintf(t, "%s\t%s", g.Name, g.Unit)
		for i, v := range g.Values {
			fmt.Fprintf(t, "\t%s", number(v))
			if i < len(g.CPU) {
				fmt.Fprintf(t, " (cpu %s)", number(g.CPU[i]))
			}
		}
		fmt.Fprintf(t, "\t%s\n", number(g.Values[len(g.Values)-1]/g.Values[0]))
	}
	return t.Flush()
}
