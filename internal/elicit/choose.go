package elicit

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"vault-mcp/hitl"
)

// said is what a person answers to a question.
type said int

const (
	nothing said = iota
	yes
	decline
)

// answer asks until the answer is one.
func answer(ctx context.Context, t *Terminal, question string) said {
	for {
		text, err := t.line(ctx, question)
		if err != nil {
			return nothing
		}
		switch strings.ToLower(text) {
		case "y", "yes":
			return yes
		case "d", "decline":
			return decline
		case "", "n", "no", "q":
			return nothing
		}
	}
}

// pick asks until one of the candidates is chosen, which is a yes, or the person
// does not want to.
func pick(ctx context.Context, t *Terminal, candidates []hitl.Candidate) (path string, s said) {
	question := fmt.Sprintf("Which note? [1-%d] (Enter leaves it open, d declines it) ", len(candidates))
	for {
		text, err := t.line(ctx, question)
		if err != nil {
			return "", nothing
		}
		switch strings.ToLower(text) {
		case "d", "decline":
			return "", decline
		case "", "n", "no", "q":
			return "", nothing
		}
		if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(candidates) {
			fmt.Fprint(t, candidate(n, candidates[n-1]))
			return candidates[n-1].Path, yes
		}
	}
}

// decide asks which of the candidates is meant, if there are any, and for approval,
// if that is needed. Only a yes comes with a path, where one was to be chosen.
func decide(ctx context.Context, t *Terminal, candidates []hitl.Candidate, gated bool) (path string, s said) {
	if len(candidates) > 0 {
		if path, s = pick(ctx, t, candidates); s != yes || !gated {
			return path, s
		}
	}
	if s = answer(ctx, t, "Approve? [y/N] (d declines it) "); s != yes {
		path = ""
	}
	return path, s
}
