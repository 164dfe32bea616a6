package rename

import (
	"fmt"
	"testing"

	"vault-mcp/vault/settings"
)

// BenchmarkBacklinks renames a note that 1,000 of 20,000 notes link to.
func BenchmarkBacklinks(b *testing.B) {
	all := files{"Hub.md": "# Hub\n"}
	for i := range 20_000 {
		text := fmt.Sprintf("---\nup: \"[[n%d]]\"\n---\n# Note %d\n", (i*7)%20_000, i)
		for j := range 40 {
			text += fmt.Sprintf("A line of text with [[n%d]] and [x](n%d.md) in it, and some more words.\n", (i+j)%20_000, (i*j)%20_000)
		}
		if i%20 == 0 {
			text += "See [[Hub]] and [[Hub#Hub|the hub]].\n"
		}
		all[fmt.Sprintf("f%d/n%d.md", i%50, i)] = text
	}
	m := newMemory(all)
	b.ReportAllocs()
	for b.Loop() {
		m.reads = 0
		r, err := Plan(m, []Move{{From: "Hub.md", To: "Centre.md"}}, settings.Default())
		if err != nil || r.Report.Links() != 2000 || m.reads != 1000 {
			b.Fatalf("%v %d %d", err, r.Report.Links(), m.reads)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/1000, "µs/note")
}
