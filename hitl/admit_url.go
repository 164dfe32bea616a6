package hitl

import (
	"encoding/json"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// The reasons why an address is not sent.
const (
	noURL         Reason = "the client declares no URL mode for this request, and a form is no substitute for an address"
	noAddress     Reason = "it is no address, or one that is too long"
	notHTTPS      Reason = "the address is not https"
	foreignOrigin Reason = "the origin of the address is none of those that are allowed, letter by letter"
	superfluous   Reason = "the address has a fragment, or characters that it has no need of"
	carriesSecret Reason = "the address carries something like a credential"
	aboutPerson   Reason = "the address carries something about a person"
	noOpaqueID    Reason = "the id is not opaque, or has fewer than 128 bits"
	notCarried    Reason = "the address does not carry its id exactly once, and no other"
	notRequired   Reason = "it is not the error that says that an address has to be opened first"
	otherEra      Reason = "this version of the protocol has no such error"
)

// maxAddress bounds an address, in bytes: browsers and clients cut longer ones.
const maxAddress = 2000

// Origins are where a person may be sent. Each is an origin as browsers write
// it: lower case, no port that goes without saying, nothing behind it.
type Origins struct {
	// Allowed are https origins.
	Allowed []string
	// Own is where the page of this very server listens, on loopback; "" if there
	// is none.
	Own string
}

// AdmitURL decides whether an address may be shown to a person: of an origin
// that is allowed, with the given id in it, which tells nothing to who does not
// know it, and with nothing else that must not be seen in a browser's history.
// Whether a form could be shown instead plays no part.
func AdmitURL(address, id string, o Origins, c Capabilities) Admission {
	r := judgeURL(address, id, o)
	if r == "" && !c.URL {
		r = noURL
	}
	return admit(r, ModeURL, c)
}

func judgeURL(address, id string, o Origins) Reason {
	if address == "" || len(address) > maxAddress {
		return noAddress
	}
	u, err := url.Parse(address)
	if err != nil {
		return noAddress
	}
	origin := o.of(u)
	if origin == "" {
		if u.Scheme != "https" {
			return notHTTPS
		}
		return foreignOrigin
	}
	// What is allowed stands there letter by letter, so that no other reader of the
	// address can see another origin in it.
	rest, ok := strings.CutPrefix(address, origin)
	if !ok || rest != "" && rest[0] != '/' && rest[0] != '?' && rest[0] != '#' {
		return foreignOrigin
	}
	if strings.ContainsRune(rest, '@') || strings.Contains(strings.ReplaceAll(rest, "%25", "%"), "%40") {
		return aboutPerson
	}
	if strings.ContainsFunc(rest, func(r rune) bool { return !plainInAddress(r) }) {
		return superfluous
	}
	return judgeRest(rest, id)
}

// of is the allowed origin that an address has, or "".
func (o Origins) of(u *url.URL) string {
	if u.User != nil || u.Opaque != "" {
		return ""
	}
	origin := u.Scheme + "://" + u.Host
	if u.Scheme == "https" && canonicalHost(u) && slices.Contains(o.Allowed, origin) {
		return origin
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && ip.IsLoopback() && ip.Zone() == "" && u.Port() != "" && origin == o.Own {
		return origin
	}
	return ""
}

// canonicalHost reports whether a host is written in the one way that browsers
// write it.
func canonicalHost(u *url.URL) bool {
	host := u.Hostname()
	return host != "" && u.Port() != "443" && !strings.HasSuffix(u.Host, ":") && !strings.HasSuffix(host, ".") &&
		!strings.ContainsFunc(host, func(r rune) bool { return r >= 0x80 || r >= 'A' && r <= 'Z' || r == '%' })
}

// plainInAddress are the characters that nothing has to be decoded for.
func plainInAddress(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-._~/?&=", r)
}

// judgeRest looks at path and query, in which nothing is encoded.
func judgeRest(rest, id string) Reason {
	path, query, _ := strings.Cut(rest, "?")
	if strings.Contains(query, "?") {
		return superfluous
	}
	carried := 0
	judge := func(value string) Reason {
		switch {
		case value == "." || value == "..":
			return superfluous // a browser would take it, and what is before it, away
		case value == id && id != "":
			carried++
		case looksSecret(value):
			return carriesSecret
		}
		return ""
	}
	for segment := range strings.SplitSeq(path, "/") {
		if r := judge(segment); r != "" {
			return r
		}
	}
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		switch {
		case namesSecret(name) || grants(name):
			return carriesSecret
		case namesPerson(name):
			return aboutPerson
		case strings.Contains(value, "="):
			return superfluous
		case looksSecret(name):
			return carriesSecret
		}
		if r := judge(value); r != "" {
			return r
		}
	}
	switch {
	case classOf(id) != opaque:
		return noOpaqueID
	case carried != 1:
		return notCarried
	}
	return ""
}

// granting are names of parameters whose value lets somebody in or through,
// beyond those that name a secret.
var granting = []string{"key", "auth", "authorization", "code", "sig", "signature", "session", "sid", "assertion", "ticket", "login", "cookie", "hmac", "nonce"}

// personal are names of parameters that say who somebody is.
var personal = []string{
	"email", "mail", "phone", "mobile", "tel", "telephone", "fax", "name", "firstname", "lastname", "fullname", "surname", "nickname",
	"user", "username", "account", "person", "customer", "patient", "employee", "dob", "birthday", "birthdate", "birth", "age", "gender", "sex",
	"address", "street", "city", "zip", "postcode", "postal", "passport", "lat", "lon", "lng", "latitude", "longitude", "ip",
}

func grants(name string) bool { return hasWord(name, granting) }

func namesPerson(name string) bool { return hasWord(name, personal) }

func hasWord(name string, list []string) bool {
	return slices.ContainsFunc(wordsOf(name), func(w string) bool { return slices.Contains(list, w) })
}

// looksSecret reports whether a part of an address is long and unreadable, as
// credentials are; the id is the only part that may be.
func looksSecret(part string) bool {
	if len(part) > 64 || strings.HasPrefix(part, "eyJ") { // the start of a JSON Web Token
		return true
	}
	for p := range strings.FieldsFuncSeq(part, func(r rune) bool { return r == '.' || r == '~' }) {
		if classOf(p) == opaque {
			return true
		}
	}
	return slices.ContainsFunc(strings.FieldsFunc(part, func(r rune) bool { return strings.ContainsRune(".~-_", r) }), func(word string) bool {
		return len(word) >= base64Length // no word is as long
	})
}

// class is how much an id gives away.
type class string

const (
	noID      class = "none"
	short     class = "short"
	guessable class = "guessable"
	opaque    class = "opaque"
)

// The alphabets of ids, each in those after it, and how many characters of
// each make 128 bits.
const (
	base16Length = 32
	base32Length = 26
	base64Length = 22
	maxID        = 128
)

// classOf judges an id by its length in the smallest alphabet that holds it. A
// UUID is guessable: six of its bits are known, and of some versions many more.
func classOf(id string) class {
	kinds := map[rune]bool{}
	var lower, upper, digits, others, beyondHex, beyond32 int
	for _, r := range id {
		kinds[r] = true
		switch {
		case r >= '0' && r <= '9':
			digits++
			if r < '2' || r > '7' {
				beyond32++
			}
		case r >= 'a' && r <= 'z':
			lower++
			if r > 'f' {
				beyondHex++
			}
		case r >= 'A' && r <= 'Z':
			upper++
			if r > 'F' {
				beyondHex++
			}
		case r == '-' || r == '_':
			others++
		default:
			return guessable
		}
	}
	need := base64Length
	switch {
	case id == "":
		return noID
	case len(id) > maxID, uuidLike(id):
		return guessable
	case beyondHex == 0 && others == 0 && (lower == 0 || upper == 0):
		need = base16Length
	case lower == 0 && others == 0 && beyond32 == 0:
		need = base32Length
	case len(id) >= need && (lower == 0 || upper == 0):
		return guessable // words with dashes, a number with a prefix
	}
	switch {
	case len(id) < need:
		return short
	case len(kinds) < 8: // of 128 random bits that happens to one in millions
		return guessable
	}
	return opaque
}

func uuidLike(id string) bool {
	return len(id) == 36 && id[8] == '-' && id[13] == '-' && id[18] == '-' && id[23] == '-'
}

// Opaque reports whether an id may stand in an address: at least 128 bits, as
// far as one can see, in hex, Base32 or Base64 for URLs.
func Opaque(id string) bool { return classOf(id) == opaque }

// URLRequired is the JSON-RPC code of "an address has to be opened first", in
// the one version of the protocol that has it.
const (
	URLRequired        = -32042
	URLRequiredVersion = "2025-11-25"
)

// Address is one that a person has to open first.
type Address struct{ URL, ID, Message string }

// AdmitRequired decides whether an error says that addresses have to be opened
// first, and which: by its code, never by fields that look like it, and only if
// each of them may be shown. It holds for what is sent and for what is passed on.
func AdmitRequired(version string, code int, data json.RawMessage, o Origins, c Capabilities) ([]Address, Admission) {
	if code != URLRequired {
		return nil, admit(notRequired, ModeURL, c)
	}
	if version != URLRequiredVersion {
		return nil, admit(otherEra, ModeURL, c)
	}
	list, ok := addressesOf(data)
	if !ok {
		return nil, admit(notRequired, ModeURL, c)
	}
	for _, a := range list {
		if d := AdmitURL(a.URL, a.ID, o, c); !d.Admitted {
			return nil, d
		}
	}
	return list, admit("", ModeURL, c)
}

// addressesOf reads {"elicitations": [{mode, url, elicitationId, message}]}.
func addressesOf(data json.RawMessage) (list []Address, ok bool) {
	members, _ := membersOf(data)
	at := slices.IndexFunc(members, func(m member) bool { return m.name == "elicitations" })
	if at < 0 {
		return nil, false
	}
	items, _ := itemsOf(members[at].value)
	for _, item := range items {
		fields, ok := membersOf(item)
		if !ok {
			return nil, false
		}
		values := map[string]string{}
		for _, f := range fields {
			values[f.name], _ = text(f.value)
		}
		if values["mode"] != string(ModeURL) {
			return nil, false
		}
		list = append(list, Address{values["url"], values["elicitationId"], values["message"]})
	}
	return list, len(list) > 0
}
