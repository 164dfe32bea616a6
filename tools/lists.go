package tools

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Lists say which tools are served. An entry is the name of a tool, domain:NAME for
// all of a domain, or tag:NAME for all that need a family of scopes, such as
// tag:delete.
//
// There is one precedence: what ReadOnly takes away no list gives back, Deny
// beats Allow, and where Allow has entries only what they name is served.
type Lists struct {
	Allow, Deny []string
	ReadOnly    bool
}

// The kinds of entries beside the plain name of a tool.
const (
	ofDomain = "domain:"
	ofTag    = "tag:"
)

// entries are what a list can have for a tool.
func (t *Tool) entries() []string {
	all := []string{ofDomain + t.Domain}
	if !t.Hidden {
		all = append(all, t.Name)
	}
	for _, family := range t.Scope.Families() {
		all = append(all, ofTag+family)
	}
	return all
}

// Always is the domain of the tools that find and describe others: they are
// always served, as they show no more than the others that are.
const Always = "capability"

// Only is the part of the registry that lists leave: what they deny is not known to
// it by any name. An entry that names nothing is an error, which names the nearest;
// so is a part without tools.
func (r *Registry) Only(l Lists) (*Registry, error) {
	if err := errors.Join(r.unknown("allow", l.Allow), r.unknown("deny", l.Deny)); err != nil {
		return nil, err
	}
	part := &Registry{byName: map[string]*Tool{}, domains: r.domains, ReadOnly: l.ReadOnly}
	left := false
	for name, t := range r.byName {
		has := func(entry string) bool { return slices.Contains(t.entries(), entry) }
		always := t.Domain == Always
		if !always && (slices.ContainsFunc(l.Deny, has) || len(l.Allow) > 0 && !slices.ContainsFunc(l.Allow, has)) {
			continue
		}
		part.byName[name] = t
		if !t.Hidden && !(l.ReadOnly && t.Mutates()) {
			part.names = append(part.names, name)
			left = left || !always
		}
	}
	if !left {
		return nil, errors.New("tools: allow, deny and read_only leave no tool: take an entry out")
	}
	slices.Sort(part.names)
	return part, nil
}

// unknown is what is wrong with the entries of a list.
func (r *Registry) unknown(list string, entries []string) error {
	known := map[string]bool{}
	for _, t := range r.byName {
		for _, e := range t.entries() {
			known[e] = known[e] || t.Domain != Always
		}
	}
	var errs []error
	for i, e := range entries {
		if known[e] {
			continue
		}
		near := nearest(strings.ToLower(e), slices.Sorted(maps.Keys(known)))
		for _, kind := range []string{ofTag, ofDomain} {
			if known[kind+e] {
				near = kind + e
			}
		}
		hint := ""
		if near != "" && known[near] {
			hint = fmt.Sprintf("; did you mean %q?", near)
		}
		errs = append(errs, fmt.Errorf("tools.%s[%d]: %q names no tool, domain: or tag:%s (vault-mcp tools lists them)", list, i, Cut(e, 100), hint))
	}
	return errors.Join(errs...)
}
