package rename

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"vault-mcp/vault/note"
	"vault-mcp/vault/settings"
)

// fieldCase is one case of testdata/field.
type fieldCase struct {
	ID, Certainty string
	Files         map[string]any
	Op            struct {
		What string
		Args json.RawMessage
	}
	Expect expectation
}

type expectation struct {
	Files             map[string]string
	Accept            map[string][]string
	Absent, Present   []string
	AbsentExact       []string `json:"absent_exact"`
	Unchanged         any
	UnchangedAll      bool `json:"unchanged_all"`
	AcceptAnySpelling any  `json:"accept_any_spelling"`
	Resolves          [][3]any
	JSON              map[string]any
	OneOf             []expectation `json:"one_of"`
	Error             bool
}

// TestField runs the cases of links that follow. Those that are not certain are only logged.
func TestField(t *testing.T) {
	for _, kind := range []string{"rename_move", "structures", "canvas", "files", "bases"} {
		for _, c := range fieldCases(t, kind) {
			run := operation(c)
			if run == nil {
				continue
			}
			t.Run(c.ID, func(t *testing.T) {
				files, app := contents(t, c.Files)
				m := newMemory(files)
				s := settings.Load(func(name string) ([]byte, error) {
					if name != "app.json" || app == "" {
						return nil, os.ErrNotExist
					}
					return []byte(app), nil
				})
				err := run(m, s)
				if why := c.Expect.met(m, files, err); why != "" && c.Certainty == "high" {
					t.Error(why)
				} else if why != "" {
					t.Logf("%s: %s", c.Certainty, why)
				}
			})
		}
	}
}

func fieldCases(t *testing.T, kind string) []fieldCase {
	b, err := os.ReadFile(filepath.Join("../../testdata/field", kind+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var all []fieldCase
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func contents(t *testing.T, files map[string]any) (map[string]string, string) {
	all, app := map[string]string{}, ""
	for p, c := range files {
		text, ok := c.(string)
		if spec, is := c.(map[string]any); is && spec["base64"] != nil {
			b, err := base64.StdEncoding.DecodeString(spec["base64"].(string))
			if err != nil {
				t.Fatal(err)
			}
			text, ok = string(b), true
		}
		if p == ".obsidian/app.json" {
			app = text
		}
		if ok && !strings.HasPrefix(p, ".") {
			all[p] = text
		}
	}
	return all, app
}

// operation is what a case does, or nil if it is about something else.
func operation(c fieldCase) func(m *memory, s settings.Settings) error {
	var args struct {
		From, To, Path string
		Heading        []string
		Ops            []struct {
			What string
			Args json.RawMessage
		}
	}
	_ = json.Unmarshal(c.Op.Args, &args)
	done := func(m *memory, r *Result, err error) error {
		if err != nil {
			return err
		}
		return m.apply(r.Edits)
	}
	switch c.Op.What {
	case "move_note", "move_folder":
		return func(m *memory, s settings.Settings) error {
			r, err := Plan(m, []Move{{From: args.From, To: args.To, Dir: c.Op.What == "move_folder"}}, s)
			return done(m, r, err)
		}
	case "rename_heading":
		return func(m *memory, s settings.Settings) error {
			found := note.Scan(m.files[args.Path]).FindSection(args.Heading)
			if len(found) == 0 {
				return fmt.Errorf("no heading %q", args.Heading)
			}
			r, err := Heading(m, args.Path, found[0].Line, args.To)
			return done(m, r, err)
		}
	case "sequence":
		var all []func(m *memory, s settings.Settings) error
		for _, op := range args.Ops {
			c.Op.What, c.Op.Args = op.What, op.Args
			run := operation(c)
			if run == nil {
				return nil
			}
			all = append(all, run)
		}
		return func(m *memory, s settings.Settings) error {
			for _, run := range all {
				if err := run(m, s); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return nil
}

// met says what is not as expected.
func (e *expectation) met(m *memory, was map[string]string, err error) string {
	if e.OneOf != nil {
		var why []string
		for _, o := range e.OneOf {
			w := o.met(m, was, err)
			if w == "" {
				return ""
			}
			why = append(why, w)
		}
		return strings.Join(why, "; or ")
	}
	if e.Error != (err != nil) {
		return fmt.Sprintf("error %v", err)
	}
	for p, want := range e.Files {
		if got := string(m.files[p]); got != want && !slices.Contains(e.Accept[p], got) {
			return fmt.Sprintf("%s is %q, not %q", p, got, want)
		}
	}
	for _, p := range slices.Concat(e.Absent, e.AbsentExact) {
		if m.files[p] != nil {
			return p + " is there"
		}
	}
	for _, p := range e.Present {
		if m.files[p] == nil {
			return p + " is not there"
		}
	}
	same := slices.Collect(maps.Keys(was))
	if list, ok := e.Unchanged.([]any); ok && !e.UnchangedAll {
		same = nil
		for _, p := range list {
			same = append(same, p.(string))
		}
	} else if !e.UnchangedAll && e.Unchanged != true {
		same = nil
	}
	for _, p := range same {
		if string(m.files[p]) != was[p] && !strings.HasPrefix(p, ".") && !slices.Contains(e.Accept[p], string(m.files[p])) {
			return fmt.Sprintf("%s has changed to %q", p, m.files[p])
		}
	}
	for _, r := range e.Resolves {
		items := itemsOf(r[0].(string), m.files[r[0].(string)])
		if to, _ := items[int(r[1].(float64))].leadsTo(m.paths, r[0].(string)); to != r[2] {
			return fmt.Sprintf("link %v leads to %q", r, to)
		}
	}
	for p, want := range e.JSON {
		var got any
		if !strings.HasPrefix(p, ".") && (json.Unmarshal(m.files[p], &got) != nil || !reflect.DeepEqual(got, want)) {
			return fmt.Sprintf("%s is %s", p, m.files[p])
		}
	}
	return ""
}
