// Package facade owns what a client sees of the tools: which are listed in each
// surface, and the tools that find, describe and call the others. Whatever is
// listed, every tool can be called by its own name, through call_capability and
// through the tool of its domain, and it is the same call.
package facade

import (
	"vault-mcp/internal/acl"
	"vault-mcp/internal/auth"
	"vault-mcp/tools"
)

// Source is what the domain's tools need to know of the server that they are part
// of.
type Source struct {
	// Registry is what is served: it is asked for when a tool is called, since these
	// tools are in it themselves.
	Registry func() *tools.Registry
	// Vaults are the configured ones.
	Vaults []*acl.View
}

// Tools are the domain's tools. CallCapability is none of them: it is another shape of
// the call that it makes.
func Tools(s Source) tools.Domain {
	return tools.Domain{Name: tools.Always, Tools: []tools.Tool{findCapability(s), describeCapability(s)}}
}

// usable are the tools that a caller may use now, in the order of their names,
// without those of this room.
func (s Source) usable(c auth.Caller) []*tools.Tool {
	writable := false
	for _, v := range s.Vaults {
		writable = writable || c.MayUse(v.ID) && !v.Now().ReadOnly
	}
	var all []*tools.Tool
	for _, t := range s.Registry().All() {
		if c.Scopes.Has(t.Scope) && t.Domain != tools.Always && (writable || !t.Mutates() || t.Scope == auth.Admin) {
			all = append(all, t)
		}
	}
	return all
}

// gated says in a word whether a person has to approve a call of a tool.
type gated string

const (
	always    gated = "always"
	sometimes gated = "sometimes"
	never     gated = "never"
)

func (gated) Values() []string { return []string{string(always), string(sometimes), string(never)} }

func gateOf(t *tools.Tool) gated {
	switch {
	case t.Floor.Reason() != "":
		return always
	case t.Mutates():
		return sometimes
	}
	return never
}

// gate says the same in a sentence.
func gate(t *tools.Tool) string {
	switch gateOf(t) {
	case always:
		return "A person approves every call but dry runs, because " + t.Floor.Reason() + "."
	case sometimes:
		return "A person approves it where it removes, replaces or moves much, or a folder rule says ask; dry_run tells what it would do."
	}
	return "No person is needed, unless a folder rule says ask for the path."
}
