package mcpserver_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
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
	Annotations struct{ ReadOnlyHint, DestructiveHint, IdempotentHint, OpenWorldHint *bool }
}

// listTools is the list of tools as it goes out.
func listTools(t *testing.T) []json.RawMessage {
	t.Helper()
	s := serve(t, newApp(t, slog.New(slog.DiscardHandler), copyGarden(t)))
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

// TestEveryTool checks what clients rely on, of every tool that is served.
func TestEveryTool(t *testing.T) {
	for _, raw := range listTools(t) {
		var tool wireTool
		if err := json.Unmarshal(raw, &tool); err != nil {
			t.Fatal(err)
		}
		t.Run(tool.Name, func(t *testing.T) {
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
			if bytes.Contains(raw, []byte(`"outputSchema"`)) {
				t.Error("an output schema, which the core surface leaves out")
			}
			var s jsonschema.Schema
			if err := json.Unmarshal(tool.InputSchema, &s); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Resolve(nil); err != nil {
				t.Error(err)
			}
			checkRoot(t, &s)
			checkTypes(t, tool.Name, tool.InputSchema)
		})
	}
}

// checkRoot checks that an input schema is one plain object.
func checkRoot(t *testing.T, s *jsonschema.Schema) {
	t.Helper()
	if s.Type != "object" {
		t.Errorf("the root is %q, want object", s.Type)
	}
	if s.AnyOf != nil || s.OneOf != nil || s.AllOf != nil || s.Not != nil || s.If != nil || s.Ref != "" {
		t.Error("a union at the root")
	}
	if s.AdditionalProperties == nil || s.AdditionalProperties.Not == nil { // how false is decoded
		t.Error("additionalProperties is not false")
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

// toolListBudget is the most bytes that the list of all tools may have, which
// is what a conversation pays before its first word as long as there is no
// surface smaller than all: what they need, and a twentieth more.
const toolListBudget = 90_000

func TestToolListFitsTheBudget(t *testing.T) {
	size := 0
	all := listTools(t)
	for _, raw := range all {
		size += len(raw) + 1
	}
	t.Logf("%d tools, %d bytes of at most %d", len(all), size, toolListBudget)
	if size > toolListBudget {
		t.Errorf("the list of tools has %d bytes; the budget is %d", size, toolListBudget)
	}
}

func TestToolListIsTheSameEachTime(t *testing.T) {
	if a, b := listTools(t), listTools(t); !cmp.Equal(a, b) {
		t.Error(cmp.Diff(a, b))
	}
}
