// Package secrets owns the key ring of a server: the secrets from which every
// key is derived that signs what a client carries back (request states,
// cursors). It decides where they are kept and who may have them, not what is
// signed.
//
// The ring is secrets/ring.json in the state folder, of mode 0600 in a folder
// of mode 0700. It holds one or several secrets, each with a short id (kid);
// one is current and signs, all of them verify. Keys are derived for a label,
// so that a signature made for one purpose is void for another.
package secrets

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"
)

// What Verify refuses.
var (
	// ErrUnknownKey means that the signing key is not on the ring: it was
	// rotated away, or belongs to another server.
	ErrUnknownKey = errors.New("signed with a key that this server does not have")
	// ErrBadSignature means that the message or its signature was altered, or
	// signed for another purpose.
	ErrBadSignature = errors.New("the signature does not fit")
)

// lookEvery is how often who signs looks whether there is a newer key.
const lookEvery = time.Second

const secretSize = 32

// Ring is a key ring. Its methods may be called by many goroutines at once.
// It does not print its secrets.
type Ring struct {
	path string // empty: in memory only

	mu     sync.Mutex
	keys   keys
	seen   fs.FileInfo // the file whose keys these are; nil if it is not known
	looked time.Time
}

// keys is the content of a ring: its secrets from the oldest to the newest, one
// of them current.
type keys struct {
	current string
	all     []secret
}

// secret is one key of a ring.
type secret struct {
	kid     string
	value   [secretSize]byte
	created time.Time
}

// of is the secret with a kid.
func (ks keys) of(kid string) (value [secretSize]byte, ok bool) {
	for _, s := range ks.all {
		if s.kid == kid {
			return s.value, true
		}
	}
	return value, false
}

// NewProcessRing makes a ring that lives in memory and ends with the process,
// for a server that cannot write a state folder. What it signs is void after
// a restart and in other processes.
func NewProcessRing() *Ring {
	return &Ring{keys: newKeys()}
}

func newKeys() keys {
	k := freshSecret()
	return keys{k.kid, []secret{k}}
}

func freshSecret() secret {
	var id [4]byte
	rand.Read(id[:])
	k := secret{kid: hex.EncodeToString(id[:]), created: time.Now().UTC().Truncate(time.Second)}
	rand.Read(k.value[:])
	return k
}

// Current is the kid of the key that signs now, for the log.
func (r *Ring) Current() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.keys.current
}

// Key is the current key for a label, and its kid. Once a second it looks
// whether another process has rotated.
func (r *Ring) Key(label string) (kid string, key [32]byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := time.Now(); now.Sub(r.looked) >= lookEvery {
		r.looked = now
		r.refresh()
	}
	value, _ := r.keys.of(r.keys.current)
	return r.keys.current, derive(value, label, r.keys.current)
}

// KeyOf is the key for a label under an older or the current kid. For an
// unknown kid it reads the file again if that has changed: another process may
// have rotated. false means that there is no such key.
func (r *Ring) KeyOf(label, kid string) ([32]byte, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	value, ok := r.keys.of(kid)
	if !ok && validKid(kid) {
		r.refresh()
		value, ok = r.keys.of(kid)
	}
	if !ok {
		return [32]byte{}, false
	}
	return derive(value, label, kid), true
}

// refresh reads the file again if it is another one than was read. A ring that
// cannot be read now takes no key away.
func (r *Ring) refresh() {
	if r.path == "" {
		return
	}
	now, err := os.Stat(r.path)
	if err != nil || r.seen != nil && os.SameFile(now, r.seen) && now.ModTime().Equal(r.seen.ModTime()) && now.Size() == r.seen.Size() {
		return
	}
	r.seen = now // what is damaged is not read again and again
	if fresh, err := read(r.path); err == nil {
		r.keys = fresh
	}
}

func derive(value [secretSize]byte, label, kid string) [32]byte {
	key, err := hkdf.Key(sha256.New, value[:], []byte(kid), label, 32)
	if err != nil {
		panic(err) // only for lengths that SHA-256 cannot give
	}
	return [32]byte(key)
}

// Sign signs msg for a label with the current key. The signature is the kid, a
// dot, and the HMAC-SHA256 in base64url without padding.
func (r *Ring) Sign(label string, msg []byte) string {
	kid, key := r.Key(label)
	return signature(kid, key, msg)
}

// Verify checks a signature that Sign made for the same label and message.
// It fails with ErrUnknownKey or ErrBadSignature.
func (r *Ring) Verify(label string, msg []byte, sig string) error {
	kid, _, ok := strings.Cut(sig, ".")
	if !ok || !validKid(kid) {
		return ErrBadSignature
	}
	key, ok := r.KeyOf(label, kid)
	if !ok {
		return ErrUnknownKey
	}
	// Compared as text: each message has one signature, byte for byte.
	if !hmac.Equal([]byte(signature(kid, key, msg)), []byte(sig)) {
		return ErrBadSignature
	}
	return nil
}

func signature(kid string, key [32]byte, msg []byte) string {
	mac := hmac.New(sha256.New, key[:])
	mac.Write(msg)
	return kid + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// validKid keeps what cannot be an id from making the ring read its file.
func validKid(kid string) bool {
	return len(kid) == 8 && strings.Trim(kid, "0123456789abcdef") == ""
}

// String names the ring without its secrets.
func (r *Ring) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return fmt.Sprintf("ring of %d keys, current %s", len(r.keys.all), r.keys.current)
}

// GoString is String: %#v must not print secrets either.
func (r *Ring) GoString() string { return r.String() }
