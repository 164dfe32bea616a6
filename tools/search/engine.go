package search

import (
	"context"
	"errors"

	"vault-mcp/internal/fault"
	"vault-mcp/tools/search/match"
	"vault-mcp/vault/query"
)

// engine finds the texts and regular expressions of a query.
func engine(ctx context.Context) query.Engine {
	return query.Engine{
		Literal: func(text string, fold bool) query.Finder { return literal{match.NewText(text, fold, false)} },
		Regexp: func(source string, fold bool) (query.Finder, error) {
			flags := ""
			if fold {
				flags = "i"
			}
			p, err := match.Compile(source, flags)
			if err != nil {
				return nil, errors.New(fault.Of(err).Message)
			}
			return expression{ctx, p}, nil
		},
	}
}

type literal struct{ *match.Text }

// Begin implements query.Finder.
func (l literal) Begin(text []byte) query.Finding { return l.Over(text) }

type expression struct {
	ctx context.Context
	*match.Pattern
}

// Begin implements query.Finder.
func (e expression) Begin(text []byte) query.Finding { return e.Over(e.ctx, text) }
