package app_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vault-mcp/internal/app"
	"vault-mcp/internal/fault"
)

// writable serves a vault of these files and tells where it is. approve says
// whether a person would.
func writable(t *testing.T, files map[string]string, approve bool, more ...string) (*app.App, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "vault")
	plant(t, dir, files)
	a := start(t, t.TempDir(), fmt.Sprintf("vaults: [{path: %q%s}]\n", dir, strings.Join(more, "")))
	if approve {
		person(a, agrees)
	}
	return a, dir
}

func content(t *testing.T, dir, path string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// only fails if something is in the vault that does not belong there.
func only(t *testing.T, dir string, want ...string) {
	t.Helper()
	var got []string
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, p)
			got = append(got, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("in the vault are %q, not %q", got, want)
	}
}

type written struct {
	Path     string
	Created  bool
	ModeUsed string `json:"mode_used"`
	Hash     string `json:"content_hash"`
	ChangeID string `json:"change_id"`
	DryRun   bool   `json:"dry_run"`
	Summary  string
	Diff     string
	Files    []struct {
		Path, Action string
		Added        int `json:"lines_added"`
	}
}

func code(err error) fault.Code {
	if err == nil {
		return ""
	}
	return fault.Of(err).Code
}

func TestANoteIsWrittenAndChanged(t *testing.T) {
	a, dir := writable(t, map[string]string{"a.md": "one\r\ntwo"}, false)
	var out written
	if err := call(t, a, "write_note", args{"path": "New folder/Idea", "content": "text\n"}, &out); err != nil {
		t.Fatal(err)
	}
	if out.Path != "New folder/Idea.md" || !out.Created || out.ChangeID == "" || content(t, dir, "New folder/Idea.md") != "text\n" {
		t.Errorf("%+v", out)
	}
	// What the system gives any new file: other programs have to read and write it.
	if err := os.WriteFile(filepath.Join(dir, "plain"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	plain, err := os.Stat(filepath.Join(dir, "plain"))
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "New folder/Idea.md"))
	if err != nil || info.Mode() != plain.Mode() {
		t.Errorf("mode %v, not %v: %v", info.Mode(), plain.Mode(), err)
	}
	if err := os.Remove(filepath.Join(dir, "plain")); err != nil {
		t.Fatal(err)
	}
	if err := call(t, a, "write_note", args{"path": "a.md", "content": "x"}, &out); code(err) != fault.NoteExists {
		t.Error(err)
	}
	if err := call(t, a, "write_note", args{"path": "a.md", "content": "x", "mode": "overwrite"}, &out); code(err) != fault.ElicitRequired {
		t.Error(err)
	}
	if err := call(t, a, "append_note", args{"path": "a.md", "content": "three\nfour\n"}, &out); err != nil {
		t.Fatal(err)
	}
	if got := content(t, dir, "a.md"); got != "one\r\ntwo\r\nthree\r\nfour\r\n" {
		t.Errorf("%q", got)
	}
	if err := call(t, a, "append_note", args{"path": "a.md", "content": "five", "prev_hash": strings.Repeat("0", 64)}, &out); code(err) != fault.ConcurrentModification {
		t.Error(err)
	}
	only(t, dir, "New folder/Idea.md", "a.md")
}

func TestADryRunWritesNothing(t *testing.T) {
	a, dir := writable(t, map[string]string{"a.md": "one\n"}, false)
	var out written
	if err := call(t, a, "write_note", args{"path": "a.md", "content": "two\n", "mode": "upsert", "dry_run": true}, &out); err != nil {
		t.Fatal(err)
	}
	if !out.DryRun || out.ChangeID != "" || !strings.Contains(out.Diff, "-one\n+two\n") || content(t, dir, "a.md") != "one\n" {
		t.Errorf("%+v", out)
	}
}

func TestARepeatedKeyHasNoSecondEffect(t *testing.T) {
	a, dir := writable(t, map[string]string{"a.md": "one\n"}, false)
	var first, second written
	in := args{"path": "a.md", "content": "two\n", "idempotency_key": "k1"}
	for _, out := range []*written{&first, &second} {
		if err := call(t, a, "append_note", in, out); err != nil {
			t.Fatal(err)
		}
	}
	if first.ChangeID != second.ChangeID || content(t, dir, "a.md") != "one\ntwo\n" {
		t.Errorf("%+v %+v %q", first, second, content(t, dir, "a.md"))
	}
	in["content"] = "other\n"
	if err := call(t, a, "append_note", in, &second); code(err) != fault.IdempotencyKeyMismatch {
		t.Error(err)
	}
}

func TestWritingIsJudgedByTheFolderRules(t *testing.T) {
	a, dir := writable(t, map[string]string{"a.md": "one\n", "Private/p.md": "secret\n", "Read/r.md": "r\n"}, true,
		`, rules: [{glob: "Private/**", verbs: {read: hide}}, {glob: "Read/**", verbs: {write: deny}}]`)
	for _, path := range []string{"Private/p.md", "Private/new.md", "private/P.md", "Read/r.md", "Read/new.md", "READ/new.md"} {
		var out json.RawMessage
		if err := call(t, a, "write_note", args{"path": path, "content": "x", "mode": "upsert"}, &out); code(err) != fault.ACLDenied {
			t.Errorf("%s: %v", path, err)
		}
	}
	only(t, dir, "Private/p.md", "Read/r.md", "a.md")
}

// A crash after the effect is no reason to have it twice.
func TestACallIsAnsweredAgainAfterACrash(t *testing.T) {
	home, dir := t.TempDir(), filepath.Join(t.TempDir(), "vault")
	plant(t, dir, map[string]string{"a.md": "one\n"})
	yaml := fmt.Sprintf("vaults: [{path: %q}]\n", dir)
	in := args{"path": "a.md", "content": "two\n", "idempotency_key": "k1"}
	a := start(t, home, yaml)
	var first, second written
	if err := call(t, a, "append_note", in, &first); err != nil {
		t.Fatal(err)
	}
	a.Close()
	// As if the server had died before its last transaction.
	db, err := sql.Open("sqlite", stateFile(t, home))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("UPDATE changes SET outcome = '', ended = 0"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	a = start(t, home, yaml)
	a.Begin(t.Context())
	if err := call(t, a, "append_note", in, &second); err != nil {
		t.Fatal(err)
	}
	if first.ChangeID != second.ChangeID || content(t, dir, "a.md") != "one\ntwo\n" {
		t.Errorf("%+v %+v %q", first, second, content(t, dir, "a.md"))
	}
}

// What patches of other servers are known to destroy.
func TestPatchesHarmNothing(t *testing.T) {
	for _, c := range []struct {
		harm, before, after string
		in                  args
	}{
		{
			harm:   "a comment in code is a heading, and all behind it goes",
			before: "# Setup\nold\n```bash\n# Setup\nmake\n```\nkept\n\n# Next\nkept too\n", after: "# Setup\nnew\n\n# Next\nkept too\n",
			in: args{"operation": "replace", "target_heading": []string{"Setup"}, "content": "new"},
		},
		{
			harm:   "a heading with closing hashes is not found",
			before: "## Next ##\none\n", after: "## Next ##\none\ntwo\n",
			in: args{"operation": "append", "target_heading": "Next", "content": "two"},
		},
		{
			harm:   "the items above a list item go with it, and so does its id",
			before: "- one\n- two\n- three ^id\n- four\n", after: "- one\n- two\n- new ^id\n- four\n",
			in: args{"operation": "replace", "block": "id", "content": "new"},
		},
		{
			harm:   "properties and what is above the first heading are one",
			before: "---\na: 1\n---\nintro\n\n# One\n", after: "---\na: 1\n---\nother\n\n# One\n",
			in: args{"operation": "replace", "part": "preamble", "content": "other"},
		},
		{
			harm:   "line ends get mixed",
			before: "# One\r\na\r\n", after: "# One\r\na\r\nb\r\nc\r\n",
			in: args{"operation": "append", "target_heading": "One", "content": "b\nc"},
		},
	} {
		t.Run(c.harm, func(t *testing.T) {
			a, dir := writable(t, map[string]string{"a.md": c.before}, true)
			c.in["path"] = "a.md"
			var out written
			if err := call(t, a, "patch_note", c.in, &out); err != nil {
				t.Fatal(err)
			}
			if got := content(t, dir, "a.md"); got != c.after {
				t.Errorf("%q, not %q", got, c.after)
			}
		})
	}
	a, dir := writable(t, map[string]string{"a.md": "# One\n## Two\ntext ^id\n"}, true)
	var out written
	err := call(t, a, "patch_note", args{"path": "a.md", "operation": "append", "target_heading": "Three", "content": "x"}, &out)
	if code(err) != fault.NotFound || fmt.Sprint(fault.Of(err).Details["headings"]) != "[One One > Two]" || content(t, dir, "a.md") != "# One\n## Two\ntext ^id\n" {
		t.Error(err, fault.Of(err).Details)
	}
}
