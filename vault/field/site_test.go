package field

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"vault-mcp/hitl"
	"vault-mcp/internal/app"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/config"
	"vault-mcp/internal/dispatch"
	"vault-mcp/internal/fault"
	"vault-mcp/vault"
	"vault-mcp/vault/link"
	"vault-mcp/vault/note"
	"vault-mcp/vault/settings"
)

// site is where one case runs: a folder with the vault, one with the server's
// state, and a file beside them that nobody may reach.
type site struct {
	ctx    context.Context
	parent string
	dir    string // the vault
	before map[string]entry

	vault *vault.Vault
	app   *app.App
	index bool // answer from the index and not from the files
}

// outside lies next to the vault.
const outside = "outside.md"

func newSite(ctx context.Context, parent string, files values) (*site, error) {
	s := &site{ctx: ctx, parent: parent, dir: filepath.Join(parent, "vault")}
	for _, dir := range []string{s.dir, filepath.Join(parent, "home")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile(filepath.Join(parent, outside), []byte("outside\n"), 0o644); err != nil {
		return nil, err
	}
	if err := plant(s.dir, files); err != nil {
		return nil, err
	}
	var err error
	if s.before, err = snapshot(s.dir); err != nil {
		return nil, err
	}
	s.vault, err = vault.Open(s.dir)
	return s, err
}

func (s *site) close() {
	if s.vault != nil {
		_ = s.vault.Close() // only an open folder
	}
	if s.app != nil {
		s.app.Close()
	}
}

// escaped says what was done outside the vault, if anything was.
func (s *site) escaped() error {
	entries, err := os.ReadDir(s.parent)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if name := e.Name(); name != "vault" && name != "home" && name != outside {
			return fmt.Errorf("%q was made outside the vault", name)
		}
	}
	if b, err := os.ReadFile(filepath.Join(s.parent, outside)); err != nil || string(b) != "outside\n" {
		return fmt.Errorf("the file outside the vault was changed: %q, %v", b, err)
	}
	return nil
}

// trouble is a fault of a case or of the runner. It is no refusal: a case that
// wants an error does not pass by it.
type trouble struct{ error }

func troublef(format string, args ...any) error { return trouble{fmt.Errorf(format, args...)} }

// start builds the server.
func (s *site) start() error {
	if s.app != nil {
		return nil
	}
	home := filepath.Join(s.parent, "home")
	file := filepath.Join(home, "vault.yaml")
	yaml := fmt.Sprintf("vaults: [{path: %q}]\ngovernor: {max_response_bytes: 50000000, soft_list_bytes: 50000000, soft_note_chars: 50000000}\nindex: {watch: false}\n", s.dir)
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		return err
	}
	env := config.Env(func(k string) string {
		if k == "HOME" {
			return home
		}
		return ""
	})
	cfg, err := env.Load(file)
	if err != nil {
		return err
	}
	s.app, err = app.New(cfg, app.Options{
		Env: env, Version: "test", Log: slog.New(slog.DiscardHandler),
	})
	if err != nil || !s.index {
		return err
	}
	s.app.Begin(s.ctx)
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(5 * time.Millisecond) {
		out, err := s.call(status, values{})
		if err != nil || out["index"] == "ready" {
			return err
		}
	}
	return troublef("the index does not become ready")
}

// agree fills in a form as a person does who approves.
func agree(context.Context, hitl.Form) (json.RawMessage, error) {
	return json.RawMessage(`{"action":"accept","content":{"approve":true}}`), nil
}

// status is the tool that says whether the index is ready.
const status = "get_index_status"

// call runs a tool and returns its structured answer.
func (s *site) call(tool string, args values) (values, error) {
	if err := s.start(); err != nil {
		return nil, trouble{err}
	}
	t := s.app.Registry.Tool(tool)
	if t == nil {
		return nil, troublef("%s is not registered", tool)
	}
	var schema struct{ Properties values }
	if err := json.Unmarshal(t.InputSchema(false), &schema); err != nil {
		return nil, trouble{err}
	}
	for name := range args {
		if _, ok := schema.Properties[name]; !ok {
			return nil, troublef("%s has no argument %s", tool, name)
		}
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return nil, trouble{err}
	}
	res, err := s.app.Dispatcher.Do(s.ctx, dispatch.Request{
		Caller: auth.Caller{ID: "cli", Scopes: auth.All}, Tool: tool, Args: raw,
		Reach: hitl.Reach{Forms: true, Ask: agree}, // a case is the wish of a person
	})
	if err != nil {
		if e := fault.Of(err); e.Code == fault.Internal {
			return nil, troublef("%s: %v (%v)", tool, err, errors.Unwrap(e))
		}
		return nil, err
	}
	out := values{}
	if err := decode(res.Structured, &out); err != nil {
		return nil, troublef("%s: %v in %s", tool, err, res.Structured)
	}
	return out, nil
}

// rows calls a tool page by page and returns the rows of one list of its
// answers.
func (s *site) rows(tool string, args values, list string) ([]any, error) {
	args = maps.Clone(args)
	all := []any{}
	for range 1000 {
		out, err := s.call(tool, args)
		if err != nil {
			return nil, err
		}
		rows, ok := out[list].([]any)
		if !ok {
			return nil, troublef("the answer of %s has no list %s: %v", tool, list, out)
		}
		all = append(all, rows...)
		next, _ := out["next_cursor"].(string)
		if next == "" {
			if more, _ := out["truncated"].(bool); more {
				return nil, troublef("%s leaves out rows", tool)
			}
			return all, nil
		}
		args["cursor"] = next
	}
	return nil, troublef("the pages of %s do not end", tool)
}

// text reads a file of the vault.
func (s *site) text(path string) ([]byte, error) {
	p, err := s.vault.FindNote(path, nil)
	if err != nil {
		return nil, err
	}
	c, err := s.vault.Read(p, vault.DefaultMaxBytes)
	return c.Bytes, err
}

// paths are the files of the vault.
func (s *site) paths() ([]string, error) {
	root, err := s.vault.FindFolder("", nil)
	if err != nil {
		return nil, err
	}
	var paths []string
	err = s.vault.Walk(s.ctx, root, vault.WalkOptions{}, func(f vault.File) error {
		paths = append(paths, f.Path)
		return nil
	})
	return paths, err
}

// notes are those paths that are notes.
func (s *site) notes() ([]string, error) {
	paths, err := s.paths()
	return slices.DeleteFunc(paths, func(p string) bool { return vault.Kind(p) != vault.Note }), err
}

func (s *site) targets() (*link.Index, error) {
	paths, err := s.paths()
	return link.NewIndex(paths), err
}

func (s *site) settings() settings.Settings { return settings.Load(s.vault.ReadConfig) }

// itemKey is where a row has its key as Obsidian's own records write it for an item of a list: "up.0" for the first of up.
const itemKey = "key of the item"

// linkRow is a link of a note in the words of the cases.
func linkRow(x *link.Index, from string, l note.Link) values {
	row := values{
		"kind": "markdown", "target": l.Target, "subpath": l.Subpath, "display": l.Display(), "line": l.Line,
		"embed": l.Embed, "width": l.Width, "height": l.Height, "key": l.Property, "resolved": nil,
	}
	if l.Item >= 0 {
		row[itemKey] = fmt.Sprintf("%s.%d", l.Property, l.Item)
	}
	switch {
	case l.Property != "":
		row["kind"] = "frontmatter"
	case l.Embed:
		row["kind"] = "embed"
	case l.Form == note.FormWiki:
		row["kind"] = "wikilink"
	}
	if path, ok := x.Resolve(from, l.Target, nil); ok {
		row["resolved"] = path
	}
	return row
}

// links are the internal links of a note, those of its properties first.
func (s *site) links(path string) ([]any, error) {
	text, err := s.text(path)
	if err != nil {
		return nil, err
	}
	x, err := s.targets()
	if err != nil {
		return nil, err
	}
	rows := []any{}
	p := note.ParseProperties(text)
	for _, l := range append(p.Links(text), note.Scan(text).Inline().Links...) {
		if !l.External {
			rows = append(rows, linkRow(x, path, l))
		}
	}
	return rows, nil
}

// lines are the lines of a text without their ends.
func lines(text string) []any {
	all := []any{}
	for l := range strings.Lines(text) {
		all = append(all, strings.TrimRight(l, "\r\n"))
	}
	return all
}
