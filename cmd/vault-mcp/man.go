package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

type manCmd struct{}

// Run prints the manual page, in man's own format.
func (manCmd) Run(k *kong.Context, p process) error {
	return manual(p.stdout, k.Model.Node)
}

// manual is the manual page of the program, made from its commands.
func manual(w io.Writer, root *kong.Node) error {
	list, err := typings(root)
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, ".TH VAULT-MCP 1 %s \"vault-mcp %s\" \"User Commands\"\n", Dated, Version)
	b.WriteString(".SH NAME\nvault\\-mcp \\- governed access to Obsidian vaults for AI agents, over MCP\n")
	b.WriteString(".SH SYNOPSIS\n.B vault\\-mcp\n.I folder\n.br\n.B vault\\-mcp\n.I command\n.RI [ arguments ]\n")
	b.WriteString(".SH DESCRIPTION\nServes a vault to an MCP client over stdio. With a folder alone it does the same as\n.BR serve .\n")
	b.WriteString("An argument that is called PATH is the folder of a vault or a config file.\n")
	b.WriteString(".SH COMMANDS\n")
	for _, at := range list[1:] {
		n := find(root, at.Path)
		if !n.Leaf() {
			continue
		}
		fmt.Fprintf(&b, ".SS %s\n%s\n", roff(usage(n)), roff(n.Help))
		for _, a := range n.Positional {
			fmt.Fprintf(&b, ".TP\n.I %s\n%s\n", roff(a.Name), roff(a.Help))
		}
		for _, f := range n.Flags {
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(typed(f)), roff(f.Help))
		}
	}
	b.WriteString(".SH EXIT STATUS\n")
	for _, row := range []struct {
		code int
		when string
	}{
		{exitOK, "It was done."},
		{exitRefused, "The call was refused or failed; the reason is on stderr."},
		{exitUsage, "The command, the config or the path of the vault is wrong."},
	} {
		fmt.Fprintf(&b, ".TP\n.B %d\n%s\n", row.code, roff(row.when))
	}
	b.WriteString(".SH ENVIRONMENT\n.TP\n.B VAULT_MCP_LOG\nThe least severe messages on stderr: debug, info, warn or error.\n")
	b.WriteString(".TP\n.B XDG_STATE_HOME\nWhere state is kept on Linux, unless the config says.\n")
	b.WriteString(".SH FILES\n.TP\n.I ~/.local/state/vault\\-mcp\nThe state of each vault: its index, the history of changes, approvals and the audit.\n")
	_, err = io.WriteString(w, b.String())
	return err
}

// find is the command with this path.
func find(n *kong.Node, path string) *kong.Node {
	for word := range strings.FieldsSeq(path) {
		for _, c := range n.Children {
			if c.Name == word {
				n = c
				break
			}
		}
	}
	return n
}

// usage is how a command is typed; a default one may leave its last word out.
func usage(n *kong.Node) string {
	var words []string
	for at := n; at.Parent != nil; at = at.Parent {
		word := at.Name
		if at == n && at.Parent.DefaultCmd == n {
			word = "[" + word + "]"
		}
		words = append([]string{word}, words...)
	}
	for _, a := range n.Positional {
		words = append(words, a.Summary())
	}
	if len(n.Flags) > 0 {
		words = append(words, "[flags]")
	}
	return strings.Join(words, " ")
}

// typed is a flag as it is typed.
func typed(f *kong.Flag) string {
	s := "--" + f.Name
	if f.Short != 0 {
		s = fmt.Sprintf("-%c, %s", f.Short, s)
	}
	if !f.IsBool() {
		s += "=" + f.FormatPlaceHolder()
	}
	return s
}

// roff escapes text for man.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n", " ").Replace(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	return s
}
