package tools

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Domain is a group of tools about one thing.
type Domain struct {
	Name  string
	Tools []Tool
	// Hidden says that these are no tools of the surface: another method of
	// the protocol calls them by name.
	Hidden bool
}

// Registry holds the tools that are served.
type Registry struct {
	byName map[string]*Tool
	// names are those of the tools that are listed, domains those of all.
	names, domains []string
	// ReadOnly refuses every tool that changes something. Such tools are still
	// known by their names, but not listed.
	ReadOnly bool
}

// NewRegistry checks every tool and refuses the whole list if one breaks the
// registration rule: then the server does not start.
func NewRegistry(domains ...Domain) (*Registry, error) {
	r := &Registry{byName: map[string]*Tool{}}
	for _, d := range domains {
		if !slices.Contains(r.domains, d.Name) {
			r.domains = append(r.domains, d.Name)
		}
		for i := range d.Tools {
			t := &d.Tools[i]
			if err := t.check(); err != nil {
				return nil, err
			}
			if r.byName[t.Name] != nil {
				return nil, fmt.Errorf("tool %s is registered twice", t.Name)
			}
			t.Domain = d.Name
			t.Hidden = d.Hidden
			r.byName[t.Name] = t
			if !d.Hidden {
				r.names = append(r.names, t.Name)
			}
		}
	}
	slices.Sort(r.names)
	for _, d := range r.domains {
		if r.byName[d] != nil {
			return nil, fmt.Errorf("%s is the name of a tool and of a domain", d)
		}
	}
	return r, nil
}

// Tool is the tool with this name, or nil.
func (r *Registry) Tool(name string) *Tool { return r.byName[name] }

// All are the tools of the surface in the order of their names.
func (r *Registry) All() []*Tool {
	all := make([]*Tool, len(r.names))
	for i, n := range r.names {
		all[i] = r.byName[n]
	}
	return all
}

// Refused are the tools that are known and not listed, because the registry is
// read-only.
func (r *Registry) Refused() []*Tool {
	var refused []*Tool
	for _, n := range slices.Sorted(maps.Keys(r.byName)) {
		if t := r.byName[n]; !t.Hidden && !slices.Contains(r.names, n) {
			refused = append(refused, t)
		}
	}
	return refused
}

// Domains are the names of the domains that have tools of the surface, in the order
// in which they were registered.
func (r *Registry) Domains() []string {
	return slices.DeleteFunc(slices.Clone(r.domains), func(d string) bool { return len(r.Domain(d)) == 0 })
}

// Domain are the tools of one domain in the order of their names, none if there is
// no such domain.
func (r *Registry) Domain(name string) []*Tool {
	if !slices.Contains(r.domains, name) {
		return nil
	}
	return slices.DeleteFunc(r.All(), func(t *Tool) bool { return t.Domain != name })
}

// Nearest is the name closest to one that is no tool, or "".
func (r *Registry) Nearest(name string) string { return nearest(strings.ToLower(name), r.names) }

// nearest is the candidate with the smallest edit distance to s, if that is at
// most a third of its length; else "".
func nearest(s string, candidates []string) string {
	best, found := min(len(s), longest)/3+2, ""
	for _, c := range candidates {
		if d := distance(s, c); d < best {
			best, found = d, c
		}
	}
	return found
}

// longest is how much of a name is compared, in bytes.
const longest = 64

// distance is the Levenshtein distance over bytes, of at most longest of each.
func distance(a, b string) int {
	a, b = a[:min(len(a), longest)], b[:min(len(b), longest)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
