package query

import (
	"fmt"
	"strings"
)

// String is the query in its plainest form. Parse reads it as the same query.
func (q *Query) String() string {
	var b strings.Builder
	q.root.print(&b)
	return b.String()
}

func (n *node) print(b *strings.Builder) {
	switch n.kind {
	case kindAnd, kindOr:
		sep := " "
		if n.kind == kindOr {
			sep = " OR "
		}
		for i, kid := range n.kids {
			if i > 0 {
				b.WriteString(sep)
			}
			kid.printIn(b, n.kind == kindAnd && kid.kind == kindOr)
		}
	case kindNot:
		b.WriteByte('-')
		n.kids[0].printIn(b, n.kids[0].several() || n.kids[0].kind == kindNot)
	case kindOp:
		b.WriteString(string(n.op) + ":")
		n.kids[0].printIn(b, n.kids[0].several())
	case kindProperty:
		b.WriteByte('[')
		n.kids[0].print(b)
		if len(n.kids) > 1 {
			b.WriteByte(':')
			n.kids[1].print(b)
		}
		b.WriteByte(']')
	case kindRegex:
		b.WriteString("/" + n.text + "/")
	case kindPhrase, kindName, kindAny, kindEmpty:
		b.WriteString(quote(n.text))
	default:
		b.WriteString(n.text)
	}
}

func (n *node) several() bool { return n.kind == kindAnd || n.kind == kindOr }

func (n *node) printIn(b *strings.Builder, parens bool) {
	if !parens {
		n.print(b)
		return
	}
	b.WriteByte('(')
	n.print(b)
	b.WriteByte(')')
}

var quoting = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

func quote(s string) string { return `"` + quoting.Replace(s) + `"` }

// Explain says in words how the query is understood, as the option Explain search term of the app does, with its notes.
func (q *Query) Explain() string {
	var b strings.Builder
	b.WriteString("Files with ")
	q.root.explain(&b, "the text or name", false)
	b.WriteByte('.')
	for _, n := range q.notes {
		fmt.Fprintf(&b, " Note at column %d: %s", n.Column, n.Msg)
	}
	return b.String()
}

// explain writes a clause about what is found where; exact says that case counts.
func (n *node) explain(b *strings.Builder, where string, exact bool) {
	in := ""
	if where != "" {
		in = " in " + where
	}
	if exact && (n.kind == kindWord || n.kind == kindPhrase || n.kind == kindRegex) {
		in += " in the same case"
	}
	switch n.kind {
	case kindAnd:
		n.list(b, " and ", where, exact)
	case kindOr:
		n.list(b, " or ", where, exact)
	case kindNot:
		b.WriteString("no ")
		n.kids[0].clause(b, where, exact)
	case kindOp:
		n.explainOp(b, where, exact)
	case kindProperty:
		b.WriteString("a property ")
		n.kids[0].clause(b, "its name", exact)
		if len(n.kids) > 1 {
			b.WriteString(" that has ")
			n.kids[1].clause(b, "one value", exact)
		}
	case kindAny:
		b.WriteString("anything" + in)
	case kindPhrase:
		b.WriteString("the whole words " + quote(n.text) + in)
	case kindRegex:
		b.WriteString("a match of /" + n.text + "/" + in)
	case kindName:
		b.WriteString("named " + quote(n.text))
	case kindNull:
		b.WriteString("nothing as its value")
	case kindEmpty:
		b.WriteString("an empty text" + in)
	case kindCompare:
		b.WriteString("a number or date " + n.text + in)
	default:
		b.WriteString(quote(n.text) + in)
	}
}

func (n *node) clause(b *strings.Builder, where string, exact bool) {
	if n.several() {
		b.WriteByte('(')
		defer b.WriteByte(')')
	}
	n.explain(b, where, exact)
}

func (n *node) list(b *strings.Builder, sep, where string, exact bool) {
	for i, kid := range n.kids {
		if i > 0 {
			b.WriteString(sep)
		}
		kid.clause(b, where, exact)
	}
}

// wheres says where the operators look.
var wheres = map[operator]string{
	opFile: "the file name", opPath: "the path", opContent: "the text", opTag: "the tags, or a tag below it",
	opLine: "it", opBlock: "it", opSection: "it", opTask: "it", opTaskTodo: "it", opTaskDone: "it",
}

// pieces are what the operators that go piece by piece look at.
var pieces = map[operator]string{
	opLine: "one line", opBlock: "one block", opSection: "one section", opTask: "one task", opTaskTodo: "one task to do",
	opTaskDone: "one task done",
}

func (n *node) explainOp(b *strings.Builder, where string, exact bool) {
	kid := n.kids[0]
	switch n.op {
	case opMatchCase, opIgnoreCase:
		kid.clause(b, where, n.op == opMatchCase)
		return
	}
	if piece, ok := pieces[n.op]; ok {
		b.WriteString(piece + " with ")
	}
	kid.clause(b, wheres[n.op], exact)
}
