package hitl

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"vault-mcp/internal/fingerprint"
)

// Keys is the key ring of the server.
type Keys interface {
	// Key is the current key for a label, and its kid.
	Key(label string) (kid string, key [32]byte)
	// KeyOf is the key for a label under an older or the current kid.
	KeyOf(label, kid string) (key [32]byte, ok bool)
	// Sign signs a message for a label; the signature begins with the kid and a dot.
	Sign(label string, msg []byte) string
	// Verify checks what Sign made.
	Verify(label string, msg []byte, sig string) error
}

// Labels of the keys.
const (
	stateLabel       = "request state"
	fingerprintLabel = "state fingerprint"
)

// Phases of a request: what the person was asked.
const (
	// phaseConfirm is a yes or no.
	phaseConfirm = "confirm"
	// phaseChoose is which of several notes is meant, with a yes where that is needed.
	phaseChoose = "choose"
	// phaseVisit is a yes or no on the page, to which the person was sent.
	phaseVisit = "visit"
)

// MethodCall is the method of the requests that a state can belong to.
const MethodCall = "tools/call"

const (
	stateVersion = 1
	// stateEra is the protocol since which a request can be answered by a state.
	stateEra = "2026-07-28"
	// maxState bounds a state in bytes; ours have some hundred.
	maxState = 4 << 10
)

// signed is what a requestState says. It authorises nothing.
type signed struct {
	Version int    `json:"v"`
	Kid     string `json:"kid"`
	Request string `json:"rid"`
	Caller  string `json:"caller"`
	Vault   string `json:"vault"`
	Method  string `json:"method"`
	Tool    string `json:"tool"`
	Call    string `json:"call"`
	// State and Candidates are salted: a client can read them.
	State      string `json:"state"`
	Candidates string `json:"candidates"`
	Phase      string `json:"phase"`
	// Consent is the id in the address that was offered; "" with a form.
	Consent string `json:"consent,omitempty"`
	Era     string `json:"era"`
	Offer   int    `json:"offer"`
	Issued  int64  `json:"iat"` // Unix milliseconds
	Expires int64  `json:"exp"` // Unix milliseconds
}

// Why a state is refused.
var (
	errStateAltered = errors.New("altered")
	errStateVoid    = errors.New("void")
)

// encode signs a state.
func (s signed) encode(k Keys) (string, error) {
	s.Version, s.Era, s.Method = stateVersion, stateEra, MethodCall
	s.Kid, _ = k.Key(stateLabel)
	for range 2 { // the ring may turn between the two
		raw, err := json.Marshal(s)
		if err != nil {
			return "", err
		}
		body := base64.RawURLEncoding.EncodeToString(raw)
		sig := k.Sign(stateLabel, []byte(body))
		kid, _, _ := strings.Cut(sig, ".")
		if kid == s.Kid {
			return body + "." + sig, nil
		}
		s.Kid = kid
	}
	return "", errors.New("the key ring turns too fast")
}

// decodeState checks the signature of a state. It fails with errStateAltered, or
// errStateVoid if its key is gone.
func decodeState(k Keys, text string) (s signed, err error) {
	body, sig, ok := strings.Cut(text, ".")
	if !ok || len(text) > maxState {
		return s, errStateAltered
	}
	raw, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil || json.Unmarshal(raw, &s) != nil {
		return s, errStateAltered
	}
	kid, _, _ := strings.Cut(sig, ".")
	if kid != s.Kid {
		return s, errStateAltered
	}
	if k.Verify(stateLabel, []byte(body), sig) == nil {
		if s.Version != stateVersion {
			return s, errStateVoid
		}
		return s, nil
	}
	if _, known := k.KeyOf(stateLabel, kid); !known {
		return s, errStateVoid // rotated away, or another server's: nobody can tell any more
	}
	return s, errStateAltered
}

// foreign says which part of a state is of another call, or "".
func (s signed) foreign(c *Call) string {
	switch {
	case s.Method != MethodCall:
		return "method"
	case s.Era != stateEra:
		return "era"
	case s.Vault != c.Vault:
		return "vault"
	case s.Tool != c.Tool:
		return "tool"
	case s.Caller != c.Caller:
		return "caller"
	case s.Call != string(c.Hash):
		return "arguments"
	case s.Phase != phaseConfirm && s.Phase != phaseChoose && s.Phase != phaseVisit:
		return "phase"
	}
	return ""
}

// late reports whether the state has run out of its time.
func (s signed) late(now time.Time) bool { return now.UnixMilli() >= s.Expires }

// seal is the state that a call is about, under a key of the ring; "" if that
// key is gone.
func seal(k Keys, kid string, parts [][]byte) fingerprint.State {
	key, ok := k.KeyOf(fingerprintLabel, kid)
	if !ok {
		return ""
	}
	return fingerprint.Seal(kid, key[:], parts...)
}

// kidOf is the key that a state was sealed with.
func kidOf(s fingerprint.State) string {
	kid, _, _ := strings.Cut(string(s), ".")
	return kid
}
