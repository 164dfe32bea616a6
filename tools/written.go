package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"vault-mcp/governor"
	"vault-mcp/vault"
	"vault-mcp/vault/change"
	"vault-mcp/vault/trash"
)

// WriteArg is embedded by every tool that changes notes.
type WriteArg struct {
	DryRun bool   `json:"dry_run,omitempty" jsonschema:"only tell what would change"`
	Token  string `json:"elicit_token,omitempty" jsonschema:"what a person gave you for this call" limits:"maxLength=64"`
	Key    string `json:"idempotency_key,omitempty" jsonschema:"repeated with the same key, the call is answered again and not made again" limits:"minLength=1,maxLength=128"`
}

// VersionArg is embedded by every tool that changes one existing note.
type VersionArg struct {
	PrevHash string `json:"prev_hash,omitempty" jsonschema:"content_hash that the note must still have" limits:"minLength=64,maxLength=64"`
}

// DryRun reports whether the call only wants to know what it would do.
func (c *Call) DryRun() bool {
	var dry bool
	_ = json.Unmarshal(c.args["dry_run"], &dry) // absent: false; a boolean by the schema otherwise
	return dry
}

// Token is what a person gave the caller for this call, or "".
func (c *Call) Token() string {
	var token string
	_ = json.Unmarshal(c.args[TokenArg], &token)
	return token
}

// TokenArg is an argument that every tool takes: a folder rule may gate any of them.
const TokenArg = "elicit_token"

// Key is the call's idempotency key, or "".
func (c *Call) Key() string {
	var key string
	_ = json.Unmarshal(c.args["idempotency_key"], &key)
	return key
}

const (
	// MaxFiles is how many files an answer about a change lists.
	MaxFiles = 50
	// maxDiff is how much of a diff a dry run shows, in bytes.
	maxDiff = 20_000
	// maxDiffed is the size of a file, in bytes, above which no diff is made.
	maxDiffed = 1 << 20
)

// Written is what every change answers. A tool's own answer embeds it.
type Written struct {
	ChangeID string        `json:"change_id,omitempty" jsonschema:"undo_change takes it back"`
	DryRun   bool          `json:"dry_run,omitempty"`
	Summary  string        `json:"summary"`
	Files    []WrittenFile `json:"files"`
	More     int           `json:"files_more,omitempty" jsonschema:"files that are not listed"`
	Diff     string        `json:"diff,omitempty"`
	DiffCut  bool          `json:"diff_cut,omitempty"`
	Notices  []string      `json:"warnings,omitempty"`
}

// WrittenFile is one file of a change.
type WrittenFile struct {
	Path    string `json:"path"`
	To      string `json:"to,omitempty"`
	Action  string `json:"action" jsonschema:"put, create, move, remove or mkdir"`
	Added   int    `json:"lines_added,omitempty"`
	Removed int    `json:"lines_removed,omitempty"`
	Hash    string `json:"content_hash,omitempty" jsonschema:"prev_hash of the next change"`
	Links   bool   `json:"links_only,omitempty" jsonschema:"only links were kept right"`
}

// Outcome is the answer of a change, which is completed once it is known what
// became of its plan.
type Outcome interface {
	Complete(p change.Plan, id string, dry bool, knows, sees func(path string) bool)
}

// Complete implements Outcome. Files that the caller may not know of are counted
// among those that are not listed, but for those whose links were kept right:
// that they have such links is in what they hold, which the caller may not see.
func (w *Written) Complete(p change.Plan, id string, dry bool, knows, sees func(path string) bool) {
	w.ChangeID, w.DryRun, w.Summary, w.Notices = id, dry, p.Summary, p.Warnings
	if w.Summary == "" {
		w.Summary = "Nothing to change."
	}
	w.Files = []WrittenFile{}
	var d strings.Builder
	over := map[string]string{} // where what has a name for a moment was
	for i := range p.Edits {
		e := p.Edits[i]
		if trash.Is(e.Path) && e.Kind != change.Move {
			continue // what a trash needs for itself
		}
		if e.Upkeep && !sees(e.Path) {
			continue
		}
		if e.Kind == change.Move {
			// A move over a name for a moment is told as one.
			from, was := over[e.Path]
			if !was {
				from = e.Path
			}
			if change.Passing(e.To) {
				over[e.To] = from
				continue
			}
			e.Path = from
		}
		if !knows(e.Path) || e.To != "" && e.Kind == change.Move && !knows(e.To) || len(w.Files) == MaxFiles {
			w.More++
			continue
		}
		f, text := FileOf(&e)
		if !trash.Is(e.Path) && !sees(e.Path) {
			f.Hash, f.Added, f.Removed, text = "", 0, 0, ""
		}
		w.Files = append(w.Files, f)
		if !dry {
			continue
		}
		if d.Len()+len(text) > maxDiff {
			w.DiffCut = true
			text = cutLines(text, maxDiff-d.Len())
		}
		d.WriteString(text)
	}
	w.Diff = d.String()
}

// FileOf is an edit in an answer, and its unified diff; that is "" if it changes
// no text, or too much to show.
func FileOf(e *change.Edit) (WrittenFile, string) {
	f := WrittenFile{Path: e.Path, To: e.To, Action: e.Kind.String(), Links: e.Upkeep, Hash: e.After.String()}
	if strings.HasPrefix(e.To, trash.System) {
		f.To = "the system's trash"
	}
	if strings.HasPrefix(e.Path, trash.System) {
		f.Path = "the system's trash"
	}
	if e.Kind != change.Put && e.Kind != change.Create || !isText(e.Old) || !isText(e.Content) {
		return f, ""
	}
	from := e.Path
	if e.Kind == change.Create {
		from = "/dev/null"
	}
	text, err := UnifiedDiff(from, e.Old, e.Path, e.Content)
	if err != nil {
		return f, ""
	}
	f.Added, f.Removed = count(text)
	return f, text
}

// DiffOf is what a person is shown of an edit: its unified diff, and of a removal
// the text that goes away.
func DiffOf(e *change.Edit) string {
	if e.Kind != change.Remove {
		_, text := FileOf(e)
		return text
	}
	if len(e.Old) == 0 || !isText(e.Old) {
		return ""
	}
	text, err := UnifiedDiff(e.Path, e.Old, "/dev/null", nil)
	if err != nil {
		return ""
	}
	return text
}

// UnifiedDiff compares two versions of a text. Too much to compare is overflow.
func UnifiedDiff(oldName string, old []byte, name string, now []byte) (string, error) {
	if size := len(old) + len(now); size > maxDiffed {
		return "", governor.Overflow(size, maxDiffed, "compare sections")
	}
	return string(bytes.TrimPrefix(diff.Diff(oldName, old, name, now), fmt.Appendf(nil, "diff %s %s\n", oldName, name))), nil
}

// count counts the lines that a diff adds and removes.
func count(diff string) (added, removed int) {
	for line := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "--- "):
		case strings.HasPrefix(line, "+"):
			added++
		case strings.HasPrefix(line, "-"):
			removed++
		}
	}
	return added, removed
}

// cutLines is the start of a text, of whole lines, in at most max bytes.
func cutLines(s string, max int) string {
	if len(s) <= max {
		return s
	}
	return s[:strings.LastIndexByte(s[:max], '\n')+1]
}

// isText reports whether bytes are worth a diff: a picture may well be UTF-8, but
// has a NUL.
func isText(b []byte) bool { return vault.Text(b) && bytes.IndexByte(b, 0) < 0 }
