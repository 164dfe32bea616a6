package prompts

import (
	"context"
	"fmt"
)

// The bounds of max_variants.
const (
	variants     = 4
	mostVariants = 8
)

func decomposeAndResearch() Prompt {
	return Prompt{
		Name:  "decompose_and_research",
		Title: "Research a question",
		Doc:   "Takes a question apart, looks for each part in the notes, and answers it from them with links.",
		Arguments: []Argument{
			{Name: "question", Title: "Question", Doc: "What to find out.", Required: true},
			{Name: "max_variants", Title: "Parts", Doc: fmt.Sprintf("Into how many parts at most, from 1 to %d; %d if it is left out.", mostVariants, variants)},
		},
		build: func(ctx context.Context, b *build) error {
			n, err := b.number("max_variants", variants, mostVariants)
			if err != nil {
				return err
			}
			tags, err := b.ask(ctx, "list_tags", map[string]any{"limit": 40})
			if err != nil {
				return err
			}
			keys, err := b.ask(ctx, "list_properties", map[string]any{"limit": 20})
			if err != nil {
				return err
			}
			b.say(fmt.Sprintf("Answer this question from my notes: %s\n\n"+
				"1. Take it apart into at most %d questions or wordings that can each be looked for, and list them.\n"+
				"2. Look for each with search_vault, in the words, tags and properties that my notes use; try other words where nothing is found.\n"+
				"3. Read what matters: read_section for a part of a long note, read_notes for several.\n"+
				"4. Answer in full, with the note behind each statement as a [[link]]. Say which parts my notes do not answer, and where they contradict each other.\n\n"+
				"Do not fill gaps with what you know from elsewhere without saying so. Change no note.", b.args["question"], n))
			b.show("These are the most used tags of my notes, by list_tags.", "call it for more.", tags)
			b.show("These are the most used properties of my notes, by list_properties.", "call it for more.", keys)
			return nil
		},
	}
}
