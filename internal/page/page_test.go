package page

import (
	"bufio"
	"fmt"
	"html"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"vault-mcp/cache"
	"vault-mcp/hitl"
	"vault-mcp/internal/elicit"
)

func TestAPersonApprovesAndDeclines(t *testing.T) {
	r := newRoom(t, nil)
	yes, no := r.raise(nil), r.raise(nil)
	b := r.in()
	seen := b.get("")
	for _, want := range []string{"Remove note 1", "delete_note", "it removes a note", "It can be taken back", "the text", "notes-0123456789abcdef"} {
		if !strings.Contains(seen.text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	form := b.fields()
	if a := b.send(with(form, "approve", yes)); a.status != http.StatusOK || !strings.Contains(a.text, "Approved.") || strings.Contains(a.text, "value=\""+yes) {
		t.Errorf("approved: %d\n%s", a.status, a.text)
	}
	if a := b.send(with(form, "decline", no)); !strings.Contains(a.text, "Declined.") {
		t.Errorf("declined: %s", a.text)
	}
	q, g := r.request(yes)
	if q.Status != hitl.Approved || g.Route != hitl.RoutePage || g.By != elicit.Account() {
		t.Errorf("approved: %+v, %+v", q, g)
	}
	if q, _ := r.request(no); q.Status != hitl.Declined || q.Route != hitl.RoutePage {
		t.Errorf("declined: %+v", q)
	}
	// They change their mind.
	if a := b.send(with(b.fields(), "approve", no)); !strings.Contains(a.text, "Approved.") {
		t.Errorf("approved after all: %s", a.text)
	}
}

func TestAPersonAnswersSeveralAtOnceAndNoOther(t *testing.T) {
	r := newRoom(t, nil)
	a, b, c := r.raise(nil), r.raise(nil), r.raise(nil)
	w := r.in()
	if got := w.send(with(w.fields(), "picked", "approve", "pick", a, "pick", c)); strings.Count(got.text, "Approved.") != 2 {
		t.Errorf("%s", got.text)
	}
	for id, want := range map[string]hitl.Status{a: hitl.Approved, b: hitl.Open, c: hitl.Approved} {
		if q, _ := r.request(id); q.Status != want {
			t.Errorf("%s, want %s", q.Status, want)
		}
	}
	if got := w.send(with(w.fields(), "picked", "decline")); !strings.Contains(got.text, "Nothing was picked") {
		t.Errorf("nothing: %s", got.text)
	}
	if q, _ := r.request(b); q.Status != hitl.Open {
		t.Errorf("%s", q.Status)
	}
	for _, form := range []url.Values{with(w.fields()), with(w.fields(), "pick", b), with(w.fields(), "picked", "yes", "pick", b)} {
		w.send(form)
		if q, _ := r.request(b); q.Status != hitl.Open {
			t.Errorf("%v has answered", form)
		}
	}
}

func TestAQuestionIsAnsweredByChoosing(t *testing.T) {
	r := newRoom(t, nil)
	question := func(q *hitl.Request) {
		q.Floor, q.Preview = "", ""
		q.Candidates = []hitl.Candidate{{Path: "a/Plan.md", State: "k.2"}, {Path: "b/Plan.md", State: "k.3", About: "Remove b/Plan.md"}}
	}
	id := r.raise(question)
	w := r.in()
	form := w.fields()
	for _, n := range []string{"", "0", "3", "-1", "x", "b/Plan.md"} {
		if a := w.send(with(form, "approve", id, "choice-"+id, n)); !strings.Contains(a.text, "Say which note is meant") {
			t.Errorf("%q: %s", n, a.text)
		}
	}
	if a := w.send(with(form, "approve", id, "choice-"+id, "2")); !strings.Contains(a.text, "Chosen: b/Plan.md") {
		t.Errorf("%s", a.text)
	}
	if _, g := r.request(id); g == nil || g.Choice != "b/Plan.md" {
		t.Errorf("%+v", g)
	}
}

// What is approved is what was shown: everything that comes between is refused, with
// what happened.
func TestAnOutdatedPageDecidesNothing(t *testing.T) {
	tests := map[string]struct {
		between func(r *room, id string)
		want    string
		status  hitl.Status
	}{
		"approved elsewhere": {func(r *room, id string) {
			if _, err := r.store.Requests().Approve(t.Context(), id, hitl.Approval{Route: hitl.RouteConsole, By: "me", Life: time.Minute}); err != nil {
				t.Fatal(err)
			}
		}, "It was approved at a console meanwhile.", hitl.Approved},
		"declined elsewhere": {func(r *room, id string) {
			if err := r.store.Requests().End(t.Context(), id, hitl.Declined, hitl.RouteState, hitl.Client, hitl.Open); err != nil {
				t.Fatal(err)
			}
		}, "It was declined through its client meanwhile.", hitl.Declined},
		"drifted": {func(r *room, id string) {
			r.n--
			r.raise(func(q *hitl.Request) { q.State = "k.9" })
		}, "The vault has changed since it was shown", hitl.Superseded},
		"given up": {func(r *room, id string) {
			if err := r.store.Requests().End(t.Context(), id, hitl.Abandoned, hitl.RouteCommand, "me", hitl.Open); err != nil {
				t.Fatal(err)
			}
		}, "It was given up meanwhile.", hitl.Abandoned},
		"another fingerprint": {func(*room, string) {}, "It is not as it was shown", hitl.Open},
	}
	for name, tt := range tests {
		for _, verb := range []string{"approve", "decline"} {
			r := newRoom(t, nil)
			id := r.raise(nil)
			w := r.in()
			form := w.fields()
			tt.between(r, id)
			if name == "another fingerprint" {
				form.Set("shown-"+id, strings.Repeat("0", 64))
			}
			a := w.send(with(form, verb, id))
			if !strings.Contains(a.text, tt.want) || !strings.Contains(a.text, "Nothing was done.") {
				t.Errorf("%s, %s: %s", name, verb, a.text)
			}
			if q, _ := r.request(id); q.Status != tt.status {
				t.Errorf("%s, %s: %s", name, verb, q.Status)
			}
		}
	}
}

// A person knows when they do not see all of a change.
func TestADiffThatIsCutSaysSo(t *testing.T) {
	r := newRoom(t, nil)
	b := r.in()
	for _, tt := range []struct {
		lines int
		cut   bool
	}{{1000, false}, {hitl.MaxPreview / 4, true}} {
		id := r.raise(func(q *hitl.Request) {
			q.Preview = fmt.Sprintf("--- a.md\n+++ a.md\n@@ -0,0 +1,%d @@\n%s", tt.lines, strings.Repeat("+日\n", tt.lines))
		})
		a := b.get("")
		if strings.Contains(a.text, "larger than what is shown") != tt.cut {
			t.Errorf("%d lines: %.500s", tt.lines, a.text)
		}
		if !tt.cut && strings.Count(a.text, "日") != tt.lines || tt.cut && len(a.text) > 100000 {
			t.Errorf("%d lines: %d of them, %d bytes", tt.lines, strings.Count(a.text, "日"), len(a.text))
		}
		whole := b.get("request/" + id)
		if n := strings.Count(whole.text, "日"); n < min(tt.lines, 50000) || !strings.Contains(whole.text, ">Approve<") {
			t.Errorf("%d lines: the whole has %d", tt.lines, n)
		}
		if a := b.send(with(b.fields(), "decline", id)); !strings.Contains(a.text, "Declined.") {
			t.Errorf("%d lines: %.500s", tt.lines, a.text)
		}
	}
}

func TestARequestThatIsNotKeptIsAnsweredWithThat(t *testing.T) {
	r := newRoom(t, nil)
	r.raise(nil)
	w := r.in()
	if a := w.send(with(w.fields(), "approve", strings.Repeat("0", 32))); !strings.Contains(a.text, "no longer kept. Nothing was done.") {
		t.Errorf("%s", a.text)
	}
}

// A code lets one browser in, once, within its minute.
func TestACodeIsGoodOnce(t *testing.T) {
	r := newRoom(t, nil)
	code := r.code()
	for _, other := range []func(*http.Request){
		func(q *http.Request) { q.Method = http.MethodHead },
		func(q *http.Request) { q.Method = http.MethodPost },
		func(q *http.Request) { q.Header.Set("Sec-Purpose", "prefetch") },
		func(q *http.Request) { q.Header.Set("Sec-Fetch-Dest", "iframe") },
		func(q *http.Request) { q.Header.Set("Sec-Fetch-Dest", "image") },
		func(q *http.Request) { q.Host = "localhost:1" },
	} {
		b := &browser{t: t, host: r.host}
		q := b.new(http.MethodGet, Door(code), nil)
		other(q)
		if a := b.do(q); a.status < 400 || a.header.Get("Set-Cookie") != "" {
			t.Errorf("%s %v: %d", q.Method, q.Header, a.status)
		}
	}
	b, a := r.visit(Door(code)) // none of them has used it up
	if a.status != http.StatusOK || !strings.HasPrefix(b.at, "/s/") {
		t.Fatalf("%d at %s", a.status, b.at)
	}
	if strings.Contains(a.text+b.at, code) {
		t.Error("the code is still to be seen")
	}
	if _, a := r.visit(Door(code)); a.status != http.StatusForbidden || !strings.Contains(a.text, "vault-mcp elicit page") || strings.Contains(a.text, code) {
		t.Errorf("a second time: %d, %s", a.status, a.text)
	}
	if b.get("").status != http.StatusOK {
		t.Error("who is in was put out")
	}
	late := r.code()
	r.page.Clock = func() time.Time { return time.Now().Add(cache.CodeLife) }
	if _, a := r.visit(Door(late)); a.status != http.StatusForbidden {
		t.Errorf("after its time: %d", a.status)
	}
}

var cookieOf = regexp.MustCompile(`^vault-mcp=[\w-]{43}; Path=/s/[\w-]{43}/; HttpOnly; SameSite=Strict$`)

func TestTheCookieIsForThePathOfOneSessionAlone(t *testing.T) {
	r := newRoom(t, nil)
	b := &browser{t: t, host: r.host, client: http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	a := b.get(Door(r.code()))
	if a.status != http.StatusSeeOther || !cookieOf.MatchString(a.header.Get("Set-Cookie")) {
		t.Fatalf("%d, %q", a.status, a.header.Get("Set-Cookie"))
	}
	// A link on another page: the browser would not send the cookie with a redirect.
	q := b.new(http.MethodGet, Door(r.code()), nil)
	q.Header.Set("Sec-Fetch-Site", "cross-site")
	if a := b.do(q); a.status != http.StatusOK || !strings.Contains(a.text, `http-equiv="refresh"`) || !cookieOf.MatchString(a.header.Get("Set-Cookie")) {
		t.Errorf("%d, %s", a.status, a.text)
	}
}

// Who is not in learns how to get in, and nothing else.
func TestForeignCookiesSeeNothing(t *testing.T) {
	r := newRoom(t, nil)
	id := r.raise(nil)
	one, two := r.in(), r.in()
	form := one.fields()
	for name, change := range map[string]func(*http.Request){
		"none":           func(q *http.Request) {},
		"made up":        func(q *http.Request) { q.AddCookie(&http.Cookie{Name: cookieName, Value: secretText()}) },
		"empty":          func(q *http.Request) { q.AddCookie(&http.Cookie{Name: cookieName, Value: ""}) },
		"another's":      func(q *http.Request) { two.lend(q) },
		"from a page":    func(q *http.Request) { one.lend(q); q.Header.Set("Sec-Fetch-Site", "cross-site") },
		"another port's": func(q *http.Request) { one.lend(q); q.Header.Set("Sec-Fetch-Site", "same-site") },
	} {
		out := &browser{t: t, host: r.host, at: one.at}
		for _, path := range []string{"", "history", "news", "change/0", "request/" + id} {
			q := out.new(http.MethodGet, path, nil)
			change(q)
			if a := out.do(q); a.status != http.StatusForbidden || strings.Contains(a.text, "Remove note") || !strings.Contains(a.text, "not signed in") {
				t.Errorf("%s, %q: %d %s", name, path, a.status, a.text)
			}
		}
		q := out.form(with(form, "approve", id))
		change(q)
		if a := out.do(q); a.status != http.StatusForbidden {
			t.Errorf("%s: %d", name, a.status)
		}
		if q, _ := r.request(id); q.Status != hitl.Open {
			t.Fatalf("%s has answered", name)
		}
	}
}

// lend puts a browser's cookies into another's request.
func (b *browser) lend(q *http.Request) {
	for _, c := range b.client.Jar.Cookies(&url.URL{Scheme: "http", Host: b.host, Path: b.at}) {
		q.AddCookie(c)
	}
}

// A form counts if it is this page's own, and from it.
func TestFormsOfOthersAreRefused(t *testing.T) {
	r := newRoom(t, nil)
	id := r.raise(nil)
	b := r.in()
	form := with(b.fields(), "approve", id)
	foreign := with(form)
	foreign.Set("form", r.in().fields().Get("form"))
	for name, q := range map[string]*http.Request{
		"no origin":       b.changed(form, func(q *http.Request) { q.Header.Del("Origin") }),
		"null":            b.changed(form, func(q *http.Request) { q.Header.Set("Origin", "null") }),
		"another origin":  b.changed(form, func(q *http.Request) { q.Header.Set("Origin", "http://127.0.0.1:1") }),
		"https":           b.changed(form, func(q *http.Request) { q.Header.Set("Origin", "https://"+r.host) }),
		"a site":          b.changed(form, func(q *http.Request) { q.Header.Set("Sec-Fetch-Site", "cross-site") }),
		"typed":           b.changed(form, func(q *http.Request) { q.Header.Set("Sec-Fetch-Site", "none") }),
		"text":            b.changed(form, func(q *http.Request) { q.Header.Set("Content-Type", "text/plain") }),
		"another's token": b.form(foreign),
		"no token": b.changed(with(form), func(q *http.Request) {
			*q = *b.form(url.Values{"approve": {id}, "shown-" + id: {form.Get("shown-" + id)}})
		}),
		"another name of it":  b.changed(form, func(q *http.Request) { q.Host = "localhost" + r.host[strings.LastIndex(r.host, ":"):] }),
		"a name that leads":   b.changed(form, func(q *http.Request) { q.Host = "evil.example" }),
		"a GET with all":      b.new(http.MethodGet, "answer?"+form.Encode(), nil),
		"a HEAD with all":     b.new(http.MethodHead, "answer?"+form.Encode(), nil),
		"a GET of the list":   b.new(http.MethodGet, "?"+form.Encode(), nil),
		"a PUT":               b.changed(form, func(q *http.Request) { q.Method = http.MethodPut }),
		"fields in the query": b.changed(url.Values{}, func(q *http.Request) { q.URL.RawQuery = form.Encode() }),
	} {
		a := b.do(q)
		if a.status < 400 && name != "a GET of the list" {
			t.Errorf("%s: %d", name, a.status)
		}
		if q, _ := r.request(id); q.Status != hitl.Open {
			t.Fatalf("%s has answered", name)
		}
	}
	if a := b.send(form); !strings.Contains(a.text, "Approved.") {
		t.Errorf("the form itself: %s", a.text)
	}
}

func (b *browser) changed(v url.Values, change func(*http.Request)) *http.Request {
	q := b.form(v)
	change(q)
	return q
}

func TestEveryAnswerHasTheHeaders(t *testing.T) {
	r := newRoom(t, nil)
	r.raise(nil)
	b := r.in()
	for _, path := range []string{"", "history", "news", "change/0", "request/0", "/", "/nothing", "/style.css", "/page.js", "/icon.svg", "/in/x", "/c/x", "/s/x/"} {
		a := b.get(path)
		for name, want := range headers {
			if got := a.header.Get(name); got != want {
				t.Errorf("%q: %s is %q", path, name, got)
			}
		}
		if path == "/nothing" && a.status != http.StatusNotFound || strings.Contains(a.header.Get("Access-Control-Allow-Origin"), "*") {
			t.Errorf("%q: %d", path, a.status)
		}
		if strings.Contains(a.text, "style=") || regexp.MustCompile(`<script>|<style|\son\w+=|https?://(?:[^w]|w[^w])`).MatchString(a.text) {
			t.Errorf("%q has what the policy forbids, or something from elsewhere", path)
		}
	}
}

// The text of a note is text, whatever it holds.
func TestTextOfNotesIsNoMarkup(t *testing.T) {
	r := newRoom(t, nil)
	evil := `"><script>alert(1)</script><img src=x onerror=alert(2)>` + "\u202Etxt\x1b[31m"
	r.raise(func(q *hitl.Request) {
		q.Summary, q.Floor, q.Undo, q.Notes, q.Tool, q.Caller = evil, evil, evil, []string{evil}, evil, evil
		q.Preview = "--- a.md\n+++ a.md\n@@ -1 +1 @@\n-" + evil + "\n+x\n"
	})
	r.raise(func(q *hitl.Request) {
		q.Candidates = []hitl.Candidate{{Path: evil, State: "k.2", About: evil}, {Path: "b.md", State: "k.3"}}
	})
	b := r.in()
	for _, path := range []string{"", "history"} {
		a := b.get(path)
		if strings.Contains(a.text, "<script>") || strings.Contains(a.text, "<img src=x") || strings.ContainsAny(a.text, "\u202E\x1b") {
			t.Errorf("%q: %s", path, a.text)
		}
	}
	if text := html.UnescapeString(b.get("").text); !strings.Contains(text, ">U+202E<") || !strings.Contains(text, ">U+001B<") {
		t.Error("what cannot be seen is not named")
	}
}

func TestAHugeBodyIsRefused(t *testing.T) {
	r := newRoom(t, nil)
	id := r.raise(nil)
	b := r.in()
	if a := b.send(with(b.fields(), "approve", id, "more", strings.Repeat("x", maxBody))); a.status != http.StatusBadRequest {
		t.Errorf("%d", a.status)
	}
	if q, _ := r.request(id); q.Status != hitl.Open {
		t.Error("it was answered")
	}
}

// Who sends slowly is cut off, and keeps nobody else out.
func TestASlowBodyEnds(t *testing.T) {
	r := newRoom(t, func(r *room) { r.account(); r.page.patience = 300 * time.Millisecond })
	b := r.in()
	conn, err := net.Dial("tcp", r.host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	q := b.form(url.Values{})
	b.lend(q)
	fmt.Fprintf(conn, "POST %sanswer HTTP/1.1\r\nHost: %s\r\nOrigin: http://%s\r\nCookie: %s\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\nform=",
		b.at, r.host, r.host, q.Header.Get("Cookie"))
	if b.get("").status != http.StatusOK {
		t.Error("nobody else gets in")
	}
	_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err == nil && res.StatusCode < 400 {
		t.Errorf("%d", res.StatusCode)
	}
	if e, ok := err.(net.Error); ok && e.Timeout() {
		t.Error("it waits still")
	}
}

func TestOthersThanThisMachineAreRefused(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:80", "localhost:0", "example.com:80", "127.0.0.1", "[::ffff:127.0.0.1]:0", "[fe80::1%lo]:0", ""} {
		if l, err := Listen(address); err == nil {
			l.Close()
			t.Errorf("%q is listened on", address)
		}
	}
}

// Several look at once, and the page looks by itself as well: the race detector is
// what judges this.
func TestTheHistoryIsReadWhileThePageLooks(t *testing.T) {
	r := newRoom(t, nil)
	r.raise(nil)
	var all sync.WaitGroup
	for range 3 {
		b := r.in()
		all.Go(func() {
			for range 5 {
				for _, path := range []string{"history", ""} {
					if a := b.get(path); a.status != http.StatusOK {
						t.Errorf("%s: %d", path, a.status)
					}
				}
			}
		})
	}
	all.Wait()
}
