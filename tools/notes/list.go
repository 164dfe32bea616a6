package notes

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/text/unicode/norm"

	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/vault"
)

// order is a sort key; a leading - is descending.
type order string

// Values lists the orders for the schema.
func (order) Values() []string {
	return []string{"path", "-path", "title", "-title", "mtime", "-mtime", "ctime", "-ctime", "size", "-size"}
}

type listIn struct {
	tools.VaultArg
	Folder     tools.Folder     `json:"folder,omitempty" jsonschema:"folder to list; the root if left out"`
	Recursive  bool             `json:"recursive,omitempty" jsonschema:"also list what is in its folders" limits:"default=true"`
	Glob       string           `json:"glob,omitempty" jsonschema:"only paths that match, such as Projects/**/*.md" limits:"maxLength=500"`
	Extensions tools.Extensions `json:"extensions,omitempty" jsonschema:"instead of .md; * for every file" limits:"maxItems=20,minLength=1,maxLength=20"`
	Since      string           `json:"modified_since,omitempty" jsonschema:"only notes changed at or after this time (RFC 3339 or YYYY-MM-DD)" limits:"maxLength=40"`
	Sort       order            `json:"sort,omitempty" jsonschema:"- for descending: -mtime is newest first" limits:"default=path"`
	Limit      int              `json:"limit,omitempty" limits:"min=1,max=1000,default=200"`
	tools.PageArg
}

type noteRow struct {
	Path  string `json:"path"`
	Size  int64  `json:"size"`
	MTime string `json:"mtime"`
	CTime string `json:"ctime,omitempty"`
}

type listOut struct {
	Folder        string          `json:"folder"`
	Notes         []noteRow       `json:"notes"`
	TotalReturned int             `json:"total_returned"`
	Total         int             `json:"total,omitempty" jsonschema:"all that match, where it is known"`
	NextCursor    *string         `json:"next_cursor"`
	Warnings      []tools.Warning `json:"warnings,omitempty" jsonschema:"what could not be looked at"`
}

// place is where a list goes on: behind the note with this key and path.
type place struct {
	Text string `json:"t,omitempty"`
	Num  int64  `json:"n,omitempty"`
	Path string `json:"p"`
}

type entry struct {
	place
	file    vault.File
	created time.Time
}

func listNotes() tools.Tool {
	return tools.Query(tools.Spec{
		Name:   "list_notes",
		Title:  "List notes",
		Doc:    "Lists notes with size and time, sorted and filtered; use sort -mtime for what changed last.",
		Scope:  auth.Read,
		Narrow: "a lower limit, one folder, or a glob",
	}, func(ctx context.Context, c *tools.Call, in listIn) (listOut, error) {
		folder, err := in.Folder.Path()
		if err != nil {
			return listOut{}, err
		}
		out := listOut{Folder: folder.String(), Notes: []noteRow{}}
		var after place
		paged, err := c.Page(in.Cursor, &after)
		if err != nil {
			return out, err
		}
		match, err := in.filter()
		if err != nil {
			return out, err
		}
		l := lister{in: in, match: match, paged: paged, after: after}
		// A list by path comes by each folder once, any other on each page.
		ws := c.NewWarnings(paged && in.Sort != "path")
		o := vault.WalkOptions{Flat: !in.Recursive, Accept: in.Extensions.Accept(isNote), Problem: ws.Fail}
		o.Created = strings.HasSuffix(string(in.Sort), "ctime")
		if in.Sort == "path" {
			o.After = after.Path
		}
		if err := c.View.Walk(ctx, folder, o, l.visit); err != nil && err != errEnough {
			return out, err
		}
		l.sort()
		for _, e := range l.kept {
			out.Notes = append(out.Notes, e.row())
		}
		more := false
		if out.Notes, more, err = tools.Page(c, out.Notes, in.Limit, ws.List()); err != nil {
			return out, err
		}
		last := len(out.Notes) - 1
		if more && in.Sort == "path" {
			ws.Upto(out.Notes[last].Path)
		}
		out.Warnings = ws.List()
		out.TotalReturned = len(out.Notes)
		if in.Sort != "path" || !paged && !more {
			out.Total = l.total
		}
		if more {
			out.NextCursor, err = c.NextCursor(l.kept[last].place)
		}
		return out, err
	})
}

func isNote(name string) bool { return vault.Kind(name) == vault.Note }

// filter tells whether a file is in the glob and new enough.
func (in listIn) filter() (func(vault.File) bool, error) {
	var since time.Time
	if in.Since != "" {
		var err error
		if since, err = parseTime(in.Since); err != nil {
			return nil, fault.New(fault.InvalidInput, "The argument %q is neither RFC 3339 nor YYYY-MM-DD.", "modified_since").With("argument", "modified_since")
		}
	}
	glob := norm.NFC.String(in.Glob)
	if glob != "" && !doublestar.ValidatePattern(glob) {
		return nil, fault.New(fault.InvalidInput, "The argument %q is no valid pattern.", "glob").With("argument", "glob")
	}
	return func(f vault.File) bool {
		if f.ModTime.Before(since) {
			return false
		}
		if glob == "" {
			return true
		}
		ok, _ := doublestar.Match(glob, norm.NFC.String(f.Path)) // the pattern was validated
		return ok
	}, nil
}

func parseTime(s string) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	return time.ParseInLocation(time.DateOnly, s, time.Local)
}

type enough struct{}

func (enough) Error() string { return "enough" }

// errEnough ends a walk whose page is full.
var errEnough = enough{}

// lister keeps the page that comes behind a place: of a list by path the first
// ones that it meets, of any other list the smallest, in a sorted buffer of at
// most twice the limit.
type lister struct {
	in    listIn
	match func(vault.File) bool
	paged bool
	after place
	kept  []entry
	full  bool  // kept was cut once: then nothing behind worst can be on the page
	worst place // the last that was kept
	total int
}

func (l *lister) visit(f vault.File) error {
	if !l.match(f) {
		return nil
	}
	l.total++
	e := entry{file: f, place: place{Path: f.Path}}
	switch strings.TrimPrefix(string(l.in.Sort), "-") {
	case "title":
		name := path.Base(f.Path)
		e.Text = vault.FoldName(strings.TrimSuffix(name, path.Ext(name)))
	case "mtime":
		e.Num = f.ModTime.UnixNano()
	case "ctime":
		e.created = f.Created
		if e.created.IsZero() { // the file system does not keep it
			e.created = f.ModTime
		}
		e.Num = e.created.UnixNano()
	case "size":
		e.Num = f.Size
	}
	if l.paged && l.compare(e.place, l.after) <= 0 || l.full && l.compare(e.place, l.worst) > 0 {
		return nil
	}
	l.kept = append(l.kept, e)
	if l.in.Sort == "path" {
		if len(l.kept) > l.in.Limit {
			return errEnough
		}
	} else if len(l.kept) >= 2*l.in.Limit+2 {
		l.sort()
		l.kept = l.kept[:l.in.Limit+1]
		l.full, l.worst = true, l.kept[l.in.Limit].place
	}
	return nil
}

func (l *lister) compare(a, b place) int {
	key := cmp.Or(cmp.Compare(a.Num, b.Num), strings.Compare(a.Text, b.Text))
	if strings.HasPrefix(string(l.in.Sort), "-") {
		if key == 0 && l.in.Sort == "-path" {
			return strings.Compare(b.Path, a.Path)
		}
		key = -key
	}
	return cmp.Or(key, strings.Compare(a.Path, b.Path))
}

func (l *lister) sort() {
	slices.SortFunc(l.kept, func(a, b entry) int { return l.compare(a.place, b.place) })
}

func (e entry) row() noteRow {
	r := noteRow{Path: e.file.Path, Size: e.file.Size, MTime: tools.Clock(e.file.ModTime)}
	if !e.created.IsZero() {
		r.CTime = tools.Clock(e.created)
	}
	return r
}
