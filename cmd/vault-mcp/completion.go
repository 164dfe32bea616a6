package main

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/alecthomas/kong"

	"vault-mcp/internal/app"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: bash, zsh or fish."`
}

//go:embed completion.tmpl
var completions string

// Run prints what the shell has to read. It names every command, flag and tool of
// this version, and calls nothing when it completes.
func (c completionCmd) Run(k *kong.Context, p process) error {
	list, err := typings(k.Model.Node)
	if err != nil {
		return err
	}
	t := template.New("completions").Funcs(template.FuncMap{
		"set": func(list []string) []string { // an enum may have "" for what was not given
			return slices.DeleteFunc(list, func(s string) bool { return s == "" })
		},
		"join": func(list []string) string { return strings.Join(list, " ") },
		"quote": func(s string) string {
			return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
		},
	})
	if t, err = t.Parse(completions); err != nil {
		return err
	}
	return t.ExecuteTemplate(p.stdout, c.Shell, list)
}

// typing is where a command line has come to by its words.
type typing struct {
	// Path is the words of the command so far, none for the program alone.
	Path string
	// Help is what the command does.
	Help string
	// Flags are those that it takes.
	Flags []*kong.Flag
	// Next are the words that can follow: commands below it, or tools.
	Next []string
}

// Typed is the words as a shell finds them: the command before and the last word.
func (p typing) Typed() string {
	before, last := "", p.Path
	if i := strings.LastIndexByte(p.Path, ' '); i >= 0 {
		before, last = p.Path[:i], p.Path[i+1:]
	}
	return before + " " + last
}

// Names are the flags as they are typed.
func (p typing) Names() (list []string) {
	for _, f := range p.Flags {
		list = append(list, "--"+f.Name)
		if f.Short != 0 {
			list = append(list, fmt.Sprintf("-%c", f.Short))
		}
	}
	return list
}

// typings are the program and all its commands, in the order of the help.
func typings(root *kong.Node) ([]typing, error) {
	r, err := app.Registry()
	if err != nil {
		return nil, err
	}
	var tools []string
	for _, t := range r.All() {
		tools = append(tools, t.Name)
	}
	var list []typing
	var visit func(n *kong.Node, path string)
	visit = func(n *kong.Node, path string) {
		p := typing{Path: path, Help: n.Help}
		for _, group := range n.AllFlags(true) {
			p.Flags = append(p.Flags, group...)
		}
		args := n.Positional
		if d := n.DefaultCmd; d != nil {
			p.Flags, args = append(p.Flags, d.Flags...), d.Positional
		}
		for _, c := range n.Children {
			p.Next = append(p.Next, c.Name)
		}
		if len(args) > 0 {
			switch a := args[0]; {
			case a.Tag.Enum != "":
				p.Next = append(p.Next, a.EnumSlice()...)
			case n.Name == "tools" || a.Name == "tool":
				p.Next = append(p.Next, tools...)
			}
		}
		list = append(list, p)
		for _, c := range n.Children {
			visit(c, strings.TrimSpace(path+" "+c.Name))
		}
	}
	visit(root, "")
	return list, nil
}
