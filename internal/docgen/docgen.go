// Package docgen writes the documents that come from code: what the tools take,
// what the errors mean, what the config accepts, and the marked parts of
// documents that people write. A test fails when they drift.
package docgen

import (
	"fmt"
	"slices"
	"strings"

	"vault-mcp/internal/app"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/config"
	"vault-mcp/internal/dispatch"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/tools/facade"
)

const generated = "<!-- Generated from the code by go generate; edits are lost. -->\n\n"

// Files are the documents that are generated whole, by their path from the
// module's root.
func Files() (map[string]string, error) {
	r, err := app.Registry()
	if err != nil {
		return nil, err
	}
	return map[string]string{
		"docs/tools.md":  Tools(r),
		"docs/errors.md": errorsDoc(),
		"docs/config.md": generated + config.Docs(),
	}, nil
}

// Tools describes the tools of a registry, and how they are shown, as docs/tools.md
// does.
func Tools(r *tools.Registry) string {
	var b strings.Builder
	b.WriteString(generated + "# Tools\n\nEvery tool that the server has, by name. Arguments are JSON; unknown ones are refused. A number or boolean in quotes is\n" +
		"taken as one, and the answer says so in `coerced`.\n\n" + surfacesDoc(r))
	for _, t := range r.All() {
		b.WriteString("\n" + Tool(t))
	}
	return b.String()
}

// Tool describes one tool.
func Tool(t *tools.Tool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n%s\n\n%s · scope %s · domain %s\n\n", t.Name, t.Doc, t.Kind, t.Scope, t.Domain)
	for _, a := range t.Arguments() {
		fmt.Fprintf(&b, "- %s\n", a)
	}
	return b.String()
}

// surfacesDoc says which tools are listed in each surface.
func surfacesDoc(r *tools.Registry) string {
	var b strings.Builder
	b.WriteString("## What a client is shown\n\nThe setting `surface` says which tools are listed; all others can be called by their names just as well, by\n" +
		"`" + facade.CallCapability + "` {name, args}, or as an action of their domain {action, args}. It is the same call by each way: rules, approvals\n" +
		"and limits are those of the inner tool.\n\n| surface | tools | what is listed |\n|---|---|---|\n")
	for _, s := range []facade.Surface{facade.Core, facade.Triad, facade.Domains, facade.Flat} {
		list := facade.List(s, r, auth.Caller{Scopes: auth.All}, false)
		names := make([]string, len(list))
		for i, t := range list {
			names[i] = "`" + t.Name + "`"
		}
		what := strings.Join(names, ", ")
		if s == facade.Flat {
			what = "every tool below but those of the domain " + tools.Always
		}
		fmt.Fprintf(&b, "| `%s` | %d | %s |\n", s, len(list), what)
	}
	return b.String()
}

func errorsDoc() string {
	var b strings.Builder
	b.WriteString(generated + "# Errors\n\nA refusal is a result with `isError` whose structured form is\n" +
		"`{code, message, retryable, details, recovery}`; its text says the same. What to do depends on the code alone.\n\n" +
		"Of the keys of `details` those come that are known.\n\n" +
		"| code | meaning | retry the same call | what to do | details |\n|---|---|---|---|---|\n")
	for _, row := range fault.Table() {
		retry := "no"
		if row.Retryable {
			retry = "yes"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", row.Code, row.Doc, retry, row.Recovery, strings.Join(row.Details, ", "))
	}
	return b.String()
}

// stages says what each stage of the pipeline decides, for docs/security.md.
var stages = map[string]string{
	"bind":     "the tool and its arguments, strictly: unknown names and numbers that would be rounded are refused",
	"caller":   "who calls, with which scopes, on which vault, and whether it is read-only",
	"folders":  "every path that the arguments name, then every path of the plan, against the folder rules",
	"answer":   "what a person answered to an earlier round of the call; a no counts before all else",
	"replay":   "a repeat with the same idempotency key is answered again",
	"throttle": "a budget of calls for each caller, class and vault",
	"title":    "the note that a title stands for; several are a question",
	"plan":     "what a change would do, before anything is written",
	"confirm":  "whether a person has to approve first",
	"run":      "reading, or carrying out the plan",
	"govern":   "the size of the answer",
	"audit":    "what became of the call, whatever it was",
}

// Parts are the generated parts of documents that people write: by the
// document's path from the module's root, and by the name in their marks.
func Parts() (map[string]map[string]string, error) {
	r, err := app.Registry()
	if err != nil {
		return nil, err
	}
	var list strings.Builder
	seen := map[string]bool{}
	for _, name := range dispatch.Stages() {
		what, ok := stages[name]
		if !ok {
			return nil, fmt.Errorf("the stage %s has no sentence", name)
		}
		if seen[name] {
			fmt.Fprintf(&list, "- **%s** again, for the plan\n", name)
			continue
		}
		seen[name] = true
		fmt.Fprintf(&list, "- **%s**: %s\n", name, what)
	}
	return map[string]map[string]string{
		"README.md":        {"tools": domains(r)},
		"docs/security.md": {"stages": list.String()},
	}, nil
}

// domains lists the tools by what they are about, a line for each.
func domains(r *tools.Registry) string {
	var names []string
	tools := map[string][]string{}
	for _, t := range r.All() {
		if tools[t.Domain] == nil {
			names = append(names, t.Domain)
		}
		tools[t.Domain] = append(tools[t.Domain], "`"+t.Name+"`")
	}
	slices.Sort(names)
	var b strings.Builder
	b.WriteString("| about | tools |\n|---|---|\n")
	for _, n := range names {
		fmt.Fprintf(&b, "| %s | %s |\n", n, strings.Join(tools[n], " "))
	}
	return b.String()
}

// Fill puts the parts between their marks in a text.
func Fill(text string, parts map[string]string) (string, error) {
	for name, part := range parts {
		open, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->"
		before, rest, ok := strings.Cut(text, open)
		if !ok {
			return "", fmt.Errorf("the mark %q is missing", strings.TrimSpace(open))
		}
		_, after, ok := strings.Cut(rest, end)
		if !ok {
			return "", fmt.Errorf("the mark %q is missing", end)
		}
		text = before + open + part + end + after
	}
	return text, nil
}
