// Package uri owns how a file of a vault is named from outside: as the URI of a
// resource.
package uri

import (
	"net/url"
	"strings"

	"vault-mcp/internal/fault"
)

// Template is how the URIs of resources look (RFC 6570). What stands for path is
// the vault's id and the file's path, not encoded: expanding it does that.
const Template = schemeOut + "{+path}"

// Variable is the one of Template.
const Variable = "path"

const schemeOut = "vault://"

// schemes are the ones that a resource may be named with; the first is the one
// that goes out.
var schemes = []string{schemeOut, "obsidian-tc://"}

// Of names a file of a vault.
func Of(vault, path string) string { return schemeOut + vault + "/" + escape(path) }

// escape percent-encodes everything but unreserved characters and slashes (RFC
// 3986 section 2.3).
func escape(path string) string {
	const hexDigits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(path) {
		c := path[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-._~/", c) >= 0:
			b.WriteByte(c)
		default:
			b.Write([]byte{'%', hexDigits[c>>4], hexDigits[c&15]})
		}
	}
	return b.String()
}

// Parse takes a resource's URI apart. It is lenient with characters that
// should have been percent-encoded. What is no URI of a vault's file is
// note_not_found.
func Parse(uri string) (vault, path string, err error) {
	for _, s := range schemes {
		if len(uri) < len(s) || !strings.EqualFold(uri[:len(s)], s) {
			continue
		}
		id, rest, ok := strings.Cut(uri[len(s):], "/")
		if !ok || rest == "" {
			break
		}
		p, err := url.PathUnescape(rest)
		if err != nil {
			break
		}
		return id, p, nil
	}
	return "", "", fault.New(fault.NoteNotFound, "There is no resource %.200q.", uri)
}

// IsTemplate reports whether a client means Template, also by the other scheme.
func IsTemplate(s string) bool {
	for _, scheme := range schemes {
		if s == scheme+strings.TrimPrefix(Template, schemeOut) {
			return true
		}
	}
	return false
}
