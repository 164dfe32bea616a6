package secrets

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A fixed ring: the older secret is 00…1f, the current one ff…ff.
const (
	oldKid    = "0a1b2c3d"
	newKid    = "ffffffff"
	oldSecret = `{"kid":"0a1b2c3d","secret":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"}`
	newSecret = `{"kid":"ffffffff","secret":"__________________________________________8"}`
)

func ringText(current string, keys ...string) string {
	return fmt.Sprintf(`{"version":1,"current":%q,"keys":[%s]}`, current, strings.Join(keys, ","))
}

// fixed opens a ring with that text in a fresh state folder.
func fixed(t *testing.T, text string) (r *Ring, dir string) {
	t.Helper()
	dir = t.TempDir()
	putRing(t, dir, text)
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r, dir
}

func putRing(t *testing.T, dir, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "secrets"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "secrets", "ring.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The values were computed by another implementation of RFC 5869. If they
// change, every request state and cursor in flight becomes void.
func TestDerivationStaysTheSame(t *testing.T) {
	r, _ := fixed(t, ringText(oldKid, oldSecret))
	tests := []struct{ label, key, sig string }{
		{"request-state", "fc8873382b7ddd2822d051988273af20de465bf7b4568031dbf576105e8f69b5", "0a1b2c3d.dT31sHrkoK9TgXitdNYtIWc7rzcRODWM2vQv3GKKuhQ"},
		{"cursor", "8c555ddce63cccf3a9b8c3dda51ac7cca68842fccd61db3ad7b26049ed334138", "0a1b2c3d.pgVa_gFut-cuiAPvo7TZUlfreq6Q-jJWnnfdRjPQ1DQ"},
	}
	for _, tt := range tests {
		kid, key := r.Key(tt.label)
		if got := hex.EncodeToString(key[:]); kid != oldKid || got != tt.key {
			t.Errorf("Key(%q) = %s, %s, want %s, %s", tt.label, kid, got, oldKid, tt.key)
		}
		if got := r.Sign(tt.label, []byte("hello")); got != tt.sig {
			t.Errorf("Sign(%q) = %s, want %s", tt.label, got, tt.sig)
		}
	}
}

func TestOldKeyVerifiesAndNewKeySigns(t *testing.T) {
	before, _ := fixed(t, ringText(oldKid, oldSecret))
	sig := before.Sign("cursor", []byte("m"))
	after, _ := fixed(t, ringText(newKid, oldSecret, newSecret))
	if err := after.Verify("cursor", []byte("m"), sig); err != nil {
		t.Error(err)
	}
	if got := after.Sign("cursor", []byte("m")); !strings.HasPrefix(got, newKid+".") {
		t.Errorf("got %s, want a signature of %s", got, newKid)
	}
}

func TestAlteredMessagesAreRefused(t *testing.T) {
	r, _ := fixed(t, ringText(oldKid, oldSecret))
	sig := r.Sign("cursor", []byte("page 2"))
	tests := []struct {
		name, label, msg, sig string
		want                  error
	}{
		{"as signed", "cursor", "page 2", sig, nil},
		{"another message", "cursor", "page 3", sig, ErrBadSignature},
		{"another purpose", "request-state", "page 2", sig, ErrBadSignature},
		{"another key", "cursor", "page 2", "0000000a" + sig[8:], ErrUnknownKey},
		{"cut", "cursor", "page 2", sig[:len(sig)-1], ErrBadSignature},
		{"a newline inside", "cursor", "page 2", sig[:20] + "\n" + sig[20:], ErrBadSignature},
		{"padded", "cursor", "page 2", sig + "=", ErrBadSignature},
		{"last bits flipped", "cursor", "page 2", sig[:len(sig)-1] + string(sig[len(sig)-1]+1), ErrBadSignature},
		{"a kid in capitals", "cursor", "page 2", strings.ToUpper(sig[:8]) + sig[8:], ErrBadSignature},
		{"a path as kid", "cursor", "page 2", "../../..." + sig[8:], ErrBadSignature},
		{"no dot", "cursor", "page 2", sig[:8], ErrBadSignature},
		{"empty", "cursor", "page 2", "", ErrBadSignature},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := r.Verify(tt.label, []byte(tt.msg), tt.sig); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

func TestRotationByAnotherProcessIsSeen(t *testing.T) {
	r, dir := fixed(t, ringText(oldKid, oldSecret))
	putRing(t, dir, ringText(newKid, oldSecret, newSecret))
	other, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	sig := other.Sign("cursor", []byte("m"))
	if err := r.Verify("cursor", []byte("m"), sig); err != nil {
		t.Errorf("a signature of the other process: %v", err)
	}
	if got := r.Current(); got != newKid {
		t.Errorf("signs with %s, want %s", got, newKid)
	}
}

// A file with the same stamps is taken for the one that was read. What is read
// is seen here by a file that was exchanged under its stamps.
func TestGarbageDoesNotReadTheFileAgainAndAgain(t *testing.T) {
	r, dir := fixed(t, ringText(oldKid, oldSecret))
	if _, ok := r.KeyOf("cursor", "00000000"); ok {
		t.Fatal("found a key that is not there")
	}
	path := filepath.Join(dir, "secrets", "ring.json")
	was, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	exchanged := strings.ReplaceAll(ringText(oldKid, oldSecret), oldKid, newKid)
	if err := errors.Join(os.WriteFile(path, []byte(exchanged), 0o600), os.Chtimes(path, was.ModTime(), was.ModTime())); err != nil {
		t.Fatal(err)
	}
	if _, ok := r.KeyOf("cursor", newKid); ok {
		t.Error("the file was read again")
	}
	later := was.ModTime().Add(time.Second)
	if err := os.Chtimes(path, later, later); err != nil {
		t.Fatal(err)
	}
	if _, ok := r.KeyOf("cursor", "not a kid"); ok || r.Current() != oldKid {
		t.Error("what cannot be a kid made the ring read its file")
	}
	if _, ok := r.KeyOf("cursor", newKid); !ok {
		t.Error("the rotation was not seen")
	}
}

func TestDamageWhileRunningTakesNoKeyAway(t *testing.T) {
	r, dir := fixed(t, ringText(oldKid, oldSecret))
	sig := r.Sign("cursor", []byte("m"))
	putRing(t, dir, "{")
	if _, ok := r.KeyOf("cursor", newKid); ok {
		t.Error("found a key in a damaged file")
	}
	if err := r.Verify("cursor", []byte("m"), sig); err != nil {
		t.Error(err)
	}
}

func TestProcessRing(t *testing.T) {
	r := NewProcessRing()
	if err := r.Verify("cursor", []byte("m"), r.Sign("cursor", []byte("m"))); err != nil {
		t.Error(err)
	}
	if err := NewProcessRing().Verify("cursor", []byte("m"), r.Sign("cursor", []byte("m"))); !errors.Is(err, ErrUnknownKey) {
		t.Errorf("another process: got %v, want %v", err, ErrUnknownKey)
	}
}

func TestPrintingARingShowsNoSecret(t *testing.T) {
	r, _ := fixed(t, ringText(oldKid, oldSecret))
	const want = "ring of 1 keys, current 0a1b2c3d"
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		if got := fmt.Sprintf(format, r); got != want {
			t.Errorf("%s: got %s, want %s", format, got, want)
		}
	}
}
