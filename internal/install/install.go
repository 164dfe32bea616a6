// Package install puts the entry that starts this server into a client's
// configuration, and takes it out again. Of a file it changes that entry alone,
// byte for byte, and refuses where it cannot.
package install

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"vault-mcp/internal/clients"
)

// Wanted is the entry that a client's file should have.
type Wanted struct {
	Client clients.Client
	// Name is the server's name there, and Command the program's absolute path.
	Name, Command string
	// Vault is the absolute path of a vault or a config file.
	Vault string
	// Force overwrites an entry of ours that a person has changed, or that serves
	// something else.
	Force bool
}

// Outcome is what became of a file.
type Outcome string

// The outcomes. With Current and Absent nothing is written.
const (
	Added    Outcome = "added"
	Updated  Outcome = "updated"
	Current  Outcome = "current"
	Removed  Outcome = "removed"
	Restored Outcome = "restored" // the file is as it was before the entry came
	Absent   Outcome = "absent"
)

// Refused is a file that is left as it is. Snippet, if any, is what a person may put
// into it by hand.
type Refused struct {
	Why     string
	Snippet string
}

// Error says why.
func (r *Refused) Error() string { return r.Why }

// args are those of an entry of ours.
func (w Wanted) args() []string { return []string{"serve", w.Vault} }

// core are the keys that make an entry ours, which an update sets again.
func (w Wanted) core() []member {
	return []member{{"command", w.Command}, {"args", w.args()}}
}

// members is a new entry, as the client documents it.
func (w Wanted) members() []member {
	switch core := w.core(); w.Client.ID {
	case "claude-code", "vscode":
		return slices.Concat([]member{{"type", "stdio"}}, core)
	case "zed": // older builds want the source
		return slices.Concat([]member{{"source", "custom"}}, core, []member{{"env", []member{}}})
	case "codex": // what it takes by itself differs from version to version
		return slices.Concat(core, []member{{"startup_timeout_sec", 30}, {"tool_timeout_sec", 300}})
	default:
		return core
	}
}

func (w Wanted) path() []string { return []string{w.Client.Key, w.Name} }

// Snippet is what a file has to have for the entry, and nothing else.
func (w Wanted) Snippet() string {
	text, err := w.add(nil)
	if err != nil {
		panic(err) // into nothing it goes; every test finds it
	}
	return string(text)
}

func (w Wanted) add(text []byte) ([]byte, error) {
	if w.Client.Syntax == clients.TOML {
		return addTOML(text, w.path(), w.members()), nil
	}
	return putJSON(w.Client.Syntax, text, w.path(), w.members())
}

// set brings the entry e up to date, in the values alone that are others.
func (w Wanted) set(text []byte, e *clients.Entry) (_ []byte, err error) {
	var changed []member
	if e.Keys["command"] != any(w.Command) {
		changed = append(changed, w.core()[0])
	}
	if args, _ := e.Keys["args"].([]any); len(args) != len(e.Args) || !slices.Equal(e.Args, w.args()) {
		changed = append(changed, w.core()[1])
	}
	if w.Client.Syntax == clients.TOML {
		return setTOML(text, w.path(), changed)
	}
	for _, m := range changed {
		if text, err = putJSON(w.Client.Syntax, text, append(w.path(), m.name), m.value); err != nil {
			return nil, err
		}
	}
	return text, nil
}

func (w Wanted) remove(text []byte) ([]byte, error) {
	if w.Client.Syntax == clients.TOML {
		return removeTOML(text, w.path())
	}
	return removeJSON(w.Client.Syntax, text, w.path())
}

// Find is the entry of a name that counts for all projects, or nil.
func Find(c clients.Client, text []byte, name string) (*clients.Entry, error) {
	entries, err := c.Parse(text)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.Name == name && e.Scope != clients.Local {
			return &e, nil
		}
	}
	return nil, nil
}

// Serves is the vault or config file that an entry of ours serves. It is false if
// the arguments are none that install writes, now or earlier.
func Serves(e clients.Entry) (string, bool) {
	args := e.Args
	if len(args) == 2 && args[0] == "serve" {
		args = args[1:]
	}
	if len(args) != 1 || args[0] == "" || strings.HasPrefix(args[0], "-") {
		return "", false
	}
	return args[0], true
}

// Put is a text with the entry in it. The error is a *Refused.
func (w Wanted) Put(text []byte) ([]byte, Outcome, error) {
	found, err := Find(w.Client, text, w.Name)
	if err != nil {
		return nil, "", w.refused("%s cannot read the file: %v. It is left as it is", w.Client.Title, err)
	}
	edit, outcome := w.add, Added
	if found != nil {
		if w.is(found) {
			return text, Current, nil
		}
		if err := w.mayReplace(found); err != nil {
			return nil, "", err
		}
		outcome = Updated
		edit = func(text []byte) ([]byte, error) { return w.set(text, found) }
	}
	now, err := edit(text)
	if err == nil {
		err = w.check(text, now)
	}
	if err == nil {
		found, err = Find(w.Client, now, w.Name)
	}
	if err == nil && (found == nil || !w.is(found)) {
		err = errElse
	}
	if err != nil {
		return nil, "", w.refused("the file is left as it is: %v", err)
	}
	return now, outcome, nil
}

// is reports whether an entry is the one that is wanted, whatever other keys it has.
// A command that is no text is of the form that only older builds of Zed read.
func (w Wanted) is(e *clients.Entry) bool {
	return e.Keys["command"] == any(w.Command) && slices.Equal(e.Args, w.args())
}

// mayReplace refuses to overwrite what a person has written.
func (w Wanted) mayReplace(e *clients.Entry) error {
	if !e.Ours() {
		what := "reaches another server"
		if e.Command != "" {
			what = fmt.Sprintf("starts another program (%q)", e.Command)
		}
		return &Refused{Why: fmt.Sprintf("the entry %q %s and is left as it is: choose another name with --name", w.Name, what)}
	}
	vault, ok := Serves(*e)
	switch {
	case w.Force:
	case !ok:
		return w.refused("the entry %q has arguments of its own (%s) and is left as it is: --force replaces its command and arguments", w.Name, shown(e.Args))
	case filepath.Clean(vault) != w.Vault:
		return w.refused("the entry %q serves %q: --name adds a second entry, --force makes this one serve %q", w.Name, vault, w.Vault)
	}
	return nil
}

func shown(args []string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = fmt.Sprintf("%q", a)
	}
	return strings.Join(quoted, " ")
}

func (w Wanted) refused(format string, args ...any) *Refused {
	return &Refused{Why: fmt.Sprintf(format, args...), Snippet: w.Snippet()}
}

// Take is a text without the entry. The error is a *Refused.
func (w Wanted) Take(text []byte) ([]byte, Outcome, error) {
	found, err := Find(w.Client, text, w.Name)
	switch {
	case err != nil:
		return nil, "", &Refused{Why: fmt.Sprintf("%s cannot read the file: %v. It is left as it is", w.Client.Title, err)}
	case found == nil:
		return text, Absent, nil
	case !found.Ours():
		return nil, "", &Refused{Why: fmt.Sprintf("the entry %q is none of ours and is left as it is", w.Name)}
	}
	now, err := w.remove(text)
	if err == nil {
		err = w.check(text, now)
	}
	if err != nil {
		return nil, "", &Refused{Why: fmt.Sprintf("the file is left as it is: %v", err)}
	}
	return now, Removed, nil
}

// errElse is a change that would have touched something else.
var errElse = errors.New("it is written in a form that cannot be changed without touching something else")

// check reads both texts as their client does, and sees that they differ in the
// entry alone.
func (w Wanted) check(before, after []byte) error {
	was, err := w.Client.Syntax.Decode(before)
	if err != nil {
		return err
	}
	is, err := w.Client.Syntax.Decode(after)
	if err != nil {
		return errors.Join(errElse, err)
	}
	if !reflect.DeepEqual(w.others(was), w.others(is)) {
		return errElse
	}
	return nil
}

// others is what a file says besides the entry. A list of servers without any is as
// good as none.
func (w Wanted) others(said map[string]any) map[string]any {
	servers, _ := said[w.Client.Key].(map[string]any)
	delete(servers, w.Name)
	if len(servers) == 0 {
		delete(said, w.Client.Key)
	}
	return said
}
