package mcpserver_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// atLegacyDesk is atDesk in both older protocols that have forms.
func atLegacyDesk(t *testing.T, test func(*desk)) {
	t.Helper()
	for _, version := range []string{"2025-06-18", "2025-11-25"} {
		t.Run(version, func(t *testing.T) { atDesk(t, version, forms, test) })
	}
}

// A client of an older protocol is asked by a request of the server, while its
// call waits, and only a yes lets the call run.
func TestLegacyAnswers(t *testing.T) {
	for _, tt := range answersOf {
		t.Run(tt.name, func(t *testing.T) {
			atLegacyDesk(t, func(d *desk) {
				m := d.want(d.replace(), "elicitation/create")
				d.left(keptOpen)
				time.Sleep(slowly)
				d.reply(m, `"result":`+tt.answer)
				d.want(d.one(), tt.want)
				kept := tt.kept
				if kept == "used" {
					kept = keptByForm
				}
				d.left(kept)
				d.reply(m, `"result":`+yes) // once more, to nobody
				if late := d.messages(); len(late) != 0 {
					d.t.Errorf("a late answer was answered: %+v", late)
				}
				d.left(kept)
			})
		})
	}
}

// A client that answers with an error has not asked anybody.
func TestLegacyClientError(t *testing.T) {
	for _, answer := range []string{
		`"error":{"code":-32601,"message":"Method not found"}`,
		`"error":{"code":1,"message":"x","data":` + yes + `}`,
		`"error":"no object"`,
		`"error":{"code":1,"message":"x"},"result":` + yes,
	} {
		atLegacyDesk(t, func(d *desk) {
			m := d.want(d.replace(), "elicitation/create")
			time.Sleep(slowly)
			d.reply(m, answer)
			d.want(d.one(), "elicit_required approval_not_obtained")
			d.left(keptOpen)
		})
	}
}

// Nobody answers: after 50 seconds the call ends, the client is told that the
// form is no longer needed, and an answer after that answers nothing.
func TestLegacyNobodyAnswers(t *testing.T) {
	atLegacyDesk(t, func(d *desk) {
		m := d.want(d.replace(), "elicitation/create")
		time.Sleep(49 * time.Second)
		if early := d.messages(); len(early) != 0 {
			d.t.Fatalf("got %+v", early)
		}
		time.Sleep(time.Second)
		told := map[string]int{}
		for _, m := range d.messages() {
			told[m.outcome()]++
		}
		if want := map[string]int{"notifications/cancelled": 1, "elicit_required approval_not_obtained": 1}; fmt.Sprint(told) != fmt.Sprint(want) {
			d.t.Errorf("got %v, want %v", told, want)
		}
		d.reply(m, `"result":`+yes)
		if late := d.messages(); len(late) != 0 {
			d.t.Errorf("got %+v", late)
		}
		d.left(keptOpen)
	})
}

// A call that the client cancels ends without an answer, and its form with it.
func TestLegacyCancelled(t *testing.T) {
	atLegacyDesk(t, func(d *desk) {
		id := d.request("write_note", replaceArgs)
		form := d.want(d.one(), "elicitation/create")
		time.Sleep(slowly)
		d.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
		m := d.want(d.one(), "notifications/cancelled")
		if fmt.Sprint(m.Params.RequestID) != string(form.ID) {
			d.t.Errorf("cancelled %d, want %s", m.Params.RequestID, form.ID)
		}
		d.reply(form, `"result":`+yes)
		if late := d.messages(); len(late) != 0 {
			d.t.Errorf("got %+v", late)
		}
		d.left(keptOpen)
	})
}

// A client that goes away has not answered.
func TestLegacyInputEnds(t *testing.T) {
	atLegacyDesk(t, func(d *desk) {
		d.want(d.replace(), "elicitation/create")
		time.Sleep(slowly)
		d.in.Close()
		if err := <-d.done; err != nil {
			d.t.Error(err)
		}
		d.done <- nil // for close
		d.want(d.one(), "elicit_required approval_not_obtained")
		d.left(keptOpen)
	})
}

// The same call, made again while it waits, is the same question to the person,
// and runs once however many of them are answered.
func TestLegacyCallsThatWait(t *testing.T) {
	atLegacyDesk(t, func(d *desk) {
		const calls = 12 // more than there are workers
		for range calls {
			d.request("write_note", replaceArgs)
		}
		questions := d.messages()
		if len(questions) != calls {
			t.Fatalf("%d questions, want %d", len(questions), calls)
		}
		d.want(d.call("read_note", `{"path":"Garden"}`), "done") // nobody is held up
		d.left(keptOpen)
		time.Sleep(slowly)
		for _, q := range questions {
			d.want(q, "elicitation/create")
			d.reply(q, `"result":`+yes)
		}
		synctest.Wait()
		time.Sleep(slowly) // those that did not answer look for themselves
		told := map[string]int{}
		for _, m := range d.messages() {
			told[m.outcome()]++
		}
		if told["done"] != 1 || told["done"]+told["elicit_invalid used"]+told["notifications/cancelled"] < calls {
			d.t.Errorf("got %v", told)
		}
		d.left(keptByForm)
	})
}

// A call that waits says so every few seconds, where the client wants to know,
// and never after its answer.
func TestProgressWhileWaiting(t *testing.T) {
	atLegacyDesk(t, func(d *desk) {
		d.request("write_note", replaceArgs, `"_meta":{"progressToken":"p"}`)
		m := d.want(d.one(), "elicitation/create")
		time.Sleep(17 * time.Second)
		d.reply(m, `"result":`+yes)
		list := d.messages()
		for i, m := range list {
			want := "notifications/progress"
			if i == len(list)-1 {
				want = "done"
			}
			if d.want(m, want); want == m.Method && m.Params.Progress != i+1 {
				d.t.Errorf("progress %d, want %d", m.Params.Progress, i+1)
			}
		}
		if len(list) != 4 {
			d.t.Errorf("%d messages, want three times progress and the answer", len(list))
		}
		d.left(keptByForm)
	})
}
