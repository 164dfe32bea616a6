package query

import (
	"slices"
	"strings"
)

// NeedKind says what a document must have.
type NeedKind uint8

const (
	NeedNothing  NeedKind = iota // nothing is known
	NeedAll                      // all of Of
	NeedAny                      // one of Of
	NeedText                     // Text is part of the text, or of the name of a note or canvas without its extension
	NeedContent                  // Text is part of the text
	NeedFile                     // Text is part of the file name, extension included
	NeedPath                     // Text is part of the path
	NeedTag                      // a tag that is Text, or begins with it and a slash
	NeedAnyTag                   // some tag
	NeedProperty                 // a property whose name is Text
	NeedTask                     // a task
	NeedTaskTodo                 // a task that is not done
	NeedTaskDone                 // a task that is done
)

// Need is a condition that every document which matches a query meets: an index can leave out the others without
// reading them. Texts and names are compared without regard to case, in the way of Engine.Literal with fold.
type Need struct {
	Kind NeedKind
	Text string
	Of   []Need
}

// Needs is what every matching document has. It says nothing about what a query excludes, and nothing about regular
// expressions.
func (q *Query) Needs() Need { return q.root.needs(everywhere) }

func (n *node) needs(at where) Need {
	switch n.kind {
	case kindAnd:
		need := Need{Kind: NeedAll}
		for _, kid := range n.kids {
			if k := kid.needs(at); k.Kind != NeedNothing {
				need.Of = append(need.Of, k)
			}
		}
		return need.simple()
	case kindOr:
		need := Need{Kind: NeedAny}
		for _, kid := range n.kids {
			k := kid.needs(at)
			if k.Kind == NeedNothing {
				return k
			}
			need.Of = append(need.Of, k)
		}
		return need
	case kindOp:
		return n.opNeeds(at)
	case kindProperty:
		return n.kids[0].needs(inKey)
	case kindName:
		return Need{Kind: NeedProperty, Text: n.text}
	case kindAny:
		if at == inTags {
			return Need{Kind: NeedAnyTag}
		}
	case kindWord, kindPhrase:
		return n.textNeeds(at)
	}
	return Need{}
}

func (n *node) textNeeds(at where) Need {
	text := longestLine(n.text)
	switch {
	case at == inTags:
		if name := tagName(n.text); name != "" {
			return Need{Kind: NeedTag, Text: name}
		}
		return Need{Kind: NeedAnyTag}
	case text == "":
	case at == everywhere:
		return Need{Kind: NeedText, Text: text}
	case at == inText:
		return Need{Kind: NeedContent, Text: text}
	case at == inFile:
		return Need{Kind: NeedFile, Text: text}
	case at == inPath:
		return Need{Kind: NeedPath, Text: text}
	}
	return Need{}
}

// longestLine is the part of a text that does not depend on how lines end.
func longestLine(s string) string {
	best := ""
	for line := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if len(line) > len(best) {
			best = line
		}
	}
	return best
}

func (n *node) opNeeds(at where) Need {
	kid, task := n.kids[0], NeedNothing
	switch n.op {
	case opMatchCase, opIgnoreCase:
		return kid.needs(at)
	case opFile:
		return kid.needs(inFile)
	case opPath:
		return kid.needs(inPath)
	case opTag:
		return kid.needs(inTags)
	case opTask:
		task = NeedTask
	case opTaskTodo:
		task = NeedTaskTodo
	case opTaskDone:
		task = NeedTaskDone
	}
	inside := kid.needs(inText)
	switch {
	case task == NeedNothing:
		return inside
	case inside.Kind == NeedNothing:
		return Need{Kind: task}
	case inside.Kind == NeedAll:
		inside.Of = append([]Need{{Kind: task}}, inside.Of...)
		return inside
	}
	return Need{Kind: NeedAll, Of: []Need{{Kind: task}, inside}}
}

// simple drops an all around nothing or one thing.
func (n Need) simple() Need {
	switch len(n.Of) {
	case 0:
		return Need{}
	case 1:
		return n.Of[0]
	}
	return n
}

// NeedsText reports whether the text of a document must be read to tell whether it matches. Names, paths, tags and
// properties are enough otherwise.
func (q *Query) NeedsText() bool { return q.root.needsText(everywhere) }

// NamesOnly reports whether the names of a document are enough: neither its text
// nor its tags and properties are asked for.
func (q *Query) NamesOnly() bool { return !q.NeedsText() && !q.root.asksFacts() }

func (n *node) asksFacts() bool {
	return n.kind == kindProperty || n.kind == kindOp && n.op == opTag || slices.ContainsFunc(n.kids, (*node).asksFacts)
}

func (n *node) needsText(at where) bool {
	switch n.kind {
	case kindProperty:
		return false
	case kindOp:
		switch n.op {
		case opMatchCase, opIgnoreCase:
			return n.kids[0].needsText(at)
		case opFile:
			return n.kids[0].needsText(inFile)
		case opPath:
			return n.kids[0].needsText(inPath)
		case opTag:
			return n.kids[0].needsText(inTags)
		}
		return true
	}
	if n.leaf() {
		return (at == everywhere || at == inText) && n.kind != kindAny
	}
	for _, kid := range n.kids {
		if kid.needsText(at) {
			return true
		}
	}
	return false
}
