package vaultgen

import (
	"math"
	"math/rand/v2"
	"strings"
)

// Words that notes are searched for. No other word holds one of them.
const (
	Common = "harbour"
	Rare   = "quillmoss"
	Absent = "zwybrux"
)

// everyday words come first in the vocabulary, so they are the frequent ones.
var everyday = strings.Fields(`
	the a and to of in is it for on with that this at by from as be or not we
	when then there where after before about into over under again always never
	plan work week note idea call list page part time day year home team room
	light water paper table window garden kitchen market river street summer
	winter morning evening letter number answer question reason choice change
	open close start finish build write read think learn teach carry bring keep
	small large early late quiet steady simple certain ready careful café naïve
	façade señor über crème`)

// syllables build the rest.
var (
	onsets = strings.Fields("b br c cl d dr f fl g gr h j k l m n p pl r s st t tr v w")
	nuclei = strings.Fields("a e i o u ai ea ou")
	codas  = strings.Fields("n r l s t m nd rt ck sh th")
)

// vocabulary is every word of a vault, the frequent ones first. It does not
// depend on the seed, so that vaults of all sizes speak alike.
func vocabulary() []string {
	const size = 6000
	rng := rand.New(rand.NewPCG(1, 2))
	pick := func(from []string) string { return from[rng.IntN(len(from))] }
	words := append([]string{}, everyday...)
	seen := map[string]bool{Common: true, Rare: true, Absent: true}
	for _, w := range words {
		seen[w] = true
	}
	for len(words) < size {
		var b strings.Builder
		for range 1 + rng.IntN(3) {
			b.WriteString(pick(onsets) + pick(nuclei))
		}
		w := b.String() + pick(codas)
		if len(w) > 3 && !seen[w] {
			seen[w] = true
			words = append(words, w)
		}
	}
	return words
}

// speaker draws words, the early ones of the vocabulary far more often.
type speaker struct {
	*rand.Rand
	words []string
}

func (s *speaker) word() string {
	// The density of a rank falls like its reciprocal.
	rank := math.Exp(s.Float64()*math.Log(float64(len(s.words)))) - 1
	return s.words[int(rank)]
}

// name is a word that is not among the frequent ones, with a capital.
func (s *speaker) name() string {
	return capital(s.words[len(everyday)+s.IntN(len(s.words)-len(everyday))])
}

func capital(w string) string { return strings.ToUpper(w[:1]) + w[1:] }
