package app_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"context"

	"vault-mcp/hitl"
	"vault-mcp/internal/fault"
	"vault-mcp/internal/racing"
	"vault-mcp/tools/facade"
)

// ways are the routes by which a person approves a call: each makes the call,
// lets something happen, approves, and is the error of the call that follows.
var ways = map[string]func(g *gated, r request, meanwhile func()) error{
	"state": func(g *gated, r request, meanwhile func()) error {
		s := g.ask(r)
		meanwhile()
		_, err := do1(g.t.Context(), g.app, r.with(s, yes))
		return err
	},
	"shim": func(g *gated, r request, meanwhile func()) error {
		r.reach = hitl.Reach{Forms: true, Ask: func(context.Context, hitl.Form) (json.RawMessage, error) {
			meanwhile()
			return json.RawMessage(yes), nil
		}}
		_, err := do1(g.t.Context(), g.app, r)
		return err
	},
	"token": func(g *gated, r request, meanwhile func()) error {
		r.reach = hitl.Reach{}
		g.do(r)
		if err := g.approve(token); err != nil {
			g.t.Fatal(err)
		}
		meanwhile()
		r.args = strings.Replace(r.args, "{", `{"elicit_token":"`+token+`",`, 1)
		_, err := do1(g.t.Context(), g.app, r)
		return err
	},
	"console": func(g *gated, r request, meanwhile func()) error {
		r.reach = hitl.Reach{}
		g.do(r)
		if err := g.approve(""); err != nil {
			g.t.Fatal(err)
		}
		meanwhile()
		_, err := do1(g.t.Context(), g.app, r)
		return err
	},
	"console, while the call waits": func(g *gated, r request, meanwhile func()) error {
		r.reach = hitl.Reach{}
		g.do(request{tool: "snapshot_note", args: `{"path":"b.md"}`}) // makes the state folder
		s := g.store()
		release, err := s.Watch()
		if err != nil {
			g.t.Fatal(err)
		}
		defer release()
		done := make(chan error, 1)
		go func() {
			_, err := do1(g.t.Context(), g.app, r)
			done <- err
		}()
		for range 500 {
			if list, err := s.List(g.t.Context()); err == nil && len(list) > 0 {
				meanwhile()
				if err := g.approve(""); err != nil {
					g.t.Error(err)
				}
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		return <-done
	},
}

// everyWay are the ways, and each once more with the call inside of another one.
func everyWay() map[string]func(g *gated, r request, meanwhile func()) error {
	all := maps.Clone(ways)
	for way, approve := range ways {
		all[way+", in call_capability"] = func(g *gated, r request, meanwhile func()) error { return approve(g, r.inCall(), meanwhile) }
	}
	return all
}

// inCall is the same call made through the tool that calls others.
func (r request) inCall() request {
	r.args, r.tool = fmt.Sprintf(`{"name":%q,"args":%s}`, r.tool, r.args), facade.CallCapability
	return r
}

// What a person approved is not done to a vault that has changed since, whatever
// has changed and by whatever route they approved: nothing is applied, nothing
// spent, and what has changed is named.
func TestAnApprovalOfOneStateIsNotUsedOnAnother(t *testing.T) {
	files := map[string]string{
		"Hub.md": "# Hub\n\n- [[a]]\n- [[b]]\n", "a.md": "a [[F/n]]\n", "b.md": "b\n", "F/n.md": "n\n", "F/pic.png": "\x89PNG\x00", "G/x.md": "x\n", "p.md": "---\nz: 1\n---\np\n",
		".obsidian/app.json": `{"trashOption":"local"}`,
	}
	n := 0
	for _, tt := range []struct {
		tool, args string
		change     func(*gated)
		changed    string
	}{
		{"delete_note", `{"path":"a.md"}`, func(g *gated) { g.write("a.md", "a, edited [[F/n]]\n") }, "a.md"},
		{"delete_note", `{"path":"a.md"}`, func(g *gated) { g.remove("a.md") }, ""},
		{"delete_note", `{"path":"a.md"}`, func(g *gated) { g.write(".obsidian/app.json", `{"trashOption":"none"}`) }, "a.md"},
		{"write_note", `{"path":"a.md","mode":"overwrite","content":"new\n"}`, func(g *gated) { g.write("a.md", "else\n") }, "a.md"},
		{"move_note", `{"from":"F/n.md","to":"G/n.md"}`, func(g *gated) { g.write("b.md", "b [[F/n]]\n") }, "b.md"},
		{"move_note", `{"from":"F/n.md","to":"G/n.md"}`, func(g *gated) { g.write("G/n.md", "taken\n") }, ""},
		{"move_note", `{"from":"F/n.md","to":"G/n.md"}`, func(g *gated) { g.write("F/n.md", "else\n") }, "F/n.md"},
		{"delete_folder", `{"path":"F"}`, func(g *gated) { g.write("F/late.md", "late\n") }, ""},
		{"delete_attachment", `{"path":"F/pic.png"}`, func(g *gated) { g.write("F/pic.png", "\x89PNG\x00\x01") }, "F/pic.png"},
		{"rewrite_link", `{"from_target":"F/n","to_target":"G/x"}`, func(g *gated) { g.write("b.md", "b [[F/n]]\n") }, "b.md"},
		{"bulk_set_property", `{"paths":["a.md","b.md"],"key":"k","value":1}`, func(g *gated) { g.write("b.md", "b2\n") }, "b.md"},
		{"update_frontmatter", `{"path":"p.md","operation":"replace","properties":{"k":1}}`, func(g *gated) { g.write("p.md", "---\nz: 2\n---\np\n") }, "p.md"},
	} {
		for way, approve := range everyWay() {
			if n++; racing.Thins(n) {
				continue
			}
			t.Run(fmt.Sprintf("%s %s %s", tt.tool, tt.changed, way), func(t *testing.T) {
				t.Parallel()
				g := newGated(t)
				plant(t, g.dir, files)
				var before map[string]string
				err := approve(g, request{tool: tt.tool, args: tt.args, reach: hitl.Reach{Modern: true, Forms: true}}, func() {
					tt.change(g)
					before = bytesOf(t, g.dir)
				})
				e, ok := errors.AsType[*fault.Error](err)
				if !ok || e.Code != fault.ReplayDrift {
					t.Fatalf("%v (%v)", err, errors.Unwrap(err))
				}
				if names, _ := e.Details["changed"].([]string); tt.changed != "" && !slices.Contains(names, tt.changed) {
					t.Errorf("named are %q", names)
				}
				if after := bytesOf(t, g.dir); fmt.Sprint(after) != fmt.Sprint(before) {
					t.Errorf("the vault is %q, not %q", after, before)
				}
				if n := g.query("SELECT count(*) FROM grants WHERE uses > 0"); n != "0" {
					t.Errorf("%s grants are spent", n)
				}
				if n := g.query("SELECT count(*) FROM requests WHERE status = 'approved'"); n != "0" {
					t.Error("the old request is still approved")
				}
				if id, ok := e.Details["request_id"]; ok && g.query("SELECT status FROM requests WHERE request_id = ?", id) != "open" {
					t.Errorf("the fresh request %v is not open", id)
				}
			})
		}
	}
}

// What has changed in a folder that the caller may not know of is not named.
func TestDriftDoesNotNameHiddenNotes(t *testing.T) {
	g := newGated(t)
	plant(t, g.dir, map[string]string{"F/n.md": "n\n", "Private/diary.md": "diary\n"})
	g.app = start(t, g.home, fmt.Sprintf("vaults: [{path: %q, rules: [{glob: Private/**, verbs: {read: hide}}]}]\n", g.dir))
	g.clock.now = time.Now()
	for way, approve := range ways {
		if strings.HasPrefix(way, "console, ") {
			continue // the same as the console
		}
		g.write("Private/diary.md", "diary\n")
		err := approve(g, request{tool: "move_note", args: `{"from":"F/n.md","to":"b/` + way + `.md"}`, reach: hitl.Reach{Modern: true, Forms: true}}, func() {
			g.write("Private/diary.md", "diary [[n]] "+way+"\n[[F/n]]")
		})
		e := fault.Of(err)
		if text, _ := json.Marshal(e); e.Code != fault.ReplayDrift || strings.Contains(string(text), "diary") || strings.Contains(string(text), "Private") {
			t.Errorf("%s: %v %v", way, e, e.Details)
		}
	}
}

// Deletions that a person has approved together all run: the first one makes the
// trash and takes a name there, which is not what they approved.
func TestApprovedDeletionsDoNotDisturbEachOther(t *testing.T) {
	g := newGated(t)
	plant(t, g.dir, map[string]string{"F/n.md": "one\n", "G/n.md": "two\n", ".obsidian/app.json": `{"trashOption":"local"}`})
	all := []request{{tool: "delete_note", args: `{"path":"F/n.md"}`}, {tool: "delete_note", args: `{"path":"G/n.md"}`}, {tool: "delete_note", args: `{"path":"b.md"}`}}
	for _, r := range all {
		g.do(r)
		if err := g.approve(""); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range all {
		if got := g.do(r); got != "ran" {
			t.Errorf("%s: %s", r.args, got)
		}
	}
	holds(t, g.dir, map[string]string{".trash/n.md": "one\n", ".trash/n 1.md": "two\n", ".trash/b.md": "other\n"})
}

// A call inside of another one is the same call: what a person approved of the
// one is good for the other, once. A tool that is not there, other arguments and
// itself are refused.
func TestACallInsideAnotherIsTheSameCall(t *testing.T) {
	g := newGated(t)
	r := replace()
	if got := g.do(r.inCall().with(g.ask(r), yes)); got != "ran" {
		t.Fatal(got)
	}
	g.write("a.md", original)
	in := r.inCall()
	if got := g.do(r.with(g.ask(in), yes)); got != "ran" {
		t.Fatal(got)
	}
	for args, want := range map[string]string{
		`{}`:                                            "validation_error",
		`{"name":"delete_note","args":[]}`:              "validation_error",
		`{"name":"delete_note","more":1}`:               "validation_error",
		`{"name":"delete_note","args":{"x":1}}`:         "validation_error",
		`{"name":"no_tool"}`:                            "not_found",
		`{"name":"call_capability","args":{}}`:          "invalid_input",
		`{"name":"delete_note","args":{"path":"b.md"}}`: "asked",
	} {
		if got := g.do(request{tool: facade.CallCapability, args: args, reach: screen}); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, not %s", args, got, want)
		}
	}
}
