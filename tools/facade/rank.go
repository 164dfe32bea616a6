package facade

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"vault-mcp/tools"
)

// The constants of BM25, and how often a word counts by where it stands. A name says
// in two words what a tool does; an argument says what it can do besides.
const (
	k1 = 1.2
	b  = 0.5

	inName   = 4.0
	inTitle  = 2.0
	inAsked  = 3.0
	inDoc    = 1.0
	inDomain = 0.5
	inArgs   = 0.3

	// asItIs is what a word of the name counts more in the very form of the query.
	asItIs = 0.03
)

// hit is a tool that a query finds.
type hit struct {
	tool  *tools.Tool
	score float64
}

// rank is the tools with a word of the query, best first; of equals the first by
// name. It reads some hundred short texts, so it keeps nothing.
func rank(all []*tools.Tool, query string) []hit {
	wanted, asIs := words(query), split(query)
	texts := make([]map[string]float64, len(all))
	lengths := make([]float64, len(all))
	total := 0.0
	with := map[string]int{}
	for i, t := range all {
		texts[i] = textOf(t)
		for w, n := range texts[i] {
			with[w]++
			lengths[i] += n
		}
		total += lengths[i]
	}
	var hits []hit
	for i, t := range all {
		score, hasOf := 0.0, 0
		for _, w := range wanted {
			n := texts[i][w]
			if n == 0 {
				continue
			}
			hasOf++
			idf := math.Log(1 + (float64(len(all)-with[w])+0.5)/(float64(with[w])+0.5))
			score += idf * n * (k1 + 1) / (n + k1*(1-b+b*lengths[i]*float64(len(all))/total))
		}
		for _, w := range split(t.Name) { // read_note is not read_notes
			if slices.Contains(asIs, w) {
				score *= 1 + asItIs
			}
		}
		if hasOf > 0 { // one that has all the words is meant rather than one that has a rare one
			hits = append(hits, hit{t, score * float64(hasOf) / float64(len(wanted))})
		}
	}
	slices.SortStableFunc(hits, func(x, y hit) int { return cmp.Compare(y.score, x.score) })
	return hits
}

// textOf is how much each word counts in what is said of a tool.
func textOf(t *tools.Tool) map[string]float64 {
	text := map[string]float64{}
	add := func(s string, weight float64) {
		for _, w := range words(s) {
			text[w] += weight
		}
	}
	add(t.Name, inName)
	add(t.Title, inTitle)
	add(t.Doc, inDoc)
	add(t.Domain, inDomain)
	add(asked[t.Name], inAsked)
	for _, a := range t.Arguments() {
		add(a, inArgs)
	}
	return text
}

// words are the words of a text, in lower case and by their stems, without
// those that every sentence has. A name with _ is several.
func words(text string) []string {
	all := split(text)
	for i, w := range all {
		all[i] = stem(w)
	}
	return all
}

func split(text string) []string {
	all := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.DeleteFunc(all, func(w string) bool { return len(w) < 2 || empty[w] })
}

// stem is a word without the ends that plurals, persons and tenses give it. It need
// not be a word, only the same for all of them.
func stem(w string) string {
	if len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us") && !strings.HasSuffix(w, "is") {
		w = strings.TrimSuffix(w, "s")
	}
	for _, end := range []string{"ing", "ed"} {
		if cut, ok := strings.CutSuffix(w, end); ok && len(cut) > 2 {
			if w = cut; w[len(w)-1] == w[len(w)-2] && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "ll") {
				w = w[:len(w)-1]
			}
			break
		}
	}
	if cut, ok := strings.CutSuffix(w, "ie"); ok && len(cut) > 2 {
		return cut + "y"
	}
	return strings.TrimSuffix(w, "e")
}

// empty are words that say nothing of what is wanted.
var empty = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`a about all also an and any are as at be been being but by can could did do does for from
	had has have her here him his how i if in into is it its let like may me might must my need not of on one or our out
	please should so some than that the their them then there these they this those to up us want was we were what when
	where which whom whose why will with without would you your`) {
		m[w] = true
	}
	return m
}()
