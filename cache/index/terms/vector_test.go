package terms

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// vectorOf is the vector of a text.
func vectorOf(d *Dictionary, text string) Vector {
	var c Counter
	c.Count([]byte(text))
	return d.Encode(nil, &c)
}

func TestVector(t *testing.T) {
	d := NewDictionary()
	vectorOf(d, "zero one two three")
	v := vectorOf(d, "two Two four one, two; naïve")
	got := map[string]int{}
	for id, n := range v.Terms() {
		got[d.Term(id)] = n
	}
	want := map[string]int{"two": 3, "four": 1, "one": 1, "naïve": 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if v.Length() != 6 {
		t.Errorf("length %d, want 6", v.Length())
	}
	if len(v) != 6 {
		t.Errorf("%d bytes, want 6: %x", len(v), []byte(v))
	}
	if v := Vector(nil); v.Length() != 0 || len(maps.Collect(v.Terms())) != 0 {
		t.Error("an empty vector has terms")
	}
}

func TestCounterIsUsedAgain(t *testing.T) {
	var c Counter
	var many []byte
	for i := range 20_000 {
		many = append(many, ' ', byte('a'+i%26), byte('a'+i/26%26), byte('a'+i/676))
	}
	for range 2 {
		c.Count(many)
		if n := len(counts(&c)); n != len(distinct(many)) {
			t.Errorf("%d terms, want %d", n, len(distinct(many)))
		}
		c.Count([]byte("b a b"))
		if diff := cmp.Diff(map[string]int{"a": 1, "b": 2}, counts(&c)); diff != "" || c.Length() != 3 {
			t.Error(c.Length(), diff)
		}
	}
}

func TestSortPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	var spare []uint64
	for _, n := range []int{0, 1, 63, 64, 500} {
		for _, most := range []uint32{1, 200, 70_000, 1<<32 - 1} {
			pairs := make([]uint64, n)
			for i := range pairs {
				pairs[i] = uint64(r.Uint32N(most))<<32 | uint64(i)
			}
			want := slices.Clone(pairs)
			slices.Sort(want)
			pairs, spare = sortPairs(pairs, spare)
			if !slices.Equal(pairs, want) {
				t.Errorf("%d pairs below %d are not sorted", n, most)
			}
		}
	}
}

func counts(c *Counter) map[string]int {
	m := map[string]int{}
	for term, n := range c.Terms() {
		m[string(term)] += n
	}
	return m
}

func distinct(text []byte) map[string]bool {
	m := map[string]bool{}
	for t := range Tokenize(text) {
		m[string(t.Term)] = true
	}
	return m
}

func TestDamagedVectors(t *testing.T) {
	d := NewDictionary()
	for _, term := range []string{"a", "b", "c"} {
		d.Intern([]byte(term))
	}
	tests := []struct {
		name string
		v    Vector
	}{
		{"the length is cut", Vector{0x80}},
		{"fewer terms than the length", Vector{2, 2}},
		{"more terms than the length", Vector{1, 2, 2}},
		{"the same term again", Vector{2, 2, 0}},
		{"a term that is not known", Vector{1, 8}},
		{"a count that is cut", Vector{2, 3}},
		{"a count that should not be written", Vector{1, 3, 1}},
		{"a distance that is cut", Vector{1, 0x80}},
		{"a distance beyond all", Vector{1, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x := NewIndex(d)
			if _, err := x.Add(tt.v); err == nil {
				t.Error("Add took it")
			}
			if _, err := x.Load([]Vector{{1, 2}, tt.v}); err == nil {
				t.Error("Load took it")
			}
			if s := x.Stats(); s.Docs != 0 {
				t.Errorf("%d documents are left", s.Docs)
			}
		})
	}
}

func FuzzVector(f *testing.F) {
	f.Add([]byte("some words and some more"), []byte{2, 3, 1})
	f.Add([]byte("漢字 か\u3099"), []byte{0xff, 0xff, 0xff, 0xff, 0x0f, 2})
	f.Fuzz(func(t *testing.T, text, damaged []byte) {
		d := NewDictionary()
		for i := range 100 {
			d.Intern([]byte{'z', byte('a' + i/26), byte('a' + i%26)})
		}
		var c Counter
		c.Count(text)
		v := d.Encode(nil, &c)
		got := map[string]int{}
		for id, n := range v.Terms() {
			got[d.Term(id)] = n
		}
		if diff := cmp.Diff(counts(&c), got); diff != "" || v.Length() != c.Length() {
			t.Error(v.Length(), c.Length(), diff)
		}

		pairs, length, err := Vector(damaged).decode(nil, d.Len())
		if err != nil {
			return
		}
		sum := uint32(0)
		for i, p := range pairs {
			sum += p.count
			if p.id >= d.Len() || p.count == 0 || i > 0 && p.id <= pairs[i-1].id {
				t.Fatalf("pair %d of %v", i, pairs)
			}
		}
		if sum != length {
			t.Errorf("length %d, counts make %d", length, sum)
		}
	})
}
