package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"vault-mcp/internal/install"
	"vault-mcp/internal/page"
)

// desktopMenu is what install takes in place of a client for the entry in the
// desktop's menu.
const desktopMenu = "desktop"

// menu writes the entry by which a person opens the page of approvals from the menu
// of their desktop, or takes it away.
func (c installCmd) menu(p process, command string) error {
	if runtime.GOOS != "linux" {
		return errors.New("only desktops of Linux have such entries: start vault-mcp elicit page yourself")
	}
	data := p.env("XDG_DATA_HOME")
	if !filepath.IsAbs(data) {
		data = filepath.Join(p.env.Home(), ".local", "share")
	}
	if !filepath.IsAbs(data) {
		return errors.New("there is no home folder: set HOME")
	}
	file, err := install.Open(filepath.Join(data, "applications", page.DesktopFile))
	if err != nil {
		return err
	}
	var text []byte
	outcome := install.Removed
	if !c.Uninstall {
		entry, err := page.DesktopEntry(command)
		if err != nil {
			return err
		}
		text = []byte(entry)
		outcome = install.Added
	}
	switch {
	case string(file.Text) == string(text) && file.Exists != c.Uninstall:
		outcome = install.Current
		if c.Uninstall {
			outcome = install.Absent
		}
	case c.DryRun:
		return c.diff(p, file, text, outcome)
	case c.Uninstall:
		err = os.Remove(file.Path)
	default:
		err = file.Write(text)
	}
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(p.stdout).Encode(result{Outcome: outcome, File: file.Path, Name: page.DesktopFile, Command: command})
	}
	_, err = fmt.Fprintf(p.stdout, "The entry \"Vault approvals\" of the desktop's menu: %s (%s)\n", outcome, file.Path)
	return err
}
