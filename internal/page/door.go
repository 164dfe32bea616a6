package page

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"time"

	"vault-mcp/cache"
)

// session is somebody who got in. Its cookie is sent with the paths below its own
// alone, which nobody can guess: cookies do not tell ports apart, and another
// program on loopback would be sent it otherwise.
type session struct {
	// name stands in the path, and lets nobody in.
	name string
	// secret is the hash of the cookie, and form what every form has to carry.
	secret, form string
	began        time.Time
	// only is the consent that let them in, or nil for who sees all; and from is from
	// which processes the one descends that has made their code.
	only *consent
	from []cache.Process

	results [][]result // what became of their last answers
	dropped int        // how many older ones are no longer kept
}

const (
	// cookieName is the name of every session's cookie: their paths differ.
	cookieName = "vault-mcp"
	// maxSessions bounds those who are in; the oldest leaves.
	maxSessions = 256
	// maxResults is how many answers of a session are shown again.
	maxResults = 20
)

// secretText is a text that nobody guesses, of 256 bits.
func secretText() string {
	var b [32]byte
	rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// letIn makes a session, and sends who came on to it: to an address that holds
// nothing that lets somebody in.
func (p *Page) letIn(w http.ResponseWriter, r *http.Request, s *session) {
	cookie := secretText()
	s.name, s.secret, s.form, s.began = secretText(), hash(cookie), secretText(), p.now()
	p.mu.Lock()
	if p.sessions == nil {
		p.sessions = map[string]*session{}
	}
	if len(p.sessions) >= maxSessions {
		oldest := s
		for _, other := range p.sessions {
			if !other.began.After(oldest.began) {
				oldest = other
			}
		}
		delete(p.sessions, oldest.name)
	}
	p.sessions[s.name] = s
	p.mu.Unlock()
	http.SetCookie(w, &http.Cookie{Name: cookieName, Value: cookie, Path: s.path(), HttpOnly: true, SameSite: http.SameSiteStrictMode})
	if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" {
		// A link of another page has led here: a browser would not send the cookie with
		// what follows by itself, but does when this page leads on.
		p.show(w, http.StatusOK, "onward", onward{s.path()})
		return
	}
	http.Redirect(w, r, s.path(), http.StatusSeeOther)
}

type onward struct{ Path string }

func (s *session) path() string { return "/s/" + s.name + "/" }

// enter is somebody with a one-time code. A browser that only looks ahead does not
// use it up.
func (p *Page) enter(w http.ResponseWriter, r *http.Request) {
	if !visiting(r) || p.Code == nil || p.Desk == nil {
		p.lost(w, http.StatusForbidden)
		return
	}
	from, ok := p.Code(r.PathValue("code"))
	if !ok {
		p.lost(w, http.StatusForbidden)
		return
	}
	p.letIn(w, r, &session{from: from})
}

// visitor is somebody with the id of a consent.
func (p *Page) visitor(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	c, ok := consent{}, visiting(r)
	if ok {
		c, ok = p.visit(r.Context(), id)
	}
	if ok {
		p.mu.Lock()
		ok = p.first(id)
		p.mu.Unlock()
	}
	if !ok {
		p.lost(w, http.StatusForbidden)
		return
	}
	p.letIn(w, r, &session{only: &c})
}

// visiting reports whether a person opens an address: not a program that asks
// whether it is there, not a browser that fetches it ahead, and not another page
// that holds it in a frame or as a picture.
func visiting(r *http.Request) bool {
	h := r.Header
	mode := h.Get("Sec-Fetch-Dest")
	return r.Method == http.MethodGet && h.Get("Sec-Purpose") == "" && h.Get("Purpose") == "" && (mode == "" || mode == "document")
}

// guarded lets f answer who is in. Others learn how to get in.
func (p *Page) guarded(f func(http.ResponseWriter, *http.Request, *session)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		s := p.sessions[r.PathValue("s")]
		p.mu.Unlock()
		if s == nil || !fromHere(r) || !slices.ContainsFunc(r.CookiesNamed(cookieName), func(c *http.Cookie) bool {
			return subtle.ConstantTimeCompare([]byte(hash(c.Value)), []byte(s.secret)) == 1
		}) {
			p.lost(w, http.StatusForbidden)
			return
		}
		f(w, r, s)
	}
}

// fromHere reports whether a request comes from the page itself or from the
// person, as far as the browser says so.
func fromHere(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site == "" || site == "same-origin" || site == "none" && r.Method != http.MethodPost
}

// posted lets f take a form of this very page, from who is in.
func (p *Page) posted(host string, f func(http.ResponseWriter, *http.Request, *session)) http.HandlerFunc {
	return p.guarded(func(w http.ResponseWriter, r *http.Request, s *session) {
		kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
		if r.Header.Get("Origin") != "http://"+host || strings.TrimSpace(kind) != "application/x-www-form-urlencoded" {
			p.fail(w, http.StatusForbidden, "The answer did not come from this page. Nothing was done.")
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		if err := r.ParseForm(); err != nil {
			p.fail(w, http.StatusBadRequest, "The answer did not come through whole. Nothing was done: go back and answer again.")
			return
		}
		if subtle.ConstantTimeCompare([]byte(r.PostForm.Get("form")), []byte(s.form)) != 1 {
			p.fail(w, http.StatusForbidden, "The answer did not come from this page. Nothing was done.")
			return
		}
		f(w, r, s)
	})
}

// keep keeps what became of answers, and is the number by which the page shows it.
func (p *Page) keep(s *session, list []result) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.results = append(s.results, list)
	if n := len(s.results) - maxResults; n > 0 {
		s.results, s.dropped = s.results[n:], s.dropped+n
	}
	return s.dropped + len(s.results)
}

// kept is what keep has kept under a number, or nil.
func (p *Page) kept(s *session, n int) []result {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := n - s.dropped - 1; i >= 0 && i < len(s.results) {
		return s.results[i]
	}
	return nil
}

// Door is where on a page somebody gets in by a one-time code.
func Door(code string) string { return "/in/" + code }
