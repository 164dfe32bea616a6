package facade

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"vault-mcp/internal/auth"
	"vault-mcp/tools"
)

// Surface is how much of the tools a client is shown.
type Surface string

// The surfaces.
const (
	// Core lists the tools of daily work, and three to reach the others by.
	Core Surface = "core"
	// Triad lists those three alone.
	Triad Surface = "triad"
	// Domains lists a tool for each domain, which calls those that are in it.
	Domains Surface = "domain"
	// Flat lists every tool.
	Flat Surface = "flat"
)

// core are the tools of daily work with the arguments that are shown of them; the
// others are taken too, and describe_capability tells them. nil shows all. A tool
// that is not served is left out.
var core = map[string][]string{
	"append_note":                  {"path", "content", "create_if_missing", "prev_hash"},
	"append_to_periodic_note":      nil,
	"delete_note":                  {"path", "permanent", "dry_run"},
	"find_notes_by_tag":            {"tag", "nested", "folder", "cursor"},
	"find_or_create_periodic_note": nil,
	"get_backlinks":                {"path", "title", "unlinked", "cursor"},
	"get_outgoing_links":           {"path", "title", "cursor"},
	"list_notes":                   {"folder", "glob", "modified_since", "sort", "limit", "cursor"},
	"list_tags":                    {"prefix", "cursor"},
	"list_tasks":                   {"root", "status", "due_on", "due_before", "due_after", "priority", "tags", "text", "cursor"},
	"move_note":                    {"from", "to", "overwrite", "dry_run"},
	"patch_note":                   {"path", "operation", "target_heading", "block", "content", "create_heading", "prev_hash", "dry_run"},
	"read_frontmatter":             {"path", "title"},
	"read_note":                    {"path", "title", "from_line", "lines", "view"},
	"read_notes":                   {"paths", "cursor"},
	"read_section":                 {"path", "title", "heading", "block", "line"},
	"search_text":                  {"query", "root", "case_sensitive", "limit", "cursor"},
	"search_vault":                 {"query", "root", "limit", "cursor"},
	"server_health":                {},
	"undo_change":                  {"change_id", "partial", "dry_run"},
	"update_frontmatter":           {"path", "operation", "key", "value", "properties", "prev_hash", "dry_run"},
	"write_note":                   {"path", "content", "mode", "prev_hash", "dry_run"},
	nameOfFind:                     nil,
	nameOfDescribe:                 nil,
}

// Entry is a tool as a client sees it.
type Entry struct {
	Name, Title, Doc string
	Hints            tools.Hints
	// Long says that an answer may be long because the caller asked for that much.
	Long bool
	// Input is the schema of the arguments, Output that of a structured answer, or nil.
	Input, Output json.RawMessage
}

// List is what a caller sees in a surface, in the order of names. several says that
// a call has to name its vault.
func List(s Surface, r *tools.Registry, c auth.Caller, several bool) []Entry {
	var list []Entry
	for _, t := range r.All() {
		shown, inCore := core[t.Name]
		e := entry(t)
		switch own := t.Domain == tools.Always; {
		case !c.Scopes.Has(t.Scope), own && s == Flat, own && s == Domains && t.Name != nameOfDescribe, !own && (s == Triad || s == Domains), s == Core && !inCore:
			continue
		case s == Flat:
			e.Input, e.Output = t.ListedSchema(several), t.OutlineSchema()
		default:
			e.Input = t.ShortSchema(several, shown)
		}
		list = append(list, e)
	}
	switch s {
	case Core, Triad:
		list = append(list, callCapability())
	case Domains:
		for _, d := range r.Domains() {
			if e, ok := domain(d, r.Domain(d), c); ok {
				list = append(list, e)
			}
		}
	}
	slices.SortFunc(list, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Callable are all names that a call may have, listed or not, each with the least
// that the protocol wants to know of it.
func Callable(r *tools.Registry) []Entry {
	all := []Entry{callCapability()}
	for _, t := range append(r.All(), r.Refused()...) {
		all = append(all, entry(t))
	}
	for _, d := range r.Domains() {
		all = append(all, Entry{Name: d})
	}
	return all
}

// Shape reports whether a name is that of a tool that calls others.
func Shape(r *tools.Registry, name string) bool {
	return name == CallCapability || len(r.Domain(name)) > 0
}

func entry(t *tools.Tool) Entry {
	return Entry{Name: t.Name, Title: t.Title, Doc: t.Doc, Hints: t.Hints, Long: t.Long}
}

// CallCapability is the name of the tool that calls any other.
const CallCapability = "call_capability"

func callCapability() Entry {
	return Entry{
		Name: CallCapability, Title: "Call a tool",
		Doc:   "Calls any tool by its name, which is the same call as by that name: what needs a person's approval needs it here too.",
		Hints: tools.Hints{Destructive: true}, Long: true,
		Input: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"},` +
			`"args":{"type":"object","description":"as describe_capability tells them"}},"required":["name"],"additionalProperties":false}`),
	}
}

// domain is the tool that calls those of one domain: as careful as the most dangerous
// of them wants it to be.
func domain(name string, all []*tools.Tool, c auth.Caller) (Entry, bool) {
	e := Entry{Name: name, Hints: tools.Hints{ReadOnly: true, Idempotent: true}}
	var actions, titles []string
	for _, t := range all {
		if !c.Scopes.Has(t.Scope) || t.Domain == tools.Always {
			continue
		}
		e.Hints.ReadOnly = e.Hints.ReadOnly && t.Hints.ReadOnly
		e.Hints.Idempotent = e.Hints.Idempotent && t.Hints.Idempotent
		e.Hints.Destructive = e.Hints.Destructive || t.Hints.Destructive
		e.Hints.OpenWorld = e.Hints.OpenWorld || t.Hints.OpenWorld
		e.Long = e.Long || t.Long
		actions = append(actions, t.Name)
		titles = append(titles, t.Name+": "+t.Title)
	}
	if len(actions) == 0 {
		return Entry{}, false
	}
	e.Title = "Domain " + name
	e.Doc = fmt.Sprintf("Calls one of the %d tools of the domain %s, which is the same call as by its own name.", len(actions), name)
	input := map[string]any{
		"type": "object", "required": []string{"action"}, "additionalProperties": false,
		"properties": map[string]any{
			"action": map[string]any{"type": "string", "enum": actions, "description": strings.Join(titles, "; ")},
			"args":   map[string]any{"type": "object", "description": "the arguments of the tool, as describe_capability tells them"},
		},
	}
	var err error
	if e.Input, err = json.Marshal(input); err != nil {
		panic(err) // strings
	}
	return e, true
}
