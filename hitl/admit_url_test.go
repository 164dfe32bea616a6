package hitl

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"
)

const (
	goodID  = "QX5OJ7WLRZ3CGA2MTPKN6VDUY4" // 130 bits in Base32
	otherID = "f1c59b3e7a08d24465b0e92c8d17a3f6"
	own     = "http://127.0.0.1:43117"
)

// origins are where the tests may send somebody. What is badly written in the
// list allows nothing.
var origins = Origins{
	Allowed: []string{
		"https://consent.example.com", "https://other.example.com:8443", "https://xn--bcher-kva.example",
		"http://plain.example.com", "https://dot.example.com.", "https://Upper.example.com", "https://port.example.com:443", "https://user@in.example.com",
	},
	Own: own,
}

// An address is shown only if its origin is allowed letter by letter, and if
// nothing in it is more than its id.
func TestAdmitURL(t *testing.T) {
	const at, id = "https://consent.example.com", goodID
	for _, tt := range []struct {
		what, address string
		want          Reason
	}{
		{"in the query", at + "/approve?id=" + id, ""},
		{"in the path", at + "/approve/" + id, ""},
		{"with a harmless parameter", at + "/approve?lang=en&id=" + id, ""},
		{"no path", at + "?id=" + id, ""},
		{"another port that is allowed", "https://other.example.com:8443/?id=" + id, ""},
		{"another script, as browsers write it", "https://xn--bcher-kva.example/?id=" + id, ""},
		{"its own page", own + "/" + id, ""},

		{"no https", "http://consent.example.com/?id=" + id, notHTTPS},
		{"no https, though it is in the list", "http://plain.example.com/?id=" + id, notHTTPS},
		{"another scheme", "javascript:alert(1)//" + id, notHTTPS},
		{"a file", "file:///" + id, notHTTPS},
		{"without a scheme", "//consent.example.com/" + id, notHTTPS},
		{"nothing", "", noAddress},
		{"too long", at + "/" + id + strings.Repeat("/a", maxAddress), noAddress},
		{"a line end", at + "/\n" + id, noAddress},

		{"a host that begins like it", at + ".attacker.net/?id=" + id, foreignOrigin},
		{"a host that ends like it", "https://evil-consent.example.com/?id=" + id, foreignOrigin},
		{"a host below it", "https://a.consent.example.com/?id=" + id, foreignOrigin},
		{"a host above it", "https://example.com/?id=" + id, foreignOrigin},
		{"somebody before it", "https://me@consent.example.com/?id=" + id, foreignOrigin},
		{"it as somebody", "https://consent.example.com@attacker.net/?id=" + id, foreignOrigin},
		{"it as somebody with a password", "https://consent.example.com:443@attacker.net/?id=" + id, foreignOrigin},
		{"somebody empty", "https://@consent.example.com/?id=" + id, foreignOrigin},
		{"somebody in the list", "https://user@in.example.com/?id=" + id, foreignOrigin},
		{"another port", at + ":8443/?id=" + id, foreignOrigin},
		{"without the port", "https://other.example.com/?id=" + id, foreignOrigin},
		{"the port that goes without saying", at + ":443/?id=" + id, foreignOrigin},
		{"that port in the list", "https://port.example.com:443/?id=" + id, foreignOrigin},
		{"a colon without a port", at + ":/?id=" + id, foreignOrigin},
		{"a dot behind it", at + "./?id=" + id, foreignOrigin},
		{"a dot behind it in the list", "https://dot.example.com./?id=" + id, foreignOrigin},
		{"capitals", "https://Consent.Example.com/?id=" + id, foreignOrigin},
		{"capitals in the list", "https://Upper.example.com/?id=" + id, foreignOrigin},
		{"a scheme in capitals", "HTTPS://consent.example.com/?id=" + id, foreignOrigin},
		{"other letters", "https://cоnsent.example.com/?id=" + id, foreignOrigin},
		{"another script, as people write it", "https://bücher.example/?id=" + id, foreignOrigin},
		{"a dot of another script", "https://consent。example.com/?id=" + id, foreignOrigin},
		{"an encoded host", "https://%63onsent.example.com/?id=" + id, noAddress},
		{"a backslash", `https://consent.example.com\@attacker.net/?id=` + id, noAddress},
		{"no host", "https:///consent.example.com/?id=" + id, foreignOrigin},
		{"one slash", "https:/consent.example.com/?id=" + id, foreignOrigin},
		{"no slash", "https:consent.example.com/?id=" + id, foreignOrigin},

		{"a fragment", at + "/?id=" + id + "#a", superfluous},
		{"an empty fragment", at + "/?id=" + id + "#", superfluous},
		{"the id in the fragment", at + "/#" + id, superfluous},
		{"something encoded", at + "/%61?id=" + id, superfluous},
		{"a semicolon", at + "/;a=b?id=" + id, superfluous},
		{"another question mark", at + "/?a=b?id=" + id, superfluous},
		{"a question mark in a value", at + "/?a=b?c&id=" + id, superfluous},
		{"a value with a value", at + "/?a=b=c&id=" + id, superfluous},
		{"a path that is taken away", at + "/" + id + "/..", superfluous},

		{"a token", at + "/?api_token=a&id=" + id, carriesSecret},
		{"the id as a token", at + "/?token=" + id, carriesSecret},
		{"an apiKey", at + "/?apiKey=a&id=" + id, carriesSecret},
		{"a code", at + "/?code=a&id=" + id, carriesSecret},
		{"a signature", at + "/?sig=a&id=" + id, carriesSecret},
		{"a session", at + "/?session_id=a&id=" + id, carriesSecret},
		{"another id in the query", at + "/?a=" + otherID + "&id=" + id, carriesSecret},
		{"another id in the path", at + "/" + otherID + "?id=" + id, carriesSecret},
		{"another id as a name", at + "/?" + otherID + "&id=" + id, carriesSecret},
		{"another id with a dash", at + "/?a=" + strings.ToUpper(otherID) + "-&id=" + id, carriesSecret},
		{"a credential in small letters", at + "/?a=gh0p3xk9qz7w2m5v8n1b4c6d&id=" + id, carriesSecret},
		{"something long", at + "/" + strings.Repeat("ab-", 22) + "/" + id, carriesSecret},
		{"a JSON Web Token", at + "/?a=eyJhbGciOiJub25lIn0.e30.&id=" + id, carriesSecret},

		{"an address for mail", at + "/?to=me@example.org&id=" + id, aboutPerson},
		{"an address for mail in the path", at + "/me@example.org/?id=" + id, aboutPerson},
		{"an address for mail, encoded", at + "/?to=me%40example.org&id=" + id, aboutPerson},
		{"an address for mail, encoded twice", at + "/?to=me%2540example.org&id=" + id, aboutPerson},
		{"an address for mail in the fragment", at + "/?id=" + id + "#me@example.org", aboutPerson},
		{"a parameter for mail", at + "/?userEmail=a&id=" + id, aboutPerson},
		{"a user", at + "/?user=kim&id=" + id, aboutPerson},
		{"a phone", at + "/?phone=1&id=" + id, aboutPerson},

		{"no id", at + "/approve", notCarried},
		{"the id twice", at + "/" + id + "?id=" + id, notCarried},
		{"the id with more", at + "/?id=" + id + "a", carriesSecret},
		{"the id with a dash", at + "/?id=" + id + "-", carriesSecret},
		{"the id as a name", at + "/?" + id, carriesSecret},

		{"its own page on another port", "http://127.0.0.1:43118/" + id, notHTTPS},
		{"its own page by name", "http://localhost:43117/" + id, notHTTPS},
		{"its own page by another number", "http://127.0.0.2:43117/" + id, notHTTPS},
		{"its own page by a number written otherwise", "http://0x7f.1:43117/" + id, notHTTPS},
		{"its own page with somebody", "http://me@127.0.0.1:43117/" + id, notHTTPS},
		{"more than its port", "http://127.0.0.1:431171/" + id, notHTTPS},
	} {
		t.Run(tt.what, func(t *testing.T) {
			got := AdmitURL(tt.address, id, origins, both)
			if got.Reason != tt.want || got.Admitted != (tt.want == "") || got.Wanted != ModeURL || got.Fallback != ModeNone {
				t.Errorf("%s: %+v, want %q", tt.address, got, tt.want)
			}
		})
	}
}

// Where there is no page of its own, or it does not listen on loopback, nothing
// but https is shown.
func TestOnlyItsOwnListenerIsAnException(t *testing.T) {
	for _, o := range []Origins{
		{}, {Own: "http://192.0.2.7:80"}, {Own: "http://127.0.0.1"}, {Own: "http://localhost:80"}, {Own: "http://evil.example:80"}, {Allowed: []string{"http://127.0.0.1:80"}},
	} {
		for _, address := range []string{"http://192.0.2.7:80/", "http://127.0.0.1:80/", "http://127.0.0.1/", "http://localhost:80/", "http://evil.example:80/"} {
			if got := AdmitURL(address+goodID, goodID, o, both); got.Admitted {
				t.Errorf("%+v: %s is shown", o, address)
			}
		}
	}
	if got := AdmitURL("http://[::1]:80/"+goodID, goodID, Origins{Own: "http://[::1]:80"}, both); !got.Admitted {
		t.Errorf("%+v", got)
	}
}

// Who cannot show an address gets none, and no form in its place.
func TestAnAddressIsNeverAForm(t *testing.T) {
	for _, c := range []Capabilities{{}, {Form: true}} {
		got := AdmitURL("https://consent.example.com/"+goodID, goodID, origins, c)
		if got.Reason != noURL || got.Wanted != ModeURL || got.Fallback != ModeNone {
			t.Errorf("%+v", got)
		}
	}
}

func TestClassOf(t *testing.T) {
	for _, tt := range []struct {
		id   string
		want class
	}{
		{"", noID},
		{"7", short},
		{goodID, opaque},
		{goodID[:25], short},
		{otherID, opaque},
		{strings.ToUpper(otherID), opaque},
		{otherID[:31], short},
		{"q8Zt-Lw3Kx_VbN0rJ5yHcA", opaque},
		{"q8Zt-Lw3Kx_VbN0rJ5yHc", short},
		{"3f2b8c1a-9d4e-4f6a-8b7c-1e2d3c4b5a69", guessable},
		{"3F2b8c1a-9d4e-4f6a-8b7c-1e2d3c4b5a69", guessable},
		{"confirmation-of-request-one", guessable},
		{"request-000000000000000000042", guessable},
		{strings.Repeat("0", 40), guessable},
		{strings.Repeat("Ab", 20), guessable},
		{"q8Zt Lw3Kx VbN0rJ5yHcAAA", guessable},
		{strings.Repeat(goodID, 5), guessable},
	} {
		if got := classOf(tt.id); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.id, got, tt.want)
		}
	}
}

// The error that says that an address has to be opened first is believed by its
// code alone, where it exists, and only if each address may be shown.
func TestAdmitRequired(t *testing.T) {
	entry := func(address, id string) string {
		return `{"mode":"url","url":"` + address + `","elicitationId":"` + id + `","message":"Open it"}`
	}
	good := entry("https://consent.example.com/"+goodID, goodID)
	for _, tt := range []struct {
		what, version string
		code          int
		data          string
		c             Capabilities
		want          Reason
	}{
		{"one", URLRequiredVersion, URLRequired, `{"elicitations":[` + good + `]}`, both, ""},
		{"a generic code", URLRequiredVersion, -32603, `{"elicitations":[` + good + `]}`, both, notRequired},
		{"the version after", "2026-07-28", URLRequired, `{"elicitations":[` + good + `]}`, both, otherEra},
		{"the version before", "2025-06-18", URLRequired, `{"elicitations":[` + good + `]}`, both, otherEra},
		{"none", URLRequiredVersion, URLRequired, `{"elicitations":[]}`, both, notRequired},
		{"no list", URLRequiredVersion, URLRequired, `{}`, both, notRequired},
		{"no data", URLRequiredVersion, URLRequired, ``, both, notRequired},
		{"a form", URLRequiredVersion, URLRequired, `{"elicitations":[{"mode":"form"}]}`, both, notRequired},
		{"a good one and a bad one", URLRequiredVersion, URLRequired, `{"elicitations":[` + good + `,` + entry("https://attacker.net/"+goodID, goodID) + `]}`, both, foreignOrigin},
		{"an id that is none", URLRequiredVersion, URLRequired, `{"elicitations":[` + entry("https://consent.example.com/7", "7") + `]}`, both, noOpaqueID},
		{"no URL mode", URLRequiredVersion, URLRequired, `{"elicitations":[` + good + `]}`, Capabilities{Form: true}, noURL},
	} {
		list, got := AdmitRequired(tt.version, tt.code, json.RawMessage(tt.data), origins, tt.c)
		if got.Reason != tt.want || got.Wanted != ModeURL || got.Fallback != ModeNone || (len(list) == 1) != (tt.want == "") {
			t.Errorf("%s: %v, %+v", tt.what, list, got)
		}
	}
}

func FuzzAdmitURL(f *testing.F) {
	for _, a := range []string{
		"https://consent.example.com/?id=" + goodID, "https://consent.example.com@attacker.net/" + goodID, own + "/" + goodID,
		"https://consent.example.com/?api_token=a&id=" + goodID, `https:\\consent.example.com/`, "https://consent.example.com/%2e%2e/" + goodID, "",
	} {
		f.Add(a, goodID)
	}
	f.Fuzz(func(t *testing.T, address, id string) {
		got := AdmitURL(address, id, origins, both)
		if !slices.Contains(everyReason, got.Reason) || got.Admitted != (got.Reason == "") || got.Wanted != ModeURL || got.Fallback != ModeNone {
			t.Fatalf("%+v", got)
		}
		if AdmitURL(address, id, origins, Capabilities{Form: true}).Admitted {
			t.Fatal("shown by a client that shows no addresses")
		}
		if !got.Admitted {
			return
		}
		u, err := url.Parse(address)
		if err != nil || u.User != nil || u.Fragment != "" || strings.ContainsAny(address, "#@%\\ \t\r\n;") {
			t.Fatalf("%q, %v", address, err)
		}
		if origin := u.Scheme + "://" + u.Host; origin != own && (u.Scheme != "https" || !slices.Contains(origins.Allowed, origin)) {
			t.Fatalf("%q leads to %q", address, origin)
		}
		if !Opaque(id) || strings.Count(address, id) != 1 {
			t.Fatalf("%q, %q", address, id)
		}
		for name := range u.Query() {
			if namesSecret(name) || namesPerson(name) {
				t.Fatalf("%q", address)
			}
		}
	})
}
