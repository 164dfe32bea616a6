// Package auth says who is calling and what that caller may do at all, before
// any folder rule is looked at.
package auth

import "strings"

// Scope is a set of permission families.
type Scope uint8

// The families, from the weakest to the strongest. A tool declares those that
// it needs; a caller holds those that it was given.
const (
	Read Scope = 1 << iota
	Write
	Delete
	Bulk
	Execute
	Admin

	// All is every family: what a caller over stdio holds.
	All = Read | Write | Delete | Bulk | Execute | Admin
	// None is for tools that anybody may call.
	None Scope = 0
)

// Has reports whether s holds every family of want.
func (s Scope) Has(want Scope) bool { return s&want == want }

// classes are the throttle classes, strongest first: a tool with several
// families is counted in the strongest one.
var classes = []struct {
	scope Scope
	name  string
}{{Bulk, "bulk"}, {Execute, "execute"}, {Admin, "admin"}, {Delete, "delete"}, {Write, "write"}, {Read, "read"}}

// Class is the throttle class of a tool with this scope: its strongest family,
// "read" for none.
func (s Scope) Class() string {
	for _, c := range classes {
		if s&c.scope != 0 {
			return c.name
		}
	}
	return "read"
}

// Families are the names of the families, weakest class first.
func (s Scope) Families() []string {
	var names []string
	for i := len(classes) - 1; i >= 0; i-- {
		if s&classes[i].scope != 0 {
			names = append(names, classes[i].name)
		}
	}
	return names
}

// String lists the families, "+"-separated, weakest first; "none" for none.
func (s Scope) String() string {
	if s == None {
		return "none"
	}
	return strings.Join(s.Families(), "+")
}

// Caller is who makes a call.
type Caller struct {
	// ID names the caller in grants, budgets and the audit: "stdio" for the
	// client that spawned the server, "cli" for the person at a terminal.
	ID string
	// Scopes are the families that the caller holds.
	Scopes Scope
	// Vaults are the ids that the caller is bound to; nil means every vault.
	Vaults []string
}

// MayUse reports whether the caller may name the vault with this id.
func (c Caller) MayUse(vault string) bool {
	if c.Vaults == nil {
		return true
	}
	for _, v := range c.Vaults {
		if v == vault {
			return true
		}
	}
	return false
}
