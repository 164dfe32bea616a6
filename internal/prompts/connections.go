package prompts

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"vault-mcp/internal/fault"
	"vault-mcp/tools/complete"
)

// closest is of how many of the notes that were found the neighbours are shown.
const closest = 3

func findConnections() Prompt {
	return Prompt{
		Name:  "find_connections",
		Title: "Find connections",
		Doc:   "Finds what notes say about a topic, how they hang together, and which links between them are missing.",
		Arguments: []Argument{
			{Name: "topic", Title: "Topic", Doc: "Words that the notes are about.", Required: true},
			{Name: "tag", Title: "Tag", Doc: "Only notes with this tag.", Complete: complete.Tag},
			{Name: "property", Title: "Property", Doc: "Only notes that have this property.", Complete: complete.Property},
		},
		build: connections,
	}
}

func connections(ctx context.Context, b *build) error {
	query := queryOf(b.args)
	if query == "" {
		return fault.New(fault.ValidationError, `The argument "topic" has no words to look for.`).With("argument", "topic")
	}
	found, err := b.ask(ctx, "search_vault", map[string]any{"query": query, "limit": 30, "max_matches_per_file": 2})
	if err != nil {
		return err
	}
	b.say(fmt.Sprintf("Find the connections between my notes on %q. Say which notes are about it and how each sees it; "+
		"where they agree, contradict or continue each other; and which links between them are missing that would be worth having. "+
		"Name every note as a [[link]]. Look further with search_vault in other words for the same thing, read what matters with read_notes, "+
		"and follow get_backlinks and suggest_links. Change no note; propose the missing links with the sentence in which each would stand.", b.args["topic"]))
	b.show(fmt.Sprintf("This is what search_vault finds for the query %s.", query), "call it again with next_cursor.", found)
	for _, path := range pathsIn(found.Structured, closest) {
		for _, n := range []struct{ tool, what string }{{"get_backlinks", "links to"}, {"suggest_links", "could be linked from"}} {
			near, err := b.ask(ctx, n.tool, map[string]any{"path": path, "limit": 10})
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err == nil { // else it is gone meanwhile, or no note; the rest is worth having without
				b.show(fmt.Sprintf("This is what %s %q, by %s.", n.what, path, n.tool), "call it for more.", near)
			}
		}
	}
	return nil
}

// queryOf asks for notes that have every word of the topic, in any order.
func queryOf(args map[string]string) string {
	plain := strings.NewReplacer(`"`, " ", `\`, " ")
	var parts []string
	for _, w := range strings.Fields(plain.Replace(args["topic"])) {
		if strings.ContainsFunc(w, isSign) || w == "OR" {
			w = `"` + w + `"` // so that it is no operator
		}
		parts = append(parts, w)
	}
	if len(parts) == 0 {
		return ""
	}
	if tag := strings.Join(strings.Fields(plain.Replace(strings.TrimPrefix(args["tag"], "#"))), ""); tag != "" {
		parts = append(parts, "tag:#"+tag)
	}
	if key := strings.TrimSpace(strings.NewReplacer(`"`, " ", `\`, " ", "]", " ").Replace(args["property"])); key != "" {
		parts = append(parts, `["`+key+`"]`)
	}
	return strings.Join(parts, " ")
}

func isSign(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) }

// pathsIn are the first notes of an answer of search_vault.
func pathsIn(structured json.RawMessage, most int) (paths []string) {
	var answer struct {
		Items []struct {
			Path string `json:"path"`
		} `json:"items"`
	}
	_ = json.Unmarshal(structured, &answer) // ours
	for _, r := range answer.Items {
		if len(paths) < most && (len(paths) == 0 || paths[len(paths)-1] != r.Path) {
			paths = append(paths, r.Path)
		}
	}
	return paths
}
