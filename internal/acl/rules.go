// Package acl decides which paths of a vault a caller may read, write, delete
// or even know of.
//
// The last rule that matches a path and says something about the operation
// wins; where none does, the operation is allowed. Paths are judged as they
// really are on disk, after links were resolved. Dot folders are no part of
// the vault and never reach a rule.
package acl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/text/unicode/norm"

	"vault-mcp/vault"
)

// Op is what would be done with a path.
type Op int

// The operations that rules speak of.
const (
	Read Op = iota
	Write
	Delete
	ops
)

// String is the operation's name in the config.
func (o Op) String() string { return [ops]string{"read", "write", "delete"}[o] }

// Verb is what a rule says about an operation.
type Verb string

// The verbs. The zero value says nothing, so that an earlier rule decides.
const (
	Unset Verb = ""
	Allow Verb = "allow"
	// Ask wants a person's approval where the call names the path; in calls
	// over the whole vault it acts as Hide.
	Ask Verb = "ask"
	// Deny refuses with acl_denied; the name may still be listed.
	Deny Verb = "deny"
	// Hide makes a path answer as if it were absent. Only for reading: where
	// reading is hidden, writing and deleting are denied.
	Hide Verb = "hide"
)

// Rule gives verbs to the paths that a glob matches.
type Rule struct {
	// Glob is a doublestar pattern over the path from the vault's root. Where
	// it names a folder, a verb that restricts holds for all that is in it;
	// one that allows holds for that only if the glob is without wildcards.
	Glob string
	// Verbs by operation; Unset ones say nothing.
	Read, Write, Delete Verb
}

func (r Rule) verb(op Op) Verb {
	switch op {
	case Read:
		return r.Read
	case Write:
		return r.Write
	}
	return r.Delete
}

// Rules are a vault's rules, compiled. The zero value allows everything.
type Rules struct{ rules []compiled }

type compiled struct {
	Rule
	exact  string // the glob in NFC
	folded string // and without case
	plain  bool   // the glob has no wildcard
	deep   bool   // the glob ends with /** and so speaks of what is below by itself
}

// Compile checks rules and prepares them. It fails on a bad pattern, an
// unknown verb, or hide for anything but reading.
func Compile(rules []Rule) (*Rules, error) {
	rs := &Rules{}
	for i, r := range rules {
		if r.Glob == "" || strings.HasPrefix(r.Glob, "/") || !doublestar.ValidatePattern(r.Glob) {
			return nil, fmt.Errorf("rule %d: %q is no glob over paths from the vault's root", i+1, r.Glob)
		}
		for op := range ops {
			switch v := r.verb(op); v {
			case Unset, Allow, Ask, Deny:
			case Hide:
				if op != Read {
					return nil, fmt.Errorf("rule %d: hide is for read only; deny %s instead", i+1, op)
				}
			default:
				return nil, fmt.Errorf("rule %d: %q is no verb; use allow, ask, deny or hide", i+1, v)
			}
		}
		glob := norm.NFC.String(strings.TrimSuffix(r.Glob, "/"))
		rs.rules = append(rs.rules, compiled{
			Rule: r, exact: glob, folded: vault.FoldName(glob), plain: !strings.ContainsAny(glob, `*?[{\`),
			deep: strings.HasSuffix(glob, "**"),
		})
	}
	return rs, nil
}

// matches compares a rule that restricts without case and one that allows with
// case: where a file system tells Private from private and the rule's author
// did not think of it, the mistake closes a folder and never opens one.
func (c *compiled) matches(p, folded string, v Verb) bool {
	glob := c.exact
	if v != Allow {
		glob, p = c.folded, folded
	}
	if c.plain {
		return p == glob || len(p) > len(glob) && p[len(glob)] == '/' && p[:len(glob)] == glob
	}
	for {
		if ok, _ := doublestar.Match(glob, p); ok { // the pattern was validated
			return true
		}
		up := strings.LastIndexByte(p, '/')
		if v == Allow || c.deep || up < 0 {
			return false
		}
		p = p[:up]
	}
}

// Verdict is what the rules say about one operation on one path.
type Verdict struct {
	Verb Verb
	// Rule is the number of the rule that decided, from 1; 0 if none did.
	Rule int
}

// Judge decides op on a real path of the vault. Where reading is hidden,
// writing and deleting are denied, whether the path exists or not.
func (rs *Rules) Judge(op Op, path string) Verdict {
	if rs == nil || len(rs.rules) == 0 {
		return Verdict{Verb: Allow}
	}
	p := norm.NFC.String(path)
	folded := vault.FoldName(p)
	v := rs.last(op, p, folded)
	if op != Read {
		if r := rs.last(Read, p, folded); r.Verb == Hide {
			return Verdict{Deny, r.Rule}
		}
	}
	return v
}

func (rs *Rules) last(op Op, p, folded string) Verdict {
	for i := len(rs.rules) - 1; i >= 0; i-- {
		c := &rs.rules[i]
		if v := c.verb(op); v != Unset && c.matches(p, folded, v) {
			return Verdict{v, i + 1}
		}
	}
	return Verdict{Verb: Allow}
}

// reopens reports whether some rule after number n could make a path readable
// or listable again below a folder that rule n hides.
func (rs *Rules) reopens(n int) bool {
	for _, c := range rs.rules[n:] {
		if v := c.verb(Read); v != Unset && v != Hide && v != Ask {
			return true
		}
	}
	return false
}

// Glob is the pattern of rule number n, from 1.
func (rs *Rules) Glob(n int) string { return rs.rules[n-1].Glob }

// Tellable is the pattern of rule number n, from 1, as far as a caller may read it
// who knows a path that it matches: all else in a pattern than alternatives stands
// in that path too. Alternatives may name what other rules hide; then it is "".
func (rs *Rules) Tellable(n int) string {
	if glob := rs.Glob(n); !rs.Hides() || !strings.ContainsAny(glob, "{[") {
		return glob
	}
	return ""
}

// Hides reports whether some rule keeps paths out of answers about many: by hide,
// or by ask, which is as good there.
func (rs *Rules) Hides() bool {
	return rs != nil && slices.ContainsFunc(rs.rules, func(c compiled) bool { return c.Read == Hide || c.Read == Ask })
}

// asksToRead reports whether some rule wants a person for reading.
func (rs *Rules) asksToRead() bool {
	return rs != nil && slices.ContainsFunc(rs.rules, func(c compiled) bool { return c.Read == Ask })
}

// Len is the number of rules.
func (rs *Rules) Len() int {
	if rs == nil {
		return 0
	}
	return len(rs.rules)
}
