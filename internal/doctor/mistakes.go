package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"vault-mcp/cache"
	"vault-mcp/hitl"
	"vault-mcp/internal/clients"
	"vault-mcp/internal/run"
)

// variable is what looks like a variable in a command or an argument.
var variable = regexp.MustCompile(`\$\{[^}]*\}|\$[A-Za-z_][A-Za-z0-9_]*`)

// percent is what looks like a variable of Windows.
var percent = regexp.MustCompile(`%[A-Za-z_][A-Za-z0-9_()]*%`)

// expand replaces the variables that the client of an entry replaces, and tells which
// have no value.
func (e *exam) expand(in clients.Entry, text string) (expanded string, unset []string) {
	forms := habits[in.Client].expands
	return variable.ReplaceAllStringFunc(text, func(found string) string {
		name, ok := strings.CutPrefix(found, "${")
		name = strings.TrimSuffix(name, "}")
		if !ok {
			return found
		}
		value, known := "", false
		switch env, isEnv := strings.CutPrefix(name, "env:"); {
		case isEnv && slices.Contains(forms, prefixed):
			value, known = e.o.Env(env), true
		case name == "userHome" && slices.Contains(forms, folders):
			value, known = e.o.Env.Home(), true
		case name == "workspaceFolder" && slices.Contains(forms, folders):
			value, known = e.o.Folder, true
		case slices.Contains(forms, braces):
			bare, instead, _ := strings.Cut(name, ":-")
			if value, known = e.o.Env(bare), true; value == "" {
				value = instead
			}
		}
		if !known {
			return found
		}
		if value == "" {
			unset = append(unset, found)
		}
		return value
	}), unset
}

// slip is a mistake that people make in a string of a config by hand.
type slip struct{ text, fix string }

// slipOf finds one in a string, after expansion; "" text is none. what names it.
func slipOf(what, text string, unset []string) slip {
	trimmed := strings.TrimSpace(text)
	if _, err := os.Lstat(text); err == nil && filepath.IsAbs(text) {
		return slip{} // it may look strange, and is there
	}
	switch {
	case len(unset) > 0:
		return slip{what + " has the variable " + unset[0] + ", which has no value", "write the path itself"}
	case strings.ContainsFunc(text, unicode.IsControl):
		return slip{what + " has a control character, as a single backslash before a letter makes it", `write two backslashes for each one, or slashes: C:\\Notes or C:/Notes`}
	case trimmed != text || trimmed == "":
		return slip{what + " has blanks at its ends, or nothing in it", "take them out"}
	case len(text) > 1 && strings.ContainsRune(`"'`, rune(text[0])) && text[0] == text[len(text)-1]:
		return slip{what + " has quotes within the quotes of the config, which no shell takes off", "take the inner ones out"}
	case variable.MatchString(text):
		return slip{what + " has the variable " + variable.FindString(text) + ", which this client does not replace", "write the path itself"}
	case percent.MatchString(text):
		return slip{what + " has a variable between %, which this client does not replace", "write the path itself"}
	}
	return slip{}
}

// launch is what a client runs for an entry.
type launch struct {
	run.Spoken
	// arg is the vault's folder or the config file among the arguments.
	arg string
	// env is its environment by name.
	env map[string]string
}

// lookup is the environment of the server.
func (l launch) lookup(name string) string { return l.env[name] }

// launch works out what the client runs, and tells what is wrong; ok is false if that
// cannot work, or would start whatever lies in the folder that this command is run in.
func (s subject) launch(in clients.Entry) (l launch, ok bool) {
	env := s.e.environment(in)
	l.env, l.Env, l.Dir = env, list(env), s.e.startFolder(in)
	if _, is := in.Keys["args"].([]any); !is && in.Keys["args"] != nil {
		s.broken("client.args", "args is no list", `write args as a list: ["serve", "/path/of/the/vault"]`)
		return l, false
	}
	if info, err := os.Stat(l.Dir); err != nil || !info.IsDir() {
		s.broken("client.command", "cwd names "+hitl.Display(l.Dir)+", which is no folder", "correct cwd, or leave it out")
		return l, false
	}
	if l.Path, ok = s.command(in, l.Dir, env["PATH"]); !ok {
		return l, false
	}
	for i, arg := range in.Args {
		text, unset := s.e.expand(in, arg)
		if wrong := slipOf(fmt.Sprintf("argument %d", i+1), text, unset); wrong.text != "" {
			s.broken("client.args", wrong.text, wrong.fix)
			return l, false
		}
		l.Args = append(l.Args, text)
	}
	l.arg, ok = s.target(l)
	return l, ok
}

// command finds the file of a command, as the client does.
func (s subject) command(in clients.Entry, dir, path string) (file string, ok bool) {
	text, unset := s.e.expand(in, in.Command)
	fix := "write the absolute path of this program: " + s.e.o.Program
	if wrong := slipOf("the command", text, unset); wrong.text != "" {
		s.broken("client.command", wrong.text, fix)
		return "", false
	}
	bare := !strings.ContainsAny(text, `/\`)
	switch {
	case strings.HasPrefix(text, "~"):
		s.broken("client.command", "the command begins with ~, which no client expands", fix)
		return "", false
	case bare:
		if file = run.InPath(text, path); file == "" {
			s.broken("client.command", fmt.Sprintf("%s is in no folder of the PATH that this client has", text), fix)
			return "", false
		}
		s.warn("client.command", fmt.Sprintf("the command is looked for by PATH, and found as %s", file), fix)
		return file, true
	case !filepath.IsAbs(text):
		file = filepath.Join(dir, text)
		if run.InPath(file, "") == "" {
			s.broken("client.command", "the command "+text+" is relative, and not there from "+dir+" on", fix)
			return "", false
		}
		s.warn("client.command", "the command is relative, and found only from "+dir+" on", fix)
		return file, false
	}
	if file = run.InPath(text, ""); file != "" {
		s.ok("client.command", "%s", file)
		return file, true
	}
	info, err := os.Stat(text)
	first, _, several := strings.Cut(text, " ")
	switch {
	case err != nil && several && run.InPath(first, "") != "":
		s.broken("client.command", "the command holds its arguments as well", "leave "+first+" in command, and put the others one by one into args")
	case err != nil:
		s.broken("client.command", "there is no file "+text, fix+", or run vault-mcp install "+in.Client)
	case info.IsDir():
		s.broken("client.command", text+" is a folder", fix)
	default:
		s.broken("client.command", text+" cannot be executed", "chmod +x "+cache.ShellQuote(text))
	}
	return "", false
}

// target finds the vault or config among the arguments of serve.
func (s subject) target(l launch) (arg string, ok bool) {
	var named []string
	for i := 0; i < len(l.Args); i++ {
		switch a := l.Args[i]; {
		case a == "--log-level":
			i++
		case strings.HasPrefix(a, "-"), len(named) == 0 && a == "serve":
		default:
			named = append(named, a)
		}
	}
	there := func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	}
	switch {
	case len(named) == 0:
		s.broken("client.args", "the arguments name no vault", `args: ["serve", "/path/of/the/vault"]`)
		return "", false
	case len(named) > 1 && there(strings.Join(named, " ")):
		s.broken("client.args", "the path of the vault is cut at its blanks", fmt.Sprintf("write it as one argument: %q", strings.Join(named, " ")))
		return "", false
	case len(named) > 1:
		s.broken("client.args", plural(len(named), "path")+" are named, and a server takes one", "serve several vaults by a config file that lists them")
		return "", false
	}
	arg = named[0]
	if !filepath.IsAbs(arg) && !strings.HasPrefix(arg, "~") {
		from := filepath.Join(l.Dir, arg)
		if !there(from) {
			s.broken("client.args", fmt.Sprintf("the path %q is relative, and not there from %s on", arg, l.Dir), "write the absolute path of the vault")
			return "", false
		}
		s.warn("client.args", fmt.Sprintf("the path %q is relative, and found only from %s on", arg, l.Dir), "write the absolute path of the vault: "+from)
		return from, true
	}
	return arg, true
}
