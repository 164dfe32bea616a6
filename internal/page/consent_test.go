package page

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"vault-mcp/hitl"
	"vault-mcp/internal/elicit"
)

var me = hitl.Party{Tenant: "local", User: "me"}

// consents makes a page of a server, where people come by consents alone.
func consents(r *room) {
	log := slog.New(slog.NewTextHandler(&r.logs, nil))
	r.page.Consents = func() []Consents {
		other := Consents{&hitl.Registry{Store: none{r.store}, Log: log}, me, nil, time.Minute} // of a vault that has none
		return []Consents{other, {&hitl.Registry{Store: r.store, Log: log}, me, r.store.Requests(), time.Minute}}
	}
}

// none is a store that has no consent.
type none struct{ hitl.Consents }

func (none) FindConsent(context.Context, string) (*hitl.Consent, error) {
	return nil, hitl.ErrNoConsent
}

// offer offers a consent for a request, and is its id.
func (r *room) offer(request string, who hitl.Party) string {
	r.t.Helper()
	id := rand.Text()
	if err := r.registry().Offer(r.t.Context(), &hitl.Consent{ID: id, Party: who, Call: request}); err != nil {
		r.t.Fatal(err)
	}
	return id
}

func (r *room) registry() *hitl.Registry {
	return &hitl.Registry{Store: r.store, Log: slog.New(slog.NewTextHandler(&r.logs, nil))}
}

// The id of a consent lets somebody in to its request, once, and to nothing else.
func TestAConsentLetsInToItsRequestAlone(t *testing.T) {
	r := newRoom(t, consents)
	mine, other := r.raise(nil), r.raise(nil)
	id := r.offer(mine, me)
	probe := &browser{t: t, host: r.host}
	for _, change := range []func(*http.Request){
		func(q *http.Request) { q.Method = http.MethodHead },
		func(q *http.Request) { q.Header.Set("Sec-Purpose", "prefetch;anonymous-client-ip") },
		func(q *http.Request) { q.Header.Set("Sec-Fetch-Dest", "empty") },
	} {
		q := probe.new(http.MethodGet, Path(id), nil)
		change(q)
		if a := probe.do(q); a.header.Get("Set-Cookie") != "" {
			t.Error("a program that looks has used it up")
		}
	}
	b, a := r.visit(Path(id))
	if !strings.HasPrefix(b.at, "/s/") || !strings.Contains(a.text, "Remove note 1") || strings.Contains(a.text, "Remove note 2") {
		t.Fatalf("%s: %s", b.at, a.text)
	}
	if strings.Contains(a.text+b.at, id) {
		t.Error("the id is still to be seen")
	}
	for _, path := range []string{"history", "change/0", "request/" + other} {
		if a := b.get(path); a.status != http.StatusNotFound {
			t.Errorf("%s: %d", path, a.status)
		}
	}
	b.send(with(b.fields(), "approve", other, "shown-"+other, "x"))
	b.send(with(b.fields(), "decline", other))
	if q, _ := r.request(other); q.Status != hitl.Open {
		t.Error("another request was answered")
	}
	if _, again := r.visit(Path(id)); again.status != http.StatusForbidden || strings.Contains(again.text, "Remove note") || !strings.Contains(again.text, "is good once") {
		t.Errorf("a second time: %d %s", again.status, again.text)
	}
	if _, code := r.visit(Door(rand.Text())); code.status != http.StatusForbidden {
		t.Errorf("a code: %d", code.status)
	}
}

// An approval is the outside's evidence, whether the client has said before that
// the person opens the address or not.
func TestAnApprovalCompletesItsConsent(t *testing.T) {
	for _, accepted := range []bool{false, true} {
		r := newRoom(t, consents)
		request := r.raise(nil)
		id := r.offer(request, me)
		if accepted {
			if got, err := r.registry().Answered(t.Context(), me, id, hitl.Accept); err != nil || got != hitl.RulingPending {
				t.Fatal(got, err)
			}
		}
		b, _ := r.visit(Path(id))
		if a := b.send(with(b.fields(), "approve", request)); !strings.Contains(a.text, "Approved.") || !strings.Contains(a.text, "It was approved on a page") {
			t.Errorf("%s", a.text)
		}
		_, g := r.request(request)
		if g == nil || g.Route != hitl.RoutePage || g.By != elicit.Account() {
			t.Fatalf("%+v", g)
		}
		ruling, result, err := r.registry().Retry(t.Context(), me, id, request)
		if err != nil || ruling != hitl.RulingApply || result != g.ID {
			t.Errorf("%s, %s, %v", ruling, result, err)
		}
	}
}

func TestADeclineEndsItsConsent(t *testing.T) {
	for _, accepted := range []bool{false, true} {
		r := newRoom(t, consents)
		request := r.raise(nil)
		id := r.offer(request, me)
		want := hitl.RulingDeclined
		if accepted {
			want = hitl.RulingAbandoned
			if _, err := r.registry().Answered(t.Context(), me, id, hitl.Accept); err != nil {
				t.Fatal(err)
			}
		}
		b, _ := r.visit(Path(id))
		form := b.fields()
		if a := b.send(with(form, "decline", request)); !strings.Contains(a.text, "Declined.") {
			t.Errorf("%s", a.text)
		}
		if q, _ := r.request(request); q.Status != hitl.Declined || q.Route != hitl.RoutePage {
			t.Errorf("%+v", q)
		}
		if got, _, err := r.registry().Retry(t.Context(), me, id, request); err != nil || got != want {
			t.Errorf("%s, %v", got, err)
		}
		// Its consent is over: they cannot change their mind here.
		if now := b.get("").text; strings.Contains(now, ">Approve<") || !strings.Contains(now, "It was declined on a page") {
			t.Errorf("it can be answered still: %s", now)
		}
		again := with(b.fields(), "approve", request)
		if a := b.send(again); !strings.Contains(a.text, "no longer good") {
			t.Errorf("approved after all: %s", a.text)
		}
		if q, _ := r.request(request); q.Status != hitl.Declined {
			t.Errorf("%+v", q)
		}
	}
}

// What is over, unknown or somebody else's lets nobody in, and looks the same.
func TestConsentsThatLetNobodyIn(t *testing.T) {
	r := newRoom(t, consents)
	request := r.raise(nil)
	abandoned, finished := r.offer(request, me), r.offer(request, me)
	if _, err := r.registry().Abandon(t.Context(), me, abandoned); err != nil {
		t.Fatal(err)
	}
	for _, step := range []func() (hitl.Ruling, error){
		func() (hitl.Ruling, error) { return r.registry().Answered(t.Context(), me, finished, hitl.Accept) },
		func() (hitl.Ruling, error) { return r.registry().Complete(t.Context(), me, finished, "done") },
	} {
		if _, err := step(); err != nil {
			t.Fatal(err)
		}
	}
	texts := map[string]bool{}
	for name, id := range map[string]string{
		"abandoned": abandoned, "finished": finished, "unknown": rand.Text(), "short": "x", "another's": r.offer(request, hitl.Party{Tenant: "local", User: "other"}),
	} {
		b, a := r.visit(Path(id))
		if a.status != http.StatusForbidden || strings.HasPrefix(b.at, "/s/") {
			t.Errorf("%s: %d", name, a.status)
		}
		texts[a.text] = true
	}
	if len(texts) != 1 {
		t.Errorf("%d texts", len(texts))
	}
}

// A consent that ends while its page is open approves nothing.
func TestAConsentThatEndsMeanwhileApprovesNothing(t *testing.T) {
	r := newRoom(t, consents)
	request := r.raise(nil)
	id := r.offer(request, me)
	b, _ := r.visit(Path(id))
	form := b.fields()
	if _, err := r.registry().Abandon(t.Context(), me, id); err != nil {
		t.Fatal(err)
	}
	if a := b.send(with(form, "approve", request)); !strings.Contains(a.text, "This address is no longer good. Nothing was done.") {
		t.Errorf("%s", a.text)
	}
	if q, g := r.request(request); q.Status != hitl.Open || g != nil {
		t.Errorf("%+v, %+v", q, g)
	}
}
