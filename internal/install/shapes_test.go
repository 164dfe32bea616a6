package install

import (
	"fmt"
	"strings"

	"vault-mcp/internal/clients"
)

// shape is a file as somebody may have it before our entry comes.
type shape struct {
	name string
	text string // KEY stands for the client's name of the list
	// needs is the syntax that the text is in; a stricter client refuses it.
	needs clients.Syntax
	// want is what the first install does: Added if it is "", or "refused".
	want   Outcome
	absent bool // there is no file
	mode   uint32
	link   bool // the path is a link to the file
}

// refused stands for an error; the file stays as it is.
const refused Outcome = "refused"

const other = `"git": {"command": "/usr/bin/git-mcp", "args": ["--root", "/srv/a b"], "env": {"A": "1"}}`

// olderJSON is an entry of ours from before, with more keys of a person's own.
func olderJSON(more string) string {
	return `{"KEY": {"vault": {"command": "/old/place/vault-mcp", "args": ["serve", "/home/ana/Notes"]` + more + `}, ` + other + `}, "theme": "dark"}`
}

const pretty = `{
  "theme": "dark",
  "KEY": {
    "git": {
      "command": "/usr/bin/git-mcp",
      "args": [
        "--root"
      ]
    }
  },
  "zoom": 1.50,
  "big": 12345678901234567890
}
`

// indented is pretty with another indentation.
func indented(by string) string {
	var b strings.Builder
	for line := range strings.Lines(pretty) {
		rest := strings.TrimLeft(line, " ")
		b.WriteString(strings.Repeat(by, (len(line)-len(rest))/2) + rest)
	}
	return b.String()
}

func crlf(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }

func huge() string {
	var b strings.Builder
	b.WriteString("{\n  \"projects\": {\n")
	for i := range 500 {
		fmt.Fprintf(&b, "    \"/home/ana/p%d\": {\"history\": [\"a\", \"KEY\"], \"KEY\": {\"vault\": {\"command\": \"x\"}}},\n", i)
	}
	b.WriteString("    \"last\": {}\n  },\n  \"KEY\": {\n    " + other + "\n  }\n}\n")
	return b.String()
}

// jsonShapes are for clients that read JSON of some kind.
func jsonShapes() []shape {
	return []shape{
		{name: "no file", absent: true},
		{name: "empty file", text: ""},
		{name: "blanks alone", text: " \n\n"},
		{name: "CRLF alone", text: "\r\n"},
		{name: "BOM alone", text: clients.BOM},
		{name: "empty object", text: "{}"},
		{name: "empty object, newline", text: "{}\n"},
		{name: "empty object, blanks within", text: "{ }\n"},
		{name: "empty object over lines", text: "{\n\n}\n"},
		{name: "no list", text: "{\n  \"theme\": \"dark\"\n}\n"},
		{name: "no list, on one line", text: `{"theme": "dark"}`},
		{name: "no list, tight", text: `{"theme":"dark","n":[1,2]}`},
		{name: "null list", text: "{\n  \"KEY\": null,\n  \"theme\": \"dark\"\n}\n"},
		{name: "null list, on one line", text: `{"KEY":null}`},
		{name: "empty list", text: "{\n  \"KEY\": {}\n}\n"},
		{name: "empty list over lines", text: "{\n  \"KEY\": {\n  },\n  \"a\": 1\n}\n"},
		{name: "empty list, on one line", text: `{"KEY": {}, "theme": "dark"}`},
		{name: "others, on one line", text: `{"KEY": {` + other + `}, "theme": "dark"}`},
		{name: "others, tight", text: `{"KEY":{"git":{"command":"g","args":[]}},"z":0}`},
		{name: "others, two spaces", text: pretty},
		{name: "others, tabs", text: indented("\t")},
		{name: "others, three spaces", text: indented("   ")},
		{name: "others, no indentation", text: indented("")},
		{name: "others, CRLF", text: crlf(pretty)},
		{name: "others, CRLF and tabs", text: crlf(indented("\t"))},
		{name: "others, BOM", text: clients.BOM + pretty},
		{name: "others, BOM and CRLF", text: clients.BOM + crlf(pretty)},
		{name: "others, no newline at the end", text: strings.TrimSpace(pretty)},
		{name: "others, blank lines", text: strings.ReplaceAll(pretty, "{\n", "{\n\n")},
		{name: "others, blanks at line ends", text: strings.ReplaceAll(pretty, ",\n", ",  \n")},
		{name: "others, mixed line ends", text: strings.Replace(pretty, "\n", "\r\n", 3)},
		{name: "comma first", text: "{ \"theme\": \"dark\"\n, \"KEY\":\n  { \"git\": {\"command\": \"g\"}\n  , \"b\": {\"command\": \"b\"}\n  }\n}\n"},
		{name: "brace on its own line", text: "{\n  \"KEY\":\n  {\n    " + other + "\n  }\n}\n"},
		{name: "the list first", text: "{\"KEY\": {\n    " + other + "},\n \"theme\": 1}\n"},
		{name: "the list last of many", text: "{\n \"a\": {\"b\": {\"KEY\": {}}},\n \"KEY\": {\n  " + other + "\n }}"},
		{name: "the key elsewhere", text: "{\n  \"x\": {\"KEY\": {\"vault\": {\"command\": \"y\"}}},\n  \"s\": \"\\\"KEY\\\": {}\"\n}\n"},
		{name: "Unicode", text: "{\n  \"naïve 日本\": \"\\u00e9 😀\",\n  \"KEY\": {\n    \"größe\": {\"command\": \"/ü\"}\n  }\n}\n"},
		{name: "escaped key", text: strings.ReplaceAll("{\n  \"KEY\": {\n    \"a\\/b\": {\"command\": \"c\"}\n  }\n}\n", "KEY", "\\u00"+"4bEY")},
		{name: "huge", text: huge()},
		{name: "deep", text: `{"a": ` + strings.Repeat(`{"a": [`, 100) + strings.Repeat(`]}`, 100) + `, "KEY": {` + other + `}}`},
		{name: "read-only", text: pretty, mode: 0o444},
		{name: "for this account alone", text: pretty, mode: 0o600},
		{name: "for the group", text: pretty, mode: 0o664},
		{name: "a link", text: pretty, link: true},
		{name: "a near name", text: `{"KEY": {"vault2": {"command": "a"}, "Vault": {"command": "b"}}}`},

		{name: "older entry", text: olderJSON(""), want: Updated},
		{name: "older entry, own keys", text: olderJSON(`, "env": {"LANG": "C"}, "timeout": 5000, "disabled": true`), want: Updated},
		{name: "older entry without serve", text: `{"KEY": {"vault": {"args": ["/home/ana/Notes"], "command": "C:\\Tools\\vault-mcp.exe"}}}`, want: Updated},
		{name: "older entry, pretty", text: crlf("{\n\t\"KEY\": {\n\t\t\"vault\": {\n\t\t\t\"command\": \"/o/vault-mcp\",\n\t\t\t\"args\": [\n\t\t\t\t\"serve\",\n\t\t\t\t\"/home/ana/Notes\"\n\t\t\t],\n\t\t\t\"env\": {}\n\t\t}\n\t}\n}\n"), want: Updated},
		{name: "older form of Zed", text: `{"KEY": {"vault": {"command": {"path": "/o/vault-mcp", "args": ["serve", "/home/ana/Notes"]}}}}`, want: Updated},
		{name: "our entry", text: `{"KEY": {"vault": {"args": ["serve", "/home/ana/Notes"], "command": "/opt/vault-mcp/vault-mcp", "x": 1}}}`, want: Current},
		{name: "hand-tuned", text: `{"KEY": {"vault": {"command": "/opt/vault-mcp/vault-mcp", "args": ["serve", "--log-level", "debug", "/home/ana/Notes"]}}}`, want: refused},
		{name: "another vault", text: `{"KEY": {"vault": {"command": "/opt/vault-mcp/vault-mcp", "args": ["serve", "/home/ana/Other"]}}}`, want: refused},
		{name: "no arguments", text: `{"KEY": {"vault": {"command": "/opt/vault-mcp/vault-mcp"}}}`, want: refused},
		{name: "somebody else's entry", text: `{"KEY": {"vault": {"command": "npx", "args": ["-y", "vault-mcp"]}}}`, want: refused},
		{name: "somebody else's URL", text: `{"KEY": {"vault": {"url": "http://127.0.0.1:1"}}}`, want: refused},
		{name: "our entry twice", text: `{"KEY": {"vault": {"command": "/o/vault-mcp", "args": ["/home/ana/Notes"]}, "vault": {"command": "/o/vault-mcp", "args": ["/home/ana/Notes"]}}}`, want: refused},
		{name: "the list twice", text: `{"KEY": {}, "KEY": {` + other + `}}`, want: refused},
		{name: "half a file", text: pretty[:60], want: refused},
		{name: "an array", text: "[]", want: refused},
		{name: "a list that is none", text: `{"KEY": [1]}`, want: refused},
		{name: "no JSON", text: "theme: dark\n", want: refused},
		{name: "UTF-16", text: "\xff\xfe{\x00}\x00", want: refused},

		{name: "comments", needs: clients.JSONComments, text: "// mine\n{\n  // looks\n  \"theme\": \"dark\", // always\n  \"KEY\": {\n    // servers\n    " + other + " // git\n    // \"old\": {}\n  } /* end */\n}\n// bye"},
		{name: "comments in an empty list", needs: clients.JSONComments, text: "{\n  \"KEY\": {\n    // none yet\n  }\n}\n"},
		{name: "a comment in an empty list on one line", needs: clients.JSONComments, text: "{\"KEY\": {/* none */}}"},
		{name: "a comment in an empty file", needs: clients.JSONComments, text: "{\n  // nothing\n}\n"},
		{name: "a line comment on the only line", needs: clients.JSONComments, text: "{\"KEY\": {" + other + " // git\n}}"},
		{name: "comments, CRLF", needs: clients.JSONComments, text: crlf("{\n  \"KEY\": {\n    " + other + " // git\n  }\n}\n")},
		{name: "a comment before the comma", needs: clients.JSONComments, text: "{\n  \"a\": 1 /* one */ ,\n  \"KEY\": { " + other + " /* git */ }\n}\n"},
		{name: "a comment over lines", needs: clients.JSONComments, text: "{\n  \"KEY\": {\n    " + other + " /* git\n    mcp */\n  }\n}\n"},
		{name: "comments around an older entry", needs: clients.JSONComments, want: Updated, text: "{\n  \"KEY\": {\n    // notes\n    \"vault\": { // ours\n      \"command\": \"/o/vault-mcp\", // where\n      \"args\": [\"serve\", \"/home/ana/Notes\"], /* what */\n      \"timeout\": 1 // short\n    }, // done\n    " + other + "\n  }\n}\n"},
		{name: "trailing commas", needs: clients.JSONWithCommas, text: "{\n  \"theme\": \"dark\",\n  \"KEY\": {\n    \"git\": {\"command\": \"g\", \"args\": [\"a\",],},\n  },\n}\n"},
		{name: "trailing commas and comments", needs: clients.JSONWithCommas, text: "{\n\t\"KEY\": {\n\t\t\"git\": {\"command\": \"g\"} , // git\n\t\t// more\n\t}, // all\n}\n"},
		{name: "a trailing comma on one line", needs: clients.JSONWithCommas, text: `{"KEY": {"git": {"command": "g"},},}`},
		{name: "a trailing comma, no list", needs: clients.JSONWithCommas, text: "{\n    \"vim_mode\": true,\n}\n"},
		{name: "a trailing comma in an older entry", needs: clients.JSONWithCommas, want: Updated, text: "{\n  \"KEY\": {\n    \"vault\": {\n      \"command\": \"/o/vault-mcp\",\n      \"args\": [\n        \"/home/ana/Notes\",\n      ],\n    },\n  },\n}\n"},
	}
}

const otherTable = "[mcp_servers.git]\ncommand = \"/usr/bin/git-mcp\" # git\nargs = [\n  \"--root\", # where\n  '/srv/a b',\n]\n"

func tomlShapes() []shape {
	older := "[mcp_servers.vault]\ncommand = \"/old/vault-mcp\" # ours\nargs = [\"serve\", \"/home/ana/Notes\"]\n"
	return []shape{
		{name: "no file", absent: true},
		{name: "empty file", text: ""},
		{name: "blank lines alone", text: "\n\n"},
		{name: "CRLF alone", text: "\r\n"},
		{name: "BOM alone", text: clients.BOM},
		{name: "a comment alone", text: "# mine\n"},
		{name: "a comment without newline", text: "# mine"},
		{name: "a key", text: "model = \"a\"\n"},
		{name: "a key without newline", text: "model = \"a\""},
		{name: "a key, CRLF", text: "model = \"a\"\r\n"},
		{name: "a key, CRLF, no newline", text: "a = 1\r\nmodel = \"a\""},
		{name: "a key, BOM", text: clients.BOM + "model = \"a\"\n"},
		{name: "blank lines at the end", text: "model = \"a\"\n\n\n"},
		{name: "one blank line at the end", text: "model = \"a\"\n\n"},
		{name: "blanks at the end", text: "model = \"a\"\n  \t"},
		{name: "others", text: "model = \"a\"\n\n" + otherTable},
		{name: "others, CRLF", text: crlf("model = \"a\"\n\n" + otherTable)},
		{name: "others, mixed line ends", text: strings.Replace("model = \"a\"\n\n"+otherTable, "\n", "\r\n", 2)},
		{name: "others, BOM", text: clients.BOM + otherTable},
		{name: "others, no newline", text: strings.TrimSpace(otherTable)},
		{name: "others, tabs", text: "\t[mcp_servers.git]\n\tcommand = \"g\"\n\n\t\t[mcp_servers.git.env]\n\t\tA = '1'\n"},
		{name: "others in the middle", text: otherTable + "\n[profiles.deep]\nmodel = 'b'\n\n# the end\n"},
		{name: "others, inline within", text: "[mcp_servers]\ngit = {command = 'g', args = []}\n"},
		{name: "an empty list", text: "[mcp_servers]\n"},
		{name: "dotted keys of another table", text: "[a]\nmcp_servers.vault.command = 'x'\n"},
		{name: "dotted keys in the list", text: "[mcp_servers]\ngit.command = 'g'\n"},
		{name: "the header in a string", text: "text = \"\"\"\n[mcp_servers.vault]\ncommand = 'x'\n\"\"\"\n"},
		{name: "the header in a comment", text: "# [mcp_servers.vault]\n# command = 'x'\nmodel = 'a'\n"},
		{name: "arrays of tables", text: "[[hooks]]\nname = 'a'\n\n[[hooks]]\nname = 'b'\n"},
		{name: "quoted headers", text: "['mcp_servers'.\"git hub\"]\ncommand = 'g'\n"},
		{name: "dates and numbers", text: "d = 1979-05-27T07:32:00Z\nl = 07:32:00\nn = 1_000\nf = 1e3\nh = 0xFF\n"},
		{name: "Unicode", text: "name = \"naïve 日本 😀\"\n[mcp_servers.\"größe\"]\ncommand = \"\\u00fc\"\n"},
		{name: "huge", text: strings.Repeat("# line\n", 5000) + otherTable},
		{name: "read-only", text: otherTable, mode: 0o444},
		{name: "for this account alone", text: otherTable, mode: 0o600},
		{name: "a link", text: otherTable, link: true},
		{name: "a near name", text: "[mcp_servers.vault2]\ncommand = 'x'\n[mcp_servers.Vault]\ncommand = 'y'\n"},

		{name: "older entry", text: older, want: Updated},
		{name: "older entry, own keys", text: older + "enabled = false\nstartup_timeout_sec = 5\n\n[mcp_servers.vault.env]\nLANG = \"C\"\n\n# next\n" + otherTable, want: Updated},
		{name: "older entry, tables apart", text: older + otherTable + "[mcp_servers.vault.env]\nA = 'b'\n", want: Updated},
		{name: "older entry, quoted", text: "[mcp_servers.\"vault\"]\n'command' = '/o/vault-mcp'\n\"args\" = [ '/home/ana/Notes' ] # x\n", want: Updated},
		{name: "older entry, many lines", text: crlf("[mcp_servers.vault]\n  args = [\n    \"serve\", # what\n    \"/home/ana/Notes\",\n  ]\n  command = '''/o/vault-mcp'''\n"), want: Updated},
		{name: "our entry", text: "[mcp_servers.vault]\ncommand = '/opt/vault-mcp/vault-mcp'\nargs = ['serve', '/home/ana/Notes']\n", want: Current},
		{name: "our entry, inline", text: "mcp_servers = {vault = {command = '/opt/vault-mcp/vault-mcp', args = ['serve', '/home/ana/Notes']}}\n", want: Current},
		{name: "older entry, inline", text: "[mcp_servers]\nvault = {command = '/o/vault-mcp', args = ['/home/ana/Notes']}\n", want: refused},
		{name: "older entry, dotted", text: "[mcp_servers]\nvault.command = '/o/vault-mcp'\nvault.args = ['/home/ana/Notes']\n", want: refused},
		{name: "older entry, half inline", text: older + "env = {A = 'b'}\n", want: Updated},
		{name: "the list inline", text: "mcp_servers = {git = {command = 'g'}}\n", want: refused},
		{name: "the list an array", text: "[[mcp_servers]]\nname = 'a'\n", want: refused},
		{name: "hand-tuned", text: "[mcp_servers.vault]\ncommand = '/opt/vault-mcp/vault-mcp'\nargs = ['serve', '--log-level', 'debug', '/home/ana/Notes']\n", want: refused},
		{name: "another vault", text: "[mcp_servers.vault]\ncommand = '/opt/vault-mcp/vault-mcp'\nargs = ['serve', '/home/ana/Other']\n", want: refused},
		{name: "somebody else's entry", text: "[mcp_servers.vault]\ncommand = 'npx'\nargs = ['-y', 'vault-mcp']\n", want: refused},
		{name: "somebody else's URL", text: "[mcp_servers.vault]\nurl = 'http://127.0.0.1:1'\n", want: refused},
		{name: "a table twice", text: otherTable + otherTable, want: refused},
		{name: "half a file", text: "[mcp_servers.git]\ncommand = \"/usr", want: refused},
		{name: "no TOML", text: "{\"a\": 1}\n", want: refused},
	}
}
