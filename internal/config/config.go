// Package config owns the settings of a server: what may be written in a
// config file, what it means, and what is in effect. It is the only package
// that reads the environment.
//
// The structs below are the one description of the file: the strict decoder,
// the defaults, `config show` and docs/config.md all read their tags. A key is
// accepted from the day its feature exists, so none is ever ignored.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxFile bounds the config file that is read.
const maxFile = 1 << 20

// Config is the effective configuration.
type Config struct {
	// Vaults are the vaults to serve: at least one, none inside another.
	Vaults []Vault `yaml:"vaults" required:"true" doc:"The vaults to serve, at least one. Two of them may not be the same folder, nor one inside the other."`
	// StateDir is an absolute path, or empty for the default.
	StateDir string `yaml:"state_dir" doc:"The folder below which each vault gets its state folder: absolute or starting with ~/, on a local disk, outside every vault. Empty: the default of the system, see below."`
	// Surface is how much of the tools clients are shown.
	Surface Surface `yaml:"surface" default:"core" enum:"core,triad,domain,flat" told:"true" doc:"Which tools a client is shown; all others can be called just as well. core: those of daily work, and three to find, describe and call the others. triad: those three alone. domain: one for each domain, with the tool as its action. flat: all, with the form of their answers."`
	// Tools says which tools there are.
	Tools Tools `yaml:"tools" doc:"Which tools there are. An entry of a list is the name of a tool, domain:NAME for all of a domain, or tag:NAME for all that need a scope: tag:read, tag:write, tag:delete, tag:bulk, tag:execute, tag:admin. A tool is there if read_only does not take it away, then if no entry of deny names it, then if allow is empty or has an entry that names it; so deny beats allow, and read_only both. domain:resources is for the resources of the protocol. Those that find and describe tools are always there."`
	// Governor bounds answers.
	Governor Governor `yaml:"governor" told:"true" doc:"How large an answer may be."`
	// Throttle bounds how often calls run.
	Throttle Throttle `yaml:"throttle" told:"true" doc:"How often calls of each class may run, for each caller and vault. A call counts in its strongest class: bulk, execute, admin, delete, write, read."`
	// Writes says what a change has to know.
	Writes Writes `yaml:"writes" told:"true" doc:"What every change of notes has to fulfil."`
	// Snapshots says how much is kept.
	Snapshots Snapshots `yaml:"snapshots" told:"true" doc:"How many versions of notes are kept, so that changes can be taken back."`
	// Elicit says how a person is asked.
	Elicit Elicit `yaml:"elicit" told:"true" doc:"How a person is asked to approve a call that needs it. What needs it cannot be set; folder rules with ask add to it."`
	// Page says where the page of approvals is.
	Page Page `yaml:"page" doc:"The page of vault-mcp elicit page, where a person answers in a browser."`
	// Events says whether events are kept.
	Events Events `yaml:"events" told:"true" doc:"Events of the gate and the governor, as lines of CloudEvents JSON."`
	// Index says how the vaults' indexes are kept fresh.
	Index Index `yaml:"index" told:"true" doc:"How the index of each vault is kept fresh."`
	// Programs says where other programs are.
	Programs Programs `yaml:"programs" doc:"Programs of this machine that some tools use. They are optional: a tool that misses one says what to install. A path is absolute or starts with ~/, and lies outside every vault; without one the usual folders of the system are looked through, never PATH."`
	// Git says how repositories are worked on.
	Git Git `yaml:"git" told:"true" doc:"How the git repository that holds a vault is worked on."`
	// Log says what is logged.
	Log Log `yaml:"log" told:"true" doc:"What is written to stderr."`

	// File is the absolute path of the config file; empty for a bare folder.
	File string `yaml:"-"`
}

// Vault is one vault to serve.
type Vault struct {
	// ID names the vault in calls.
	ID string `yaml:"id" default:"main" doc:"The name of the vault in calls and commands: 1 to 64 of a-z, 0-9, _ and -, different for each vault."`
	// Path is absolute.
	Path string `yaml:"path" required:"true" doc:"The folder of the vault: absolute, starting with ~/, or relative to the folder of the config file. Variables are not expanded."`
	// ReadOnly refuses every change.
	ReadOnly bool `yaml:"read_only" default:"false" live:"true" doc:"Whether every change in this vault is refused."`
	// Rules are the folder rules, the last matching one wins.
	Rules []Rule `yaml:"rules" live:"true" doc:"Folder rules. For each operation the last rule that matches the path and names the operation wins; where none does, it is allowed."`

	// Real is the path with links resolved, in its true case.
	Real string `yaml:"-"`
}

// Rule is one folder rule of a vault.
type Rule struct {
	// Glob says which paths the rule is about.
	Glob string `yaml:"glob" required:"true" doc:"The paths that the rule is about, relative to the vault, with / between folders: * within a name, ** across folders, ?, [abc], {a,b}. A glob that names a folder means all that is in it; one that allows needs Folder/** for that."`
	// Verbs says what happens to operations on them.
	Verbs Verbs `yaml:"verbs" required:"true" doc:"What happens to each operation; at least one."`
}

// Verbs says what a rule does to each operation. An empty verb leaves the
// operation to the other rules.
type Verbs struct {
	// Read is also listing and searching.
	Read Verb `yaml:"read" enum:"allow,ask,deny,hide" doc:"Reading, listing and searching. ask: a person approves a read that names the path. deny: refused, but the name may be listed. hide: as if the path did not exist."`
	// Write is creating and changing.
	Write Verb `yaml:"write" enum:"allow,ask,deny" why:"hide is for read alone: where read is hide, write and delete are refused anyway" doc:"Creating and changing. ask: a person approves."`
	// Delete is removing, also to the trash, and moving away.
	Delete Verb `yaml:"delete" enum:"allow,ask,deny" why:"hide is for read alone: where read is hide, write and delete are refused anyway" doc:"Removing and moving away. ask: a person approves."`
}

// Verb is what a folder rule does to an operation.
type Verb string

// The verbs of folder rules; Hide is for reading alone.
const (
	Allow Verb = "allow"
	Ask   Verb = "ask"
	Deny  Verb = "deny"
	Hide  Verb = "hide"
)

// Surface is how much of the tools clients are shown.
type Surface string

// Tools says which tools there are.
type Tools struct {
	// Allow leaves only what it names, if it names something.
	Allow []string `yaml:"allow" doc:"Only these tools, if there is an entry."`
	// Deny takes away what it names.
	Deny []string `yaml:"deny" doc:"Not these tools: as if they did not exist."`
	// ReadOnly takes away what changes something.
	ReadOnly bool `yaml:"read_only" default:"false" doc:"No tool that changes anything, in any vault: they are not listed, and refused."`
}

// Governor bounds answers.
type Governor struct {
	// MaxResponseBytes is the largest answer.
	MaxResponseBytes int `yaml:"max_response_bytes" default:"1000000" min:"10000" max:"50000000" doc:"The largest answer to a call, in bytes. A larger one is refused with advice how to ask for less."`
	// SoftListBytes and SoftNoteChars are how much of an answer is enough.
	SoftListBytes int `yaml:"soft_list_bytes" default:"10000" min:"2000" max:"50000000" doc:"How large the answer of a list or a search gets, in bytes, before it ends early: with whole items, how many are left, and next_cursor."`
	SoftNoteChars int `yaml:"soft_note_chars" default:"40000" min:"2000" max:"50000000" doc:"How much text of notes an answer holds, in characters, before it ends early: with a whole line, how much is left, and the call that goes on."`
}

// Writes says what a change has to know.
type Writes struct {
	// RequireCAS refuses a change of text without prev_hash.
	RequireCAS bool `yaml:"require_cas" default:"false" doc:"Whether every tool that replaces text needs prev_hash, the version that the caller has read."`
}

// Elicit says how a person is asked.
type Elicit struct {
	// TTL is how long an approval can be used.
	TTL Duration `yaml:"ttl" default:"300s" min:"30s" max:"1h" doc:"How long an approval, and a form that a client shows, are good. A person may answer a request itself for 24 hours."`
	// Routes are the ways that count.
	Routes []Route `yaml:"routes" default:"[form, console, cli, page]" enum:"form,console,cli,page" doc:"The ways by which a person may approve. Without form, no client's word counts."`
	// LegacyShim is for clients of older protocols.
	LegacyShim bool `yaml:"legacy_shim" default:"true" doc:"Whether clients of protocols before 2026-07-28 are sent a form, if they can show one."`
	// Unattended lets the command mint without a terminal.
	Unattended bool `yaml:"unattended" default:"false" told:"false" doc:"Whether vault-mcp elicit approves without a terminal: for scripts and tests. Whoever can run a program under this account can then approve."`
	// AllowClientShell lets a shell of the client mint.
	AllowClientShell bool `yaml:"allow_client_shell" default:"false" told:"false" doc:"Whether vault-mcp elicit works in a shell that the client itself has started: an agent could then approve its own calls."`
}

// Takes reports whether a way of approving counts.
func (e Elicit) Takes(r Route) bool { return slices.Contains(e.Routes, r) }

// Route is a way by which a person may approve.
type Route string

// Page says where the page of approvals is.
type Page struct {
	// Listen is an IP of loopback with a port.
	Listen string `yaml:"listen" default:"127.0.0.1:0" doc:"Where the page listens: an IP of this machine alone and a port, where 0 is any that is free."`
}

// Events says whether events are kept.
type Events struct {
	// Spool writes them.
	Spool bool `yaml:"spool" default:"false" doc:"Whether events are written to events.jsonl in the state folder of the first vault."`
	// MaxBytes bounds them.
	MaxBytes int `yaml:"max_bytes" default:"10485760" min:"65536" max:"1073741824" doc:"Bytes of events that are kept, over the file in use and one older one."`
}

// Snapshots says how many versions of notes are kept.
type Snapshots struct {
	// Versions is for each note.
	Versions int `yaml:"versions" default:"50" min:"1" max:"10000" doc:"Versions of each note that are kept however old they are."`
	// Days is for all.
	Days int `yaml:"days" default:"90" min:"1" max:"36500" doc:"Days for which every version is kept however many there are."`
	// MaxBytes bounds both.
	MaxBytes int `yaml:"max_bytes" default:"1073741824" min:"1048576" max:"1099511627776" doc:"Bytes on disk that all versions of a vault may take; over it the oldest go first, but never the last of a note."`
}

// Index says how the vaults' indexes are kept fresh.
type Index struct {
	// Watch is false if changes are only looked for by comparing the files.
	Watch bool `yaml:"watch" default:"true" doc:"Whether the system is asked to report changes of files. Without it, and on drives that report none, all files are compared every minute or so."`
}

// Throttle is a token bucket for each class of calls.
type Throttle struct {
	// Read is for calls that only read.
	Read Rate `yaml:"read" default:"{per_minute: 6000, burst: 1000}" doc:"Calls that only read."`
	// Write is for calls that change notes.
	Write Rate `yaml:"write" default:"{per_minute: 600, burst: 200}" doc:"Calls that change notes."`
	// Delete is for calls that remove notes.
	Delete Rate `yaml:"delete" default:"{per_minute: 60, burst: 20}" doc:"Calls that remove notes."`
	// Bulk is for calls that change many notes.
	Bulk Rate `yaml:"bulk" default:"{per_minute: 60, burst: 20}" doc:"Calls that change many notes at once."`
	// Execute is for calls that run something outside the notes.
	Execute Rate `yaml:"execute" default:"{per_minute: 30, burst: 10}" doc:"Calls that run something outside the notes."`
	// Admin is for calls that manage the server.
	Admin Rate `yaml:"admin" default:"{per_minute: 30, burst: 10}" doc:"Calls that manage the server."`
}

// Rate is one token bucket.
type Rate struct {
	// PerMinute is how many calls a minute last.
	PerMinute int `yaml:"per_minute" min:"1" max:"1000000" doc:"Calls a minute in the long run."`
	// Burst is how many calls may come at once.
	Burst int `yaml:"burst" min:"1" max:"1000000" doc:"Calls that may come at once."`
}

// Programs are the absolute paths of other programs; empty: where the system
// installs them.
type Programs struct {
	// PDFToText is pdftotext of Poppler.
	PDFToText string `yaml:"pdftotext" doc:"pdftotext of Poppler, for the text of PDFs."`
	// PDFInfo is pdfinfo of Poppler.
	PDFInfo string `yaml:"pdfinfo" doc:"pdfinfo of Poppler, for the number of their pages."`
	// Git is git.
	Git string `yaml:"git" doc:"git, for what changes a repository or asks how its files differ."`
}

// Paths are the programs by their names.
func (p Programs) Paths() map[string]string {
	return map[string]string{"pdftotext": p.PDFToText, "pdfinfo": p.PDFInfo, "git": p.Git}
}

// Git says how repositories are worked on.
type Git struct {
	// Hooks lets the hooks of a repository run.
	Hooks bool `yaml:"hooks" default:"false" doc:"Whether the hooks of the repository run at a commit. They are programs: those that lie in a vault, where an agent could write them, are refused, but for those in the folder of git itself."`
}

// Log says what is logged.
type Log struct {
	// Level is the least severe level that is written.
	Level string `yaml:"level" default:"info" enum:"debug,info,warn,error" doc:"The least severe messages that are written. VAULT_MCP_LOG overrides it."`
}

// Slog is the level for log/slog.
func (l Log) Slog() slog.Level {
	var level slog.Level
	if level.UnmarshalText([]byte(l.Level)) != nil {
		return slog.LevelInfo
	}
	return level
}

// Default is what a bare folder is served with, without the vault.
func Default() Config { return defaults[Config]() }

// Load reads the configuration that arg names in this environment: the folder of a
// vault, which is then served as "main" with every default, or a config file in YAML
// or JSON. The error lists every problem found, one a line, the most useful first.
func (e Env) Load(arg string) (*Config, error) {
	if arg == "" {
		return nil, errors.New("give the folder of a vault, or a config file")
	}
	path, err := e.expand("", arg)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("no file or folder at %s: give the folder of a vault, or a config file", quote(path))
	case err != nil:
		return nil, fmt.Errorf("cannot look at %s: %w", quote(path), reason(err))
	case info.IsDir():
		c := defaults[Config]()
		v := defaults[Vault]()
		v.Path = path
		c.Vaults = []Vault{v}
		p := &problems{}
		e.check(&c, p)
		return result(&c, p)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is neither a folder nor a file: give the folder of a vault, or a config file", quote(path))
	case info.Size() > maxFile:
		return nil, fmt.Errorf("%s is too large for a config file (%d bytes, at most %d)", quote(path), info.Size(), maxFile)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", quote(path), reason(err))
	}
	c, err := e.parse(path, text)
	if ext := strings.ToLower(filepath.Ext(path)); err != nil && ext != ".yaml" && ext != ".yml" && ext != ".json" && !strings.Contains(string(text), "vaults") {
		// Somebody named a note, not a config with a mistake.
		return nil, fmt.Errorf("%s is a file, and no config: give the folder of a vault, or a config file (YAML or JSON)", quote(path))
	}
	return c, err
}

// parse is Load for the text of a config file at path.
func (e Env) parse(path string, text []byte) (*Config, error) {
	p := &problems{file: path, lines: map[string]int{}}
	c := defaults[Config]()
	c.File = path
	if root := document(text, p); root != nil {
		decode(root, &c, p)
		e.check(&c, p)
	}
	return result(&c, p)
}

func result(c *Config, p *problems) (*Config, error) {
	if err := p.err(); err != nil {
		return nil, err
	}
	return c, nil
}
