package tools

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault-mcp/internal/auth"
	"vault-mcp/vault/change"
)

// some is a registry with tools of every sort.
func some(t *testing.T) *Registry {
	t.Helper()
	query := func(name string, scope auth.Scope) Tool {
		return Query(Spec{Name: name, Title: "T", Doc: "T.", Scope: scope}, func(context.Context, *Call, bindIn) (bindOut, error) { return bindOut{}, nil })
	}
	edit := func(name string, scope auth.Scope) Tool {
		return Change(Spec{Name: name, Title: "T", Doc: "T.", Scope: scope}, func(context.Context, *Call, bindIn) (change.Plan, bindOut, error) {
			return change.Plan{}, bindOut{}, nil
		})
	}
	r, err := NewRegistry(
		Domain{Name: "notes", Tools: []Tool{query("read_note", auth.Read), edit("write_note", auth.Write), edit("delete_note", auth.Delete)}},
		Domain{Name: "git", Tools: []Tool{query("git_log", auth.Read), edit("git_undo", auth.Write|auth.Delete)}},
		Domain{Name: Always, Tools: []Tool{query("find_capability", auth.None)}},
		Domain{Name: "resources", Hidden: true, Tools: []Tool{query("resources_read", auth.Read)}},
	)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Deny beats allow and read-only beats both, however narrow an entry is.
func TestOnlyWhatTheListsLeaveIsServed(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lists Lists
		want  string // what is listed
		other string // what is known besides
	}{
		{"no lists", Lists{}, "delete_note find_capability git_log git_undo read_note write_note", "resources_read"},
		{"allow a tool", Lists{Allow: []string{"read_note"}}, "find_capability read_note", ""},
		{"allow a domain", Lists{Allow: []string{"domain:git"}}, "find_capability git_log git_undo", ""},
		{"allow a tag", Lists{Allow: []string{"tag:delete"}}, "delete_note find_capability git_undo", ""},
		{"allow what lies behind resources", Lists{Allow: []string{"git_log", "domain:resources"}}, "find_capability git_log", "resources_read"},
		{"deny a tool", Lists{Deny: []string{"git_log"}}, "delete_note find_capability git_undo read_note write_note", "resources_read"},
		{"deny a tag", Lists{Deny: []string{"tag:delete"}}, "find_capability git_log read_note write_note", "resources_read"},
		{"deny resources", Lists{Deny: []string{"domain:resources"}}, "delete_note find_capability git_log git_undo read_note write_note", ""},
		{"a denied domain with an allowed tool", Lists{Allow: []string{"git_log", "read_note"}, Deny: []string{"domain:git"}}, "find_capability read_note", ""},
		{"a denied tool of an allowed domain", Lists{Allow: []string{"domain:git"}, Deny: []string{"git_log"}}, "find_capability git_undo", ""},
		{"read-only", Lists{ReadOnly: true}, "find_capability git_log read_note", "delete_note git_undo resources_read write_note"},
		{"read-only beats allow", Lists{Allow: []string{"write_note", "git_log"}, ReadOnly: true}, "find_capability git_log", "write_note"},
		{"read-only and denied is denied", Lists{Deny: []string{"write_note"}, ReadOnly: true}, "find_capability git_log read_note", "delete_note git_undo resources_read"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			all := some(t)
			part, err := all.Only(tt.lists)
			if err != nil {
				t.Fatal(err)
			}
			var listed, other []string
			for _, l := range part.All() {
				listed = append(listed, l.Name)
			}
			for name := range part.byName {
				if !slices.Contains(listed, name) {
					other = append(other, name)
				}
			}
			slices.Sort(other)
			if d := cmp.Diff([]string{tt.want, tt.other}, []string{strings.Join(listed, " "), strings.Join(other, " ")}); d != "" {
				t.Error(d)
			}
			for _, f := range part.Refused() {
				if !f.Mutates() || !part.ReadOnly {
					t.Errorf("%s is refused", f.Name)
				}
			}
		})
	}
}

// An entry that names nothing would be a rule that its author believes in.
func TestAListThatNamesNothingIsRefused(t *testing.T) {
	for _, tt := range []struct {
		lists Lists
		says  string
	}{
		{Lists{Deny: []string{"delete_notes"}}, `tools.deny[0]: "delete_notes" names no tool, domain: or tag:; did you mean "delete_note"?`},
		{Lists{Allow: []string{"read_note", "git"}}, `tools.allow[1]: "git" names no tool, domain: or tag:; did you mean "domain:git"?`},
		{Lists{Allow: []string{"delete"}}, `did you mean "tag:delete"?`},
		{Lists{Deny: []string{"domain:gti"}}, `did you mean "domain:git"?`},
		{Lists{Deny: []string{"tag:execute"}}, `tools.deny[0]: "tag:execute" names no`},
		{Lists{Deny: []string{"find_capability"}}, `tools.deny[0]: "find_capability" names no`},
		{Lists{Deny: []string{""}}, `tools.deny[0]: "" names no`},
		{Lists{Allow: []string{"x"}, Deny: []string{"y"}}, "tools.deny[0]"},
		{Lists{Allow: []string{"write_note"}, ReadOnly: true}, "leave no tool"},
	} {
		_, err := some(t).Only(tt.lists)
		if err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%v: %v, want %s", tt.lists, err, tt.says)
		}
	}
}
