package match

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	maxLiterals = 16 // literals that are looked for side by side
	maxClass    = 4  // characters of a class that count as literals
)

// usable reports whether looking for these literals first is worth while: none
// is so short that it is everywhere.
func usable(lits []literal) bool {
	for _, l := range lits {
		if r, size := utf8.DecodeRuneInString(l.text); size == len(l.text) && commonness(r) > 0 || l.text == "" {
			return false
		}
	}
	return len(lits) > 0
}

// nothing is the literal that is everywhere.
var nothing = []literal{{}}

// leads lists literals of which every match of re begins with one. whole says
// that they are all that re matches, so that what comes next can be added.
func leads(re *syntax.Regexp) (lits []literal, whole bool) {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return nothing, true
	case syntax.OpLiteral:
		text, _, cut := strings.Cut(string(re.Rune), "\uFFFD") // stands for bytes that are no UTF-8, too
		return []literal{{text, re.Flags&syntax.FoldCase != 0}}, !cut
	case syntax.OpCharClass:
		return classLeads(re.Rune)
	case syntax.OpCapture:
		return leads(re.Sub[0])
	case syntax.OpQuest:
		lits, whole = leads(re.Sub[0])
		return append(slices.Clone(lits), literal{}), whole
	case syntax.OpPlus:
		lits, _ = leads(re.Sub[0])
		return lits, false
	case syntax.OpRepeat:
		if re.Min > 0 {
			lits, _ = leads(re.Sub[0])
			return lits, false
		}
	case syntax.OpConcat:
		return concatLeads(re.Sub)
	case syntax.OpAlternate:
		whole = true
		for _, sub := range re.Sub {
			more, all := leads(sub)
			if lits, whole = append(lits, more...), whole && all; len(lits) > maxLiterals {
				return nothing, false
			}
		}
		return lits, whole
	}
	return nothing, false
}

func classLeads(ranges []rune) (lits []literal, whole bool) {
	for i := 0; i < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if len(lits) == maxClass || r == utf8.RuneError || !utf8.ValidRune(r) {
				return nothing, false
			}
			lits = append(lits, literal{string(r), false})
		}
	}
	if lits == nil {
		return nothing, false
	}
	return lits, true
}

func concatLeads(subs []*syntax.Regexp) (lits []literal, whole bool) {
	lits, whole = nothing, true
	for _, sub := range subs {
		if !whole {
			break
		}
		more, all := leads(sub)
		if len(lits)*len(more) > maxLiterals {
			return lits, false
		}
		var both []literal
		for _, a := range lits {
			for _, b := range more {
				both = append(both, literal{a.text + b.text, a.fold || b.fold})
			}
		}
		lits, whole = both, all
	}
	return lits, whole
}

// musts lists literals of which every match of re holds one; none if nothing
// is known. They have no line ends.
func musts(re *syntax.Regexp) []literal {
	switch re.Op {
	case syntax.OpLiteral:
		text := longestPart(string(re.Rune))
		if text == "" {
			return nil
		}
		return []literal{{text, re.Flags&syntax.FoldCase != 0}}
	case syntax.OpCapture, syntax.OpPlus:
		return musts(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return musts(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []literal
		for _, sub := range re.Sub {
			if lits := musts(sub); lits != nil && (best == nil || shortest(lits) > shortest(best)) {
				best = lits
			}
		}
		return best
	case syntax.OpAlternate:
		var all []literal
		for _, sub := range re.Sub {
			lits := musts(sub)
			if all = append(all, lits...); lits == nil || len(all) > maxLiterals {
				return nil
			}
		}
		return all
	}
	return nil
}

// longestPart is the longest part of a text without line ends and without
// U+FFFD, which stands for bytes that are no UTF-8, too.
func longestPart(text string) string {
	best := ""
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' || r == utf8.RuneError }) {
		if len(part) > len(best) {
			best = part
		}
	}
	return best
}

// shortest is the length of the shortest literal, 0 for one that is no use by
// itself.
func shortest(lits []literal) int {
	if !usable(lits) {
		return 0
	}
	n := len(lits[0].text)
	for _, l := range lits {
		n = min(n, len(l.text))
	}
	return n
}

// oneLine reports whether no match of re holds a line end.
func oneLine(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return !slices.Contains(re.Rune, '\n')
	case syntax.OpCharClass:
		return !inRanges(re.Rune, '\n')
	case syntax.OpAnyChar:
		return false
	}
	return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !oneLine(sub) })
}

func inRanges(ranges []rune, r rune) bool {
	for i := 0; i < len(ranges); i += 2 {
		if ranges[i] <= r && r <= ranges[i+1] {
			return true
		}
	}
	return false
}
