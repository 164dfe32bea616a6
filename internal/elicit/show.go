package elicit

import (
	"fmt"
	"strings"
	"time"

	"vault-mcp/hitl"
)

// head says what a request is about, why a person is asked, and how long it is
// good.
func head(r *hitl.Request, now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", hitl.Display(r.Summary))
	fmt.Fprintf(&b, "  tool %s · vault %s · caller %s\n", hitl.Display(r.Tool), hitl.Display(r.Vault), hitl.Display(r.Caller))
	fmt.Fprintf(&b, "  you are asked %s\n", Why(r))
	if r.Undo != "" {
		fmt.Fprintf(&b, "  %s\n", hitl.Display(r.Undo))
	}
	if len(r.Candidates) == 0 { // they are the notes of a choice, else
		for _, n := range r.Notes {
			fmt.Fprintf(&b, "  %s\n", hitl.Display(n))
		}
	}
	fmt.Fprintf(&b, "  %s · %s", times(r, now), r.ID)
	switch {
	case r.Status == hitl.Declined && !r.Route.Person():
		b.WriteString(" · its client answered decline")
	case r.Status != hitl.Open:
		fmt.Fprintf(&b, " · %s", r.Status)
	}
	b.WriteString("\n")
	return b.String()
}

// Why says why a person is asked.
func Why(r *hitl.Request) string {
	because := "because " + hitl.Display(r.Floor)
	switch {
	case len(r.Candidates) == 0:
		return because
	case r.Floor == "":
		return "which note is meant"
	}
	return "which note is meant, and " + because
}

// body is what would change, at most limit lines of it, and what there is to
// choose from; 0 is no limit.
func body(r *hitl.Request, limit int) string {
	if len(r.Candidates) == 0 {
		return diff(r, limit)
	}
	var b strings.Builder
	if r.Preview != "" {
		b.WriteString(diff(r, limit) + "\n")
	}
	b.WriteString(choices(r.Candidates))
	return b.String()
}

// choices are the notes from which a person chooses, by their numbers.
func choices(list []hitl.Candidate) string {
	var b strings.Builder
	for i, k := range list {
		b.WriteString(candidate(i+1, k))
	}
	return b.String()
}

// candidate is one of them, with what would be done with it.
func candidate(n int, k hitl.Candidate) string {
	line := fmt.Sprintf("%3d  %s\n", n, hitl.Display(k.Path))
	if k.About != "" {
		line += "     " + hitl.Display(k.About) + "\n"
	}
	return line
}

// times says how old a request is, and how long it can be answered.
func times(r *hitl.Request, now time.Time) string {
	return fmt.Sprintf("asked %s ago, %s left", Span(now.Sub(r.Raised)), Span(r.Expires.Sub(now)))
}

// Span is a length of time in its two greatest units.
func Span(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm %ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh %dm", int(d.Hours()), int(d.Minutes())%60)
}

// diff is what would change, at most limit lines of it; 0 is no limit.
func diff(r *hitl.Request, limit int) string {
	text := hitl.Text(r.Preview)
	if text == "" {
		return "  (there is no diff to show)\n"
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	lines := strings.SplitAfter(text, "\n")
	if n := len(lines) - 1; limit > 0 && n > limit {
		return strings.Join(lines[:limit], "") + fmt.Sprintf("… %d more lines; d shows all\n", n-limit)
	}
	return text
}

// row is a request in one line.
func row(r *hitl.Request, now time.Time) string {
	s := fmt.Sprintf("%s · %s · %s · %s", hitl.Display(r.Tool), hitl.Display(r.Summary), hitl.Display(r.Vault), times(r, now))
	if r.Status == hitl.Declined {
		s += " · declined"
	}
	return s
}
