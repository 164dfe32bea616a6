package prompts

import (
	"context"
	"fmt"

	"vault-mcp/tools/complete"
)

func summarizeNote() Prompt {
	return Prompt{
		Name:  "summarize_note",
		Title: "Summarize a note",
		Doc:   "Summarizes one note: what it is about, its main points, decisions, open questions and tasks.",
		Arguments: []Argument{
			{Name: "path", Title: "Note", Doc: "Path of the note.", Required: true, Complete: complete.Note},
		},
		build: func(ctx context.Context, b *build) error {
			text, err := b.ask(ctx, "read_note", map[string]any{"path": b.args["path"]})
			if err != nil {
				return err
			}
			b.say(fmt.Sprintf("Summarize the note %q for somebody who has not read it. Begin with one sentence that says what it is about. "+
				"Then list its main points, what was decided, what is open, and its tasks, each only if there are any. "+
				"Use the note's own words for names, keep its [[links]], and name the heading where that helps to find a place. "+
				"Add nothing that the note does not say; if it says too little for a summary, say that.", b.args["path"]))
			b.show("This is the note, under a line with its path, version and length.", "read them with read_note and from_line.", text)
			return nil
		},
	}
}
