// Package resources serves the files of the vaults as MCP resources, through
// the same stages as the tools.
package resources

import (
	"net/url"
	"strings"

	"vault-mcp/internal/acl"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
)

// Names of the two queries behind the protocol's methods. They are no tools
// that a client could list or call.
const (
	List = "resources_list"
	Read = "resources_read"
)

// Tools are the queries behind resources/list and resources/read.
func Tools(vaults []*acl.View) tools.Domain {
	return tools.Domain{Name: "resources", Hidden: true, Tools: []tools.Tool{list(vaults), read()}}
}

// schemes are the ones that a resource may be named with; the first is the one
// that goes out.
var schemes = []string{"vault://", "obsidian-tc://"}

// URI names a file of a vault.
func URI(vault, path string) string { return schemes[0] + vault + "/" + escape(path) }

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
