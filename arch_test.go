package main_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// layers lists the rooms from the bottom up. A room may import those of lower
// layers; rooms of one layer may not import each other unless allowed says so.
var layers = [][]string{
	{"internal/fault", "internal/fingerprint", "internal/telemetry", "internal/auth", "internal/smalldisk", "internal/compact", "internal/racing", "tools/search/logic"},
	{"internal/uri"},
	{"vault/settings", "vault/note", "vault/canvas"},
	{"vault"},
	{"vault/link", "vault/change"},
	{"vault/trash"},
	{"vault/rename"},
	{"hitl"},
	{"cache"},
	{"cache/state"},
	{"vault/query"},
	{"cache/index/terms", "cache/index/facts", "tools/search/match"},
	{"cache/index"},
	{"internal/config", "internal/secrets", "internal/acl", "internal/audit", "internal/run"},
	{"internal/updates"},
	{"internal/git", "internal/clients", "internal/poppler"},
	{"internal/obsidian"},
	{"governor"},
	{"tools"},
	{"tools/admin", "tools/attachments", "tools/bundles", "tools/complete", "tools/facade", "tools/git", "tools/history", "tools/links", "tools/metadata", "tools/notes", "tools/resources", "tools/search", "tools/tables", "tools/tasks", "tools/vaults"},
	{"internal/dispatch"},
	{"internal/mcpserver/stdio", "internal/prompts"},
	{"internal/mcpserver"},
	{"internal/elicit"},
	{"internal/page"},
	{"internal/app", "internal/install", "internal/doctor"},
	{"internal/docgen"},
	{"cmd/vault-mcp"},
	{"bench", "vault/field", "internal/release"},
}

// only lists imports that a single room, with all below it, may have.
var only = map[string][]string{
	"github.com/mark3labs/mcp-go":      {"internal/mcpserver", "bench"},
	"github.com/alecthomas/kong":       {"cmd/vault-mcp"},
	"os/exec":                          {"internal/run", "internal/smalldisk", "bench", "internal/release"},
	"database/sql":                     {"cache", "bench"},
	"github.com/gofrs/flock":           {"cache", "internal/git"},
	"github.com/go-git":                {"internal/git"},
	"github.com/tailscale/hujson":      {"internal/clients", "internal/install"},
	"github.com/pelletier/go-toml/v2":  {"internal/clients", "internal/install"},
	"go.yaml.in/yaml/v3":               {"internal/config", "vault/note"},
	"github.com/bmatcuk/doublestar/v4": {"internal/acl", "internal/config", "tools/notes"},
}

const module = "vault-mcp/"

func layerOf(room string) int {
	for i, l := range layers {
		for _, r := range l {
			if room == r || r == "bench" && strings.HasPrefix(room, "bench/") {
				return i
			}
		}
	}
	return -1
}

func TestImportsPointDownwards(t *testing.T) {
	packages := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && name != "." && (strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		room := filepath.ToSlash(filepath.Dir(path))
		if room == "." {
			return nil
		}
		at := layerOf(room)
		if at < 0 {
			t.Errorf("%s has no layer", room)
			return nil
		}
		packages++
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, im := range f.Imports {
			check(t, path, room, at, strings.Trim(im.Path.Value, `"`))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if packages < 40 {
		t.Errorf("only %d files were looked at", packages)
	}
}

func check(t *testing.T, path, room string, at int, imported string) {
	if dep, ok := strings.CutPrefix(imported, module); ok {
		switch to := layerOf(dep); {
		case to < 0:
			t.Errorf("%s imports %s, which has no layer", path, dep)
		case to > at || to == at && dep != room && !strings.HasPrefix(room, "bench"):
			t.Errorf("%s imports %s, which is not below it", path, dep)
		}
		return
	}
	for prefix, rooms := range only {
		if imported != prefix && !strings.HasPrefix(imported, prefix+"/") {
			continue
		}
		if !slices.ContainsFunc(rooms, func(r string) bool { return room == r || strings.HasPrefix(room, r+"/") }) {
			t.Errorf("%s imports %s, which only %s may", path, imported, strings.Join(rooms, ", "))
		}
	}
}

// sqlite takes longer to build for a fuzz test, with every branch counted, than
// all else together.
const sqlite = "modernc.org/sqlite"

// fuzzedWithSQLite are the rooms whose fuzz tests have to build it nevertheless.
var fuzzedWithSQLite = map[string]string{
	"tools": "FuzzBind binds the arguments of a whole Call, which holds the index",
}

// A fuzz test is in a room that is built without SQLite: what it tests needs no
// database.
func TestFuzzTestsAreBuiltWithoutSQLite(t *testing.T) {
	rooms, tests := map[string][]string{}, map[string][]string{} // what the files of each folder import
	fuzzed := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.Contains(path, "node_modules") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		into, room := rooms, filepath.ToSlash(filepath.Dir(path))
		if strings.HasSuffix(path, "_test.go") {
			into = tests
			for _, decl := range f.Decls {
				fn, ok := decl.(*ast.FuncDecl)
				fuzzed[room] = fuzzed[room] || ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Fuzz")
			}
		}
		for _, im := range f.Imports {
			into[room] = append(into[room], strings.TrimPrefix(strings.Trim(im.Path.Value, `"`), module))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	looked := 0
	for room, has := range fuzzed {
		if !has {
			continue
		}
		looked++
		way := wayTo(rooms, sqlite, append(slices.Clone(rooms[room]), tests[room]...), map[string]bool{})
		why, excused := fuzzedWithSQLite[room]
		switch {
		case way != nil && !excused:
			t.Errorf("%s has fuzz tests and builds SQLite by way of %s", room, strings.Join(way, ", "))
		case way == nil && excused:
			t.Errorf("%s is built without SQLite: it needs no excuse any more (%s)", room, why)
		}
	}
	if looked < 15 {
		t.Errorf("only %d rooms with fuzz tests were looked at", looked)
	}
}

// wayTo is a chain of imports that ends with one, nil if there is none.
func wayTo(rooms map[string][]string, end string, from []string, seen map[string]bool) []string {
	for _, im := range from {
		if im == end {
			return []string{im}
		}
		if !seen[im] {
			seen[im] = true
			if way := wayTo(rooms, end, rooms[im], seen); way != nil {
				return append([]string{im}, way...)
			}
		}
	}
	return nil
}

// Every package says in a sentence what it decides or owns.
func TestPackageDocs(t *testing.T) {
	docs := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testdata") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		dir := filepath.Dir(path)
		docs[dir] = docs[dir] || f.Doc != nil
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir, ok := range docs {
		if !ok {
			t.Errorf("package in %s has no doc comment", dir)
		}
	}
}
