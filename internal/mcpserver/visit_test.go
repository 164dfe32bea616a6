package mcpserver_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	kept "vault-mcp/cache/state"
	"vault-mcp/hitl"
	"vault-mcp/internal/elicit"
	"vault-mcp/internal/secrets"
)

// testOrigin is where the page of these servers listens. Nobody gets through to it, as
// time stands still while somebody waits for the network: what a person does there is
// done by approve and end. The page itself is tested where time passes.
const testOrigin = "http://127.0.0.1:4711"

// unreached is a listener to which nobody connects.
type unreached struct {
	ended chan struct{}
	once  sync.Once
}

func listen(string) (net.Listener, error) { return &unreached{ended: make(chan struct{})}, nil }

func (u *unreached) Accept() (net.Conn, error) {
	<-u.ended
	return nil, net.ErrClosed
}

func (u *unreached) Close() error {
	u.once.Do(func() { close(u.ended) })
	return nil
}

func (u *unreached) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4711} }

// addresses is what a client declares that opens them and shows no forms.
const addresses = `{"elicitation":{"url":{}}}`

var (
	testAccount = elicit.Account()
	keptByPage  = "request used, grant by " + testAccount + " over page used 1, execution applied"
)

// sentTo checks what a client is told of the page, and returns the id in the
// address. Nothing of the call's content passes through the client.
func (d *desk) sentTo(method, message, mode, address, id string, schema json.RawMessage) string {
	d.t.Helper()
	if method != "elicitation/create" || mode != "url" || schema != nil {
		d.t.Errorf("method %q, mode %q, schema %s", method, mode, schema)
	}
	key, ok := strings.CutPrefix(address, testOrigin+"/c/")
	if !ok || !hitl.Opaque(key) || id != "" && id != key {
		d.t.Errorf("address %q, id %q", address, id)
	}
	if !strings.Contains(message, "write_note") || strings.Contains(message, "Bean") || strings.Contains(message, "Other words") || strings.Contains(message, "http") {
		d.t.Errorf("message %q", message)
	}
	return key
}

// visit makes the call and returns what it is sent to.
func (d *desk) visit(more ...string) (key, requestState string) {
	d.t.Helper()
	m := d.want(d.replace(more...), "asks")
	asked := m.Result.InputRequests["confirm"]
	p := asked.Params
	if p.Mode == nil || len(m.Result.InputRequests) != 1 {
		d.t.Fatalf("%+v", m.Result)
	}
	return d.sentTo(asked.Method, p.Message, *p.Mode, p.URL, p.ElicitationID, p.RequestedSchema), m.Result.RequestState
}

// opened opens the state of the first vault in a process of its own, as the page has
// one, and finds the consent of an address.
func (d *desk) opened(key string) (*kept.Store, *hitl.Consent) {
	d.t.Helper()
	found, _ := filepath.Glob(filepath.Join(d.home, "state", "*", "state.db"))
	if len(found) != 1 {
		d.t.Fatal(found)
	}
	keys, err := secrets.Open(filepath.Dir(found[0]))
	if err != nil {
		d.t.Fatal(err)
	}
	s, err := kept.Open(d.t.Context(), filepath.Dir(found[0]), keys)
	if err != nil {
		d.t.Fatal(err)
	}
	c, err := s.FindConsent(d.t.Context(), key)
	if err != nil {
		d.t.Fatal(err)
	}
	return s, c
}

// end ends the request of an address, as a person can on the page.
func (d *desk) end(key string, to hitl.Status) {
	d.t.Helper()
	s, c := d.opened(key)
	defer s.Close()
	if err := s.Requests().End(d.t.Context(), c.Call, to, hitl.RoutePage, testAccount, hitl.Open); err != nil {
		d.t.Fatal(err)
	}
}

// approve does what the page does when a person approves there.
func (d *desk) approve(key string) {
	d.t.Helper()
	s, c := d.opened(key)
	defer s.Close()
	r, who := &hitl.Registry{Store: s, Log: slog.New(slog.DiscardHandler)}, hitl.Party{Tenant: filepath.Base(d.dir), User: testAccount}
	if got, err := r.Answered(d.t.Context(), who, key, hitl.Accept); got != hitl.RulingPending || err != nil {
		d.t.Fatal(got, err)
	}
	g, err := s.Requests().Approve(d.t.Context(), c.Call, hitl.Approval{Route: hitl.RoutePage, By: testAccount, Life: 5 * time.Minute})
	if err != nil {
		d.t.Fatal(err)
	}
	if got, err := r.Complete(d.t.Context(), who, key, g.ID); got != hitl.RulingCompleted || err != nil {
		d.t.Fatal(got, err)
	}
}

// consents is where each consent of the first vault stands.
func (d *desk) consents() string {
	d.t.Helper()
	found, _ := filepath.Glob(filepath.Join(d.home, "state", "*", "state.db"))
	db, err := sql.Open("sqlite", "file:"+found[0]+"?mode=ro&_pragma=busy_timeout(10000)")
	if err != nil {
		d.t.Fatal(err)
	}
	defer db.Close()
	var all sql.NullString
	if err := db.QueryRow("SELECT group_concat(status, ' ') FROM consents").Scan(&all); err != nil {
		d.t.Fatal(err)
	}
	return all.String
}

// A client that declares URL mode and no form is sent to the page. Its accept is
// the consent to open that, whatever comes with it: the call waits, and runs when
// the person has approved there.
func TestConsentIsNoApproval(t *testing.T) {
	for _, accept := range []string{`{"action":"accept"}`, yes, `{"action":"accept","content":{}}`} {
		atDesk(t, "2026-07-28", addresses, func(d *desk) {
			key, s := d.visit()
			d.left(keptOpen)
			time.Sleep(slowly)
			d.request("write_note", replaceArgs, state(s), answers(accept))
			time.Sleep(20 * time.Second)
			if early := d.messages(); len(early) != 0 {
				d.t.Fatalf("an accept alone was answered: %+v", early)
			}
			if got := d.consents(); got != "pending" {
				d.t.Errorf("consents %s", got)
			}
			d.left(keptOpen)
			d.approve(key)
			time.Sleep(slowly)
			d.want(d.one(), "done")
			d.left(keptByPage)
			if got := d.consents(); got != "applied" {
				d.t.Errorf("consents %s", got)
			}
			d.want(d.replace(state(s), answers(accept)), "elicit_invalid used")
			d.left(keptByPage)
		})
	}
}

// What a client answers for an address, and what is kept of it.
func TestAnswersToAnAddress(t *testing.T) {
	for _, tt := range []struct{ answer, want, kept, consent string }{
		{`{"action":"decline"}`, "elicit_required approval_declined", keptDeclined, "declined"},
		{`{"action":"decline","content":{"approve":true}}`, "elicit_required approval_declined", keptDeclined, "declined"},
		{`{"action":"cancel"}`, "elicit_required approval_not_obtained", keptOpen, "offered"},
		{`{"action":"Accept"}`, "-32602 malformed", keptOpen, "offered"},
		{`{}`, "-32602 malformed", keptOpen, "offered"},
		{`{"action":"accept","action":"accept"}`, "-32602 malformed", keptOpen, "offered"},
	} {
		t.Run(tt.answer, func(t *testing.T) {
			atDesk(t, "2026-07-28", addresses, func(d *desk) {
				_, s := d.visit()
				time.Sleep(slowly)
				d.want(d.replace(state(s), answers(tt.answer)), tt.want)
				d.left(tt.kept)
				if got := d.consents(); got != tt.consent {
					d.t.Errorf("consents %s", got)
				}
			})
			atDesk(t, "2025-11-25", addresses, func(d *desk) {
				m := d.want(d.replace(), "elicitation/create")
				time.Sleep(slowly)
				d.reply(m, `"result":`+tt.answer)
				d.want(d.one(), tt.want)
				d.left(tt.kept)
				if got := d.consents(); got != tt.consent {
					d.t.Errorf("consents %s", got)
				}
			})
		})
	}
}

// The word from the page got lost, or the person took longer than the call waits:
// a retry finds what they did, and it is done once.
func TestALostCompletionIsFoundByARetry(t *testing.T) {
	for _, by := range []string{"state", "the same call", "state and answer"} {
		atDesk(t, "2026-07-28", addresses, func(d *desk) {
			key, s := d.visit()
			time.Sleep(slowly)
			d.request("write_note", replaceArgs, state(s), answers(`{"action":"accept"}`))
			time.Sleep(51 * time.Second)
			d.want(d.one(), "elicit_required approval_not_obtained")
			d.left(keptOpen)
			d.approve(key)
			switch by {
			case "state":
				d.want(d.replace(state(s)), "done")
			case "state and answer":
				d.want(d.replace(state(s), answers(`{"action":"accept"}`)), "done")
			default:
				d.want(d.replace(), "done")
			}
			d.left(keptByPage)
		})
	}
}

// A client that comes back without an answer is sent to the page once more, by
// another address, and then no more.
func TestAnAddressIsOfferedTwice(t *testing.T) {
	atDesk(t, "2026-07-28", addresses, func(d *desk) {
		first, s := d.visit()
		time.Sleep(slowly)
		second, s := d.visit(state(s))
		if first == second {
			d.t.Error("the same address twice")
		}
		time.Sleep(slowly)
		d.want(d.replace(state(s)), "elicit_required approval_not_obtained")
		d.approve(first) // any of them leads to the request
		d.want(d.replace(state(s)), "done")
		d.left(keptByPage)
	})
}

// A no on the page stops the call that waits, and the same call after it.
func TestDeclinedOnThePage(t *testing.T) {
	atDesk(t, "2026-07-28", addresses, func(d *desk) {
		key, s := d.visit()
		time.Sleep(slowly)
		d.request("write_note", replaceArgs, state(s), answers(`{"action":"accept"}`))
		time.Sleep(slowly)
		d.end(key, hitl.Declined)
		time.Sleep(slowly)
		d.want(d.one(), "elicit_required approval_declined")
		d.left(keptDeclined)
		d.want(d.replace(), "elicit_required approval_declined")
	})
}

// A person can give a request up to which somebody was sent: nothing comes of it any
// more, and the same call asks anew.
func TestAbandonedAtAnAddress(t *testing.T) {
	atDesk(t, "2026-07-28", addresses, func(d *desk) {
		key, s := d.visit()
		time.Sleep(slowly)
		d.request("write_note", replaceArgs, state(s), answers(`{"action":"accept"}`))
		time.Sleep(slowly)
		d.end(key, hitl.Abandoned)
		time.Sleep(slowly)
		d.want(d.one(), "elicit_invalid abandoned")
		d.want(d.replace(state(s)), "elicit_invalid abandoned")
		d.left("request abandoned")
		if fresh, _ := d.visit(); fresh == key {
			d.t.Error("the same address again")
		}
	})
}

// A server that was started anew takes up what another one has asked.
func TestConsentOutlivesTheServer(t *testing.T) {
	atDesk(t, "2026-07-28", addresses, func(d *desk) {
		key, s := d.visit()
		d.close()
		d.app.Close()
		d.approve(key)
		again := openDesk(d.t, d.home, ring, d.dir, "2026-07-28", addresses)
		again.want(again.replace(state(s), answers(`{"action":"accept"}`)), "done")
		again.left(keptByPage)
		d.client = again.client
	})
}

// The person took the vault's change for what they approved: it is drift, by this
// way as by every other.
func TestDriftAtAnAddress(t *testing.T) {
	atDesk(t, "2026-07-28", addresses, func(d *desk) {
		key, s := d.visit()
		d.approve(key)
		if err := os.WriteFile(filepath.Join(d.dir, filepath.FromSlash(replacedNote)), []byte("Somebody else wrote this.\n"), 0o644); err != nil {
			d.t.Fatal(err)
		}
		d.want(d.replace(state(s), answers(`{"action":"accept"}`)), "replay_drift drift")
	})
}

// In the protocol that knows ids of addresses, the call waits for the page, and the
// client is told when that is over. Older ones know no addresses.
func TestLegacyAddress(t *testing.T) {
	atDesk(t, "2025-11-25", addresses, func(d *desk) {
		m := d.want(d.replace(), "elicitation/create")
		p := m.Params
		if p.Mode == nil {
			d.t.Fatalf("%+v", m)
		}
		key := d.sentTo(m.Method, p.Message, *p.Mode, p.URL, p.ElicitationID, p.RequestedSchema)
		if p.ElicitationID == "" {
			d.t.Error("the address has no elicitationId")
		}
		time.Sleep(slowly)
		d.reply(m, `"result":{"action":"accept"}`)
		time.Sleep(10 * time.Second)
		if early := d.messages(); len(early) != 0 {
			d.t.Fatalf("an accept alone was answered: %+v", early)
		}
		d.approve(key)
		time.Sleep(slowly)
		list := d.messages()
		if len(list) != 2 {
			d.t.Fatalf("%+v", list)
		}
		d.complete(list[0], key)
		d.want(list[1], "done")
		d.left(keptByPage)
	})
	atDesk(t, "2025-06-18", addresses, func(d *desk) {
		d.want(d.replace(), "elicit_required approval_required")
		d.left(keptOpen)
	})
}

func (d *desk) complete(m message, key string) {
	d.t.Helper()
	if d.want(m, "notifications/elicitation/complete"); m.Params.ElicitationID != key {
		d.t.Errorf("id %q, want %q", m.Params.ElicitationID, key)
	}
}

// The call gave up, and the person approves later: the client learns of it, and its
// retry runs.
func TestLegacyLateCompletion(t *testing.T) {
	atDesk(t, "2025-11-25", addresses, func(d *desk) {
		m := d.want(d.replace(), "elicitation/create")
		time.Sleep(slowly)
		d.reply(m, `"result":{"action":"accept"}`)
		time.Sleep(50 * time.Second)
		d.want(d.one(), "elicit_required approval_not_obtained")
		key := m.Params.ElicitationID
		d.approve(key)
		time.Sleep(2 * time.Second)
		d.complete(d.one(), key)
		d.want(d.replace(), "done")
		d.left(keptByPage)
	})
}

// Where the server sends no requests, the refusal itself says which address has to
// be opened.
func TestAddressInTheRefusal(t *testing.T) {
	atDeskWith(t, "2025-11-25", addresses, map[string]any{"legacy_shim": false}, func(d *desk) {
		m := d.want(d.replace(), "-32042")
		list, _ := m.Error.Data["elicitations"].([]any)
		if len(list) != 1 {
			d.t.Fatalf("%+v", m.Error)
		}
		a, _ := list[0].(map[string]any)
		key := d.sentTo("elicitation/create", fmt.Sprint(a["message"]), fmt.Sprint(a["mode"]), fmt.Sprint(a["url"]), fmt.Sprint(a["elicitationId"]), nil)
		d.left(keptOpen)
		d.approve(key)
		time.Sleep(2 * time.Second)
		d.complete(d.one(), key)
		d.want(d.replace(), "done")
		d.left(keptByPage)
	})
}

// What counts is what the person's config says: without the page as a way, nobody
// is sent there, and an approval of it is none.
func TestThePageAsAWay(t *testing.T) {
	atDeskWith(t, "2026-07-28", addresses, map[string]any{"routes": []string{"form", "console", "cli"}}, func(d *desk) {
		d.want(d.replace(), "elicit_required approval_required")
		d.left(keptOpen)
	})
}
