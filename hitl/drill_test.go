package hitl

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// drillRevision is the revision of the decisions below, and drillTable the hash
// of their table: whoever changes one decision has to say so here.
const (
	drillRevision = "1"
	drillTable    = "bf0e8871e0850d09"
)

// drill is one case of the consent and retry drill: what has to be decided, and
// whether the protocol or this program's policy says so.
type drill struct {
	n, group, mode, name, kind string
	id                         string // the correlation id, "" where there is none
	want                       string
	run                        func(*desk) string
}

// In the texts of decisions: what is not sent is not sent in another way either.
func deny(r Reason) string { return "deny, fallback none: " + string(r) }

func decided(a Admission) string {
	if a.Admitted {
		return "admit as " + string(a.Wanted)
	}
	return "deny, fallback " + string(a.Fallback) + ": " + string(a.Reason)
}

func formCase(schema, message string, c Capabilities) func(*desk) string {
	return func(*desk) string { return decided(AdmitForm(json.RawMessage(schema), message, c)) }
}

func urlCase(address, id string, c Capabilities) func(*desk) string {
	return func(*desk) string { return decided(AdmitURL(address, id, origins, c)) }
}

func requiredCase(code int, c Capabilities) func(*desk) string {
	return func(*desk) string {
		data := `{"elicitations":[{"mode":"url","url":"` + consentURL + `","elicitationId":"` + goodID + `","message":"Open it"}]}`
		_, a := AdmitRequired(URLRequiredVersion, code, json.RawMessage(data), origins, c)
		return decided(a)
	}
}

func answerCase(raw string) func(*desk) string {
	return func(*desk) string {
		a, err := ParseAnswer(json.RawMessage(raw))
		if err != nil {
			return "reject: " + err.Error()
		}
		switch {
		case a.Content == nil:
			return string(a.Action) + ", no content"
		case strings.Contains(raw, `"content":`+string(a.Content)):
			return string(a.Action) + ", content passed on"
		}
		return string(a.Action) + ", other content"
	}
}

const (
	consentURL = "https://consent.example.com/consent?id=" + goodID
	urlTail    = "/consent?id=" + goodID
	flatForm   = `{"type":"object","properties":{"size":{"type":"string","enum":["s","m"]}},"required":["size"]}`
)

var (
	formOnly = Capabilities{Form: true}
	urlOnly  = Capabilities{URL: true}
	kim      = Party{"tenant", "kim"}
)

var drills = []drill{
	{"1", "capability", "form", "no elicitation capability", "spec", "", deny(noForm), formCase(flatForm, "Which size?", Capabilities{})},
	{"2", "capability", "form", "elicitation negotiated", "spec", "", "admit as form", formCase(flatForm, "Which size?", formOnly)},
	{"3", "capability", "url", "elicitation without url", "spec", goodID, deny(noURL), urlCase(consentURL, goodID, formOnly)},
	{"4", "capability", "url", "url negotiated", "spec", goodID, "admit as url", urlCase(consentURL, goodID, urlOnly)},
	{"5", "schema", "form", "flat object, one required enum", "policy", "", "admit as form", formCase(flatForm, "Which size?", both)},
	{"6", "schema", "form", "nested object property", "policy", "", deny(nested),
		formCase(`{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"string"}}}},"required":["a"]}`, "Where?", both)},
	{"7", "schema", "form", "array property", "policy", "", deny(listed),
		formCase(`{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}},"required":["a"]}`, "Which?", both)},
	{"8", "schema", "form", "credential-like property name", "spec", "", deny(asksSecret),
		formCase(`{"type":"object","properties":{"api_key":{"type":"string"}},"required":["api_key"]}`, "Fill in the form.", both)},
	{"9", "schema", "form", "harmless schema, message asks for a password", "spec", "", deny(asksSecret),
		formCase(`{"type":"object","properties":{"answer":{"type":"string"}},"required":["answer"]}`, "Please enter your password.", both)},
	{"10", "action", "form", "accept with content", "spec", "", "accept, content passed on",
		answerCase(`{"action":"accept","content":{"approve":true,"note_id":"n1"}}`)},
	{"11", "action", "form", "accept without a content object", "policy", "", "reject: the answer is malformed: an accept needs a content object",
		answerCase(`{"action":"accept"}`)},
	{"12", "action", "form", "decline with content attached", "policy", "", "decline, no content", answerCase(`{"action":"decline","content":{"approve":true}}`)},
	{"13", "action", "form", "cancel with content attached", "policy", "", "cancel, no content", answerCase(`{"action":"cancel","content":{"approve":true}}`)},
	{"14", "url", "url", "https origin that is allowed, opaque id", "policy", goodID, "admit as url", urlCase(consentURL, goodID, both)},
	{"15", "url", "url", "plain http", "policy", goodID, deny(notHTTPS), urlCase("http://consent.example.com"+urlTail, goodID, both)},
	{"16", "url", "url", "lookalike origin", "policy", goodID, deny(foreignOrigin), urlCase("https://consent.example.com.attacker.net"+urlTail, goodID, both)},
	{"17", "url", "url", "api_token query parameter", "spec", goodID, deny(carriesSecret), urlCase(consentURL+"&api_token=a", goodID, both)},
	{"18", "url", "url", "one-character correlation id", "policy", "x", deny(noOpaqueID), urlCase("https://consent.example.com/?id=x", "x", both)},
	{"19", "action", "url", "accept", "spec", goodID, "consent_pending; pending, no result", func(d *desk) string {
		return d.consent(`{"action":"accept"}`) + "; " + d.row()
	}},
	{"20", "completion", "url", "matching, same user, in the window", "policy", goodID, "completed; finished, result r1", func(d *desk) string {
		d.consent(`{"action":"accept"}`)
		d.now = d.now.Add(ConsentWindow - 1)
		return d.complete(kim, goodID, "r1") + "; " + d.row()
	}},
	{"21", "completion", "url", "the same again", "policy", goodID, "ignored_repeated; finished, result r1; 1000 in 10 lines", func(d *desk) string {
		d.consent(`{"action":"accept"}`)
		d.complete(kim, goodID, "r1")
		last := ""
		for i := range 1000 {
			last = d.complete(kim, goodID, fmt.Sprint("r", i+2))
		}
		return last + "; " + d.row() + fmt.Sprintf("; 1000 in %d lines", d.lines("ignored_repeated"))
	}},
	{"22", "completion", "url", "unknown id", "policy", otherID, "ignored_unknown; pending, no result; 1000 in 10 lines", func(d *desk) string {
		d.consent(`{"action":"accept"}`)
		last := ""
		for i := range 1000 {
			last = d.complete(kim, fmt.Sprintf("%s%08x", otherID[:24], i), "r1")
		}
		return last + "; " + d.row() + fmt.Sprintf("; 1000 in %d lines", d.lines("ignored_unknown"))
	}},
	{"23", "completion", "url", "another user", "policy", goodID, "denied_foreign; pending, no result; 1 security signals", func(d *desk) string {
		d.consent(`{"action":"accept"}`)
		return d.complete(Party{"tenant", "eve"}, goodID, "r1") + "; " + d.row() + fmt.Sprintf("; %d security signals", d.signals())
	}},
	{"24", "completion", "url", "after 15 minutes", "policy", goodID, "denied_expired; pending, no result", func(d *desk) string {
		d.consent(`{"action":"accept"}`)
		d.now = d.now.Add(ConsentWindow)
		return d.complete(kim, goodID, "r1") + "; " + d.row()
	}},
	{"25", "loss", "url", "the user says done, nothing arrived", "policy", goodID, "retry_required; pending, no result", func(d *desk) string {
		d.consent(`{"action":"accept"}`)
		return d.retry() + "; " + d.row()
	}},
	{"26", "loss", "url", "retry with the same id", "policy", goodID, "retry_required; apply r1; applied, result r1", func(d *desk) string {
		d.consent(`{"action":"accept"}`)
		before := d.retry()
		d.complete(kim, goodID, "r1")
		return before + "; " + d.retry() + "; " + d.row()
	}},
	{"27", "-32042", "url", "code with a valid URL and an opaque id", "spec", goodID, "admit as url", requiredCase(-32042, both)},
	{"28", "-32042", "url", "a generic internal code with the same fields", "spec", goodID, deny(notRequired), requiredCase(-32603, both)},

	{"+1", "completion", "url", "another tenant", "policy", goodID, "denied_foreign; pending, no result; 1 security signals", func(d *desk) string {
		d.consent(`{"action":"accept"}`)
		return d.complete(Party{"other", "kim"}, goodID, "r1") + "; " + d.row() + fmt.Sprintf("; %d security signals", d.signals())
	}},
	{"+2", "completion", "url", "abandoned by the user, then completed", "policy", goodID, "abandoned; abandoned; abandoned, no result; abandoned", func(d *desk) string {
		d.consent(`{"action":"accept"}`)
		r, err := d.registry.Abandon(d.ctx, kim, goodID)
		return d.ruling(r, err) + "; " + d.complete(kim, goodID, "r1") + "; " + d.row() + "; " + d.retry()
	}},
	{"+3", "loss", "url", "a second retry after completion", "policy", goodID, "apply r1; already_applied r1; already_applied r1; applied, result r1", func(d *desk) string {
		d.consent(`{"action":"accept"}`)
		d.complete(kim, goodID, "r1")
		return d.retry() + "; " + d.retry() + "; " + d.retry() + "; " + d.row()
	}},
	{"+4", "loss", "url", "retry after expiry", "policy", goodID, "denied_expired; pending, no result", func(d *desk) string {
		d.consent(`{"action":"accept"}`)
		d.now = d.now.Add(ConsentWindow)
		return d.retry() + "; " + d.row()
	}},
	{"+5", "loss", "url", "retry after the window, of what finished within it", "policy", goodID, "apply r1; applied, result r1", func(d *desk) string {
		d.consent(`{"action":"accept"}`)
		d.complete(kim, goodID, "r1")
		d.now = d.now.Add(time.Hour)
		return d.retry() + "; " + d.row()
	}},
	{"+6", "action", "url", "accept that carries content", "policy", goodID, "consent_pending; pending, no result", func(d *desk) string {
		return d.consent(`{"action":"accept","content":{"approve":true}}`) + "; " + d.row()
	}},
	{"+7", "action", "url", "a second accept", "policy", goodID, "consent_pending; denied_expired", func(d *desk) string {
		d.consent(`{"action":"accept"}`)
		d.now = d.now.Add(ConsentWindow - 1)
		again := d.answer(`{"action":"accept"}`)
		d.now = d.now.Add(1)
		return again + "; " + d.complete(kim, goodID, "r1")
	}},
	{"+8", "completion", "url", "without consent", "policy", goodID, "denied_unproven; offered, no result", func(d *desk) string {
		d.offer()
		return d.complete(kim, goodID, "r1") + "; " + d.row()
	}},
	{"+9", "action", "url", "decline, then accept", "policy", goodID, "declined; declined; declined, no result; 1 line", func(d *desk) string {
		return d.consent(`{"action":"decline"}`) + "; " + d.answer(`{"action":"accept"}`) + "; " + d.row() + fmt.Sprintf("; %d line", d.lines("declined"))
	}},
	{"+10", "loss", "url", "retry of another call", "policy", goodID, "denied_foreign; finished, result r1", func(d *desk) string {
		d.consent(`{"action":"accept"}`)
		d.complete(kim, goodID, "r1")
		r, _, err := d.registry.Retry(d.ctx, kim, goodID, "another call")
		return d.ruling(r, err) + "; " + d.row()
	}},
	{"+11", "action", "url", "cancel, then accept", "policy", goodID, "offered; consent_pending", func(d *desk) string {
		return d.consent(`{"action":"cancel"}`) + "; " + d.answer(`{"action":"accept"}`)
	}},
	{"+12", "action", "url", "accept in the last moment of a day", "policy", goodID, "consent_pending", func(d *desk) string {
		d.offer()
		d.now = d.now.Add(RequestLife - 1)
		return d.answer(`{"action":"accept"}`)
	}},
	{"+13", "action", "url", "accept after a day", "policy", goodID, "denied_expired; offered, no result", func(d *desk) string {
		d.offer()
		d.now = d.now.Add(RequestLife)
		return d.answer(`{"action":"accept"}`) + "; " + d.row()
	}},
	{"+14", "completion", "url", "evidence without a result", "policy", goodID, "denied_unproven; denied_unproven; pending, no result", func(d *desk) string {
		d.consent(`{"action":"accept"}`)
		return d.complete(kim, goodID, "") + "; " + d.complete(kim, goodID, strings.Repeat("r", maxResult+1)) + "; " + d.row()
	}},
	{"+15", "completion", "url", "abandoned after it finished", "policy", goodID, "completed; apply r1", func(d *desk) string {
		d.consent(`{"action":"accept"}`)
		d.complete(kim, goodID, "r1")
		r, err := d.registry.Abandon(d.ctx, kim, goodID)
		return d.ruling(r, err) + "; " + d.retry()
	}},
	{"+16", "url", "url", "userinfo", "policy", goodID, deny(foreignOrigin), urlCase("https://consent.example.com@attacker.net"+urlTail, goodID, both)},
	{"+17", "url", "url", "another port", "policy", goodID, deny(foreignOrigin), urlCase("https://consent.example.com:8443"+urlTail, goodID, both)},
	{"+18", "url", "url", "fragment", "policy", goodID, deny(superfluous), urlCase(consentURL+"#a", goodID, both)},
	{"+19", "url", "url", "trailing dot", "policy", goodID, deny(foreignOrigin), urlCase("https://consent.example.com."+urlTail, goodID, both)},
	{"+20", "url", "url", "IDNA lookalike", "policy", goodID, deny(foreignOrigin), urlCase("https://cоnsent.example.com"+urlTail, goodID, both)},
	{"+21", "url", "url", "case of the host", "policy", goodID, deny(foreignOrigin), urlCase("https://Consent.example.com"+urlTail, goodID, both)},
	{"+22", "url", "url", "case of the scheme", "policy", goodID, deny(foreignOrigin), urlCase("HTTPS://consent.example.com"+urlTail, goodID, both)},
	{"+23", "url", "url", "e-mail address", "policy", goodID, deny(aboutPerson), urlCase(consentURL+"&to=kim%40example.org", goodID, both)},
	{"+24", "-32042", "url", "without url negotiated, an understandable refusal", "spec", goodID,
		"deny, fallback none: the client declares no URL mode for this request, and a form is no substitute for an address", requiredCase(-32042, formOnly)},
	{"+25", "completion", "url", "a restart between consent and completion", "policy", goodID, "retry_required; completed; apply r1; already_applied r1", func(d *desk) string {
		d.consent(`{"action":"accept"}`)
		d.restart()
		before := d.retry()
		d.restart()
		done := d.complete(kim, goodID, "r1")
		d.restart()
		first := d.retry()
		d.restart()
		return before + "; " + done + "; " + first + "; " + d.retry()
	}},
}

// The 28 cases and those beyond them are decided exactly so. The ledger tells
// what was decided, and nothing that anybody wrote.
func TestDrill(t *testing.T) {
	h := sha256.New()
	for _, d := range drills {
		fmt.Fprintf(h, "%q\n", []string{d.n, d.group, d.mode, d.name, d.kind, d.id, d.want})
	}
	sum := hex.EncodeToString(h.Sum(nil))
	if sum[:len(drillTable)] != drillTable {
		t.Errorf("the table is %s, but revision %s has %s: a decision was changed without saying so", sum[:len(drillTable)], drillRevision, drillTable)
	}
	matched, more := 0, 0
	for _, d := range drills {
		if d.kind != "spec" && d.kind != "policy" {
			t.Errorf("%s: neither spec nor policy", d.n)
		}
		actual := d.run(newDesk(t))
		line, err := json.Marshal(struct {
			ID       string `json:"id"`
			Mode     string `json:"mode"`
			Kind     string `json:"kind"`
			Expected string `json:"expected"`
			Actual   string `json:"actual"`
			Match    bool   `json:"match"`
			IDClass  string `json:"id_class"`
			Policy   string `json:"policy_revision"`
			Table    string `json:"table_sha256"`
		}{d.n, d.mode, d.kind, d.want, actual, actual == d.want, string(classOf(d.id)), drillRevision, sum})
		if err != nil {
			t.Fatal(err)
		}
		t.Log(string(line))
		switch {
		case actual != d.want:
			t.Errorf("%s, %s: %s, want %s", d.n, d.name, actual, d.want)
		case strings.HasPrefix(d.n, "+"):
			more++
		default:
			matched++
		}
	}
	if matched != 28 || more != len(drills)-28 || more < 14 {
		t.Errorf("%d of 28, and %d of %d others", matched, more, len(drills)-28)
	}
}

// desk is a registry on a file, with a clock of its own.
type desk struct {
	t        *testing.T
	ctx      context.Context
	file     string
	now      time.Time
	log      bytes.Buffer
	registry *Registry
}

func newDesk(t *testing.T) *desk {
	d := &desk{t: t, ctx: t.Context(), file: filepath.Join(t.TempDir(), "consents.json"), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	d.restart()
	return d
}

// restart forgets everything that is not in the file.
func (d *desk) restart() {
	d.registry = &Registry{Store: &consentFile{path: d.file, clock: func() time.Time { return d.now }}, Log: slog.New(slog.NewTextHandler(&d.log, nil))}
}

func (d *desk) ruling(r Ruling, err error) string {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
	return string(r)
}

func (d *desk) offer() {
	d.t.Helper()
	if err := d.registry.Offer(d.ctx, &Consent{ID: goodID, Party: kim, Call: "call"}); err != nil {
		d.t.Fatal(err)
	}
}

// consent offers the address and gives the answer to it.
func (d *desk) consent(raw string) string {
	d.t.Helper()
	d.offer()
	return d.answer(raw)
}

func (d *desk) answer(raw string) string {
	d.t.Helper()
	a, err := ParseConsent(json.RawMessage(raw))
	if err != nil {
		d.t.Fatal(err)
	}
	r, err := d.registry.Answered(d.ctx, kim, goodID, a)
	return d.ruling(r, err)
}

func (d *desk) complete(who Party, id, result string) string {
	d.t.Helper()
	r, err := d.registry.Complete(d.ctx, who, id, result)
	return d.ruling(r, err)
}

func (d *desk) retry() string {
	d.t.Helper()
	r, result, err := d.registry.Retry(d.ctx, kim, goodID, "call")
	return strings.TrimSpace(d.ruling(r, err) + " " + result)
}

// row is what is kept, told by what the registry answers.
func (d *desk) row() string {
	d.t.Helper()
	c, err := d.registry.Store.FindConsent(d.ctx, goodID)
	if err != nil || c.Party != kim || c.Call != "call" || c.Offered.IsZero() {
		d.t.Fatalf("%+v, %v", c, err)
	}
	if (c.Result != "") != !c.Finished.IsZero() || (c.Status == ConsentApplied) != !c.Applied.IsZero() {
		d.t.Fatalf("%+v", c)
	}
	if c.Result == "" {
		return string(c.Status) + ", no result"
	}
	return string(c.Status) + ", result " + c.Result
}

// lines are how many lines the log has about a ruling. No line may hold an id.
func (d *desk) lines(about string) int {
	d.t.Helper()
	if s := d.log.String(); strings.Contains(s, goodID) || strings.Contains(s, otherID[:24]) {
		d.t.Error("an id is in the log")
	}
	return strings.Count(d.log.String(), "ruling="+about)
}

func (d *desk) signals() int {
	d.lines("")
	return strings.Count(d.log.String(), "level=WARN msg=\"consent not taken\" ruling=denied_foreign count=1 security=true")
}

// consentFile keeps consents in a file, for tests of what is decided about them.
// What the server uses is in cache/state.
type consentFile struct {
	path  string
	clock func() time.Time
	mu    sync.Mutex
}

func (f *consentFile) change(do func(map[string]*Consent) (keep bool, err error)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := map[string]*Consent{}
	text, err := os.ReadFile(f.path)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if keep, err := do(all); err != nil || !keep {
		return err
	}
	if text, err = json.Marshal(all); err != nil {
		return err
	}
	return os.WriteFile(f.path, text, 0o600)
}

func (f *consentFile) OfferConsent(_ context.Context, c *Consent) error {
	return f.change(func(all map[string]*Consent) (bool, error) {
		if all[c.ID] != nil {
			return false, ErrConsentTaken
		}
		c.Offered = f.clock()
		all[c.ID] = c
		return true, nil
	})
}

func (f *consentFile) ChangeConsent(_ context.Context, id string, do func(*Consent, time.Time) bool) error {
	return f.change(func(all map[string]*Consent) (bool, error) {
		c := all[id]
		if c == nil {
			return false, ErrNoConsent
		}
		return do(c, f.clock()), nil
	})
}

func (f *consentFile) FindConsent(_ context.Context, id string) (c *Consent, err error) {
	err = f.change(func(all map[string]*Consent) (bool, error) {
		if c = all[id]; c == nil {
			return false, ErrNoConsent
		}
		return false, nil
	})
	return c, err
}
