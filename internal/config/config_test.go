package config

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// place is a folder with two vaults, where configs are written.
type place struct {
	t    *testing.T
	root string
	vars map[string]string
}

func newPlace(t *testing.T) *place {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t, root, map[string]string{"HOME": root, "USERPROFILE": root}}
	for _, dir := range []string{"Notes/Private/Deep", "Notes/.obsidian", "Work"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p *place) path(rel string) string { return filepath.Join(p.root, filepath.FromSlash(rel)) }

func (p *place) env() Env { return func(name string) string { return p.vars[name] } }

// load writes a config named vault.yaml and loads it.
func (p *place) load(text string) (*Config, error) {
	p.t.Helper()
	file := p.path("vault.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return p.env().Load(file)
}

// refused loads a config that must fail, and gives the error without the
// folder, so that it reads as a person sees it.
func (p *place) refused(text string) string {
	p.t.Helper()
	c, err := p.load(text)
	if err == nil {
		p.t.Fatalf("accepted as\n%s", c)
	}
	return p.plain(err)
}

func (p *place) plain(err error) string {
	return strings.ReplaceAll(err.Error(), p.root+string(filepath.Separator), "")
}

func TestBareFolderIsOneVaultWithEveryDefault(t *testing.T) {
	p := newPlace(t)
	want := &Config{
		Vaults:    []Vault{{ID: "main", Path: p.path("Notes"), Real: p.path("Notes")}},
		Surface:   "core",
		Governor:  Governor{MaxResponseBytes: 1000000, SoftListBytes: 10000, SoftNoteChars: 40000},
		Snapshots: Snapshots{Versions: 50, Days: 90, MaxBytes: 1 << 30}, Elicit: askDefaults,
		Page: Page{Listen: "127.0.0.1:0"}, Events: Events{MaxBytes: 10 << 20}, Index: Index{Watch: true},
		Throttle: Throttle{
			Read: Rate{6000, 1000}, Write: Rate{600, 200}, Delete: Rate{60, 20},
			Bulk: Rate{60, 20}, Execute: Rate{30, 10}, Admin: Rate{30, 10},
		},
		Log: Log{Level: "info"},
	}
	for _, arg := range []string{p.path("Notes"), "~/Notes", p.path("Work/../Notes/")} {
		got, err := p.env().Load(arg)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", arg, diff)
		}
	}
}

func TestFile(t *testing.T) {
	p := newPlace(t)
	want := &Config{
		File: p.path("vault.yaml"),
		Vaults: []Vault{
			{ID: "main", Path: p.path("Notes"), Real: p.path("Notes"), Rules: []Rule{
				{Glob: "Private/**", Verbs: Verbs{Read: Hide, Write: Deny}},
				{Glob: "**/*.canvas", Verbs: Verbs{Delete: Ask}},
			}},
			{ID: "work_2", Path: p.path("Work"), Real: p.path("Work"), ReadOnly: true},
		},
		StateDir:  p.path("state"),
		Surface:   "core",
		Governor:  Governor{MaxResponseBytes: 20000, SoftListBytes: 10000, SoftNoteChars: 5000},
		Snapshots: Snapshots{Versions: 50, Days: 90, MaxBytes: 1 << 30}, Elicit: askDefaults,
		Page: Page{Listen: "127.0.0.1:0"}, Events: Events{MaxBytes: 10 << 20}, Index: Index{Watch: true},
		Log: Log{Level: "debug"},
	}
	want.Throttle = defaults[Throttle]()
	want.Throttle.Read.Burst = 7
	tests := []struct{ name, text string }{
		{"YAML", `
vaults:
  - path: Notes # relative to this file
    rules:
      - {glob: "Private/**", verbs: {read: hide, write: deny}}
      - glob: '**/*.canvas'
        verbs:
          delete: ask
  - {id: work_2, path: ~/Work, read_only: true}
state_dir: ~/state
governor: {max_response_bytes: 20_000, soft_note_chars: 5000}
throttle: {read: {burst: 7}}
log: {level: debug}
`},
		{"JSON with tabs and a BOM", "\xef\xbb\xbf{\n\t\"vaults\": [\n\t\t{\"id\": \"main\", \"path\": \"~\\/Notes\", \"rules\": [{\"glob\": \"Private/**\", \"verbs\": {\"read\": \"hide\", \"write\": \"deny\"}}, {\"glob\": \"**/*.canvas\", \"verbs\": {\"delete\": \"ask\"}}]},\n\t\t{\"id\": \"work_2\", \"path\": \"~/Work\", \"read_only\": true}\n\t],\n\t\"state_dir\": \"~/state\",\n\t\"governor\": {\"max_response_bytes\": 20000, \"soft_note_chars\": 5000},\n\t\"throttle\": {\"read\": {\"burst\": 7}},\n\t\"log\": {\"level\": \"debug\"}\n}\n"},
		{"Windows line ends", "vaults:\r\n- path: Notes\r\n  rules: [{glob: Private/**, verbs: {read: hide, write: deny}}, {glob: \"**/*.canvas\", verbs: {delete: ask}}]\r\n- {id: work_2, path: Work, read_only: true}\r\nstate_dir: ~/state\r\ngovernor: {max_response_bytes: 20000, soft_note_chars: 5000}\r\nthrottle: {read: {burst: 7}}\r\nlog: {level: debug}\r\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := p.load(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			// What is shown can be used as a config.
			again, err := p.load(got.Redacted())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(got.Redacted(), again.Redacted()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestJSONWithEscapesOfItsOwn(t *testing.T) {
	p := newPlace(t)
	if err := os.Mkdir(p.path("Notes 😀"), 0o700); err != nil {
		t.Fatal(err)
	}
	c, err := p.load(`{"vaults": [{"path": "~\/Notes \ud83d\ude00", "rules": [{"glob": "\u00fc\"\/a", "verbs": {"read": "deny"}}]}]}`)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := c.Vaults[0].Real, p.path("Notes 😀"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := c.Vaults[0].Rules[0].Glob, `ü"/a`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEnvironmentOverridesTheLogLevel(t *testing.T) {
	p := newPlace(t)
	p.vars["VAULT_MCP_LOG"] = "debug"
	c, err := p.load("vaults: [{path: Notes}]\nlog: {level: error}")
	if err != nil || c.Log.Slog() != slog.LevelDebug {
		t.Errorf("got %v, %v, want debug", c, err)
	}
	p.vars["VAULT_MCP_LOG"] = "loud"
	_, err = p.env().Load(p.path("Notes"))
	const want = `VAULT_MCP_LOG: "loud" is not one of debug, info, warn, error`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestArgument(t *testing.T) {
	p := newPlace(t)
	if err := os.WriteFile(p.path("huge.yaml"), make([]byte, maxFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, arg, want string }{
		{"nothing", "", "give the folder of a vault, or a config file"},
		{"absent", p.path("Absent"), `no file or folder at "` + p.path("Absent") + `": give the folder of a vault, or a config file`},
		{"somebody else's home", "~bob/Notes", "only ~/ is expanded, not ~ with a name: write the whole path"},
		{"huge", p.path("huge.yaml"), `"` + p.path("huge.yaml") + `" is too large for a config file (1048577 bytes, at most 1048576)`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := p.env().Load(tt.arg)
			if err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestNoHome(t *testing.T) {
	p := newPlace(t)
	p.vars = nil
	const want = "vault.yaml:1: vaults[0].path: \"~/Notes\": ~/ needs a home folder: set HOME, or write the whole path"
	if got := p.refused("vaults: [{path: ~/Notes}]"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// One vault reached by two spellings must be one vault with one state folder.
func TestRealPathDoesNotDependOnTheSpelling(t *testing.T) {
	p := newPlace(t)
	if err := os.Symlink(p.path("Notes"), p.path("link")); err != nil {
		t.Skip(err)
	}
	spellings := []string{"Notes", "link"}
	if _, err := os.Stat(p.path("nOTES")); err == nil {
		spellings = append(spellings, "nOTES", "notes")
	}
	for _, name := range spellings {
		c, err := p.env().Load(p.path(name))
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Vaults[0].Real; got != p.path("Notes") {
			t.Errorf("%s: got %s, want %s", name, got, p.path("Notes"))
		}
	}
}

func TestTrueNameIsThatOfTheFolder(t *testing.T) {
	p := newPlace(t)
	if err := os.Mkdir(p.path("Übung"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Notes", "Übung", "absent"} {
		if got := trueName(p.root, name); got != name {
			t.Errorf("got %q, want %q", got, name)
		}
	}
}

func TestUnreadableVault(t *testing.T) {
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	p := newPlace(t)
	if err := os.Chmod(p.path("Work"), 0); err != nil {
		t.Fatal(err)
	}
	if got := p.refused("vaults: [{path: Work}]"); !strings.Contains(got, "cannot read the folder") {
		t.Errorf("got %s", got)
	}
}

func TestProcessEnvKnowsAHomeInAStrippedEnvironment(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("USERPROFILE is always set")
	}
	t.Setenv("HOME", "")
	if got := ProcessEnv().Home(); !filepath.IsAbs(got) {
		t.Errorf("got %q, want the home folder of the account", got)
	}
	t.Setenv("HOME", "/home/ana")
	if got := ProcessEnv().Home(); got != "/home/ana" {
		t.Errorf("got %q, want /home/ana", got)
	}
}

// A list that is given replaces the default: a route that was left out is not there.
func TestAListReplacesItsDefault(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(file, []byte(fmt.Sprintf("vaults: [{path: %q}]\nelicit: {routes: [cli], ttl: 2m}\n", dir)), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Env(func(string) string { return "" }).Load(file)
	if err != nil {
		t.Fatal(err)
	}
	if c.Elicit.Takes("form") || !c.Elicit.Takes("cli") || c.Elicit.TTL.Duration() != 2*time.Minute {
		t.Errorf("%+v", c.Elicit)
	}
	for _, bad := range []string{"ttl: 29s", "ttl: 2h", "ttl: soon", "routes: [mail]", "ttl: 300"} {
		if err := os.WriteFile(file, []byte(fmt.Sprintf("vaults: [{path: %q}]\nelicit: {%s}\n", dir, bad)), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Env(func(string) string { return "" }).Load(file); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}

// Nobody on another machine reaches the page, whatever the config says.
func TestThePageListensOnThisMachineAlone(t *testing.T) {
	p := newPlace(t)
	for listen, ok := range map[string]bool{
		"127.0.0.1:0": true, "127.0.0.1:8080": true, "[::1]:0": true, "0.0.0.0:0": false, ":8080": false, "[::]:0": false, "localhost:0": false,
		"192.0.2.1:80": false, "127.0.0.1": false, "127.0.0.1:99999": false, "[::ffff:127.0.0.1]:1": false, "": false,
	} {
		file := p.path("c.yaml")
		if err := os.WriteFile(file, fmt.Appendf(nil, "vaults: [{path: %q}]\npage: {listen: %q}\n", p.path("Notes"), listen), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := p.env().Load(file)
		if ok && (err != nil || c.Page.Listen != listen) || !ok && (err == nil || !strings.Contains(err.Error(), "page.listen") || !strings.Contains(err.Error(), "127.0.0.1:0")) {
			t.Errorf("%q: %v", listen, err)
		}
	}
	if got := Default().Page.Listen; got != "127.0.0.1:0" {
		t.Errorf("%q", got)
	}
}

// askDefaults are the defaults of elicit.
var askDefaults = Elicit{TTL: "300s", Routes: []Route{"form", "console", "cli", "page"}, LegacyShim: true}
