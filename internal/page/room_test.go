package page

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"vault-mcp/cache"
	"vault-mcp/cache/state"
	"vault-mcp/hitl"
	"vault-mcp/internal/config"
	"vault-mcp/internal/elicit"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/internal/secrets"
)

// room is a page on a real listener, over a real state of an account of its own.
type room struct {
	t     *testing.T
	home  string
	store *state.Store
	page  *Page
	host  string
	logs  strings.Builder
	n     int
}

func (r *room) env(name string) string {
	if name == "HOME" {
		return r.home
	}
	return ""
}

// newRoom serves a page: to who comes with a code, or what with makes of it.
func newRoom(t *testing.T, with func(*room)) *room {
	t.Helper()
	r := &room{t: t, home: t.TempDir()}
	home, err := cache.Home(r.env)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(home, "notes-0123456789abcdef")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	keys, err := secrets.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if r.store, err = state.Open(t.Context(), dir, keys); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.store.Close() })
	r.page = &Page{Log: slog.New(slog.NewTextHandler(&r.logs, nil))}
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.host = l.Addr().String()
	if with != nil {
		with(r)
	} else {
		r.account()
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- r.page.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if r.page.Desk != nil {
			r.page.Desk.Close()
		}
	})
	return r
}

// account makes the page that of the account.
func (r *room) account() {
	r.t.Helper()
	if _, _, err := cache.ClaimPage(r.env, "http://"+r.host); err != nil {
		r.t.Fatal(err)
	}
	r.page.Desk = &elicit.Desk{Env: config.Env(r.env)}
	r.page.Code = func(code string) ([]cache.Process, bool) {
		from, ok, err := cache.TakeCode(r.env, code, r.page.now())
		if err != nil {
			r.t.Error(err)
		}
		return from, ok
	}
}

// raise keeps one more request of an agent, and is its id.
func (r *room) raise(change func(*hitl.Request)) string {
	r.t.Helper()
	r.n++
	q := &hitl.Request{
		Bound: hitl.Bound{Vault: "main", Tool: "delete_note", Caller: "stdio", Call: fingerprint.Call(fmt.Sprintf("%032x", r.n)), State: "k.1"},
		Floor: "it removes a note", Summary: fmt.Sprintf("Remove note %d", r.n), Undo: "It can be taken back with undo_change.",
		Preview: "--- a.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-the text\n",
	}
	if change != nil {
		change(q)
	}
	if err := r.store.Requests().Raise(r.t.Context(), q); err != nil {
		r.t.Fatal(err)
	}
	return q.ID
}

func (r *room) request(id string) (*hitl.Request, *hitl.Grant) {
	r.t.Helper()
	q, g, err := r.store.Requests().Find(r.t.Context(), id)
	if err != nil {
		r.t.Fatal(err)
	}
	return q, g
}

// code is a fresh code for the page.
func (r *room) code() string {
	r.t.Helper()
	code := rand.Text() + rand.Text()
	if _, err := cache.AddCode(r.env, code, r.page.now()); err != nil {
		r.t.Fatal(err)
	}
	return code
}

// browser is what a browser keeps and sends, without one.
type browser struct {
	t      *testing.T
	host   string
	client http.Client
	at     string // the path where it was led
}

// visit comes to the page by an address.
func (r *room) visit(path string) (*browser, answer) {
	r.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		r.t.Fatal(err)
	}
	b := &browser{t: r.t, host: r.host, client: http.Client{Jar: jar, Timeout: 30 * time.Second}}
	a := b.get(path)
	b.at = a.path
	return b, a
}

// in is a browser that came with a code.
func (r *room) in() *browser {
	r.t.Helper()
	b, a := r.visit(Door(r.code()))
	if a.status != http.StatusOK || !strings.HasPrefix(b.at, "/s/") {
		r.t.Fatalf("the code does not let in: %d at %s", a.status, b.at)
	}
	return b
}

type answer struct {
	status int
	path   string
	header http.Header
	text   string
}

func (b *browser) do(req *http.Request) answer {
	b.t.Helper()
	res, err := b.client.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return answer{res.StatusCode, res.Request.URL.Path, res.Header, string(text)}
}

func (b *browser) new(method, path string, body io.Reader) *http.Request {
	b.t.Helper()
	if !strings.HasPrefix(path, "/") {
		path = b.at + path
	}
	req, err := http.NewRequestWithContext(b.t.Context(), method, "http://"+b.host+path, body)
	if err != nil {
		b.t.Fatal(err)
	}
	return req
}

func (b *browser) get(path string) answer { return b.do(b.new(http.MethodGet, path, nil)) }

var hidden = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]+)">`)

// fields are the hidden fields of the form that is shown now.
func (b *browser) fields() url.Values {
	b.t.Helper()
	v := url.Values{}
	for _, m := range hidden.FindAllStringSubmatch(b.get("").text, -1) {
		v.Set(m[1], m[2])
	}
	if v.Get("form") == "" {
		b.t.Fatal("there is no form")
	}
	return v
}

// with is a form with further fields.
func with(form url.Values, more ...string) url.Values {
	v := url.Values{}
	for k, values := range form {
		v[k] = values
	}
	for i := 0; i < len(more); i += 2 {
		v.Add(more[i], more[i+1])
	}
	return v
}

// form is the request by which a browser sends a form.
func (b *browser) form(v url.Values) *http.Request {
	b.t.Helper()
	req := b.new(http.MethodPost, "answer", strings.NewReader(v.Encode()))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", "http://"+b.host)
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	return req
}

func (b *browser) send(v url.Values) answer { return b.do(b.form(v)) }
