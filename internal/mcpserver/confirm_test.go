package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// forms is what a client declares that can show them.
const forms = `{"elicitation":{"form":{}}}`

const yes = `{"action":"accept","content":{"approve":true}}`

// answersOf are answers to a form, in any era: what becomes of the call, and what
// is kept of it.
var answersOf = []struct{ name, answer, want, kept string }{
	{"accept", yes, "done", "used"},
	{"accept with more", `{"action":"accept","content":{"approve":true,"mood":"good"},"_meta":{"a":1},"action2":"decline"}`, "done", "used"},
	{"accept and no", `{"action":"accept","content":{"approve":false}}`, "elicit_required approval_declined", keptDeclined},
	{"decline", `{"action":"decline"}`, "elicit_required approval_declined", keptDeclined},
	{"decline with a yes", `{"action":"decline","content":{"approve":true}}`, "elicit_required approval_declined", keptDeclined},
	{"cancel", `{"action":"cancel"}`, "elicit_required approval_not_obtained", keptOpen},
	{"cancel with a yes", `{"action":"cancel","content":{"approve":true}}`, "elicit_required approval_not_obtained", keptOpen},
	{"accept without content", `{"action":"accept"}`, "-32602 malformed", keptOpen},
	{"accept with empty content", `{"action":"accept","content":{}}`, "-32602 malformed", keptOpen},
	{"accept with a list", `{"action":"accept","content":[{"approve":true}]}`, "-32602 malformed", keptOpen},
	{"a yes that is a text", `{"action":"accept","content":{"approve":"true"}}`, "-32602 malformed", keptOpen},
	{"a yes that is a number", `{"action":"accept","content":{"approve":1}}`, "-32602 malformed", keptOpen},
	{"a yes in another case", `{"action":"accept","content":{"Approve":true}}`, "-32602 malformed", keptOpen},
	{"no and yes", `{"action":"accept","content":{"approve":false,"approve":true}}`, "-32602 malformed", keptOpen},
	{"yes and no", `{"action":"accept","content":{"approve":true,"approve":false}}`, "-32602 malformed", keptOpen},
	{"two actions", `{"action":"decline","action":"accept","content":{"approve":true}}`, "-32602 malformed", keptOpen},
	{"unknown action", `{"action":"approve","content":{"approve":true}}`, "-32602 malformed", keptOpen},
	{"an action in another case", `{"action":"Accept","content":{"approve":true}}`, "-32602 malformed", keptOpen},
	{"no action", `{"content":{"approve":true}}`, "-32602 malformed", keptOpen},
	{"an action that is a number", `{"action":5}`, "-32602 malformed", keptOpen},
	{"null", `null`, "-32602 malformed", keptOpen},
	{"true", `true`, "-32602 malformed", keptOpen},
	{"a text", `"accept"`, "-32602 malformed", keptOpen},
	{"a list", `[{"action":"accept","content":{"approve":true}}]`, "-32602 malformed", keptOpen},
}

// asked checks a question in either era.
func (d *desk) asked(method, text string, mode *string, schema json.RawMessage) {
	d.t.Helper()
	if method != "elicitation/create" || mode != nil {
		d.t.Errorf("method %q, mode %v", method, mode)
	}
	for _, part := range []string{"Replace the whole of Plants/Bean.md", "it replaces the whole of", "undo_change", "-Climbs up to three metres.", "+Other words."} {
		if !strings.Contains(text, part) {
			d.t.Errorf("%q is not in the question: %s", part, text)
		}
	}
	var form struct {
		Type       string
		Properties map[string]map[string]any
		Required   []string
	}
	if err := json.Unmarshal(schema, &form); err != nil {
		d.t.Fatal(err)
	}
	field := form.Properties["approve"]
	_, preset := field["default"]
	if form.Type != "object" || len(form.Properties) != 1 || field["type"] != "boolean" || preset || fmt.Sprint(form.Required) != "[approve]" {
		d.t.Errorf("schema %s", schema)
	}
}

// ask makes a modern call and takes the question.
func (d *desk) ask(more ...string) (requestState string) {
	d.t.Helper()
	m := d.want(d.replace(more...), "asks")
	if m.Result == nil || len(m.Result.InputRequests) != 1 || m.Result.RequestState == "" || m.Result.Content != nil ||
		m.Result.Meta["io.modelcontextprotocol/serverInfo"] == nil {
		d.t.Fatalf("got %+v", m.Result)
	}
	q := m.Result.InputRequests["confirm"]
	d.asked(q.Method, q.Params.Message, q.Params.Mode, q.Params.RequestedSchema)
	return m.Result.RequestState
}

// A modern client is asked by the answer to its call, and only a yes in it, that
// comes back with the state, lets the call run, once.
func TestModernAnswers(t *testing.T) {
	for _, tt := range answersOf {
		t.Run(tt.name, func(t *testing.T) {
			atDesk(t, "2026-07-28", forms, func(d *desk) {
				s := d.ask()
				d.left(keptOpen)
				time.Sleep(slowly)
				d.want(d.replace(state(s), answers(tt.answer)), tt.want)
				if tt.kept == "used" {
					tt.kept = keptByState
				}
				d.left(tt.kept)
			})
		})
	}
}

// A refusal says what the person can run, as a program reads it and as a model
// does.
func TestTheCommandIsInTheRefusal(t *testing.T) {
	for _, version := range []string{"2025-06-18", "2026-07-28"} {
		atDesk(t, version, `{}`, func(d *desk) {
			m := d.want(d.replace(), "elicit_required approval_required")
			command := m.Result.StructuredContent.Recovery
			details := m.Result.StructuredContent.Details
			for _, flag := range []string{"--hash " + fmt.Sprint(details["call_hash"]), "--tool write_note", "--vault garden", "--caller stdio", "--state-fp " + fmt.Sprint(details["state_fp"])} {
				if !strings.HasPrefix(command, "vault-mcp elicit ") || !strings.Contains(command, flag) {
					d.t.Errorf("%s: the command %q lacks %q", version, command, flag)
				}
			}
			text := m.Result.Content[0].Text
			if !strings.HasPrefix(text, "Error [elicit_required]: Ask the person first") || !strings.HasSuffix(text, "\nNext: for the person, in a terminal of their own: "+command) {
				d.t.Errorf("%s: text %q", version, text)
			}
			d.left(keptOpen)
		})
	}
}

// Whom a client can ask, it says with each request since 2026-07-28, and in the
// handshake before.
func TestCapabilities(t *testing.T) {
	for _, tt := range []struct {
		capabilities string
		forms        bool
	}{
		{`{}`, false},
		{`{"roots":{},"sampling":{}}`, false},
		{`{"elicitation":{}}`, true},
		{`{"elicitation":{"form":{}}}`, true},
		{`{"elicitation":{"form":{},"url":{}}}`, true},
	} {
		t.Run(tt.capabilities, func(t *testing.T) {
			atDesk(t, "2026-07-28", tt.capabilities, func(d *desk) {
				if tt.forms {
					d.ask()
				} else {
					d.want(d.replace(), "elicit_required approval_required")
				}
				d.left(keptOpen)
			})
			for _, version := range []string{"2025-06-18", "2025-11-25"} {
				atDesk(t, version, tt.capabilities, func(d *desk) {
					if tt.forms {
						m := d.want(d.replace(), "elicitation/create")
						d.asked(m.Method, m.Params.Message, m.Params.Mode, m.Params.RequestedSchema)
						time.Sleep(slowly)
						d.reply(m, `"result":{"action":"cancel"}`)
						d.want(d.one(), "elicit_required approval_not_obtained")
					} else {
						d.want(d.replace(), "elicit_required approval_required")
					}
					d.left(keptOpen)
				})
			}
		})
	}
}

// Neither era learns from the other: what a modern request declares holds for it
// alone, and a handshake holds for none.
func TestCapabilitiesOfTheOtherEra(t *testing.T) {
	atDesk(t, "2025-06-18", forms, func(d *desk) {
		d.want(d.replace(`"_meta":`+modernMeta), "elicit_required approval_required") // which declares nothing
		m := d.want(d.replace(), "elicitation/create")
		time.Sleep(slowly)
		d.reply(m, `"result":`+yes)
		d.want(d.one(), "done")
		d.left(keptByForm)
	})
}

// What a client makes up answers nothing, if nothing was asked.
func TestForgedAnswers(t *testing.T) {
	atDesk(t, "2026-07-28", forms, func(d *desk) {
		d.want(d.replace(answers(yes)), "-32602 unasked")
		d.want(d.replace(answers(yes), state("")), "-32602 unasked")
		d.want(d.replace(answers(yes), state("made up")), "-32602 altered")
		d.want(d.replace(answers(yes), state(strings.Repeat("eyJ9.00000000.x", 1000))), "-32602 altered")
		d.left(keptNothing)
		// Where no person is needed, what comes with a call is not looked at.
		d.want(d.call("read_note", `{"path":"Garden"}`, answers(yes)), "done")
		d.want(d.replace(`"inputResponses":{}`), "asks")
		d.want(d.replace(`"inputResponses":{"other":`+yes+`}`), "asks")
		d.left(keptOpen)
	})
	for _, version := range []string{"2025-06-18", "2025-11-25"} {
		atDesk(t, version, forms, func(d *desk) {
			for _, more := range [][]string{{answers(yes)}, {answers(yes), state("made up")}} {
				m := d.want(d.replace(more...), "elicitation/create") // they have no such fields
				time.Sleep(slowly)
				d.reply(m, `"result":{"action":"cancel"}`)
				d.want(d.one(), "elicit_required approval_not_obtained")
			}
			d.left(keptOpen)
		})
		atDesk(t, version, `{}`, func(d *desk) {
			d.want(d.replace(answers(yes), state("made up")), "elicit_required approval_required")
			d.left(keptOpen)
		})
	}
}

// What is said twice in a message is not said at all.
func TestAnswersThatAreThereTwice(t *testing.T) {
	atDesk(t, "2026-07-28", forms, func(d *desk) {
		s := d.ask()
		time.Sleep(slowly)
		d.want(d.replace(state(s), `"inputResponses":{"confirm":{"action":"decline"},"confirm":`+yes+`}`), "-32602 malformed")
		d.want(d.replace(state(s), `"inputResponses":{"confirm":`+yes+`,"\u0063onfirm":`+yes+`}`), "-32602 malformed")
		d.want(d.replace(state(s), answers(yes), answers(yes)), "-32600")
		d.want(d.replace(state(s), state(s), answers(yes)), "-32600")
		d.want(d.replace(`"RequestState":`+fmt.Sprintf("%q", s), answers(yes)), "-32600")
		d.want(d.replace(state(s), `"inputresponses":{"confirm":`+yes+`}`), "-32600")
		d.want(d.replace(`"requestState":5`, answers(yes)), "-32602")
		d.want(d.replace(state(s), `"inputResponses":[`+yes+`]`), "-32602")
		d.left(keptOpen)
		d.want(d.replace(state(s), `"inputResponses":{"other":{"action":"decline"},"confirm":`+yes+`,"":null}`), "done")
		d.left(keptByState)
	})
}

// A state that is altered anywhere is none.
func TestAlteredState(t *testing.T) {
	atDesk(t, "2026-07-28", forms, func(d *desk) {
		s := d.ask()
		time.Sleep(slowly)
		for i := range len(s) {
			bits := []int{i % 7}
			if i >= len(s)-2 || s[i] == '.' || i > 0 && s[i-1] == '.' {
				bits = []int{0, 1, 2, 3, 4, 5, 6}
			}
			for _, bit := range bits {
				altered := []byte(s)
				altered[i] ^= 1 << bit
				quoted, err := json.Marshal(string(altered))
				if err != nil {
					d.t.Fatal(err)
				}
				if m := d.replace(`"requestState":`+string(quoted), answers(yes)); m.outcome() != "-32602 altered" {
					d.t.Errorf("bit %d of character %d: %s", bit, i, m.outcome())
				}
			}
		}
		for _, other := range []string{s + ".", s + "A", s[:len(s)-1], "." + s, s + s, strings.ToUpper(s), strings.Replace(s, ".", "..", 1), s + "\n", " " + s} {
			quoted, _ := json.Marshal(other)
			d.want(d.replace(`"requestState":`+string(quoted), answers(yes)), "-32602 altered")
		}
		d.left(keptOpen)
		d.want(d.replace(state(s), answers(yes)), "done")
		d.left(keptByState)
	})
}

// A state is good for the call that it was made for, and for no other.
func TestStateOfAnotherCall(t *testing.T) {
	dir, other, home := copyGarden(t), filepath.Join(t.TempDir(), "other"), t.TempDir()
	if err := os.CopyFS(other, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, home, ring, dir, "2026-07-28", forms, other)
		in := func(vault, args string) string { return `{"vault":"` + vault + `",` + args[1:] }
		m := d.want(d.call("write_note", in("garden", replaceArgs)), "asks")
		s := m.Result.RequestState
		time.Sleep(slowly)
		for _, tt := range []struct{ differs, tool, args string }{
			{"arguments", "write_note", in("garden", strings.Replace(replaceArgs, "Other", "More", 1))},
			{"arguments", "write_note", in("garden", strings.Replace(replaceArgs, "Bean", "Basil", 1))},
			{"tool", "delete_note", in("garden", `{"path":"Plants/Bean"}`)},
			{"vault", "write_note", in("other", replaceArgs)},
			{"tool", "read_note", in("garden", `{"path":"Plants/Bean"}`)},
		} {
			m := d.want(d.call(tt.tool, tt.args, state(s), answers(yes)), "-32602 foreign")
			if m.Error != nil && m.Error.Data["differs"] != tt.differs {
				t.Errorf("%s: differs %v", tt.differs, m.Error.Data["differs"])
			}
		}
		d.want(d.call("write_note", in("garden", replaceArgs), state(s), answers(yes)), "done")
		if got := files(t, other); !maps.Equal(got, d.before) {
			t.Error("the other vault was changed")
		}
		d.close()
	})
}

// A state can be answered at every server of its state folder, and at no other
// one, whatever keys that has.
func TestStateOfAnotherServer(t *testing.T) {
	for _, tt := range []struct {
		name, ring string
		same       bool
		want, kept string
	}{
		{"same folder", ring, true, "done", keptByState},
		{"other folder, same keys", ring, false, "elicit_required expired", keptOpen},
		{"other folder, other keys", ringOf("11111111", "B"), false, "elicit_required expired", keptOpen},
		{"other folder, other keys of the same name", ringOf("00000000", "B"), false, "-32602 altered", keptOpen},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, home := copyGarden(t), t.TempDir()
			otherHome := home
			if !tt.same {
				otherHome = t.TempDir()
			}
			synctest.Test(t, func(t *testing.T) {
				d := openDesk(t, home, ring, dir, "2026-07-28", forms)
				s := d.ask()
				time.Sleep(slowly)
				e := openDesk(t, otherHome, tt.ring, dir, "2026-07-28", forms)
				e.want(e.replace(state(s), answers(yes)), tt.want)
				d.left(tt.kept)
				if !tt.same {
					e.left(keptNothing)
				}
				e.close()
				d.close()
			})
		})
	}
}

// A state lets one call run, whoever brings it again, and even where the vault
// is once more as it was.
func TestReplayedState(t *testing.T) {
	atDesk(t, "2026-07-28", forms, func(d *desk) {
		s := d.ask()
		time.Sleep(slowly)
		d.want(d.replace(state(s), answers(yes)), "done")
		d.left(keptByState)
		note := filepath.Join(d.dir, filepath.FromSlash(replacedNote))
		if err := os.WriteFile(note, []byte(d.before[replacedNote]), 0o644); err != nil {
			d.t.Fatal(err)
		}
		for _, more := range [][]string{{state(s), answers(yes)}, {state(s)}, {state(s), answers(`{"action":"cancel"}`)}, {state(s), answers(`{"action":"decline"}`)}} {
			m := d.want(d.replace(more...), "elicit_invalid used")
			if id, _ := m.Result.StructuredContent.Details["change_id"].(string); len(id) != 16 {
				d.t.Errorf("change_id %q", id)
			}
		}
		if got := d.ledger(); got != keptByState {
			d.t.Errorf("kept: %s", got)
		}
		if got := files(d.t, d.dir); !maps.Equal(got, d.before) {
			d.t.Error("the call has run again")
		}
	})
}

// An answer after its time lets nothing run, but a no is never too late. The
// request stays open, and the call asks anew.
func TestExpiredState(t *testing.T) {
	atDesk(t, "2026-07-28", forms, func(d *desk) {
		s := d.ask()
		time.Sleep(299 * time.Second)
		d.want(d.replace(state(s), answers(`{"action":"cancel"}`)), "elicit_required approval_not_obtained")
		time.Sleep(time.Second)
		d.want(d.replace(state(s), answers(yes)), "elicit_required expired")
		d.want(d.replace(state(s)), "elicit_required expired")
		d.left(keptOpen)
		fresh := d.ask()
		time.Sleep(slowly)
		d.want(d.replace(state(s), answers(`{"action":"decline"}`)), "elicit_required approval_declined")
		d.left(keptDeclined)
		d.want(d.replace(state(fresh), answers(yes)), "elicit_required approval_declined")
		d.left(keptDeclined)
	})
}

// Without an answer, or with answers to something else, a good state asks once
// more, and no more than that.
func TestMissingAnswer(t *testing.T) {
	for _, more := range []string{`"inputResponses":{}`, `"inputResponses":{"other":` + yes + `}`, `"x":1`} {
		atDesk(t, "2026-07-28", forms, func(d *desk) {
			first := d.ask()
			time.Sleep(slowly)
			second := d.ask(state(first), more)
			time.Sleep(slowly)
			d.want(d.replace(state(second), more), "elicit_required approval_not_obtained")
			d.left(keptOpen)
			d.want(d.replace(state(second), answers(yes)), "done")
			d.left(keptByState)
		})
	}
}

// Two answers that nobody can have given, and the client is no longer asked.
func TestNobodySitsThere(t *testing.T) {
	atDesk(t, "2026-07-28", forms, func(d *desk) {
		for _, want := range []string{"approval_not_obtained", "approval_declined"} {
			action := map[string]string{"approval_not_obtained": "cancel", "approval_declined": "decline"}[want]
			d.want(d.replace(state(d.ask()), answers(`{"action":"`+action+`"}`)), "elicit_required "+want)
			d.left(keptOpen) // nobody has declined
		}
		d.want(d.replace(), "elicit_required approval_required")
		d.left(keptOpen)
	})
}

// A file may be called what would be an odd question in a form.
func TestNamesAreNoQuestions(t *testing.T) {
	atDesk(t, "2026-07-28", forms, func(d *desk) {
		name := "Please enter your password here.md"
		if err := os.WriteFile(filepath.Join(d.dir, name), []byte("x\n"), 0o644); err != nil {
			d.t.Fatal(err)
		}
		d.want(d.call("write_note", `{"path":"`+name+`","content":"y\n","mode":"overwrite"}`), "asks")
	})
}
