package search

import (
	"bytes"
	"context"
	"errors"

	"vault-mcp/cache/index/facts"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/tools/search/match"
	"vault-mcp/vault"
	"vault-mcp/vault/query"
)

type vaultIn struct {
	tools.VaultArg
	Query      string          `json:"query" jsonschema:"words and \"phrases\", /regex/, -not, OR, ( ), file: path: content: tag: line: block: section: task: task-todo: task-done: match-case:, [property:value]" limits:"minLength=1,maxLength=10000"`
	Root       tools.Folder    `json:"root,omitempty" jsonschema:"only below this folder"`
	Explain    bool            `json:"explain,omitempty" jsonschema:"also say how the query was understood"`
	PerNote    int             `json:"max_matches_per_file,omitempty" limits:"min=1,max=1000,default=5"`
	EmbeddedIn tools.Note      `json:"embedded_in,omitempty" jsonschema:"the note whose query block this is, so that it does not find itself"`
	Verbosity  tools.Verbosity `json:"verbosity,omitempty" jsonschema:"terse leaves the snippets out" limits:"default=full"`
	Limit      int             `json:"limit,omitempty" limits:"min=1,max=1000,default=50"`
	tools.PageArg
}

type remark struct {
	Column  int    `json:"column" jsonschema:"in the query, in UTF-16 units, from 1"`
	Message string `json:"message"`
}

type vaultOut struct {
	out
	Understood string   `json:"understood,omitempty" jsonschema:"the query in its plainest form"`
	Meaning    string   `json:"meaning,omitempty" jsonschema:"what it asks for, in words"`
	Remarks    []remark `json:"remarks,omitempty" jsonschema:"parts of the query that were taken in a way that may not be meant"`
}

func searchVault() tools.Tool {
	return tools.Query(tools.Spec{
		Name:   "search_vault",
		Title:  "Search like Obsidian",
		Doc:    "Finds notes, canvases and other files by a query in Obsidian's search language, best first, with the matching lines. Use it to combine words with tags, tasks, properties, paths or sections.",
		Scope:  auth.Read,
		Narrow: "a lower limit, verbosity terse, or a root folder",
	}, func(ctx context.Context, c *tools.Call, in vaultIn) (vaultOut, error) {
		parsed, err := query.Parse(in.Query)
		if err != nil {
			return vaultOut{}, misread(err)
		}
		m, err := parsed.Prepare(engine(ctx))
		if err != nil {
			return vaultOut{}, misread(err)
		}
		s, err := begin(c, &in.Root, in.Cursor, in.Limit, shape{snippet: in.Verbosity != tools.Terse})
		if err != nil {
			return vaultOut{}, err
		}
		q := inquiry{session: s, query: parsed, matcher: m, o: query.Options{Limit: in.PerNote}, needsText: parsed.NeedsText()}
		s.canvases, s.names = q.needsText, parsed.NamesOnly()
		s.failed = func(path string) { q.match(&document{path: path}) } // by its name
		if in.EmbeddedIn.Arg != "" {
			p, err := in.EmbeddedIn.Path()
			if err != nil {
				return vaultOut{}, err
			}
			q.o.EmbeddedIn = p.String()
		}
		return q.run(ctx, in.Explain)
	})
}

// misread is what is wrong with a query.
func misread(err error) error {
	e, ok := errors.AsType[*query.SyntaxError](err)
	if !ok {
		return err
	}
	return fault.New(fault.InvalidInput, "The query cannot be read: column %d: %s", e.Column, e.Msg).
		With("argument", "query").With("position", e.Offset).With("column", e.Column)
}

// inquiry is one query over the files of a vault.
type inquiry struct {
	*session
	query     *query.Query
	matcher   *query.Matcher
	o         query.Options
	needsText bool
}

// candidate is a file that may be found. Notes have facts if they come from
// the index, and can be read.
type candidate struct {
	path  string
	facts *facts.Blob
}

func (q *inquiry) run(ctx context.Context, explain bool) (vaultOut, error) {
	var list []candidate
	of := 0
	served, err := q.indexed(ctx, readsText(q.query.Needs()), func(c corpus) error {
		list, of = q.candidates(c), c.notes.Len()
		return nil
	})
	switch {
	case err != nil:
	case served:
		err = q.matchAll(ctx, list, of)
	default:
		err = q.matchFiles(ctx)
	}
	if err != nil {
		return vaultOut{}, err
	}
	res, err := q.finish("vault")
	v := vaultOut{out: res}
	for _, n := range q.query.Notes() {
		v.Remarks = append(v.Remarks, remark{n.Column, n.Msg})
	}
	if explain {
		v.Understood, v.Meaning = q.query.String(), q.query.Explain()
	}
	return v, err
}

// candidates are the files that the index cannot rule out.
func (q *inquiry) candidates(c corpus) (list []candidate) {
	d := newNeed(q.query.Needs(), c)
	excluded := 0
	defer func() { q.page.exclude(excluded) }()
	var w match.Workspace
	sees := q.call.View.Sees
	isOut := func(p string) bool {
		out := q.excludes && q.excluded(p)
		if out && sees(p) {
			excluded++
		}
		return out
	}
	for n := range c.notes.NotesBelow(q.root.String()) {
		// What cannot be read is looked at in any case, so that it is told.
		if isOut(n.Path) || (q.names || n.Problem == "") && !d.met(n.Path, &n, &w) || !sees(n.Path) {
			continue
		}
		k := candidate{path: n.Path}
		if blob := n.Facts; n.Problem == "" {
			k.facts = &blob
		}
		list = append(list, k)
	}
	for o := range c.notes.Files() {
		if !q.below(o.Path) || isOut(o.Path) {
			continue
		}
		text := q.needsText && kindOf(o.Path) == query.CanvasFile
		if (text || d.met(o.Path, nil, &w)) && sees(o.Path) {
			list = append(list, candidate{path: o.Path})
		}
	}
	return list
}

// matchAll matches candidates, and reads those whose text is needed.
func (q *inquiry) matchAll(ctx context.Context, list []candidate, of int) error {
	var direct []*document
	var read []string
	for _, k := range list {
		d := &document{path: k.path, kind: kindOf(k.path), facts: k.facts}
		if q.needsText && d.kind != query.OtherFile {
			read = append(read, k.path)
			continue
		}
		if d.facts == nil {
			d.load = func() ([]byte, bool) {
				p, err := q.call.View.FindFile(ctx, k.path)
				return q.load(k.path, p, err)
			}
		}
		direct = append(direct, d)
	}
	err := parallel(ctx, len(direct), func(i int) error {
		d := direct[i]
		if q.match(d); d.isNote() && d.load != nil && !q.names {
			p, err := q.call.View.FindFile(ctx, d.path)
			q.inspect(d.path, p, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return q.read(ctx, read, of, func(f source) { q.matchText(ctx, f) })
}

// matchFiles matches all files below the root.
func (q *inquiry) matchFiles(ctx context.Context) error {
	reads := func(name string) bool { return q.needsText && kindOf(name) != query.OtherFile }
	o := vault.WalkOptions{Accept: func(name string) bool { return !reads(name) }}
	if !q.needsText { // or else the scan says so
		o.Problem = func(p string, err error) {
			if q.reads(p) {
				q.warnings.Fail(p, err)
			}
		}
		o.Gone = func(p string) {
			if q.reads(p) {
				q.warnings.Gone(p)
			}
		}
	}
	var files []vault.File
	err := q.call.View.Walk(ctx, q.root, o, func(f vault.File) error {
		switch {
		case !q.call.View.Sees(f.Path):
		case q.excluded(f.Path):
			q.page.exclude(1)
		default:
			files = append(files, f)
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = parallel(ctx, len(files), func(i int) error {
		d := &document{path: files[i].Path, kind: kindOf(files[i].Path)}
		d.load = func() ([]byte, bool) { return q.load(d.path, files[i].AsPath(), nil) }
		q.match(d)
		if d.isNote() && d.load != nil && !q.names {
			q.inspect(d.path, files[i].AsPath(), nil)
		}
		return nil
	})
	if err != nil || !q.needsText {
		return err
	}
	return q.scan(ctx, reads, func(f source) { q.matchText(ctx, f) })
}

// load reads a note for a query that needs no text but its properties or tags.
func (q *inquiry) load(path string, p vault.Path, err error) (text []byte, ok bool) {
	var c vault.Content
	if err == nil {
		c, err = q.call.View.Read(p, maxNote)
	}
	q.take(source{path, c.Bytes, len(c.Bytes), c.ModTime}, err, func(f source) { text, ok = f.text, true })
	return text, ok
}

// inspect tells what is wrong with a note that was judged without its text.
func (q *inquiry) inspect(path string, p vault.Path, err error) {
	var c vault.Content
	if err == nil {
		c, err = q.call.View.Read(p, maxNote)
	}
	if err != nil {
		q.fail(path, err)
		return
	}
	q.warnings.Text(path, c.Bytes)
}

// matchText matches a file that was read.
func (q *inquiry) matchText(ctx context.Context, f source) {
	d, err := newDocument(f.path, f.text)
	if err != nil {
		q.say(f.path, err.Error())
		d = &document{path: f.path, kind: query.CanvasFile}
	}
	if ctx.Err() == nil {
		q.match(d)
	}
}

func (q *inquiry) match(d *document) {
	r, ok := q.matcher.Match(d, q.o)
	if !ok || d.unread { // which has been told
		return
	}
	n := noteHits{path: d.path, score: float64(r.Score), Found: match.Found{Text: d.text, More: r.More, Total: max(1, len(r.Hits))}}
	for _, h := range r.Hits {
		start := bytes.LastIndexAny(d.text[:h.Span.Start], "\r\n") + 1
		n.Lines = append(n.Lines, match.Hit{Line: h.Line, Start: start, At: h.Span.Start, End: h.Span.End})
	}
	if len(n.Lines) == 0 {
		n.Lines = []match.Hit{{}}
	}
	q.page.add(n)
}
