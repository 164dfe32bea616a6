package page

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"vault-mcp/hitl"
)

// result is what became of one answer.
type result struct {
	// Summary is what the request was about, "" if that is not known.
	Summary, Text string
	Done          bool
}

// answer takes what a person said: of one request by its own button, or of those
// that they have picked.
func (p *Page) answer(w http.ResponseWriter, r *http.Request, s *session) {
	form := r.PostForm
	if form.Has("enter") {
		// Enter in a field presses the first button of a form, which is there for that
		// alone. The browser stays where it is, with all that was picked.
		w.WriteHeader(http.StatusNoContent)
		return
	}
	var ids []string
	approve := false
	switch {
	case form.Has("approve"):
		ids, approve = form["approve"], true
	case form.Has("decline"):
		ids = form["decline"]
	case form.Get("picked") == "approve":
		ids, approve = form["pick"], true
	case form.Get("picked") == "decline":
		ids = form["pick"]
	}
	if len(ids) > hitl.MaxOpen {
		ids = ids[:hitl.MaxOpen]
	}
	var list []result
	for _, id := range ids {
		list = append(list, p.decide(r.Context(), s, id, approve, form))
	}
	if len(list) == 0 {
		list = []result{{Text: "Nothing was picked, so nothing was answered."}}
	}
	http.Redirect(w, r, s.path()+"?done="+strconv.Itoa(p.keep(s, list)), http.StatusSeeOther)
}

// decide keeps the answer to one request, if that is as it was shown.
func (p *Page) decide(ctx context.Context, s *session, id string, approve bool, form url.Values) result {
	a, err := p.find(ctx, s, id)
	if err != nil {
		return result{Text: told([]error{err})[0] + " Nothing was done."}
	}
	res := result{Summary: hitl.Display(a.Summary)}
	if form.Get("shown-"+id) != shown(a.Request) {
		res.Text = sentence(became(a.Request)) + " Nothing was done."
		return res
	}
	choice, done := "", "Approved. A call that waits goes on at once; else the agent has to make it again."
	if approve && len(a.Candidates) > 0 {
		n, err := strconv.Atoi(form.Get("choice-" + id))
		if err != nil || n < 1 || n > len(a.Candidates) {
			res.Text = "Say which note is meant. Nothing was done."
			return res
		}
		choice = a.Candidates[n-1].Path
		done = "Chosen: " + hitl.Display(choice) + ". A call that waits goes on at once; else the agent has to make it again."
	}
	if approve {
		err = a.approve(ctx, choice)
	} else {
		done, err = "Declined. The agent is told to stop.", a.decline(ctx)
	}
	if err != nil {
		if again, e := p.find(ctx, s, id); e == nil && !again.open() && !errors.Is(err, errOver) {
			err = errors.New(became(again.Request))
		}
		res.Text = sentence(hitl.Text(err.Error())) + " Nothing was done."
		return res
	}
	res.Done, res.Text = true, done
	return res
}

// became says why a request is not as it was shown.
func became(r *hitl.Request) string {
	by := where(r.Route)
	switch r.Status {
	case hitl.Approved:
		return "it was approved" + by + " meanwhile"
	case hitl.Used:
		return "it was approved and done meanwhile"
	case hitl.Declined:
		return "it was declined" + by + " meanwhile"
	case hitl.Superseded:
		return "the vault has changed since it was shown, so the call is asked anew"
	case hitl.Abandoned:
		return "it was given up meanwhile"
	case hitl.Expired:
		return "its time is over: the call has to be made again"
	}
	return "it is not as it was shown: look at it again"
}

// where says how a person has answered, with a space before it.
func where(r hitl.Route) string {
	switch r {
	case hitl.RouteCommand:
		return " by vault-mcp elicit"
	case hitl.RouteConsole:
		return " at a console"
	case hitl.RoutePage:
		return " on a page"
	case hitl.RouteState, hitl.RouteShim:
		return " through its client"
	}
	return ""
}

// sentence begins with a capital and ends with a full stop.
func sentence(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToUpper(r)) + strings.TrimSuffix(s[n:], ".") + "."
}
