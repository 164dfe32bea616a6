package page

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"vault-mcp/hitl"
	"vault-mcp/internal/elicit"
)

// asked is a request with the ways to answer it.
type asked struct {
	*hitl.Request
	now     time.Time
	folder  string // of the vault; "" if that is not said
	over    bool   // nothing that the person says counts any more
	approve func(ctx context.Context, choice string) error
	decline func(context.Context) error
}

// open reports whether the request can be answered.
func (a asked) open() bool { return !a.over && (a.Status == hitl.Open || a.Status == hitl.Declined) }

// waiting is what somebody who is in can answer, oldest first, and why some of it
// is left out. Who came with a consent has its request, whatever became of it.
func (p *Page) waiting(ctx context.Context, s *session) (list []asked, wrong []error) {
	if s.only != nil {
		a, err := p.find(ctx, s, s.only.request)
		if err != nil {
			return nil, []error{err}
		}
		return []asked{a}, nil
	}
	defer p.atDesk(s)()
	if err := p.Desk.Look(ctx); err != nil {
		return nil, []error{err}
	}
	found, wrong := p.Desk.Waiting(ctx, hitl.RoutePage)
	for _, f := range found {
		a, err := p.of(ctx, f)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		list = append(list, a)
	}
	return list, wrong
}

// atDesk holds the desk for who is in, until release is called.
func (p *Page) atDesk(s *session) (release func()) {
	p.desk.Lock()
	p.Desk.From = s.from
	return p.desk.Unlock
}

// find is the request with an id, if it is one that somebody who is in may answer.
func (p *Page) find(ctx context.Context, s *session, id string) (asked, error) {
	if c := s.only; c != nil {
		if id != c.request {
			return asked{}, hitl.ErrNoRequest
		}
		r, _, err := c.Requests.Find(ctx, id)
		if err != nil {
			return asked{}, err
		}
		now, err := c.Requests.Now(ctx)
		return asked{r, now, "", !c.waits(ctx, now), c.approve, c.decline}, err
	}
	defer p.atDesk(s)()
	if err := p.Desk.Look(ctx); err != nil {
		return asked{}, err
	}
	f, err := p.Desk.Request(ctx, hitl.RoutePage, id)
	if err != nil {
		return asked{}, err
	}
	return p.of(ctx, f)
}

// of is what the desk has found. The caller holds the desk.
func (p *Page) of(ctx context.Context, f elicit.Found) (asked, error) {
	now, err := f.Requests().Now(ctx)
	return asked{f.Request, now, f.Folder(), false, func(ctx context.Context, choice string) error {
		p.desk.Lock()
		defer p.desk.Unlock()
		return f.Approve(ctx, hitl.RoutePage, choice)
	}, func(ctx context.Context) error {
		p.desk.Lock()
		defer p.desk.Unlock()
		return f.Decline(ctx, hitl.RoutePage)
	}}, err
}

// shown is the fingerprint of all that a person is shown of a request, and of what
// it is bound to: an answer is good for that alone.
func shown(r *hitl.Request) string {
	text, err := json.Marshal([]any{r.ID, r.Bound, r.Floor, r.Summary, r.Undo, r.Notes, r.Preview, r.Candidates, r.Status, r.Expires.UnixNano()})
	if err != nil {
		panic(err) // texts alone
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// item is a request as it is shown.
type item struct {
	ID, Shown                            string
	Tool, Vault, Folder, Caller, Summary string
	// Why says why a person is asked, and Undo whether it can be taken back.
	Why, Undo string
	Notes     []string
	// Age and Left are how old it is, and how long it can be answered; Status is "" as
	// long as nobody has answered.
	Age, Left, Status string
	// Over says that it can no longer be answered.
	Over bool
	Diff diff
	// Cut says that the diff is longer than what is kept of it.
	Cut bool
	// More is how many lines of it only the page of the request itself has.
	More    int
	Choices []choice
	// Gated is false of a question alone.
	Gated bool
}

// choice is a note that can be chosen, by its number.
type choice struct {
	N           int
	Path, About string
}

func itemOf(a asked) item {
	i := item{
		ID: a.ID, Shown: shown(a.Request), Tool: hitl.Display(a.Tool), Vault: hitl.Display(a.Vault), Folder: a.folder, Caller: hitl.Display(a.Caller),
		Summary: hitl.Display(a.Summary), Why: elicit.Why(a.Request), Undo: hitl.Display(a.Undo), Gated: a.Floor != "",
		Age: elicit.Span(a.now.Sub(a.Raised)), Left: elicit.Span(a.Expires.Sub(a.now)), Diff: diffOf(a.Preview), Over: !a.open(),
		Cut: len(a.Preview) >= hitl.MaxPreview,
	}
	switch {
	case i.Over && a.Status == hitl.Open:
		i.Status = sentence(errOver.Error())
	case i.Over:
		i.Status = sentence(became(a.Request))
	case a.Status == hitl.Declined && !a.Route.Person():
		i.Status = "Its client answered decline. You can still approve it."
	case a.Status == hitl.Declined:
		i.Status = "It was declined. You can still approve it."
	}
	for n, k := range a.Candidates {
		i.Choices = append(i.Choices, choice{n + 1, hitl.Display(k.Path), hitl.Display(k.About)})
	}
	if len(i.Choices) == 0 {
		for _, n := range a.Notes {
			i.Notes = append(i.Notes, hitl.Display(n))
		}
	}
	return i
}

// frame is what every page of who is in has.
type frame struct {
	// Form is what every form carries, and One that there is one request alone.
	Form string
	One  bool
	// Here is the page that is shown, and Path where all of them are.
	Here, Path string
}

func frameOf(s *session, here string) frame { return frame{s.form, s.only != nil, here, s.path()} }

// listed is the page of what waits, and of what was declined and can still be
// approved.
type listed struct {
	frame
	Items   []item
	No      []item
	Results []result
	Wrong   []string
	// Several says that there are some to choose from.
	Several bool
}

// listLines is how many lines beyond the first ones the list has, over all requests.
const listLines = 5000

// list shows what waits.
func (p *Page) list(w http.ResponseWriter, r *http.Request, s *session) {
	list, wrong := p.waiting(r.Context(), s)
	v := listed{frame: frameOf(s, "list"), Wrong: told(wrong)}
	for _, a := range list {
		if a.Status == hitl.Declined && !v.One {
			v.No = append(v.No, itemOf(a))
		} else {
			v.Items = append(v.Items, itemOf(a))
		}
	}
	v.Several = len(v.Items) > 1
	left := listLines
	for _, items := range [][]item{v.Items, v.No} {
		for i := range items {
			d := &items[i].Diff
			if n := len(d.Rest); n > left {
				items[i].More, d.Rest = n, nil
			} else {
				left -= n
			}
		}
	}
	if n, err := strconv.Atoi(r.URL.Query().Get("done")); err == nil {
		v.Results = p.kept(s, n)
	}
	p.show(w, http.StatusOK, "list", v)
}

// one shows one request, with all of its diff.
func (p *Page) one(w http.ResponseWriter, r *http.Request, s *session) {
	a, err := p.find(r.Context(), s, r.PathValue("request"))
	if err != nil {
		p.fail(w, http.StatusNotFound, told([]error{err})[0])
		return
	}
	p.show(w, http.StatusOK, "list", listed{frame: frameOf(s, "one"), Items: []item{itemOf(a)}})
}

// told are errors as they are shown, each once.
func told(wrong []error) (list []string) {
	seen := map[string]bool{}
	for _, err := range wrong {
		text := hitl.Text(err.Error())
		if errors.Is(err, hitl.ErrNoRequest) {
			text = "the request is no longer kept"
		}
		if !seen[text] {
			seen[text] = true
			list = append(list, sentence(text))
		}
	}
	return list
}

// news lists by their ids what waits, for the script that says what has changed.
func (p *Page) news(w http.ResponseWriter, r *http.Request, s *session) {
	list, _ := p.waiting(r.Context(), s)
	ids := []string{}
	for _, a := range list {
		if a.open() && (a.Status == hitl.Open || s.only != nil) {
			ids = append(ids, a.ID)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(ids) // who has left reads no more
}
