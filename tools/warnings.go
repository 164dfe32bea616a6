package tools

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"vault-mcp/cache/index"
	"vault-mcp/cache/index/facts"
	"vault-mcp/vault"
)

// Warning is a file that an answer about many could not use, or not as a whole.
type Warning struct {
	Path   string `json:"path,omitempty"`
	Line   int    `json:"line,omitempty" jsonschema:"of what is wrong"`
	Reason string `json:"reason"`
}

const (
	// maxWarnings bounds the warnings of one answer.
	maxWarnings = 20
	// longestWarning bounds the reason of one, in bytes.
	longestWarning = 300
)

// Warnings collects what an answer about many files could not use: one bad note
// fails no call, and is named. Of two warnings about a file the first stays.
// Only files that the caller may see are taken in.
//
// Which files are bad is a fact of the vault, not of a page, so it is told once:
// on a page behind the first only Page takes something in. Several goroutines
// may use it at the same time. It remembers the path of every bad file, and no more
// than some of the reasons.
type Warnings struct {
	call *Call
	late bool // the page is not the first

	mu    sync.Mutex
	told  map[string]bool
	list  []Warning
	about []Warning // of no file
}

// NewWarnings begins to collect for a call; paged says that this is not its
// first page.
func (c *Call) NewWarnings(paged bool) *Warnings {
	return &Warnings{call: c, late: paged, told: map[string]bool{}}
}

// Add names a file that was met in the vault. line is 0 if the reason is about
// the whole file.
func (ws *Warnings) Add(path string, line int, reason string) {
	if !ws.late && ws.call.View.Sees(path) {
		ws.add(path, path, line, reason)
	}
}

// Fail names a file or folder that could not be read.
func (ws *Warnings) Fail(path string, err error) { ws.Add(path, 0, vault.Reason(err)) }

// Gone names a file that was deleted while the call went on.
func (ws *Warnings) Gone(path string) { ws.Add(path, 0, vault.Gone) }

// Text names a note if its bytes are no text, or are damaged, or its properties
// are broken.
func (ws *Warnings) Text(path string, text []byte) {
	if ws.late {
		return
	}
	if !vault.Text(text) {
		ws.Add(path, 0, vault.NotText)
	} else if line, reason := facts.FlawOf(text); reason != "" {
		ws.Add(path, line, reason)
	}
}

// Model names all that a model does not know whole and that is wanted: notes,
// canvases, and files and folders that are not in it.
func (ws *Warnings) Model(m *index.Model, wanted func(path string) bool) {
	if ws.late {
		return
	}
	for _, n := range m.Flawed() {
		if !wanted(n.Path) {
			continue
		}
		line, reason := n.Facts.Flaw()
		if n.Problem != "" {
			line, reason = 0, n.Problem
		}
		ws.Add(n.Path, line, reason)
	}
	for _, s := range m.Skipped() {
		if wanted(s.Path) {
			ws.Add(s.Path, 0, s.Reason)
		}
	}
}

// Named names a file by the path that the call has for it, whether there is such
// a file or not.
func (ws *Warnings) Named(arg string, reason string) {
	if !ws.late {
		ws.add(arg, arg, 0, reason)
	}
}

// Page tells what is about the rows of this very page. The path may be empty.
func (ws *Warnings) Page(path, reason string) { ws.add("\x00"+path, path, 0, reason) }

// add takes in the first warning that has a key.
func (ws *Warnings) add(key, path string, line int, reason string) {
	w := Warning{Cut(path, maxPath), line, Cut(reason, longestWarning)}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if path == "" {
		ws.about = append(ws.about, w)
		return
	}
	if ws.told[key] {
		return
	}
	ws.told[key] = true
	if ws.list = append(ws.list, w); len(ws.list) > 2*maxWarnings {
		ws.cut(maxWarnings)
	}
}

// Upto drops what is about files behind a path, of a list by path: the page that
// comes by them names them.
func (ws *Warnings) Upto(path string) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.list = slices.DeleteFunc(ws.list, func(w Warning) bool { return w.Path > path })
	for told := range ws.told {
		if told > path {
			delete(ws.told, told)
		}
	}
}

// cut keeps the first by path.
func (ws *Warnings) cut(most int) {
	slices.SortStableFunc(ws.list, func(a, b Warning) int { return cmp.Compare(a.Path, b.Path) })
	ws.list = ws.list[:min(len(ws.list), most)]
}

// List is the first warnings by path, how many files more there are, and what
// is about no file: nil if there is nothing. It takes at most a quarter of the
// answer, so that some room for rows is left.
func (ws *Warnings) List() []Warning {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.cut(maxWarnings)
	r := Room{call: ws.call, left: ws.call.listBudget() / 4}
	n := 0
	for n < len(ws.list) {
		if err := r.Spend(ws.list[n]); err != nil || r.left < 0 {
			break
		}
		n++
	}
	list := ws.list[:n:n]
	if more := len(ws.told) - n; more > 0 {
		list = append(list, Warning{Reason: fmt.Sprintf("%d more files have such problems", more)})
	}
	return append(list, ws.about...)
}

// InFolder tells whether a path is a folder or below it; "" is the root.
func InFolder(folder string) func(path string) bool {
	if folder == "" {
		return func(string) bool { return true }
	}
	return func(path string) bool {
		below, ok := strings.CutPrefix(path, folder)
		return ok && (below == "" || below[0] == '/')
	}
}
