// Package doctor looks for what keeps a person's set-up from working: it owns the
// checks of vaults, state folders and clients, and says for each finding what to
// do. It changes nothing itself; the servers that it starts do what a client's
// start of them does.
package doctor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"vault-mcp/hitl"
	"vault-mcp/internal/config"
)

// Level says how bad a finding is.
type Level string

// The levels, from the best on.
const (
	OK Level = "ok"
	// Off is a part that is not used, or not there, and need not be.
	Off     Level = "off"
	Warning Level = "warning"
	// Broken is what does not work.
	Broken Level = "broken"
)

var levels = []Level{OK, Off, Warning, Broken}

// Finding is one thing that was found out.
type Finding struct {
	Level Level `json:"level"`
	// ID names the check; it stays the same from version to version.
	ID string `json:"id"`
	// Vault is the folder that it is about, Client and Server the client and its
	// entry; "" for none.
	Vault  string `json:"vault,omitempty"`
	Client string `json:"client,omitempty"`
	Server string `json:"server,omitempty"`
	// Text is one line, and Fix the command or setting that helps; "" where nothing
	// has to be done.
	Text string `json:"text"`
	Fix  string `json:"fix,omitempty"`
	// Paths are the first few files that it is about, from the vault's folder on.
	Paths []string `json:"paths,omitempty"`
	// Times are how long the steps took, in milliseconds.
	Times map[string]int64 `json:"times_ms,omitempty"`
}

// Report is all that was found out.
type Report struct {
	// Version is the program's.
	Version string `json:"version"`
	// Status is the worst level.
	Status Level `json:"status"`
	// Counts are how many findings have each level.
	Counts   map[Level]int `json:"counts"`
	Findings []Finding     `json:"findings"`
}

// Options say what is looked at.
type Options struct {
	Env config.Env
	// Environ is the whole environment of this process, each as NAME=value. What a
	// client would give to a server is taken from it.
	Environ []string
	// Config is a vault's folder or a config file; "" for all that can be found.
	Config string
	// Client is the id of the one client that is looked at; "" for all.
	Client string
	// Version is the program's version, and Program its file.
	Version, Program string
	// Folder is where a client would be started that is started in a project.
	Folder string
	// NoStart is set if no server is to be started.
	NoStart bool
	// Now is the time by which ages are told.
	Now time.Time

	proc string // in place of /proc, for tests
}

// exam is one run of the checks.
type exam struct {
	o      Options
	report Report
}

// subject is what findings are about.
type subject struct {
	e                     *exam
	vault, client, server string
}

// Examine runs the checks. Only ctx's own end makes it fail.
func Examine(ctx context.Context, o Options) (Report, error) {
	if o.proc == "" {
		o.proc = "/proc"
	}
	e := &exam{o: o, report: Report{Version: o.Version, Status: OK, Counts: map[Level]int{OK: 0, Off: 0, Warning: 0, Broken: 0}}}
	e.program()
	setups := e.setups()
	e.servers(setups)
	e.programs(setups)
	for _, s := range setups {
		e.setup(ctx, s)
	}
	e.clients(ctx)
	return e.report, ctx.Err()
}

func (e *exam) general() subject { return subject{e: e} }

// add keeps a finding. An id that nobody has written down is a mistake in here.
func (s subject) add(f Finding) {
	if _, known := checks[f.ID]; !known {
		panic("doctor: no check " + f.ID)
	}
	f.Vault, f.Client, f.Server = s.vault, s.client, s.server
	f.Text, f.Fix = hitl.Text(f.Text), hitl.Text(f.Fix) // a config may say anything
	r := &s.e.report
	r.Findings = append(r.Findings, f)
	r.Counts[f.Level]++
	if slices.Index(levels, f.Level) > slices.Index(levels, r.Status) {
		r.Status = f.Level
	}
}

func (s subject) ok(id, format string, args ...any) {
	s.add(Finding{Level: OK, ID: id, Text: fmt.Sprintf(format, args...)})
}

func (s subject) off(id, text, fix string) { s.add(Finding{Level: Off, ID: id, Text: text, Fix: fix}) }

func (s subject) warn(id, text, fix string) {
	s.add(Finding{Level: Warning, ID: id, Text: text, Fix: fix})
}

func (s subject) broken(id, text, fix string) {
	s.add(Finding{Level: Broken, ID: id, Text: text, Fix: fix})
}

// some warns of what was found in a vault, if it is anything; noun names one.
func (s subject) some(id, noun string, found sample, text, fix string) {
	if found.count > 0 {
		s.add(Finding{Level: Warning, ID: id, Text: fmt.Sprintf("%s: %s", plural(found.count, noun), text), Fix: fix, Paths: found.first})
	}
}

// plural is a number with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
