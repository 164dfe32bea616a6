package facade

import (
	"context"
	"math"
	"strings"

	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
)

const nameOfFind = "find_capability"

type findIn struct {
	Query  string `json:"query,omitempty" jsonschema:"what to do, in English; empty lists the domains" limits:"maxLength=1000"`
	Domain string `json:"domain,omitempty" limits:"maxLength=100"`
	Limit  int    `json:"limit,omitempty" limits:"min=1,max=50,default=10"`
}

type match struct {
	Name        string  `json:"name"`
	Title       string  `json:"title"`
	Summary     string  `json:"summary"`
	Domain      string  `json:"domain"`
	ReadOnly    bool    `json:"read_only"`
	Destructive bool    `json:"destructive"`
	Idempotent  bool    `json:"idempotent"`
	OpenWorld   bool    `json:"open_world"`
	Gated       gated   `json:"gated" jsonschema:"whether a person has to approve"`
	Score       float64 `json:"score"`
}

type listed struct {
	Name  string   `json:"name"`
	Tools []string `json:"tools"`
}

type findOut struct {
	Matches []match  `json:"matches"`
	Domains []listed `json:"domains,omitempty"`
	Next    string   `json:"next"`
}

func findCapability(s Source) tools.Tool {
	return tools.Query(tools.Spec{
		Name: nameOfFind, Title: "Find a tool",
		Doc:    "Finds tools by what they do, best first, listed or not. Use it before saying that something cannot be done.",
		Scope:  auth.None,
		Narrow: "use a lower limit",
	}, func(_ context.Context, c *tools.Call, in findIn) (findOut, error) {
		all := s.usable(c.Caller)
		out := findOut{Matches: []match{}}
		if in.Domain != "" {
			var err error
			if all, err = s.ofDomain(all, in.Domain); err != nil {
				return out, err
			}
		}
		found := rank(all, in.Query)
		if len(words(in.Query)) == 0 {
			if in.Domain == "" {
				out.Domains = s.domains(all)
				out.Next = "Call again with query, or with domain to see its tools."
				return out, nil
			}
			for _, t := range all {
				found = append(found, hit{tool: t})
			}
		}
		for _, h := range found[:min(len(found), in.Limit)] {
			t := h.tool
			out.Matches = append(out.Matches, match{
				t.Name, t.Title, firstSentence(t.Doc), t.Domain, t.Hints.ReadOnly, t.Hints.Destructive, t.Hints.Idempotent, t.Hints.OpenWorld,
				gateOf(t), math.Round(h.score*100) / 100,
			})
		}
		out.Next = nameOfDescribe + " tells the arguments; " + CallCapability + " {name, args} calls it."
		if len(out.Matches) == 0 {
			out.Next = "No tool has these words: try others, or call without query to see the domains."
		}
		return out, nil
	})
}

// ofDomain are the tools of one domain.
func (s Source) ofDomain(all []*tools.Tool, domain string) ([]*tools.Tool, error) {
	var in []*tools.Tool
	for _, t := range all {
		if t.Domain == domain {
			in = append(in, t)
		}
	}
	if in == nil {
		var names []string
		for _, d := range s.domains(all) {
			names = append(names, d.Name)
		}
		return nil, fault.New(fault.ValidationError, "There is no domain %.100q with tools that you may use.", domain).With("argument", "domain").With("valid", names)
	}
	return in, nil
}

// domains are those that some tools are in, with their names.
func (s Source) domains(of []*tools.Tool) []listed {
	var all []listed
	for _, d := range s.Registry().Domains() {
		l := listed{Name: d}
		for _, t := range of {
			if t.Domain == d {
				l.Tools = append(l.Tools, t.Name)
			}
		}
		if l.Tools != nil {
			all = append(all, l)
		}
	}
	return all
}

// firstSentence is how a description begins.
func firstSentence(doc string) string {
	first, _, ok := strings.Cut(doc, ". ")
	if ok {
		first += "."
	}
	return first
}
