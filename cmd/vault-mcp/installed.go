package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"vault-mcp/internal/app"
	"vault-mcp/internal/elicit"
	"vault-mcp/internal/install"
	"vault-mcp/internal/obsidian"
)

// choose is the vault that is meant when none is named. Several are a question to
// the person at the terminal.
func choose(ctx context.Context, known []obsidian.Vault, unread error) (string, error) {
	here, _ := os.Getwd() // without one it is in no vault
	likely := obsidian.Likely(known, here)
	switch len(likely) {
	case 0:
		return "", errors.Join(unread, errors.New("no vault is known to Obsidian here: name one with --vault PATH"))
	case 1:
		return likely[0].Path, nil
	}
	var list strings.Builder
	for i, v := range likely {
		fmt.Fprintf(&list, "  %d  %s\n", i+1, v.Path)
	}
	several := fmt.Errorf("several vaults are known to Obsidian: name one with --vault\n%s", list.String())
	term, err := elicit.Open()
	if err != nil {
		return "", several
	}
	defer term.Close()
	if _, err := io.WriteString(term, "Obsidian knows several vaults:\n"+list.String()); err != nil {
		return "", err
	}
	typed, err := term.Ask(ctx, "Which one? ")
	n, nerr := strconv.Atoi(typed)
	if err != nil || nerr != nil || n < 1 || n > len(likely) {
		return "", errors.New("none was chosen: name one with --vault PATH")
	}
	return likely[n-1].Path, nil
}

// cost is what the server brings into a client's context.
type cost struct {
	Tools int `json:"tools"`
	// Bytes are those of the list of tools, on the wire.
	Bytes int `json:"bytes"`
	// Tokens is a guess: four bytes are about one.
	Tokens int `json:"tokens"`
	// Gated are the tools that need a person each time.
	Gated []string `json:"gated"`
}

// handshake asks a server for its tools as a client does.
const handshake = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"install","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`

// costOf asks the very server that a client would start. Nothing is made by that:
// it makes no call.
func costOf(ctx context.Context, p process, vault string) (c cost, err error) {
	cfg, err := p.env.Load(vault)
	if err != nil {
		return c, err
	}
	a, err := app.New(cfg, app.Options{Env: p.env, Version: Version, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return c, err
	}
	defer a.Close()
	line, err := toolList(ctx, a)
	if err != nil {
		return c, fmt.Errorf("the server did not list its tools: %w", err)
	}
	var m struct {
		Result struct {
			Tools []json.RawMessage `json:"tools"`
		} `json:"result"`
	}
	if err := json.Unmarshal(line, &m); err != nil {
		return c, err
	}
	c.Tools, c.Bytes, c.Tokens = len(m.Result.Tools), len(line), len(line)/4
	for _, t := range a.Registry.All() {
		if t.Floor.Reason() != "" {
			c.Gated = append(c.Gated, t.Name)
		}
	}
	return c, nil
}

// listing is the longest time that a server may take to list its tools.
const listing = 30 * time.Second

// toolList is the server's answer to tools/list. It closes the server's input with
// that answer: an earlier end would cut it off.
func toolList(ctx context.Context, a *app.App) (line []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, listing)
	defer cancel()
	in, client := io.Pipe()
	answers, out := io.Pipe()
	var serving sync.WaitGroup
	defer serving.Wait()
	defer answers.Close()
	defer client.Close()
	serving.Go(func() { out.CloseWithError(a.Serve(ctx, in, out)) })
	serving.Go(func() { _, _ = io.WriteString(client, handshake) }) // what is not read is not answered
	for lines := bufio.NewReader(answers); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return nil, err
		}
		var m struct {
			ID int `json:"id"`
		}
		if json.Unmarshal(line, &m) == nil && m.ID == 2 {
			return line, nil
		}
	}
}

// result is what --json prints.
type result struct {
	Outcome install.Outcome `json:"outcome"`
	File    string          `json:"file"`
	Name    string          `json:"name"`
	Command string          `json:"command,omitempty"`
	Serves  string          `json:"serves,omitempty"`
	Backup  string          `json:"backup,omitempty"`
	Diff    string          `json:"diff,omitempty"`
	DryRun  bool            `json:"dry_run,omitempty"`
	Off     bool            `json:"disabled,omitempty"`
	Advice  *install.Advice `json:"advice,omitempty"`
	Cost    *cost           `json:"cost,omitempty"`
}

// done says what was written, and what is left to do.
func (c installCmd) done(p process, file *install.File, w install.Wanted, outcome install.Outcome, off bool, is cost) error {
	advice := install.Advise(w.Client, w.Name)
	backup := ""
	if _, err := os.Stat(file.Backup()); err == nil && outcome != install.Current {
		backup = file.Backup()
	}
	if c.JSON {
		return json.NewEncoder(p.stdout).Encode(result{Outcome: outcome, File: file.Path, Name: w.Name, Command: w.Command,
			Serves: w.Vault, Backup: backup, Off: off, Advice: &advice, Cost: &is})
	}
	var b strings.Builder
	switch outcome {
	case install.Current:
		fmt.Fprintf(&b, "The entry %q in %s is current; nothing was written.\n", w.Name, file.Path)
	default:
		fmt.Fprintf(&b, "The entry %q was %s in %s; nothing else changed.\n", w.Name, outcome, file.Path)
	}
	if backup != "" {
		fmt.Fprintf(&b, "Before that: %s\n", backup)
	}
	fmt.Fprintf(&b, "It starts:   %s serve %s\n", w.Command, w.Vault)
	if off {
		b.WriteString("But:         the file says that it is switched off, which stays so\n")
	}
	b.WriteString("\n")
	fmt.Fprintf(&b, "Now:         %s\n", advice.Restart)
	if advice.Check != "" {
		fmt.Fprintf(&b, "To check:    %s\n", advice.Check)
	}
	if advice.Headless != "" {
		fmt.Fprintf(&b, "Headless:    %s\n", advice.Headless)
	}
	fmt.Fprintf(&b, "Context:     %d tools; their list has %d bytes, about %d tokens\n", is.Tools, is.Bytes, is.Tokens)
	fmt.Fprintf(&b, "You approve: what removes, replaces or touches much, and each use of %s\n", strings.Join(is.Gated, ", "))
	b.WriteString("             vault-mcp elicit watch shows what waits in a terminal of your own, vault-mcp elicit page in the browser\n")
	_, err := io.WriteString(p.stdout, b.String())
	return err
}
