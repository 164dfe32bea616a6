package config

import (
	"fmt"
	"reflect"
	"strings"
)

const docsHead = `# Configuration

` + "`vault-mcp serve <folder | config file>`" + `. A folder is one vault with the id ` + "`main`" + ` and every default below. A file is YAML or JSON in UTF-8:

` + "```yaml" + `
vaults:
  - id: main
    path: ~/Notes
    rules:
      - {glob: "Private/**", verbs: {read: hide}}
      - {glob: "Archive/**", verbs: {write: deny, delete: ask}}
throttle:
  delete: {per_minute: 10, burst: 5}
` + "```" + `

A key that is not listed here, a key given twice, a value of another type and YAML aliases are refused, with the line. ` + "`vault-mcp config show`" + ` prints what is in effect, without secrets.

A running server looks at the file at most once a second, when a call comes, and takes up what is marked *live*, for the calls that begin from then on. A file with a mistake changes nothing, and is said once on stderr. All other keys, and which vaults there are, count from the next start.
`

const docsState = `
## Where state is kept

Each vault has a state folder of its own, never inside a vault. Its name is that of the vault's folder and 16 hex digits made from its real path. It lies in ` + "`state_dir`" + `, by default:

- Linux: ` + "`$XDG_STATE_HOME/vault-mcp/`, else `~/.local/state/vault-mcp/`" + `
- macOS: ` + "`~/Library/Application Support/vault-mcp/`" + `
- Windows: ` + "`%LocalAppData%\\vault-mcp\\`" + `

It must be on a local disk: NFS, SMB and the like are refused. sshfs cannot be told from local FUSE file systems, so it is not refused; do not use it. The folder has mode 0700. The keys of a server are in ` + "`secrets/`" + ` in the state folder of its first vault. On Windows, keep a ` + "`state_dir`" + ` of your own inside your user folder: its rights are inherited.

Some clients do not pass ` + "`XDG_STATE_HOME`" + ` on. If it is set on your machine and several clients serve one vault, give ` + "`state_dir`" + `, so that they share their state.
`

// Docs is docs/config.md, made from the tags of the structs.
func Docs() string {
	var b strings.Builder
	b.WriteString(docsHead)
	c := defaults[Config]()
	v := reflect.ValueOf(&c).Elem()
	for _, f := range fieldsOf(v.Type()) {
		fmt.Fprintf(&b, "\n## %s\n\n", f.name)
		if f.kind == reflect.Struct || f.kind == reflect.Slice {
			fmt.Fprintf(&b, "%s\n\n", f.tag.Get("doc"))
		}
		b.WriteString("| key | type | default | meaning |\n|---|---|---|---|\n")
		docRows(&b, f.name, v.Field(f.index), f.tag)
	}
	b.WriteString(docsExamples)
	b.WriteString("\n## Environment\n\n| variable | meaning |\n|---|---|\n")
	for _, e := range variables {
		fmt.Fprintf(&b, "| `%s` | %s |\n", strings.ReplaceAll(e.name, ", ", "`, `"), e.doc)
	}
	b.WriteString(docsState)
	return b.String()
}

// docRows writes a row for each key below v, or for v itself if it takes a
// value: the section says what the top key is about.
func docRows(b *strings.Builder, key string, v reflect.Value, tag reflect.StructTag) {
	if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct {
		v, key = reflect.New(v.Type().Elem()).Elem(), key+"[]"
		setDefaults(v)
	}
	if v.Kind() != reflect.Struct {
		docRow(b, key, v, tag)
		return
	}
	for _, f := range fieldsOf(v.Type()) {
		key, value := key+"."+f.name, v.Field(f.index)
		if value.Kind() == reflect.Struct || value.Kind() == reflect.Slice {
			docRow(b, key, value, f.tag)
		}
		if value.Kind() != reflect.Slice || value.Type().Elem().Kind() == reflect.Struct {
			docRows(b, key, value, f.tag)
		}
	}
}

func docRow(b *strings.Builder, key string, v reflect.Value, tag reflect.StructTag) {
	standard := "none"
	switch {
	case tag.Get("required") == "true":
		standard = "required"
	case v.Kind() == reflect.Struct:
		standard = ""
	case !v.IsZero() || v.Kind() == reflect.Bool:
		standard = fmt.Sprintf("`%v`", v)
	}
	kind := strings.TrimPrefix(expected(v.Kind(), tag), "a ")
	if tag.Get("live") == "true" {
		standard += ", *live*"
	}
	cell := strings.NewReplacer("|", `\|`, "*", `\*`, "[", `\[`, "~", `\~`).Replace
	fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", key, kind, standard, cell(tag.Get("doc")))
}

const docsExamples = `
## Examples

An agent that may only read, and not everywhere:

` + "```yaml" + `
vaults:
  - path: ~/Notes
    read_only: true
    rules:
      - {glob: "Private/**", verbs: {read: hide}}
      - {glob: "Health/**", verbs: {read: ask}}
` + "```" + `

An agent that works in one folder and reads the rest:

` + "```yaml" + `
vaults:
  - path: ~/Notes
    rules:
      - {glob: "**", verbs: {write: deny, delete: deny}}
      - {glob: "Inbox/**", verbs: {write: allow, delete: allow}}
` + "```" + `

Two vaults, approvals that no client can give, and commits with the hooks of the repository:

` + "```yaml" + `
vaults:
  - {id: private, path: ~/Notes}
  - {id: work, path: ~/Work}
elicit: {routes: [console, cli, page]}
writes: {require_cas: true}
git: {hooks: true}
` + "```" + `
`
