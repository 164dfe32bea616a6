package prompts

import (
	"context"
	"fmt"
)

// The bounds of how many notes a digest is made of.
const (
	recent     = 20
	mostRecent = 200
)

func recentChangesDigest() Prompt {
	return Prompt{
		Name:  "recent_changes_digest",
		Title: "Digest of recent changes",
		Doc:   "Tells what has happened lately in the notes that were changed last.",
		Arguments: []Argument{
			{Name: "limit", Title: "Notes", Doc: fmt.Sprintf("How many notes, from 1 to %d; %d if it is left out.", mostRecent, recent)},
		},
		build: func(ctx context.Context, b *build) error {
			n, err := b.number("limit", recent, mostRecent)
			if err != nil {
				return err
			}
			list, err := b.ask(ctx, "list_notes", map[string]any{"sort": "-mtime", "limit": n})
			if err != nil {
				return err
			}
			b.say("Make a digest of what has happened in my notes lately. Read the notes below that look important with read_notes, " +
				"and tell by theme, not note by note: what is new, what has moved on, what was decided, and what waits for me. " +
				"Name every note as a [[link]], give days where they matter, and end with at most five things that I should do next. " +
				"That a note has changed is known, not what in it: say nothing about that unless the note itself tells. Change no note.")
			b.show("These are the notes that were changed last, the newest first, by list_notes.", "call it again with next_cursor.", list)
			return nil
		},
	}
}
