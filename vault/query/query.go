// Package query owns Obsidian's search language (help page Plugins/Search): what a query means, whether a document
// matches it and where, and what an index may take for granted about the documents that do. It reads no file and knows
// no index: documents and the finding of text are handed in.
//
// A query is words, "phrases", /regular expressions/, operators and [properties]. A blank between two means both, OR in
// capitals means either and binds weaker, - in front means not, and parentheses group:
//
//	query := and (OR and)*
//	and   := term+
//	term  := -?( word | "phrase" | /regex/ | (query) | operator:term | [name] | [name:query] )
package query

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// Limits of a query, so that neither reading nor running one can take up a server. A query beyond them is refused.
const (
	MaxLength = 10_000 // characters
	MaxDepth  = 100    // parentheses and operators inside each other
	MaxTerms  = 500    // words, phrases, regular expressions and comparisons
)

// Query is a search that has been read. It never changes and can be shared.
type Query struct {
	source string
	root   *node
	notes  []Note
}

// Note is a remark on a part of a query that was taken in a way its author may not expect: a quote that is not closed,
// an AND that is a word like any other. The query works all the same.
type Note struct {
	Offset int // in bytes from the start of the query
	Column int // in UTF-16 units, from 1
	Msg    string
}

// SyntaxError says what in a query cannot be understood, and where.
type SyntaxError struct {
	Offset int // in bytes from the start of the query
	Column int // in UTF-16 units, from 1
	Msg    string
}

// Error is the sentence with its column.
func (e *SyntaxError) Error() string { return fmt.Sprintf("column %d: %s", e.Column, e.Msg) }

// Notes are the remarks on the query, in its order.
func (q *Query) Notes() []Note { return q.notes }

// kind says what a node of a query is.
type kind uint8

const (
	kindAnd kind = iota
	kindOr
	kindNot
	kindAny      // the empty phrase, or an operator without text: it holds everywhere
	kindWord     // anywhere in the text
	kindPhrase   // whole words
	kindRegex    // JavaScript
	kindOp       // operator:term
	kindProperty // [name] or [name:query]; the first child is about the name, the second about the value
	kindName     // the name of a property
	kindNull     // the value null
	kindEmpty    // the value that is an empty text
	kindCompare  // < > <= >= with a number or a date
)

// node is a part of a query.
type node struct {
	kind  kind
	op    operator
	at    int // offset in the query
	text  string
	kids  []*node
	bound bound
}

// operator is the part of the language before a colon.
type operator string

const (
	opFile       operator = "file"
	opPath       operator = "path"
	opContent    operator = "content"
	opMatchCase  operator = "match-case"
	opIgnoreCase operator = "ignore-case"
	opTag        operator = "tag"
	opLine       operator = "line"
	opBlock      operator = "block"
	opSection    operator = "section"
	opTask       operator = "task"
	opTaskTodo   operator = "task-todo"
	opTaskDone   operator = "task-done"
)

// operators lists all of them as the help page does.
var operators = []operator{
	opFile, opPath, opContent, opMatchCase, opIgnoreCase, opTag, opLine, opBlock, opSection, opTask, opTaskTodo, opTaskDone,
}

// Operators are the names of the operators, in the order of the help page.
func Operators() []string {
	names := make([]string, len(operators))
	for i, o := range operators {
		names[i] = string(o)
	}
	return names
}

// leaf reports whether the node is about one piece of text.
func (n *node) leaf() bool {
	switch n.kind {
	case kindAnd, kindOr, kindNot, kindOp, kindProperty:
		return false
	}
	return true
}

// column is the place of an offset for people.
func column(s string, offset int) int {
	units := 1
	for _, r := range s[:min(offset, len(s))] {
		units++
		if r > 0xFFFF {
			units++
		}
	}
	return units
}

// Parse reads a query. The error is a *SyntaxError. What can only mean one thing is taken in that way although it is
// not finished, with a Note: a quote or a parenthesis that is not closed, an operator without text, an OR with nothing
// on one side.
func Parse(text string) (*Query, error) {
	p := &parser{in: text}
	if i := invalidAt(text); i >= 0 {
		return nil, p.fail(i, "The query holds a byte that is not UTF-8.")
	}
	if i := beyond(text, MaxLength); i >= 0 {
		return nil, p.fail(i, "The query is too long: at most %d characters are read.", MaxLength)
	}
	root, err := p.query()
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(p.notes, func(a, b Note) int { return a.Offset - b.Offset })
	return &Query{source: text, root: root, notes: p.notes}, nil
}

func invalidAt(s string) int {
	if utf8.ValidString(s) {
		return -1
	}
	for i, r := range s {
		if r != utf8.RuneError {
			continue
		}
		if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
			return i
		}
	}
	return -1
}

// beyond is the offset of the character behind the first n, or -1.
func beyond(s string, n int) int {
	if len(s) <= n {
		return -1
	}
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return -1
}
