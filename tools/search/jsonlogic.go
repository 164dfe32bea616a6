package search

import (
	"context"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"vault-mcp/cache/index/facts"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/tools/search/logic"
	"vault-mcp/tools/search/match"
	"vault-mcp/vault/note"
)

type logicIn struct {
	tools.VaultArg
	Logic map[string]any `json:"logic" jsonschema:"JsonLogic, such as {\"in\": [\"draft\", {\"var\": \"tags\"}]}; var: properties, path, title, folder, tags, aliases, size, modified, content"`
	Root  tools.Folder   `json:"root,omitempty" jsonschema:"only below this folder"`
	Limit int            `json:"limit,omitempty" limits:"min=1,max=1000,default=50"`
	tools.PageArg
}

func searchJSONLogic() tools.Tool {
	return tools.Query(tools.Spec{
		Name:   "search_jsonlogic",
		Title:  "Search by JsonLogic",
		Doc:    "Finds notes for which a JsonLogic expression over their properties, tags, path and content is true, in the order of paths. Use it for conditions that search_vault cannot say, such as arithmetic or comparing two properties.",
		Scope:  auth.Read,
		Narrow: "a lower limit, or a root folder",
	}, func(ctx context.Context, c *tools.Call, in logicIn) (out, error) {
		e, err := logic.Parse(in.Logic)
		if err != nil {
			return out{}, fault.New(fault.InvalidInput, "The expression cannot be used: %v.", err).With("argument", "logic")
		}
		s, err := begin(c, &in.Root, in.Cursor, in.Limit, shape{})
		if err != nil {
			return out{}, err
		}
		q := condition{session: s, expr: e, content: e.Mentions("content")}
		return q.run(ctx)
	})
}

// condition is one expression over the notes of a vault.
type condition struct {
	*session
	expr    logic.Expr
	content bool // is needed

	mu  sync.Mutex
	err error
}

func (q *condition) run(ctx context.Context) (out, error) {
	var known []*subject
	var read []string
	blobs := map[string]facts.Blob{} // of what is read only for its content
	excluded, of := 0, 0
	served, err := q.indexed(ctx, false, func(c corpus) error {
		of = c.notes.Len()
		for n := range c.notes.NotesBelow(q.root.String()) {
			switch {
			case !q.call.View.Sees(n.Path):
			case q.excluded(n.Path):
				excluded++
			case n.Problem != "":
				read = append(read, n.Path)
			case q.content:
				read, blobs[n.Path] = append(read, n.Path), n.Facts
			default:
				known = append(known, &subject{path: n.Path, size: int(n.Size), modified: n.ModTime, facts: n.Facts})
			}
		}
		return nil
	})
	visit := func(f source) {
		n := &subject{path: f.path, size: f.size, modified: f.modified, facts: blobs[f.path]}
		if n.facts == "" {
			n.facts = facts.Blob(facts.Of(f.text).Append(nil))
		}
		if q.content {
			n.content = string(f.text)
		}
		q.judge(n)
	}
	switch {
	case err != nil:
	case !served:
		err = q.scan(ctx, isNote, visit)
	default:
		q.page.exclude(excluded)
		if err = parallel(ctx, len(known), func(i int) error { q.judge(known[i]); return nil }); err == nil {
			err = q.read(ctx, read, of, visit)
		}
	}
	if err == nil {
		err = q.err
	}
	if err != nil {
		return out{}, err
	}
	return q.finish("jsonlogic")
}

// judge takes in a note for which the expression is true.
func (q *condition) judge(n *subject) {
	head := n.facts.Head()
	if head.State == note.StateInvalid {
		return // which was told: nobody knows what it has
	}
	ok, err := q.expr.Holds(n)
	if err != nil {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.err = fault.New(fault.InvalidInput, "The expression takes more than %d steps for one note; each operation is a step, and so is each 16 kB that it goes through.", logic.MaxSteps).
			With("argument", "logic").With("reason", "compute_budget_exceeded").With("steps", logic.MaxSteps)
		return
	}
	if ok {
		q.page.add(noteHits{path: n.path, Found: match.Found{Lines: []match.Hit{{}}, Total: 1}})
	}
}

// subject is what an expression is about: a note.
type subject struct {
	path     string
	size     int
	modified time.Time
	facts    facts.Blob
	content  string

	properties []facts.Property
	decoded    bool
}

func (n *subject) props() []facts.Property {
	if !n.decoded {
		n.properties, n.decoded = slices.Collect(n.facts.Properties()), true
	}
	return n.properties
}

// Get is a variable: what is known of the note itself comes before a property
// of the same name, which is in properties, too.
func (n *subject) Get(key string) (any, bool) {
	switch key {
	case "path":
		return n.path, true
	case "title":
		return nameOf(n.path), true
	case "folder":
		if d := path.Dir(n.path); d != "." {
			return d, true
		}
		return "", true
	case "size":
		return float64(n.size), true
	case "modified":
		return n.modified.Format(time.RFC3339), true
	case "content":
		return n.content, true
	case "tags":
		return n.tags(), true
	case "aliases":
		list := []any{}
		for a := range n.facts.Aliases() {
			list = append(list, a)
		}
		return list, true
	case "properties":
		m := facts.Map{}
		for _, p := range n.props() {
			m = append(m, facts.Member{Key: p.Key, Value: p.Value})
		}
		return m, true
	}
	for _, p := range n.props() {
		if p.Key == key {
			return p.Value, true
		}
	}
	for _, p := range n.props() {
		if strings.EqualFold(p.Key, key) {
			return p.Value, true
		}
	}
	return nil, false
}

// tags are the tags of the properties and the text, each once.
func (n *subject) tags() []any {
	list := []any{}
	seen := map[string]bool{}
	for t := range n.facts.Tags() {
		if k := strings.ToLower(t.Name); !seen[k] {
			seen[k] = true
			list = append(list, t.Name)
		}
	}
	return list
}
