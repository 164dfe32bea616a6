package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRefusalsSayWhereWhatAndWhatToDo(t *testing.T) {
	const one = "vaults: [{path: Notes}]\n"
	const empty = "vault.yaml: is empty: name at least one vault, as in vaults: [{path: ~/Notes}]"
	tests := []struct{ name, text, want string }{
		{"empty", "", empty},
		{"only a BOM and comments", "\xef\xbb\xbf# vaults\n---\n", empty},
		{"null", "null", empty},
		{"not YAML", one + "log: {level: [\n", "vault.yaml:2: not valid YAML or JSON: did not find expected node content"},
		{"two documents", one + "---\n" + one, "vault.yaml:2: a second document begins here: keep one, without lines of ---"},
		{"a note, not a config", "Dear diary", `vault.yaml:1: expected a group of keys, found the text "Dear diary"`},
		{"no vaults", "log: {level: info}", "vault.yaml:1: vaults: is missing: give it a list"},
		{"no vault", "vaults: []", "vault.yaml:1: vaults: name at least one vault, as in vaults: [{path: ~/Notes}]"},

		{"unknown key", one + "goverNor: {}", `vault.yaml:2: goverNor: unknown key; did you mean "governor"? (accepted here: vaults, state_dir, surface, tools, governor, throttle, writes, snapshots, elicit, page, events, index, programs, git, log)`},
		{"a key of a feature to come", one + "jobs: {}", "vault.yaml:2: jobs: unknown key (accepted here: vaults, state_dir, surface, tools, governor, throttle, writes, snapshots, elicit, page, events, index, programs, git, log)"},
		{"a surface that is none", one + "surface: all", `vault.yaml:2: surface: "all" is not one of core, triad, domain, flat`},
		{"unknown key, deep", "vaults:\n- path: Notes\n  rules:\n  - glob: '**'\n    verbs: {raed: hide, write: deny}", `vault.yaml:5: vaults[0].rules[0].verbs.raed: unknown key; did you mean "read"? (accepted here: read, write, delete)`},
		{"unknown key in a vault", "vaults: [{path: Notes, readonly: true}]", `vault.yaml:1: vaults[0].readonly: unknown key; did you mean "read_only"? (accepted here: id, path, read_only, rules)`},
		{"a key that is no word", one + "\"a\\e[2J b\": 1", `vault.yaml:2: "a\x1b[2J b": unknown key (accepted here: vaults, state_dir, surface, tools, governor, throttle, writes, snapshots, elicit, page, events, index, programs, git, log)`},
		{"key twice", one + "log: {level: info}\nlog: {level: warn}", "vault.yaml:3: log: is given twice (before on line 2): keep one"},
		{"key twice, deep", one + "throttle: {read: {burst: 1, burst: 2}}", "vault.yaml:2: throttle.read.burst: is given twice (before on line 2): keep one"},
		{"no value", one + "throttle:\n", "vault.yaml:2: throttle: has no value: give it a group of keys, or remove the key"},
		{"alias", "vaults: [{id: &a main, path: *a}]", "vault.yaml:1: vaults[0].path: aliases are not read: write the value out"},
		{"merge key", one + "log: {<<: {level: info}}", "vault.yaml:2: log.\"<<\": unknown key (accepted here: level)"},

		{"text for a number", one + "governor: {max_response_bytes: lots}", `vault.yaml:2: governor.max_response_bytes: expected a whole number from 10000 to 50000000, found the text "lots"`},
		{"fraction", one + "governor: {max_response_bytes: 1e6}", "vault.yaml:2: governor.max_response_bytes: expected a whole number from 10000 to 50000000, found the number 1e6"},
		{"too small", one + "governor: {max_response_bytes: 9999}", "vault.yaml:2: governor.max_response_bytes: 9999 is out of bounds: expected a whole number from 10000 to 50000000"},
		{"beyond numbers", one + "governor: {max_response_bytes: 99999999999999999999}", "vault.yaml:2: governor.max_response_bytes: expected a whole number from 10000 to 50000000, found the number 99999999999999999999"},
		{"no throttle at all", one + "throttle: {bulk: {per_minute: 0}}", "vault.yaml:2: throttle.bulk.per_minute: 0 is out of bounds: expected a whole number from 1 to 1000000"},
		{"number for text", "vaults: [{id: 2024, path: Notes}]", "vault.yaml:1: vaults[0].id: expected text, found the number 2024: put it in quotes"},
		{"yes", "vaults: [{path: Notes, read_only: yes}]", `vault.yaml:1: vaults[0].read_only: expected true or false, found the text "yes"`},
		{"group for a list", "vaults: {path: Notes}", "vault.yaml:1: vaults: expected a list, found a group of keys"},
		{"list for a group", one + "log: []", "vault.yaml:2: log: expected a group of keys, found a list"},
		{"tagged group for text", "vaults: [{path: !!str {a: b}}]", "vault.yaml:1: vaults[0].path: expected text, found a group of keys"},
		{"unknown level", one + "log: {level: loud}", `vault.yaml:2: log.level: "loud" is not one of debug, info, warn, error`},

		{"id", "vaults: [{id: My Notes, path: Notes}]", `vault.yaml:1: vaults[0].id: "My Notes" cannot be an id: use 1 to 64 of a-z, 0-9, _ and -`},
		{"one id twice", "vaults:\n- {id: a, path: Notes}\n- {id: a, path: Work}", `vault.yaml:3: vaults[1].id: vaults[0] has the id "a" too: give each vault an id of its own`},
		{"two vaults without ids", "vaults:\n- path: Notes\n- path: Work", `vault.yaml:3: vaults[1].id: vaults[0] has the id "main" too: give each vault an id of its own`},
		{"no path", "vaults: [{id: a}]", "vault.yaml:1: vaults[0].path: is missing: give it text"},
		{"empty path", "vaults: [{path: ''}]", "vault.yaml:1: vaults[0].path: is empty: give the folder of the vault"},
		{"absent path", "vaults: [{path: Absent}]", `vault.yaml:1: vaults[0].path: no folder at "Absent": correct the path, or make the folder`},
		{"path of a file", "vaults: [{path: vault.yaml}]", `vault.yaml:1: vaults[0].path: "vault.yaml" is a file: give the folder of the vault`},
		{"one folder twice", "vaults:\n- {id: a, path: Notes}\n- {id: b, path: ./Notes/}", `vault.yaml:3: vaults[1].path: "Notes" is the same folder as vaults[0].path: serve it once`},
		{"one folder twice by a link", "vaults:\n- {id: a, path: Notes}\n- {id: b, path: link}", `vault.yaml:3: vaults[1].path: "link" is the same folder as vaults[0].path: serve it once`},
		{"one vault in another", "vaults:\n- {id: a, path: Notes}\n- {id: b, path: link/Private}", `vault.yaml:3: vaults[1].path: "link/Private" is inside vaults[0].path ("Notes"): serve one of the two`},
		{"one vault around another", "vaults:\n- {id: a, path: Notes/Private}\n- {id: b, path: Notes}", `vault.yaml:3: vaults[1].path: "Notes" has vaults[0].path ("Notes/Private") inside it: serve one of the two`},

		{"relative state_dir", one + "state_dir: state", `vault.yaml:2: state_dir: "state" is relative: give a path from the root, or one that starts with ~/`},
		{"state_dir in a vault", one + "state_dir: ~/link/.state/deep", `vault.yaml:2: state_dir: "link/.state/deep" is inside vaults[0].path, where sync and git would carry it away: choose a folder outside every vault`},

		{"relative program", one + "programs: {pdftotext: pdftotext}", `vault.yaml:2: programs.pdftotext: "pdftotext" is relative: give a path from the root, or one that starts with ~/`},
		{"absent program", one + "programs: {pdfinfo: ~/Absent}", `vault.yaml:2: programs.pdfinfo: no program at "Absent": correct the path, or leave the key out`},
		{"a folder for a program", one + "programs: {pdfinfo: ~/Work}", `vault.yaml:2: programs.pdfinfo: no program at "Work": correct the path, or leave the key out`},
		{"absent git", one + "programs: {git: ~/Absent}", `vault.yaml:2: programs.git: no program at "Absent": correct the path, or leave the key out`},
		{"hooks by name", one + "git: {hooks: [pre-commit]}", "vault.yaml:2: git.hooks: expected true or false, found a list"},
		{"program in a vault", "vaults: [{path: Notes}, {id: b, path: Work}]\nprograms: {pdftotext: ~/link/tool}", `vault.yaml:2: programs.pdftotext: "link/tool" is inside vaults[0].path, where an agent could replace it: choose a program outside every vault`},
		{"program by a link in a vault", one + "programs: {pdftotext: ~/Notes/outside}", `vault.yaml:2: programs.pdftotext: "Notes/outside" is inside vaults[0].path, where an agent could replace it: choose a program outside every vault`},

		{"several, in order", "vaults: [{pth: Notes}]\nlog: {level: loud}\nstate_dir: x", `vault.yaml:1: vaults[0].pth: unknown key; did you mean "path"? (accepted here: id, path, read_only, rules)
vault.yaml:1: vaults[0].path: is missing: give it text
vault.yaml:2: log.level: "loud" is not one of debug, info, warn, error
vault.yaml:3: state_dir: "x" is relative: give a path from the root, or one that starts with ~/`},
	}
	p := newPlace(t)
	if err := os.Symlink(p.path("Notes"), p.path("link")); err != nil {
		t.Skip(err)
	}
	if err := errors.Join(os.WriteFile(p.path("Notes/tool"), nil, 0o700), os.Symlink(p.path("vault.yaml"), p.path("Notes/outside"))); err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, p.refused(tt.text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A rule that matches less than the person meant leaves notes open.
func TestRulesThatProtectNothingAreRefused(t *testing.T) {
	const where = "vault.yaml:1: vaults[0].rules[0]."
	const why = " (hide is for read alone: where read is hide, write and delete are refused anyway)"
	tests := []struct{ name, rule, want string }{
		{"no glob", `{verbs: {read: deny}}`, `glob: is missing: give it text`},
		{"no verbs", `{glob: "a/**"}`, `verbs: is missing: give it a group of keys`},
		{"empty verbs", `{glob: "a/**", verbs: {}}`, `verbs: sets nothing: give at least one of read, write, delete`},
		{"unknown verb", `{glob: "a/**", verbs: {read: forbid}}`, `verbs.read: "forbid" is not one of allow, ask, deny, hide`},
		{"hide for write", `{glob: "a/**", verbs: {write: hide}}`, `verbs.write: "hide" is not one of allow, ask, deny` + why},
		{"hide for delete", `{glob: "a/**", verbs: {delete: hide}}`, `verbs.delete: "hide" is not one of allow, ask, deny` + why},
		{"empty glob", `{glob: "", verbs: {read: deny}}`, `glob: is empty: for the whole vault write "**"`},
		{"from the root", `{glob: /Private/**, verbs: {read: deny}}`, `glob: "/Private/**": paths are relative to the vault, without / in front`},
		{"from the root in braces", `{glob: "{/a,b}/**", verbs: {read: deny}}`, `glob: "{/a,b}/**": paths are relative to the vault, without / in front`},
		{"up", `{glob: "../x", verbs: {read: deny}}`, `glob: "../x": . and .. are not for globs, paths are relative to the vault`},
		{"up in braces", `{glob: "{a,..}/x", verbs: {read: deny}}`, `glob: "{a,..}/x": . and .. are not for globs, paths are relative to the vault`},
		{"here", `{glob: "./x", verbs: {read: deny}}`, `glob: "./x": . and .. are not for globs, paths are relative to the vault`},
		{"backslashes", `{glob: 'Private\**', verbs: {read: deny}}`, `glob: "Private\\**": write / between folders, not \`},
		{"double slash", `{glob: "a//b", verbs: {read: deny}}`, `glob: "a//b" matches nothing: write one / between folders`},
		{"open bracket", `{glob: "a[b", verbs: {read: deny}}`, `glob: "a[b" is no valid glob: a bracket or brace is not closed`},
		{"open brace", `{glob: "{a,b", verbs: {read: deny}}`, `glob: "{a,b" is no valid glob: a bracket or brace is not closed`},
	}
	p := newPlace(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(where+tt.want, p.refused("vaults: [{path: Notes, rules: ["+tt.rule+"]}]")); diff != "" {
				t.Error(diff)
			}
		})
	}
	for _, glob := range []string{"**", "*", "Private", "Absent/", "Private/**", "a/{b,c}/*.md", "[A-C]*/**", "Fußnoten/**", "..a/b..", "Private/Deep/*"} {
		if _, err := p.load("vaults: [{path: Notes, rules: [{glob: \"" + glob + "\", verbs: {read: deny}}]}]"); err != nil {
			t.Errorf("%s: %v", glob, err)
		}
	}
}

func TestErrorsAreBounded(t *testing.T) {
	p := newPlace(t)
	long := strings.Repeat("x", 100_000)
	got := p.refused("vaults: [{path: " + long + ", id: " + long + "}]\n" + long + ": 1\nlog: {level: " + long + "}")
	if len(got) > 4000 {
		t.Errorf("got %d bytes", len(got))
	}
	got = p.refused("vaults: [{path: Notes}]\nlog:\n" + strings.Repeat("  y: 1\n", 1000))
	if lines := strings.Split(got, "\n"); len(lines) != maxProblems+1 || lines[maxProblems] != "and 980 more problems" {
		t.Errorf("got %d lines, the last %q", len(lines), lines[len(lines)-1])
	}
}

func FuzzLoad(f *testing.F) {
	for _, seed := range []string{
		"", "vaults: [{path: Notes}]", "\xef\xbb\xbf{\"vaults\": []}", "a: &a [*a]", "? {a: b}\n: c", "log: !!str {a: b}",
		"vaults:\n- {id: a, path: Notes, rules: [{glob: '{a,b', verbs: {read: hide}}]}\n- {path: ~/Notes}\nstate_dir: ~/x\n",
		"throttle: {read: {burst: 1e999}}", "\xff\xfev\x00", `{"a\\": "\ud83d\ude00\/\\/"}`, "%YAML 9.9\n---\n", "---\n...\n---\n", "!!null a: b",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		// Without any folder to be found, so that no disk is searched.
		env := Env(func(string) string { return "" })
		c, err := env.parse("/nowhere/vault.yaml", text)
		if (c == nil) == (err == nil) {
			t.Fatalf("got %v and %v", c, err)
		}
		if err == nil {
			return
		}
		lines := strings.Split(err.Error(), "\n")
		if len(lines) > maxProblems+1 {
			t.Errorf("%d lines", len(lines))
		}
		for _, line := range lines {
			if len(line) == 0 || len(line) > maxLine+len("…") {
				t.Errorf("a line of %d bytes", len(line))
			}
		}
	})
}

// An agent that may write notes must not be able to write its own rules.
func TestConfigAmongTheNotesIsRefused(t *testing.T) {
	dir := t.TempDir()
	for name, refused := range map[string]bool{"rules.yaml": true, ".rules.yaml": false} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte("vaults: [{path: .}]\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Env(func(string) string { return "" }).Load(file)
		if refused != (err != nil && strings.Contains(err.Error(), "the config file itself is in this vault")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestANoteIsNoConfig(t *testing.T) {
	file := filepath.Join(t.TempDir(), "note.md")
	if err := os.WriteFile(file, []byte("# Hello\ntext: [\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Env(func(string) string { return "" }).Load(file)
	if err == nil || !strings.Contains(err.Error(), "is a file, and no config: give the folder of a vault") || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
}
