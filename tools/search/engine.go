package search

import (
	"context"
	"errors"

	"vault-mcp/internal/fault"
	"vault-mcp/vault/query"
)

// engine finds the texts and regular expressions of a query.
func engine(ctx context.Context) query.Engine {
	return query.Engine{
		Literal: func(text string, fold bool) query.Finder { return literals{newTextFinder(text, fold)} },
		Regexp: func(source string, fold bool) (query.Finder, error) {
			flags := "m"
			if fold {
				flags += "i"
			}
			p, err := compile(source, flags)
			if err != nil {
				return nil, errors.New(fault.Of(err).Message)
			}
			return expression{ctx, p}, nil
		},
	}
}

type literals struct{ *finder }

// Begin implements query.Finder.
func (l literals) Begin(text []byte) query.Finding {
	f := &literalsIn{}
	f.begin(l.finder, text)
	return f
}

type literalsIn struct{ finding }

// Next implements query.Finding.
func (f *literalsIn) Next(from int) (start, end int) {
	at, n := f.next(from)
	return at, at + max(n, 0)
}

type expression struct {
	ctx context.Context
	*pattern
}

// Begin implements query.Finder.
func (e expression) Begin(text []byte) query.Finding {
	return expressionIn{e.over(e.ctx, new(workspace), text)}
}

type expressionIn struct{ *patternFinding }

// Next implements query.Finding.
func (f expressionIn) Next(from int) (start, end int) {
	if f.byLine && from > 0 && f.text[from-1] != '\n' { // which looks at whole lines
		return f.anywhere(from)
	}
	return f.next(from)
}
