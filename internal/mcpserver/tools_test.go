package mcpserver_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
)

// wireTool is a tool as clients get it.
type wireTool struct {
	Name        string
	Title       string
	Description string
	InputSchema json.RawMessage
	// OutputSchema is listed in the flat surface alone.
	OutputSchema json.RawMessage
	Annotations  struct{ ReadOnlyHint, DestructiveHint, IdempotentHint, OpenWorldHint *bool }
}

// listTools is the list of all tools as it goes out.
func listTools(t *testing.T) []json.RawMessage {
	t.Helper()
	return listSurface(t, map[string]any{"surface": "flat"}, copyGarden(t))
}

// listSurface is the list of tools of a server with these settings.
func listSurface(t *testing.T, settings map[string]any, vaultDirs ...string) []json.RawMessage {
	t.Helper()
	return listOf(t, serve(t, newSurface(t, settings, vaultDirs...)))
}

func listOf(t *testing.T, s *session) []json.RawMessage {
	t.Helper()
	var list struct{ Tools []json.RawMessage }
	s.request(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, &list)
	if len(list.Tools) == 0 {
		t.Fatal("no tools")
	}
	return list.Tools
}

// TestToolSnapshots compares every tool with testdata/tools/<name>.json, which
// is rewritten by -update.
func TestToolSnapshots(t *testing.T) {
	const dir = "testdata/tools"
	var names []string
	for _, raw := range listTools(t) {
		var tool wireTool
		var pretty bytes.Buffer
		if err := json.Unmarshal(raw, &tool); err != nil {
			t.Fatal(err)
		}
		if err := json.Indent(&pretty, raw, "", "  "); err != nil {
			t.Fatal(err)
		}
		pretty.WriteByte('\n')
		names = append(names, tool.Name)
		file := filepath.Join(dir, tool.Name+".json")
		if *update {
			if err := os.WriteFile(file, pretty.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
		} else if diff := cmp.Diff(string(want), pretty.String()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tool.Name, diff)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		switch name := strings.TrimSuffix(filepath.Base(file), ".json"); {
		case slices.Contains(names, name):
		case *update:
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("%s is of a tool that is gone", file)
		}
	}
}

var (
	toolName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)
	sentence = regexp.MustCompile(`[.!?](\s|$)`)
)

// surfaces are all of them, with the most bytes that each may have as the result of
// tools/list: what a conversation can pay before its first word.
var surfaces = map[string]int{"core": 14_000, "triad": 2_000, "domain": 14_000, "flat": 120_000}

// TestEveryTool checks what clients rely on, of every tool of every surface.
func TestEveryTool(t *testing.T) {
	for surface, most := range surfaces {
		for _, several := range []bool{false, true} {
			dirs := []string{copyGarden(t)}
			if several {
				second := filepath.Join(t.TempDir(), "second")
				if err := os.CopyFS(second, os.DirFS(garden)); err != nil {
					t.Fatal(err)
				}
				dirs = append(dirs, second)
			}
			list := listSurface(t, map[string]any{"surface": surface}, dirs...)
			size := len(`{"tools":[]}`)
			var names []string
			for _, raw := range list {
				size += len(raw) + 1
				var tool wireTool
				if err := json.Unmarshal(raw, &tool); err != nil {
					t.Fatal(err)
				}
				names = append(names, tool.Name)
				t.Run(fmt.Sprintf("%s %t %s", surface, several, tool.Name), func(t *testing.T) { checkTool(t, tool, surface) })
			}
			t.Logf("%s: %d tools, %d bytes of at most %d", surface, len(list), size, most)
			if size > most && !several {
				t.Errorf("%s: the list of tools has %d bytes; the budget is %d", surface, size, most)
			}
			if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
				t.Errorf("%s: no order: %v", surface, names)
			}
		}
	}
}

func checkTool(t *testing.T, tool wireTool, surface string) {
	if !toolName.MatchString(tool.Name) {
		t.Errorf("the name is not of the form %s", toolName)
	}
	if tool.Title == "" {
		t.Error("no title")
	}
	if n := len(sentence.FindAllString(tool.Description, -1)); n < 1 || n > 2 {
		t.Errorf("%d sentences in the description: %s", n, tool.Description)
	}
	a := tool.Annotations
	if a.ReadOnlyHint == nil || a.DestructiveHint == nil || a.IdempotentHint == nil || a.OpenWorldHint == nil {
		t.Fatal("not all four hints are set")
	}
	if *a.ReadOnlyHint && *a.DestructiveHint {
		t.Error("read-only and destructive")
	}
	s := resolve(t, tool.InputSchema)
	checkRoot(t, s)
	if surface == "flat" && (s.AdditionalProperties == nil || s.AdditionalProperties.Not == nil) { // how false is decoded
		t.Error("additionalProperties is not false")
	}
	checkTypes(t, tool.Name, tool.InputSchema)
	if tool.OutputSchema == nil {
		return
	}
	if surface != "flat" {
		t.Error("an output schema, which only the flat surface has")
	}
	checkRoot(t, resolve(t, tool.OutputSchema))
}

func resolve(t *testing.T, raw json.RawMessage) *jsonschema.Schema {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Resolve(nil); err != nil {
		t.Error(err)
	}
	return &s
}

// checkRoot checks that a schema is one plain object.
func checkRoot(t *testing.T, s *jsonschema.Schema) {
	t.Helper()
	if s.Type != "object" {
		t.Errorf("the root is %q, want object", s.Type)
	}
	if s.AnyOf != nil || s.OneOf != nil || s.AllOf != nil || s.Not != nil || s.If != nil || s.Ref != "" {
		t.Error("a union at the root")
	}
	for name, p := range s.Properties {
		if p.Type == "" && p.AnyOf == nil {
			t.Errorf("%s can be anything, which some clients refuse", name)
		}
	}
	for _, name := range s.Required {
		if s.Properties[name] == nil {
			t.Errorf("%s is required and no property", name)
		}
	}
}

// checkTypes checks that no type in a schema is a list of types.
func checkTypes(t *testing.T, at string, raw json.RawMessage) {
	t.Helper()
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil {
		return
	}
	for key, value := range object {
		if key == "type" && value[0] == '[' {
			t.Errorf("%s: the type is %s", at, value)
		}
		checkTypes(t, at+"."+key, value)
	}
}

func TestToolListIsTheSameEachTime(t *testing.T) {
	dir := copyGarden(t)
	for surface := range surfaces {
		settings := map[string]any{"surface": surface}
		if a, b := listSurface(t, settings, dir), listSurface(t, settings, dir); !cmp.Equal(a, b) {
			t.Error(cmp.Diff(a, b))
		}
	}
}
