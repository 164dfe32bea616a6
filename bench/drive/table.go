package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"
)

// figure is what one contender needed over all runs. A minimum is the figure
// with the least of what else the machine did.
type figure struct {
	Who    string  `json:"who"`
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	CPU    float64 `json:"cpu,omitempty"` // median; 0 if it was not measured
}

// row is one line of the table. Its figures are in Unit; the first is ours,
// and the gate is on its ratio to the second, or on itself.
type row struct {
	Name    string   `json:"name"`
	Unit    string   `json:"unit"`
	Figures []figure `json:"figures"`
	Gate    float64  `json:"gate,omitempty"` // 0: only told
	// Absolute says that the gate is in Unit and not a ratio.
	Absolute bool `json:"absolute,omitempty"`
	// ByCPU says that the gate is on processor time only.
	ByCPU bool   `json:"by_cpu,omitempty"`
	Note  string `json:"note,omitempty"`
}

// ratios are ours to figure i's: of medians, of minima, of processor time.
func (r row) ratios(i int) (median, minimum, cpu float64) {
	div := func(a, b float64) float64 {
		if b == 0 {
			return 0
		}
		return a / b
	}
	a, b := r.Figures[0], r.Figures[i]
	return div(a.Median, b.Median), div(a.Min, b.Min), div(a.CPU, b.CPU)
}

// excess is how far over its gate a row is: above 1 in every measure that it
// has, since each alone varies with what else the machine does.
func (r row) excess() float64 {
	if r.Gate == 0 || !r.Absolute && len(r.Figures) < 2 {
		return 0
	}
	if r.Absolute {
		if r.ByCPU {
			return r.Figures[0].CPU / r.Gate
		}
		return r.Figures[0].Min / r.Gate
	}
	median, minimum, cpu := r.ratios(1)
	if r.ByCPU {
		return cpu / r.Gate
	}
	least := min(median, minimum)
	if cpu > 0 {
		least = min(least, cpu)
	}
	return least / r.Gate
}

func (r row) verdict() string {
	switch e := r.excess(); {
	case e == 0:
		return ""
	case e > 1:
		return "OVER"
	}
	return "ok"
}

func print(w io.Writer, rows []row) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "what\tunit\tmedian\tmin\tcpu\tagainst\tmedian\tmin\tcpu\tratio med/min/cpu\tgate\t")
	for _, r := range rows {
		ours := r.Figures[0]
		head := fmt.Sprintf("%s\t%s\t%s\t%s\t%s", r.Name, r.Unit, number(ours.Median), number(ours.Min), number(ours.CPU))
		gate := "–"
		if r.Gate != 0 {
			gate = "≤ " + strconv.FormatFloat(r.Gate, 'g', -1, 64)
			if r.Absolute {
				gate += " " + r.Unit
			}
			if r.ByCPU {
				gate += " cpu"
			}
		}
		if len(r.Figures) == 1 {
			fmt.Fprintf(t, "%s\t%s\t\t\t\t\t%s\t%s\n", head, r.Note, gate, r.verdict())
		}
		for i := 1; i < len(r.Figures); i++ {
			f := r.Figures[i]
			median, minimum, cpu := r.ratios(i)
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s / %s / %s\t%s\t%s\n", head, f.Who,
				number(f.Median), number(f.Min), number(f.CPU), number(median), number(minimum), number(cpu), gate, r.verdict())
			head, gate = "\t\t\t\t", ""
			r.Gate = 0 // the gate is on the first ratio
		}
	}
	return t.Flush()
}

func number(x float64) string {
	switch {
	case x == 0:
		return "–"
	case x >= 100:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case x >= 10:
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func median(xs []float64) float64 {
	if len(xs) == 0 {
		return 0
	}
	xs = slices.Sorted(slices.Values(xs))
	return (xs[(len(xs)-1)/2] + xs[len(xs)/2]) / 2
}
