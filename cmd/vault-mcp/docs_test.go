package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"vault-mcp/internal/app"
	"vault-mcp/internal/docgen"
)

var update = flag.Bool("update", false, "write the golden files, and the commands into the README")

// document is a text of the project.
func document(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The README lists every command.
//
//go:generate go test . -run TestTheReadmeListsEveryCommand -update
func TestTheReadmeListsEveryCommand(t *testing.T) {
	root := parser(t.Context(), process{stdout: io.Discard, stderr: io.Discard}).Model.Node
	var b strings.Builder
	b.WriteString("| command | what it does |\n|---|---|\n")
	for _, n := range root.Leaves(true) {
		fmt.Fprintf(&b, "| `vault-mcp %s` | %s |\n", usage(n), n.Help)
	}
	readme := document(t, "README.md")
	want, err := docgen.Fill(readme, map[string]string{"commands": b.String()})
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(filepath.Join("..", "..", "README.md"), []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if readme != want {
		t.Error("the commands in the README have drifted; go generate ./cmd/vault-mcp writes them")
	}
}

// block is a piece of a document between fences.
type block struct{ kind, text string }

var fences = regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$")

func blocks(text string) (list []block) {
	for _, m := range fences.FindAllStringSubmatch(text, -1) {
		list = append(list, block{m[1], m[2]})
	}
	return list
}

// entry is a server in the config of a client.
type entry struct {
	Command string   `json:"command" toml:"command"`
	Args    []string `json:"args" toml:"args"`
}

// entries are the servers in a piece of a client's config.
func entries(t *testing.T, b block) (list []entry) {
	t.Helper()
	file := map[string]map[string]entry{}
	var err error
	if b.kind == "toml" {
		err = toml.Unmarshal([]byte(b.text), &file)
	} else {
		err = json.Unmarshal([]byte(b.text), &file)
	}
	if err != nil {
		t.Fatalf("%v in\n%s", err, b.text)
	}
	for key, servers := range file {
		if !slices.Contains([]string{"mcpServers", "servers", "context_servers", "mcp_servers"}, key) {
			t.Errorf("the key %q in\n%s", key, b.text)
		}
		for _, e := range servers {
			list = append(list, e)
		}
	}
	return list
}

// typedArgs finds what is given to the program in a line for a terminal.
var typedArgs = regexp.MustCompile(`(?:^|/opt/vault-mcp/|\./)vault-mcp( .*)?$`)

// Each piece of a client's config in the documents can be read as it stands, and
// what it gives to the program is what the program takes.
func TestWhatTheDocumentsGiveToTheProgramIsTaken(t *testing.T) {
	takes := func(args []string, from string) {
		defer func() { _ = recover() }() // help was printed: that is taken
		if _, err := parser(t.Context(), process{stdout: io.Discard, stderr: io.Discard}).Parse(args); err != nil {
			t.Errorf("%v of\n%s", err, from)
		}
	}
	found := map[string]int{}
	for _, name := range []string{"README.md", "docs/clients.md"} {
		for _, b := range blocks(document(t, name)) {
			found[b.kind]++
			switch b.kind {
			case "json", "toml":
				list := entries(t, b)
				if len(list) != 1 || list[0].Command != "/opt/vault-mcp/vault-mcp" {
					t.Errorf("%s: %v in\n%s", name, list, b.text)
				}
				for _, e := range list {
					takes(e.Args, b.text)
				}
			case "console", "sh":
				for line := range strings.Lines(b.text) {
					line, _, _ = strings.Cut(strings.TrimSpace(line), "  #")
					if m := typedArgs.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
						takes(strings.Fields(m[1]), line)
					}
				}
			}
		}
	}
	if found["json"] < 7 || found["toml"] < 1 || found["console"] < 8 {
		t.Errorf("only %v were looked at", found)
	}
}

// Every config in the documents is one that the program takes.
func TestTheConfigsOfTheDocumentsAreTaken(t *testing.T) {
	home, n := t.TempDir(), 0
	for _, vault := range []string{"Notes", "Work"} {
		if err := os.MkdirAll(filepath.Join(home, vault, ".obsidian"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"README.md", "docs/config.md"} {
		for _, b := range blocks(document(t, name)) {
			if b.kind != "yaml" {
				continue
			}
			n++
			file := filepath.Join(t.TempDir(), "vault.yaml")
			if err := os.WriteFile(file, []byte(strings.ReplaceAll(b.text, "/home/ana/", home+"/")), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := command(t, home, "", "config", "validate", file); got.code != 0 {
				t.Errorf("%s: %+v", name, got)
			}
		}
	}
	if n < 5 {
		t.Errorf("only %d were looked at", n)
	}
}

var quotedWord = regexp.MustCompile("`([^`]+)`")

// Each name that docs/migrate.md gives as ours is one: a tool, an argument or one
// of its values, a key of the config or a command.
func TestNamesToMigrateToExist(t *testing.T) {
	ours := map[string]bool{"deny": true, "hide": true, "allow": true, "**": true, "-mtime": true} // verbs and values
	for _, name := range []string{"docs/config.md", "docs/errors.md"} {
		for line := range strings.Lines(document(t, name)) {
			if key, _, ok := strings.Cut(strings.TrimPrefix(line, "| `"), "`"); ok && strings.HasPrefix(line, "| `") {
				ours[key] = true
			}
		}
	}
	r, err := app.Registry()
	if err != nil {
		t.Fatal(err)
	}
	tools := map[string]bool{}
	for _, tool := range r.All() {
		tools[tool.Name] = true
		for _, a := range tool.Arguments() {
			for _, w := range strings.FieldsFunc(a, func(r rune) bool { return strings.ContainsRune(" ,;()", r) }) {
				ours[w] = true
			}
		}
	}
	rows, same := 0, 0
	section, column := "", ""
	for line := range strings.Lines(document(t, "docs/migrate.md")) {
		if strings.HasPrefix(line, "## ") {
			section = strings.TrimSpace(line)
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		switch {
		case strings.HasPrefix(line, "Tools that it does not have"), strings.HasPrefix(line, "`rename_heading`"), strings.HasPrefix(line, "`git_unstage`"):
			for _, m := range quotedWord.FindAllStringSubmatch(line, -1) {
				if !tools[m[1]] {
					t.Errorf("%s: there is no tool %q", section, m[1])
				}
			}
			continue
		case len(cells) != 2:
			continue
		case strings.Contains(cells[1], "here"), strings.Contains(cells[1], "ours"):
			column = strings.TrimSpace(cells[1])
			continue
		}
		rows++
		theirs := quotedWord.FindAllStringSubmatch(cells[0], -1)
		if strings.Contains(cells[1], "the same name") {
			same++
			for _, m := range theirs {
				if !tools[m[1]] {
					t.Errorf("%s: %q is no tool of ours", section, m[1])
				}
			}
			continue
		}
		for _, m := range quotedWord.FindAllStringSubmatch(cells[1], -1) {
			name := m[1]
			command := strings.HasPrefix(name, "vault-mcp ") && command(t, t.TempDir(), "", strings.Fields(name)[1], "--help").code == 0
			if !tools[name] && !ours[name] && !command {
				t.Errorf("%s, %s: %q is no name of ours", section, column, name)
			}
		}
	}
	if rows < 40 || same < 9 {
		t.Errorf("only %d rows were looked at, %d of them with the same name", rows, same)
	}
}

var testName = regexp.MustCompile(`\b(Test|Fuzz)[A-Z][A-Za-z0-9]+`)

// Each test that docs/security.md names for a promise exists.
func TestPromisesNameTestsThatExist(t *testing.T) {
	exist := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Za-z0-9_]+)\(`)
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
			exist[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	text := document(t, "docs/security.md")
	named := testName.FindAllString(text, -1)
	for _, n := range named {
		if !exist[n] {
			t.Errorf("there is no %s", n)
		}
	}
	if len(named) < 60 {
		t.Errorf("only %d tests are named", len(named))
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "| ") && strings.Contains(line, ". |") && !testName.MatchString(line) {
			t.Errorf("a promise without a test: %s", line)
		}
	}
}

var link = regexp.MustCompile(`\]\(([^)#]+)(#[^)]*)?\)`)

// What one document points to is there.
func TestLinksOfTheDocumentsLeadSomewhere(t *testing.T) {
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "docs/clients.md", "docs/migrate.md", "docs/security.md"} {
		for _, m := range link.FindAllStringSubmatch(document(t, name), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join("..", "..", filepath.Dir(name), m[1])); err != nil {
				t.Errorf("%s: %s", name, m[0])
			}
		}
	}
}
