package state

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"vault-mcp/hitl"
	"vault-mcp/internal/secrets"
)

const consentID = "QX5OJ7WLRZ3CGA2MTPKN6VDUY4"

var kim = hitl.Party{Tenant: "tenant", User: "kim"}

// consentsIn opens the consents in a folder as a process of its own does, at a
// time.
func consentsIn(t *testing.T, dir string, now *time.Time) (*Store, *hitl.Registry) {
	t.Helper()
	s, err := Open(t.Context(), dir, secrets.NewProcessRing())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if now != nil {
		s.At(func() time.Time { return *now })
	}
	return s, &hitl.Registry{Store: s, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}
}

// consented is a registry in which kim has consented.
func consented(t *testing.T, r *hitl.Registry, id string) {
	t.Helper()
	err := r.Offer(t.Context(), &hitl.Consent{ID: id, Party: kim, Call: "call"})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := r.Answered(t.Context(), kim, id, hitl.Accept); err != nil || got != hitl.RulingPending {
		t.Fatalf("%s, %v", got, err)
	}
}

func complete(t *testing.T, r *hitl.Registry, id, result string) hitl.Ruling {
	t.Helper()
	got, err := r.Complete(t.Context(), kim, id, result)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// The process to which somebody consented is killed. Another one takes the
// evidence, and a third the retry: all is there, and it is applied once.
func TestAConsentOutlivesItsProcess(t *testing.T) {
	const dirName = "STATE_TEST_CONSENTS"
	if dir := os.Getenv(dirName); dir != "" {
		_, r := consentsIn(t, dir, nil)
		consented(t, r, consentID)
		p, err := os.FindProcess(os.Getpid())
		if err == nil {
			if err = p.Kill(); err == nil {
				select {} // until the end
			}
		}
		t.Fatal(err)
	}
	dir := t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), dirName+"="+dir)
	if out, err := cmd.CombinedOutput(); err == nil || len(out) > 0 {
		t.Fatalf("it was not killed: %v\n%s", err, out)
	}
	s, second := consentsIn(t, dir, nil)
	if got, result, err := second.Retry(t.Context(), kim, consentID, "call"); err != nil || got != hitl.RulingRetry || result != "" {
		t.Errorf("%s, %q, %v", got, result, err)
	}
	if got := complete(t, second, consentID, "result"); got != hitl.RulingCompleted {
		t.Error(got)
	}
	s.Close()
	_, third := consentsIn(t, dir, nil)
	for _, want := range []hitl.Ruling{hitl.RulingApply, hitl.RulingApplied} {
		if got, result, err := third.Retry(t.Context(), kim, consentID, "call"); err != nil || got != want || result != "result" {
			t.Errorf("%s, %q, %v, want %s", got, result, err, want)
		}
	}
	c, err := third.Store.FindConsent(t.Context(), consentID)
	if err != nil || c.Party != kim || c.Call != "call" || c.Status != hitl.ConsentApplied || c.Result != "result" ||
		c.Offered.IsZero() || c.Accepted.Before(c.Offered) || c.Finished.Before(c.Accepted) || c.Applied.Before(c.Finished) {
		t.Errorf("%+v, %v", c, err)
	}
}

// However many retries ask at the same time, by several stores, one of them is
// told to apply the result; and of many results one is kept.
func TestOneOfManyAppliesAResult(t *testing.T) {
	dir := t.TempDir()
	var registries []*hitl.Registry
	for range 3 {
		_, r := consentsIn(t, dir, nil)
		registries = append(registries, r)
	}
	consented(t, registries[0], consentID)
	var mu sync.Mutex
	rulings, results := map[hitl.Ruling]int{}, map[string]bool{}
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range 60 {
		wg.Go(func() {
			<-start
			r := registries[i%len(registries)]
			done, err := r.Complete(t.Context(), kim, consentID, fmt.Sprint("result ", i))
			again, result, err2 := r.Retry(t.Context(), kim, consentID, "call")
			if err := errors.Join(err, err2); err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			rulings[done]++
			rulings[again]++
			results[result] = true
		})
	}
	close(start)
	wg.Wait()
	if rulings[hitl.RulingCompleted] != 1 || rulings[hitl.RulingRepeated] != 59 || rulings[hitl.RulingApply] != 1 || rulings[hitl.RulingApplied] != 59 || len(results) != 1 {
		t.Errorf("%v, %v", rulings, results)
	}
}

// A clock that is set back does not give a consent more time, and it has run out
// for another process as well.
func TestAClockSetBackProlongsNoConsent(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	_, r := consentsIn(t, dir, &now)
	consented(t, r, consentID)
	now = now.Add(hitl.ConsentWindow)
	if got := complete(t, r, consentID, "result"); got != hitl.RulingLate {
		t.Error(got)
	}
	back := now.Add(-time.Hour)
	_, other := consentsIn(t, dir, &back)
	if got := complete(t, other, consentID, "result"); got != hitl.RulingLate {
		t.Errorf("%s, with the clock set back", got)
	}
}

// The id in an address lets somebody in, so nothing that is kept holds it.
func TestNoFileHoldsTheIDOfAConsent(t *testing.T) {
	dir := t.TempDir()
	_, r := consentsIn(t, dir, nil)
	consented(t, r, consentID)
	complete(t, r, consentID, "the-result")
	found := false
	for _, name := range []string{"state.db", "state.db-wal"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte(consentID)) {
			t.Errorf("it is in %s", name)
		}
		found = found || bytes.Contains(text, []byte("the-result"))
	}
	if !found {
		t.Error("the consent is in no file that was looked at")
	}
}

// Who tries ids that nobody has does not make the server write.
func TestUnknownConsentsWriteNothing(t *testing.T) {
	dir := t.TempDir()
	_, r := consentsIn(t, dir, nil)
	consented(t, r, consentID)
	before, err := os.ReadFile(filepath.Join(dir, "state.db-wal"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		if got := complete(t, r, fmt.Sprintf("f1c59b3e7a08d24465b0e92c%08x", i), "result"); got != hitl.RulingUnknown {
			t.Fatal(got)
		}
	}
	after, err := os.ReadFile(filepath.Join(dir, "state.db-wal"))
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("%d bytes of log were %d: %v", len(after), len(before), err)
	}
}

// An id is used once, for as long as its consent is kept; then it is forgotten,
// with whatever became of it.
func TestConsentsAreForgottenAfterADay(t *testing.T) {
	now := time.Now()
	s, r := consentsIn(t, t.TempDir(), &now)
	consented(t, r, consentID)
	again := &hitl.Consent{ID: consentID, Party: kim, Call: "other"}
	if err := r.Offer(t.Context(), again); !errors.Is(err, hitl.ErrConsentTaken) {
		t.Errorf("%v", err)
	}
	const otherID = "f1c59b3e7a08d24465b0e92c8d17a3f6"
	now = now.Add(hitl.RequestLife - 1)
	consented(t, r, otherID)
	if _, err := s.FindConsent(t.Context(), consentID); err != nil {
		t.Errorf("it is forgotten too early: %v", err)
	}
	now = now.Add(1)
	consented(t, r, "QX5OJ7WLRZ3CGA2MTPKN6VDUY5")
	if _, err := s.FindConsent(t.Context(), consentID); !errors.Is(err, hitl.ErrNoConsent) {
		t.Errorf("%v", err)
	}
	if _, err := s.FindConsent(t.Context(), otherID); err != nil {
		t.Errorf("one of a moment ago is forgotten: %v", err)
	}
	for _, c := range []hitl.Consent{{ID: "short", Party: kim, Call: "c"}, {ID: consentID, Call: "c"}, {ID: consentID, Party: kim}} {
		if err := r.Offer(t.Context(), &c); err == nil {
			t.Errorf("%+v is kept", c)
		}
	}
}
