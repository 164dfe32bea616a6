package tasks

import (
	"context"

	"vault-mcp/internal/auth"
	"vault-mcp/tools"
)

type listIn struct {
	tools.VaultArg
	Root            tools.Folder `json:"root,omitempty" jsonschema:"folder"`
	Paths           tools.Notes  `json:"paths,omitempty" jsonschema:"only these notes" limits:"maxItems=200"`
	Status          []status     `json:"status,omitempty" jsonschema:"todo is [ ], done [x]"`
	StatusChar      string       `json:"status_char,omitempty" jsonschema:"or this character in the box" limits:"minLength=1,maxLength=1"`
	DueOn           date         `json:"due_on,omitempty"`
	DueBefore       date         `json:"due_before,omitempty"`
	DueAfter        date         `json:"due_after,omitempty"`
	ScheduledBefore date         `json:"scheduled_before,omitempty"`
	ScheduledAfter  date         `json:"scheduled_after,omitempty"`
	StartBefore     date         `json:"start_before,omitempty"`
	StartAfter      date         `json:"start_after,omitempty"`
	DoneBefore      date         `json:"done_before,omitempty"`
	DoneAfter       date         `json:"done_after,omitempty"`
	CreatedBefore   date         `json:"created_before,omitempty"`
	CreatedAfter    date         `json:"created_after,omitempty"`
	Priority        []priority   `json:"priority,omitempty"`
	Tags            []string     `json:"tags,omitempty" jsonschema:"all of these; a fits a/b" limits:"maxItems=20,minLength=1,maxLength=200"`
	Text            string       `json:"text,omitempty" jsonschema:"part of the description" limits:"maxLength=500"`
	Limit           int          `json:"limit,omitempty" limits:"min=1,max=1000,default=50"`
	tools.PageArg
}

type row struct {
	Path         string   `json:"path"`
	Line         int      `json:"line"`
	EndLine      int      `json:"end_line,omitempty" jsonschema:"if it has more than one"`
	Status       status   `json:"status"`
	StatusChar   string   `json:"status_char" jsonschema:"the character in the box"`
	Description  string   `json:"description" jsonschema:"its first line without fields and block id"`
	Tags         []string `json:"tags"`
	MoreTags     int      `json:"more_tags,omitempty" jsonschema:"how many others it has"`
	Due          string   `json:"due,omitempty"`
	Scheduled    string   `json:"scheduled,omitempty"`
	Start        string   `json:"start,omitempty"`
	Done         string   `json:"done,omitempty"`
	Created      string   `json:"created,omitempty"`
	Cancelled    string   `json:"cancelled,omitempty"`
	Priority     priority `json:"priority,omitempty"`
	Recur        string   `json:"recur,omitempty"`
	ID           string   `json:"id,omitempty"`
	Depends      []string `json:"depends,omitempty" jsonschema:"ids of tasks"`
	OnCompletion string   `json:"on_completion,omitempty"`
	BlockID      string   `json:"block_id,omitempty"`
	ParentLine   int      `json:"parent_line,omitempty" jsonschema:"line of the list item it lies in"`
}

type listOut struct {
	Items      []row           `json:"items" jsonschema:"by path and line"`
	Total      int             `json:"total" jsonschema:"tasks on all pages together"`
	NextCursor *string         `json:"next_cursor"`
	Excluded   int             `json:"excluded,omitempty" jsonschema:"notes left out because Obsidian's settings exclude them"`
	Warnings   []tools.Warning `json:"warnings,omitempty" jsonschema:"notes with problems, on the first page"`
}

// place is where the list goes on: behind this task.
type place struct {
	Path string `json:"p"`
	Line int    `json:"l"`
}

func listTasks() tools.Tool {
	return tools.Query(tools.Spec{
		Name:  "list_tasks",
		Title: "List tasks",
		Doc: "Lists tasks (- [ ] …) with their dates, priority and other fields of the Tasks plugin, by note and line. " +
			"Dates are YYYY-MM-DD; before and after include the day itself.",
		Scope:  auth.Read,
		Narrow: "a lower limit, a status, or one folder",
	}, func(ctx context.Context, c *tools.Call, in listIn) (listOut, error) {
		out := listOut{Items: []row{}}
		f, err := newFilter(in)
		if err != nil {
			return out, err
		}
		var after place
		paged, err := c.Page(in.Cursor, &after)
		if err != nil {
			return out, err
		}
		s, err := c.NewSurvey(&in.Root, paged)
		if err != nil {
			return out, err
		}
		p := pager{filter: f, after: after, limit: in.Limit}
		if err := in.notes(ctx, c, s, p.add); err != nil {
			return out, err
		}
		out.Total, out.Excluded, out.Warnings = p.total, s.Excluded, s.Warnings.List()
		n, err := tools.Fit(c, p.rows, out.Warnings)
		if err != nil {
			return out, err
		}
		out.Items = append(out.Items, p.rows[:n]...)
		if p.more || n < len(p.rows) {
			last := p.rows[n-1]
			out.NextCursor, err = c.NextCursor(place{last.Path, last.Line})
		}
		return out, err
	})
}
