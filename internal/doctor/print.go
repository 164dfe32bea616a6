package doctor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"vault-mcp/hitl"
)

// PrintJSON prints a report as one JSON object.
func (r Report) PrintJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}

// Print prints a report for a person, by what each finding is about.
func (r Report) Print(w io.Writer) error {
	var titles []string
	for _, f := range r.Findings {
		if !slices.Contains(titles, f.title()) {
			titles = append(titles, f.title())
		}
	}
	var b bytes.Buffer
	for _, title := range titles {
		r.section(&b, title)
	}
	var parts []string
	for _, l := range slices.Backward(levels) {
		if n := r.Counts[l]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, l))
		}
	}
	fmt.Fprintf(&b, "%s\n", strings.Join(parts, ", "))
	_, err := w.Write(b.Bytes())
	return err
}

// section is what was found out about one thing.
func (r Report) section(b *bytes.Buffer, title string) {
	fmt.Fprintf(b, "%s\n", title)
	for _, f := range r.Findings {
		if f.title() != title {
			continue
		}
		fmt.Fprintf(b, "  %-8s%s%s\n", f.Level, f.Text, f.times())
		for _, p := range f.Paths {
			fmt.Fprintf(b, "            %s\n", hitl.Display(p))
		}
		if f.Fix != "" {
			fmt.Fprintf(b, "          → %s\n", f.Fix)
		}
	}
	b.WriteByte('\n')
}

// title is what a finding is about.
func (f Finding) title() string {
	switch {
	case f.Client != "" && f.Server != "":
		return f.Client + ", server " + hitl.Display(f.Server)
	case f.Client != "":
		return f.Client
	case f.Vault != "":
		return "vault " + hitl.Display(f.Vault)
	}
	return "this machine"
}

// times are how long the steps took.
func (f Finding) times() string {
	var parts []string
	for _, step := range []string{"handshake", "tools_list", "search"} {
		if ms, ok := f.Times[step]; ok {
			parts = append(parts, fmt.Sprintf("%s %d ms", strings.ReplaceAll(step, "_", "/"), ms))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}
