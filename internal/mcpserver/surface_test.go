package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// toolNames are the names of the tools that a server lists.
func toolNames(t *testing.T, s *session) (names []string, tools map[string]wireTool) {
	t.Helper()
	tools = map[string]wireTool{}
	for _, raw := range listOf(t, s) {
		var tool wireTool
		if err := json.Unmarshal(raw, &tool); err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
		tools[tool.Name] = tool
	}
	return names, tools
}

// ask calls a tool over the wire: the text of its answer and whether that is an error,
// or the message of the protocol's own.
func (s *session) ask(tool, args string) string {
	s.t.Helper()
	var r struct {
		Content []struct{ Text string }
		IsError bool
	}
	if err := s.request(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, args), &r); err != nil {
		return err.Message
	}
	var texts []string
	for _, c := range r.Content {
		texts = append(texts, c.Text)
	}
	return strings.Join(texts, "\n")
}

// Whatever is listed, every tool can be called by its name, inside another call, and
// as an action of its domain, and it is the same call.
func TestEveryToolIsCallableInEverySurface(t *testing.T) {
	want := map[string]string{
		"core":   "append_note call_capability delete_note describe_capability find_capability find_notes_by_tag get_backlinks get_outgoing_links list_notes list_tags list_tasks move_note patch_note read_frontmatter read_note read_notes read_section search_text search_vault server_health undo_change update_frontmatter write_note",
		"triad":  "call_capability describe_capability find_capability",
		"domain": "admin attachments automation describe_capability git history links metadata notes search structured vault",
	}
	for surface := range surfaces {
		t.Run(surface, func(t *testing.T) {
			s := serve(t, newSurface(t, map[string]any{"surface": surface}, copyGarden(t)))
			names, _ := toolNames(t, s)
			if w := want[surface]; w != "" && w != strings.Join(names, " ") {
				t.Errorf("listed: %v", names)
			}
			for _, c := range [][2]string{
				{"get_note_tags", `{"path":"Garden"}`},
				{"call_capability", `{"name":"get_note_tags","args":{"path":"Garden"}}`},
				{"metadata", `{"action":"get_note_tags","args":{"path":"Garden"}}`},
			} {
				if got := s.ask(c[0], c[1]); !strings.Contains(got, "content_hash") && !strings.Contains(got, "path: Garden.md") {
					t.Errorf("%s: %s", c[0], got)
				}
			}
			for _, c := range []struct{ tool, args, says string }{
				{"get_note_tag", `{}`, `did you mean "get_note_tags"?`},
				{"call_capability", `{"name":"get_note_tag"}`, "There is no tool"},
				{"call_capability", `{"name":"get_note_tags","arguments":{}}`, `no argument "arguments"`},
				{"call_capability", `{"name":"resources_read","args":{"uri":"vault://garden/Garden.md"}}`, "There is no tool"},
				{"call_capability", `{"name":"call_capability","args":{}}`, "does not call itself"},
				{"metadata", `{"action":"read_note","args":{}}`, "has no action"},
				{"metadata", `{"args":{}}`, "misses action"},
				{"meta", `{}`, "Unknown tool"},
			} {
				if got := s.ask(c.tool, c.args); !strings.Contains(got, c.says) {
					t.Errorf("%s %s: %s", c.tool, c.args, got)
				}
			}
		})
	}
}

// The hints of a domain are the worst of what it can do.
func TestTheHintsOfADomainAreTheSumOfItsTools(t *testing.T) {
	a := newSurface(t, map[string]any{"surface": "domain"}, copyGarden(t))
	_, listed := toolNames(t, serve(t, a))
	seen := 0
	for _, d := range a.Registry.Domains() {
		tool, ok := listed[d]
		if !ok {
			continue
		}
		seen++
		var schema struct {
			Properties struct{ Action struct{ Enum []string } }
		}
		if err := json.Unmarshal(tool.InputSchema, &schema); err != nil {
			t.Fatal(err)
		}
		var names []string
		readOnly, destructive, idempotent, open := true, false, true, false
		for _, in := range a.Registry.Domain(d) {
			names = append(names, in.Name)
			readOnly, destructive = readOnly && in.Hints.ReadOnly, destructive || in.Hints.Destructive
			idempotent, open = idempotent && in.Hints.Idempotent, open || in.Hints.OpenWorld
		}
		h := tool.Annotations
		if *h.ReadOnlyHint != readOnly || *h.DestructiveHint != destructive || *h.IdempotentHint != idempotent || *h.OpenWorldHint != open {
			t.Errorf("%s: %v %v %v %v", d, *h.ReadOnlyHint, *h.DestructiveHint, *h.IdempotentHint, *h.OpenWorldHint)
		}
		if !slices.Equal(names, schema.Properties.Action.Enum) {
			t.Errorf("%s: %v, not %v", d, schema.Properties.Action.Enum, names)
		}
	}
	if seen < 10 || !*listed["search"].Annotations.ReadOnlyHint || *listed["notes"].Annotations.ReadOnlyHint {
		t.Errorf("%d domains: %v", seen, listed)
	}
}

// A list is no promise that more is taken than is: what a short schema shows is in the
// whole one, and what is required is shown.
func TestAShortSchemaIsAPartOfTheWhole(t *testing.T) {
	a := newSurface(t, map[string]any{"surface": "core"}, copyGarden(t))
	_, listed := toolNames(t, serve(t, a))
	for name, tool := range listed {
		whole := a.Registry.Tool(name)
		if whole == nil {
			continue // call_capability
		}
		s, w := resolve(t, tool.InputSchema), resolve(t, whole.InputSchema(false))
		for arg, p := range s.Properties {
			if w.Properties[arg] == nil || w.Properties[arg].Type != p.Type || !slices.Equal(w.Properties[arg].Enum, p.Enum) {
				t.Errorf("%s: %s is not the same in both", name, arg)
			}
		}
		if !slices.Equal(s.Required, w.Required) {
			t.Errorf("%s requires %v, and in the list %v", name, w.Required, s.Required)
		}
	}
}

// What the config takes away is not listed and not found, in no surface.
func TestWhatIsDeniedIsNotListed(t *testing.T) {
	for surface := range surfaces {
		for _, tt := range []struct {
			tools    map[string]any
			gone     []string
			answer   string
			resource bool
		}{
			{map[string]any{"deny": []string{"delete_note", "domain:git", "domain:resources"}}, []string{"delete_note", "git", "git_log"}, "Unknown tool", false},
			{map[string]any{"read_only": true}, []string{"delete_note", "write_note", "git_commit", "structured"}, "read_only", true},
		} {
			s := serve(t, newSurface(t, map[string]any{"surface": surface, "tools": tt.tools}, copyGarden(t)))
			for _, raw := range listOf(t, s) {
				for _, name := range tt.gone {
					if strings.Contains(string(raw), `"`+name+`"`) {
						t.Errorf("%s, %v: %s is in %s", surface, tt.tools, name, raw)
					}
				}
			}
			if got := s.ask("delete_note", `{"path":"Garden"}`); !strings.Contains(got, tt.answer) {
				t.Errorf("%s, %v: %s", surface, tt.tools, got)
			}
			if err := s.request(`{"jsonrpc":"2.0","id":1,"method":"resources/list"}`, &struct{}{}); (err == nil) != tt.resource {
				t.Errorf("%s, %v: resources: %v", surface, tt.tools, err)
			}
		}
	}
}

// Some models put quotes around everything. The call is the same as without, and the
// answer says what was taken.
func TestScalarsInQuotesAreTakenOverTheWire(t *testing.T) {
	s := serve(t, newSurface(t, nil, copyGarden(t)))
	for _, c := range []struct{ tool, args, says string }{
		{"list_notes", `{"limit":"2","recursive":"true"}`, "limit was sent as a string and taken as 2"},
		{"list_notes", `{"limit":"2","recursive":"true"}`, "recursive was sent as a string and taken as true"},
		{"call_capability", `{"name":"list_notes","args":{"limit":"2"}}`, "limit was sent as a string and taken as 2"},
		{"read_note", `{"path":"Garden","from_line":"1","lines":"2"}`, "lines was sent as a string and taken as 2"},
		{"append_note", `{"path":"Garden","content":"x","dry_run":"true"}`, "dry_run was sent as a string and taken as true"},
		{"graph_centrality", `{"limit":"1"}`, "limit was sent as a string and taken as 1"},
		{"list_notes", `{"limit":"2x"}`, "must be an integer, not a string"},
		{"list_notes", `{"recursive":"yes"}`, "must be true or false, not a string"},
		{"list_notes", `{"sort":"MTIME"}`, "must be one of"},
		{"update_frontmatter", `{"path":"Garden","operation":"set","key":"n","value":"5","dry_run":true}`, `"n":"5"`}, // a text stays one
	} {
		if got := s.ask(c.tool, c.args); !strings.Contains(got, c.says) {
			t.Errorf("%s %s: %s", c.tool, c.args, got)
		}
	}
}

// The instructions fit the surface, and the 2,000 bytes that clients keep.
func TestTheInstructionsFitTheSurface(t *testing.T) {
	var many []string
	for i := range 12 {
		dir := filepath.Join(t.TempDir(), fmt.Sprintf("%d%s", i, strings.Repeat("v", 62)))
		if err := os.CopyFS(dir, os.DirFS(garden)); err != nil {
			t.Fatal(err)
		}
		many = append(many, dir)
	}
	for surface := range surfaces {
		for _, dirs := range [][]string{{copyGarden(t)}, many} {
			a := newSurface(t, map[string]any{"surface": surface}, dirs...)
			var r struct{ Instructions string }
			s := serve(t, a)
			if err := s.request(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, &r); err != nil {
				t.Fatal(err)
			}
			t.Logf("%s, %d vaults: %d bytes", surface, len(dirs), len(r.Instructions))
			if len(r.Instructions) > 2000 {
				t.Errorf("%s: %d bytes", surface, len(r.Instructions))
			}
			if tells := strings.Contains(r.Instructions, "find_capability"); tells != (surface == "core" || surface == "triad") {
				t.Errorf("%s tells of find_capability: %t", surface, tells)
			}
		}
	}
}
