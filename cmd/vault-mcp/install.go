package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"text/tabwriter"

	"github.com/rogpeppe/go-internal/diff"

	"vault-mcp/internal/clients"
	"vault-mcp/internal/install"
	"vault-mcp/internal/obsidian"
)

type installCmd struct {
	List      bool   `help:"List the clients and the vaults that are found here."`
	DryRun    bool   `help:"Only show what would change in the client's file."`
	Uninstall bool   `help:"Take the entry out again."`
	Vault     string `short:"v" placeholder:"PATH" help:"The vault: its folder, its name or id in Obsidian, or a config file. Without it, the one that the entry has, or the one that Obsidian has open."`
	Name      string `default:"vault" help:"The server's name in the client's file."`
	Force     bool   `help:"Replace the command and arguments of an entry that was changed by hand or serves another vault."`
	Command   string `placeholder:"PATH" help:"The program that the client starts, if not this one."`
	JSON      bool   `name:"json" help:"Print the result as JSON."`
	Client    string `arg:"" optional:"" help:"claude-desktop, claude-code, codex, cursor, vscode, zed or gemini; or desktop, for the page of approvals in the menu of a Linux desktop."`
}

// nameOfServer are the names that every client takes.
var nameOfServer = regexp.MustCompile(`^[A-Za-z0-9_-]{1,40}$`)

// Run edits the file of one client, or lists them.
func (c installCmd) Run(ctx context.Context, p process) error {
	if !nameOfServer.MatchString(c.Name) {
		return fmt.Errorf("--name %q: a name has up to 40 letters, digits, - and _", c.Name)
	}
	command, err := c.command(p)
	if err != nil && !c.List && !c.Uninstall {
		return err
	}
	sys := clients.System{OS: runtime.GOOS, Env: p.env}
	if c.List || c.Client == "" {
		if err := c.list(p, sys, command); err != nil || c.List {
			return err
		}
		return errors.New("name one of the clients above: vault-mcp install CLIENT")
	}
	if c.Client == desktopMenu {
		return c.menu(p, command)
	}
	client, err := install.Known(c.Client)
	if err != nil {
		return err
	}
	place, ok := client.Place(sys)
	if !ok {
		return errors.New("there is no home folder: set HOME")
	}
	file, err := install.Open(place.Path)
	if err != nil {
		return err
	}
	w := install.Wanted{Client: client, Name: c.Name, Command: command, Force: c.Force}
	if c.Uninstall {
		return c.uninstall(p, file, w)
	}
	if w.Vault, err = c.vault(ctx, p, sys, file, w); err != nil {
		return err
	}
	return c.install(ctx, p, file, w)
}

// command is the program that the client is to start.
func (c installCmd) command(p process) (string, error) {
	if c.Command == "" {
		return install.Program(p.env, os.Args[0])
	}
	path, err := filepath.Abs(c.Command)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		return "", fmt.Errorf("--command %q is no program", path)
	}
	return path, nil
}

// vault is the absolute path of what is served.
func (c installCmd) vault(ctx context.Context, p process, sys clients.System, file *install.File, w install.Wanted) (string, error) {
	path := c.Vault
	if path == "" {
		if e, err := install.Find(w.Client, file.Text, w.Name); err == nil && e != nil && e.Ours() {
			path, _ = install.Serves(*e)
		}
	}
	if path == "" {
		known, err := obsidian.Vaults(sys)
		if path, err = choose(ctx, known, err); err != nil {
			return "", err
		}
	} else if _, err := os.Stat(path); err != nil {
		known, _ := obsidian.Vaults(sys) // without the list it is no name
		if v, ok := obsidian.Named(known, path); ok {
			path = v.Path
		}
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	_, err = p.env.Load(path)
	return path, err
}

func (c installCmd) install(ctx context.Context, p process, file *install.File, w install.Wanted) error {
	now, outcome, err := w.Put(file.Text)
	if err == nil && c.DryRun {
		return c.diff(p, file, now, outcome)
	}
	if err != nil {
		return refusedHere(p, file, err)
	}
	cost, err := costOf(ctx, p, w.Vault) // a server that does not start is not installed
	if err != nil {
		return err
	}
	if outcome, err = file.Install(w); err != nil {
		return refusedHere(p, file, err)
	}
	e, err := install.Find(w.Client, now, w.Name)
	if err != nil {
		return err
	}
	return c.done(p, file, w, outcome, e.Disabled, cost)
}

func (c installCmd) uninstall(p process, file *install.File, w install.Wanted) error {
	now, outcome, err := file.Without(w)
	if err == nil && c.DryRun {
		return c.diff(p, file, now, outcome)
	}
	if err == nil {
		outcome, err = file.Uninstall(w)
	}
	if err != nil {
		return refusedHere(p, file, err)
	}
	if c.JSON {
		return json.NewEncoder(p.stdout).Encode(result{Outcome: outcome, File: file.Path, Name: w.Name})
	}
	switch outcome {
	case install.Absent:
		fmt.Fprintf(p.stdout, "There is no entry %q in %s.\n", w.Name, file.Path)
	case install.Restored:
		if now == nil {
			fmt.Fprintf(p.stdout, "%s is gone again: there was none before the entry %q came.\n", file.Path, w.Name)
			break
		}
		fmt.Fprintf(p.stdout, "%s is again as it was before the entry %q was written.\n", file.Path, w.Name)
		if older, err := install.Find(w.Client, now, w.Name); err == nil && older != nil {
			fmt.Fprintf(p.stdout, "It has an older entry of that name; --uninstall once more takes that out.\n")
		}
	default:
		fmt.Fprintf(p.stdout, "The entry %q is out of %s; nothing else changed.\nBefore that: %s\n", w.Name, file.Path, file.Backup())
	}
	return nil
}

// refusedHere reports why a file was left as it is, and what to put into it by hand.
func refusedHere(p process, file *install.File, err error) error {
	say(p.stderr, file.Path+": "+err.Error())
	if r, ok := errors.AsType[*install.Refused](err); ok && r.Snippet != "" {
		fmt.Fprintf(p.stdout, "By hand it would be:\n\n%s", r.Snippet)
	}
	return errRefused
}

// diff shows what would change, and writes nothing.
func (c installCmd) diff(p process, file *install.File, now []byte, outcome install.Outcome) error {
	text := string(diff.Diff(file.Path, file.Text, file.Path, now))
	_, text, _ = strings.Cut(text, "\n") // a line with the names, which follow
	if c.JSON {
		return json.NewEncoder(p.stdout).Encode(result{Outcome: outcome, File: file.Path, Name: c.Name, Diff: text, DryRun: true})
	}
	switch {
	case outcome == install.Current || outcome == install.Absent:
		text = "Nothing would change in " + file.Path + ".\n"
	case now == nil:
		text += "The file would be removed: there was none before.\n"
	}
	_, err := fmt.Fprint(p.stdout, text)
	return err
}

// listed is what --list prints as JSON.
type listed struct {
	Command string           `json:"command"`
	Clients []install.Status `json:"clients"`
	Vaults  []string         `json:"vaults"`
}

// list shows the clients and the vaults that are found.
func (c installCmd) list(p process, sys clients.System, command string) error {
	out := listed{Command: command, Clients: []install.Status{}, Vaults: []string{}}
	for _, one := range clients.All() {
		out.Clients = append(out.Clients, install.Look(sys, one, c.Name, command))
	}
	known, err := obsidian.Vaults(sys)
	if err != nil {
		say(p.stderr, err.Error())
	}
	for _, v := range known {
		if !v.Gone {
			out.Vaults = append(out.Vaults, v.Path)
		}
	}
	if c.JSON {
		return json.NewEncoder(p.stdout).Encode(out)
	}
	t := tabwriter.NewWriter(p.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintf(t, "CLIENT\tFOUND\tENTRY %q\tSERVES\tFILE\n", c.Name)
	for _, s := range out.Clients {
		found, state := "no", string(s.State)
		if s.Found {
			found = "yes"
		}
		if s.Disabled {
			state += ", off"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", s.Client, found, state, s.Serves, s.File)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, s := range out.Clients {
		if s.Why != "" {
			fmt.Fprintf(p.stdout, "%s: %s\n", s.Client, s.Why)
		}
		if len(s.Others) > 0 {
			fmt.Fprintf(p.stdout, "%s has further entries of this program: %q\n", s.Client, s.Others)
		}
	}
	fmt.Fprintln(p.stdout, "\nVaults that Obsidian knows:")
	for _, v := range out.Vaults {
		fmt.Fprintln(p.stdout, "  "+v)
	}
	if len(out.Vaults) == 0 {
		fmt.Fprintln(p.stdout, "  none; --vault PATH names one")
	}
	return nil
}
