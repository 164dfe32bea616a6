package elicit

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"vault-mcp/cache/state"
	"vault-mcp/hitl"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/internal/secrets"
)

// counter is a console over real requests, with a clock that only a test moves.
type counter struct {
	t       *testing.T
	store   *state.Store
	c       *console
	out     bytes.Buffer
	now     time.Time
	flushed int
	n       int
}

func newCounter(t *testing.T) *counter {
	t.Helper()
	dir := t.TempDir()
	keys, err := secrets.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	k := &counter{t: t, now: time.Now()}
	if k.store, err = state.Open(t.Context(), dir, keys); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.store.Close() })
	k.c = &console{ctx: t.Context(), out: &k.out, flush: func() { k.flushed++ }, told: map[string]bool{}}
	return k
}

// raise keeps one more request, which is gated unless it only asks which note is
// meant, and is its id.
func (k *counter) raise(gated bool, candidates ...string) string {
	k.t.Helper()
	k.n++
	r := &hitl.Request{
		Bound:   hitl.Bound{Vault: "main", Tool: "delete_note", Caller: "stdio", Call: fingerprint.Call(fmt.Sprintf("%032x", k.n)), State: "k.1"},
		Summary: fmt.Sprintf("Request %d", k.n), Preview: fmt.Sprintf("-line of %d\n", k.n),
	}
	if gated {
		r.Floor = "it removes something"
	}
	for _, p := range candidates {
		r.Candidates = append(r.Candidates, hitl.Candidate{Path: p, State: "k.2", About: "Remove " + p})
	}
	if err := k.store.Requests().Raise(k.t.Context(), r); err != nil {
		k.t.Fatal(err)
	}
	return r.ID
}

// look is what the console does a few times a second.
func (k *counter) look() {
	k.t.Helper()
	rs, err := k.store.List(k.t.Context())
	if err != nil {
		k.t.Fatal(err)
	}
	var list []Found
	for _, r := range rs {
		list = append(list, Found{&place{store: k.store}, r})
	}
	k.c.update(list, k.now)
}

// pass lets time pass, and the console look.
func (k *counter) pass(d time.Duration) { k.now = k.now.Add(d); k.look() }

// press presses keys one after the other, without waiting.
func (k *counter) press(keys string) {
	k.t.Helper()
	for _, r := range keys {
		if k.c.key(r, k.now) {
			k.t.Fatalf("%q quits", r)
		}
	}
}

// is checks the status of a request, and what was chosen for it.
func (k *counter) is(id string, want hitl.Status, choice string) {
	k.t.Helper()
	r, g, err := k.store.Requests().Find(k.t.Context(), id)
	if err != nil {
		k.t.Fatal(err)
	}
	got := ""
	if g != nil {
		got = g.Choice
	}
	if r.Status != want || got != choice || (want == hitl.Approved) != (g != nil && g.Route == hitl.RouteConsole) {
		k.t.Errorf("%s is %s with %q, not %s with %q; the screen:\n%s", r.Summary, r.Status, got, want, choice, k.out.String())
	}
}

// shows checks that something was shown since it was last called.
func (k *counter) shows(want ...string) {
	k.t.Helper()
	text := k.out.String()
	for _, w := range want {
		if !strings.Contains(text, w) {
			k.t.Errorf("%q is not shown, but\n%s", w, text)
		}
	}
	k.out.Reset()
}

// A key that was meant for the request before does not answer the one that has just
// come before the person.
func TestAKeyThatIsPressedTooSoonAnswersNothing(t *testing.T) {
	k := newCounter(t)
	a, b := k.raise(true), k.raise(true)
	k.look()
	k.shows("Request 1", "(1 more below)")
	k.press("yyn")
	k.pass(guard - 1)
	k.press("y")
	k.is(a, hitl.Open, "")
	if k.flushed != 0 {
		t.Error("the keys count already")
	}
	k.pass(1)
	if k.flushed != 1 {
		t.Error("what was pressed before the keys were shown is not dropped")
	}
	k.press("yyyn") // a key that bounces
	k.is(a, hitl.Approved, "")
	k.is(b, hitl.Open, "")
	k.pass(guard - 1)
	k.press("nyds\r")
	k.is(b, hitl.Open, "")
	k.pass(1)
	k.shows("Request 2", "y approve")
	k.press("n")
	k.is(b, hitl.Declined, "")
	k.shows("declined", "Nothing waits")
	if !k.c.key('q', k.now) || !k.c.key(ctrlC, k.now) {
		t.Error("there is no way out")
	}
}

// What is new queues below; what was skipped comes back when asked for.
func TestRequestsQueueAndAreSkipped(t *testing.T) {
	k := newCounter(t)
	a, b := k.raise(true), k.raise(true)
	k.look()
	k.pass(guard)
	k.shows("Request 1")
	c := k.raise(true)
	k.look()
	k.shows("+ waits below", "Request 3", "y approve")
	k.press("d")
	k.shows("-line of 1")
	k.press("s")
	k.shows("skipped", "Request 2", "(1 more below)")
	k.pass(guard)
	k.press("s")
	k.pass(guard)
	k.press("y")
	k.is(c, hitl.Approved, "")
	k.shows("Request 3", "2 skipped, s shows them again")
	k.press("ynd\r") // nothing has the focus
	k.pass(guard)
	for _, id := range []string{a, b} {
		k.is(id, hitl.Open, "")
	}
	k.press("s")
	k.shows("Request 1", "(1 more below)")
	k.pass(guard)
	k.press("n")
	k.is(a, hitl.Declined, "")
	k.pass(guard)
	k.press("s")
	k.shows("Request 2", "1 skipped")
	// One that is answered elsewhere while it is skipped does not come back.
	if err := k.store.Requests().End(t.Context(), b, hitl.Abandoned, hitl.RouteCommand, "ana", hitl.Open); err != nil {
		t.Fatal(err)
	}
	k.look()
	k.press("s")
	if k.c.focus != nil {
		t.Errorf("in focus: %s", k.c.focus.Summary)
	}
}

// A request that somebody else answers while it has the focus keeps it: the key that
// was meant for it answers nothing else.
func TestARequestIsAnsweredElsewhere(t *testing.T) {
	k := newCounter(t)
	a, b, c := k.raise(true), k.raise(true), k.raise(true)
	k.look()
	k.pass(guard)
	end := func(id string) {
		t.Helper()
		if err := k.store.Requests().End(t.Context(), id, hitl.Abandoned, hitl.RouteCommand, "ana", hitl.Open); err != nil {
			t.Fatal(err)
		}
	}
	end(a)
	end(b) // below
	k.look()
	k.shows("answered elsewhere", "s shows the next one")
	k.press("ynd1")
	k.is(a, hitl.Abandoned, "")
	k.is(c, hitl.Open, "")
	k.press("\r")
	k.shows("Request 3")
	k.pass(guard)
	end(c)
	k.press("y") // before the console has seen it
	k.is(c, hitl.Abandoned, "")
	k.shows("not approved: the request has been answered", "Nothing waits")
	// The last one: nothing is left to go on to.
	d := k.raise(true)
	k.look()
	k.pass(guard)
	end(d)
	k.look()
	k.shows("Request 4", "answered elsewhere", "Nothing waits")
	e := k.raise(true)
	k.look()
	k.press("y")
	k.is(e, hitl.Open, "")
}

func TestANoteIsChosenByItsNumber(t *testing.T) {
	k := newCounter(t)
	odd := "Q/\x1b[2Jb\u202e\nx.md"
	a, b := k.raise(true, "P/a.md", odd), k.raise(true, "P/a.md", "Q/a.md")
	k.look()
	k.press("2")
	k.pass(guard)
	k.shows("1  P/a.md\n", "Remove P/a.md\n", "2  Q/[2Jb x.md\n", "which note is meant, and because it removes something", "1-2 choose, then y approve")
	k.press("y")
	k.shows("Say first which note is meant")
	k.press("30y")
	k.is(a, hitl.Open, "")
	k.press("1")
	k.shows("1  P/a.md", "y approve with 1")
	k.press("2")
	k.shows("y approve with 2")
	k.press("y")
	k.is(a, hitl.Approved, odd)
	k.shows("chosen: Q/[2Jb x.md")
	// What was chosen for one is not chosen for the next.
	k.pass(guard)
	k.press("y")
	k.is(b, hitl.Open, "")
	k.press("1s")
	k.pass(guard)
	k.press("s")
	k.pass(guard)
	k.press("y")
	k.is(b, hitl.Open, "")
	k.press("2n")
	k.is(b, hitl.Declined, "")
}

// Where no approval is needed, the number is the answer.
func TestAQuestionAloneIsAnsweredByANumber(t *testing.T) {
	k := newCounter(t)
	a, b := k.raise(false, "P/a.md", "Q/a.md"), k.raise(false, "P/a.md", "Q/a.md")
	k.look()
	k.press("1")
	k.pass(guard)
	k.shows("you are asked which note is meant\n", "1-2 choose ·")
	k.press("y")
	k.is(a, hitl.Open, "")
	k.press("22")
	k.is(a, hitl.Approved, "Q/a.md")
	k.is(b, hitl.Open, "")
	k.pass(guard)
	k.press("n")
	k.is(b, hitl.Declined, "")
}

// More notes than there are keys: the others are chosen from the list.
func TestMoreNotesThanKeys(t *testing.T) {
	k := newCounter(t)
	var paths []string
	for i := range 12 {
		paths = append(paths, fmt.Sprintf("%d.md", i+1))
	}
	a := k.raise(true, paths...)
	k.look()
	k.pass(guard)
	k.shows(" 12  12.md", "vault-mcp elicit chooses from all", "1-9 choose")
	k.press("12")
	k.shows("y approve with 2")
	k.press("9y")
	k.is(a, hitl.Approved, "9.md")
}

func TestCommandsOfTheList(t *testing.T) {
	for _, tt := range []struct {
		text string
		n    int
		verb byte
		want []int
	}{
		{"y 2", 3, 'y', []int{1}},
		{"y2", 3, 'y', []int{1}},
		{"n 1,3", 3, 'n', []int{0, 2}},
		{"n 3-3 1-2,2", 3, 'n', []int{0, 1, 2}},
		{"d all", 3, 'd', []int{0, 1, 2}},
		{"2", 3, 'd', []int{1}},
		{"all", 2, 'd', []int{0, 1}},
		{"y", 1, 'y', []int{0}},
		{"y", 2, 0, nil},
		{"y 0", 2, 0, nil},
		{"y 3", 2, 0, nil},
		{"y 2-1", 2, 0, nil},
		{"y 1-", 2, 0, nil},
		{"y -1", 2, 0, nil},
		{"y 1 x", 2, 0, nil},
		{"yes", 1, 0, nil},
		{"y 99999999999999999999", 2, 0, nil},
		{",", 1, 0, nil},
	} {
		verb, got, err := command(tt.text, tt.n)
		if verb != tt.verb || !slices.Equal(got, tt.want) || (err != nil) != (tt.want == nil) {
			t.Errorf("%q of %d: %q %v %v", tt.text, tt.n, verb, got, err)
		}
	}
}
