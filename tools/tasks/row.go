package tasks

import (
	"slices"
	"sort"
	"strings"

	"vault-mcp/cache/index/facts"
	"vault-mcp/tools"
	"vault-mcp/vault"
	"vault-mcp/vault/note"
)

// pager collects the page behind a place.
type pager struct {
	filter filter
	after  place
	limit  int

	rows  []row
	more  bool
	total int
}

// add takes in a note. Notes come in the order of their paths.
func (p *pager) add(path string, b facts.Blob) {
	var tags []facts.Tag
	known := false
	for t := range b.Tasks() {
		if !p.filter.takes(&t) {
			continue
		}
		before := path < p.after.Path || path == p.after.Path && t.Line <= p.after.Line
		full := len(p.rows) == p.limit
		if len(p.filter.tags) > 0 || !before && !full {
			if !known {
				tags, known = textTags(b), true
			}
		}
		own := within(tags, &t)
		if !p.filter.takesTags(own) {
			continue
		}
		p.total++
		switch {
		case before:
		case full:
			p.more = true
		default:
			p.rows = append(p.rows, rowOf(path, &t, own))
		}
	}
}

// textTags are the tags of a note's text, in the order of their lines.
func textTags(b facts.Blob) []facts.Tag {
	var tags []facts.Tag
	for t := range b.Tags() {
		if t.Property == "" {
			tags = append(tags, t)
		}
	}
	slices.SortStableFunc(tags, func(a, b facts.Tag) int { return a.Line - b.Line })
	return tags
}

// within are the tags on a task's own lines.
func within(tags []facts.Tag, t *facts.Task) []facts.Tag {
	from := sort.Search(len(tags), func(i int) bool { return tags[i].Line >= t.Line })
	to := sort.Search(len(tags), func(i int) bool { return tags[i].Line > t.EndLine })
	return tags[from:to]
}

// longest and longestText are how many bytes of a field and of a description a
// row shows, and maxItems how many tags and ids, so that one row fits any
// answer.
const (
	longest     = 200
	longestText = 1000
	maxItems    = 30
)

func rowOf(path string, t *facts.Task, tags []facts.Tag) row {
	r := row{
		Path: path, Line: t.Line, Status: statusOf(t.Status), StatusChar: string(t.Status),
		Description: tools.Cut(t.Description(), longestText), Tags: []string{}, BlockID: tools.Cut(t.ID, longest), ParentLine: t.Parent,
	}
	if t.EndLine > t.Line {
		r.EndLine = t.EndLine
	}
	seen := map[string]bool{}
	for _, tag := range tags {
		key := vault.FoldName(tag.Name)
		switch {
		case seen[key]:
			continue
		case len(r.Tags) == maxItems:
			r.MoreTags++
		default:
			r.Tags = append(r.Tags, tools.Cut(tag.Name, longest))
		}
		seen[key] = true
	}
	for i := len(t.Fields) - 1; i >= 0; i-- { // so that of two the first stays
		r.set(t.Fields[i])
	}
	return r
}

func (r *row) set(f facts.TaskField) {
	value := tools.Cut(f.Value, longest)
	switch f.Kind {
	case note.TaskDue:
		r.Due = value
	case note.TaskScheduled:
		r.Scheduled = value
	case note.TaskStart:
		r.Start = value
	case note.TaskCreated:
		r.Created = value
	case note.TaskDone:
		r.Done = value
	case note.TaskCancelled:
		r.Cancelled = value
	case note.TaskRecurrence:
		r.Recur = value
	case note.TaskPriority:
		r.Priority = priority(value)
	case note.TaskID:
		r.ID = value
	case note.TaskDepends:
		r.Depends = nil
		for id := range strings.SplitSeq(f.Value, ",") {
			if len(r.Depends) == maxItems {
				r.Depends = append(r.Depends, "…")
				break
			}
			r.Depends = append(r.Depends, tools.Cut(strings.TrimSpace(id), longest))
		}
	case note.TaskOnCompletion:
		r.OnCompletion = value
	}
}
