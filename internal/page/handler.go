package page

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"sync"
)

//go:embed web
var web embed.FS

// pages are the templates, each a whole page. They are parsed when the first one is
// shown: most processes of this program show none.
var pages = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{"count": count}).ParseFS(web, "web/*.html"))
})

// policy is what a browser lets the page do: use its own style and script, and send
// its forms to itself.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// headers hold for every answer. The referrer is for the page itself, as browsers
// hide the origin of a form as well where none is sent.
var headers = map[string]string{
	"Content-Security-Policy": policy, "X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
	"Cache-Control": "no-store", "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
}

// handler answers for the listener at host.
func (p *Page) handler(host string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /in/{code}", p.enter)
	mux.HandleFunc("GET "+Path("{id}"), p.visitor)
	for name, kind := range map[string]string{"style.css": "text/css", "page.js": "text/javascript", "icon.svg": "image/svg+xml"} {
		mux.HandleFunc("GET /"+name, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind+"; charset=utf-8")
			http.ServeFileFS(w, r, web, "web/"+name)
		})
	}
	mux.HandleFunc("GET /s/{s}/{$}", p.guarded(p.list))
	mux.HandleFunc("GET /s/{s}/request/{request}", p.guarded(p.one))
	mux.HandleFunc("GET /s/{s}/news", p.guarded(p.news))
	mux.HandleFunc("GET /s/{s}/history", p.guarded(p.history))
	mux.HandleFunc("GET /s/{s}/change/{change}", p.guarded(p.change))
	mux.HandleFunc("POST /s/{s}/answer", p.posted(host, p.answer))
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) { p.lost(w, http.StatusNotFound) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range headers {
			w.Header().Set(name, value)
		}
		if r.Host != host {
			// Another name that leads here could be that of a page that wants to read this one.
			http.Error(w, "This is not the address of the page.", http.StatusMisdirectedRequest)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// show sends a page.
func (p *Page) show(w http.ResponseWriter, status int, name string, data any) {
	var b bytes.Buffer
	if err := pages().ExecuteTemplate(&b, name+".html", data); err != nil {
		p.Log.Error("the page cannot be shown", "page", name, "err", err)
		http.Error(w, "The page cannot be shown.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // who has left reads no more
}

// lost is for who is not in: how to get in, and nothing else.
func (p *Page) lost(w http.ResponseWriter, status int) {
	p.show(w, status, "lost", struct{ Command bool }{p.Desk != nil})
}

// fail says why nothing was done.
func (p *Page) fail(w http.ResponseWriter, status int, why string) { p.show(w, status, "fail", why) }

// count is a number with what is counted, "s" behind it if it is not one.
func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
