package governor

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"vault-mcp/internal/fault"
)

// signer is a ring with one key, as small as a real one can be.
type signer []byte

func (s signer) mac(label string, msg []byte) string {
	m := hmac.New(sha256.New, s)
	m.Write([]byte(label + "\x00"))
	m.Write(msg)
	return "k." + hex.EncodeToString(m.Sum(nil))
}
func (s signer) Sign(label string, msg []byte) string { return s.mac(label, msg) }
func (s signer) Verify(label string, msg []byte, sig string) error {
	if !hmac.Equal([]byte(sig), []byte(s.mac(label, msg))) {
		return errors.New("bad signature")
	}
	return nil
}

var bound = Binding{Caller: "stdio", Vault: "main", Tool: "list_notes", Args: "h"}

func TestCursor(t *testing.T) {
	c := Cursors{signer("key")}
	cur, err := c.Next(bound, map[string]string{"path": "a.md"})
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Path string }
	if err := c.Read(bound, cur, &got); err != nil || got.Path != "a.md" {
		t.Fatalf("got %+v, %v", got, err)
	}
	with := func(f func(*Binding)) Binding { b := bound; f(&b); return b }
	body, sig, _ := strings.Cut(cur, ".")
	forged := base64.RawURLEncoding.EncodeToString([]byte(`{"c":"stdio","v":"main","t":"list_notes","a":"h","e":99999999999,"p":{}}`))
	tests := []struct {
		name, cursor string
		b            Binding
		reason       string
	}{
		{"another caller", cur, with(func(b *Binding) { b.Caller = "cli" }), "foreign"},
		{"another tool", cur, with(func(b *Binding) { b.Tool = "x" }), "request_mismatch"},
		{"another vault", cur, with(func(b *Binding) { b.Vault = "x" }), "request_mismatch"},
		{"other arguments", cur, with(func(b *Binding) { b.Args = "x" }), "request_mismatch"},
		{"forged body", forged + "." + sig, bound, "invalid"},
		{"no signature", body, bound, "invalid"},
		{"altered signature", cur[:len(cur)-1] + "x", bound, "invalid"},
		{"not base64", "§." + sig, bound, "invalid"},
		{"a number", "200", bound, "invalid"},
		{"huge", strings.Repeat("x", 1<<20) + ".k", bound, "invalid"},
	}
	for _, tt := range tests {
		if got := reason(c.Read(tt.b, tt.cursor, &struct{}{})); got != tt.reason {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.reason)
		}
	}
	if got := reason(Cursors{signer("other")}.Read(bound, cur, &struct{}{})); got != "invalid" {
		t.Errorf("another server's key: got %q, want invalid", got)
	}
}

func TestCursorExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := Cursors{signer("key")}
		cur, _ := c.Next(bound, 1)
		time.Sleep(CursorLife - 2*time.Second)
		if err := c.Read(bound, cur, new(int)); err != nil {
			t.Errorf("just before its end: %v", err)
		}
		time.Sleep(2 * time.Second)
		if got := reason(c.Read(bound, cur, new(int))); got != "expired" {
			t.Errorf("after its end: got %q, want expired", got)
		}
	})
}

func reason(err error) string {
	if err == nil {
		return ""
	}
	r, _ := fault.Of(err).Details["reason"].(string)
	return r
}

func TestThrottle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := &Throttle{Limits: map[string]Limit{"read": {PerMinute: 60, Burst: 2}}}
		take := func(caller, class, vault string) error { return th.Take(caller, class, vault) }
		for range 2 {
			if err := take("a", "read", "v"); err != nil {
				t.Fatal(err)
			}
		}
		for range 100 { // refused calls draw nothing
			e := fault.Of(take("a", "read", "v"))
			if e == nil || e.Code != fault.Throttled || e.Details["retry_after_ms"] != int64(1000) {
				t.Fatalf("got %v %v", e, e.Details)
			}
		}
		if err := take("b", "read", "v"); err != nil {
			t.Errorf("another caller shares the bucket: %v", err)
		}
		if err := take("a", "read", "w"); err != nil {
			t.Errorf("another vault shares the bucket: %v", err)
		}
		if err := take("a", "write", "v"); err != nil {
			t.Errorf("a class without a limit: %v", err)
		}
		time.Sleep(time.Second)
		if err := take("a", "read", "v"); err != nil {
			t.Errorf("after the announced wait: %v", err)
		}
	})
}

func FuzzCursor(f *testing.F) {
	c := Cursors{signer("key")}
	good, _ := c.Next(bound, "a.md")
	f.Add(good)
	f.Add("a.b.c")
	f.Fuzz(func(t *testing.T, s string) {
		if c.Read(bound, s, new(string)) != nil {
			return
		}
		// Whatever is taken is to the byte what would be made.
		body, _, _ := strings.Cut(s, ".")
		msg, err := base64.RawURLEncoding.DecodeString(body)
		if err != nil || s != base64.RawURLEncoding.EncodeToString(msg)+"."+signer("key").Sign(cursorLabel, msg) {
			t.Errorf("accepted %q", s)
		}
	})
}
