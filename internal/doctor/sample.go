package doctor

import "math/rand/v2"

// maxPaths is how many paths a finding names.
const maxPaths = 5

// sample counts files and keeps the first few.
type sample struct {
	count int
	first []string
}

func (s *sample) add(path string) {
	if s.count++; len(s.first) < maxPaths {
		s.first = append(s.first, path)
	}
}

// picker keeps an even choice of any number of files in bounded memory.
type picker struct {
	most, seen int
	chosen     []string
	dice       *rand.Rand
}

// newPicker always chooses the same of the same files.
func newPicker(most int) *picker { return &picker{most: most, dice: rand.New(rand.NewPCG(1, 2))} }

func (p *picker) add(path string) {
	p.seen++
	if len(p.chosen) < p.most {
		p.chosen = append(p.chosen, path)
	} else if at := p.dice.IntN(p.seen); at < p.most {
		p.chosen[at] = path
	}
}
