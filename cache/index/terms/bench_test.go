package terms

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"vault-mcp/bench/vaultgen"
)

// vaultTexts are 10,000 notes of 3.3 KB. Each has six words of its own as well,
// so that there are as many terms as people write, and one in twenty is Chinese.
var vaultTexts = sync.OnceValues(func() ([][]byte, error) {
	dir, err := os.MkdirTemp("", "terms-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if _, err := vaultgen.Write(filepath.Join(dir, "v"), 10_000, 42); err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(1, 1))
	var texts [][]byte
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		text, err := os.ReadFile(path)
		for range 6 {
			text = fmt.Appendf(text, " %c%c%c%dwort", 'a'+r.IntN(26), 'a'+r.IntN(26), 'a'+r.IntN(26), r.IntN(1000))
		}
		if len(texts)%20 == 1 {
			for range 300 {
				text = append(text, string('\u4e00'+rune(r.IntN(50)*r.IntN(60)))...)
			}
		}
		texts = append(texts, text)
		return err
	})
	return texts, err
})

func benchTexts(b *testing.B) [][]byte {
	b.Helper()
	texts, err := vaultTexts()
	if err != nil {
		b.Fatal(err)
	}
	return texts
}

func benchVectors(b *testing.B) (*Dictionary, []Vector) {
	b.Helper()
	d := NewDictionary()
	var c Counter
	var vectors []Vector
	for _, text := range benchTexts(b) {
		c.Count(text)
		vectors = append(vectors, d.Encode(nil, &c))
	}
	return d, vectors
}

func benchIndex(b *testing.B) *Index {
	b.Helper()
	d, vectors := benchVectors(b)
	x := NewIndex(d)
	if _, err := x.Load(vectors); err != nil {
		b.Fatal(err)
	}
	return x
}

func BenchmarkTokenize(b *testing.B) {
	texts := benchTexts(b)
	var p pages
	var term []byte
	for i := range loop(b) {
		text := texts[i%len(texts)]
		b.SetBytes(int64(len(text)))
		for at := 0; at >= 0; {
			term, _, at = p.next(term[:0], text, at)
		}
	}
}

// One note: count and encode, with a dictionary that knows its words.
func BenchmarkVector(b *testing.B) {
	texts := benchTexts(b)
	d, vectors := benchVectors(b)
	size := 0
	for _, v := range vectors {
		size += len(v)
	}
	var c Counter
	var v Vector
	b.ReportAllocs()
	for i := range loop(b) {
		c.Count(texts[i%len(texts)])
		v = d.Encode(v[:0], &c)
	}
	b.ReportMetric(float64(size)/float64(len(vectors)), "B/vector")
}

// 10,000 notes, with a dictionary that is empty at first.
func BenchmarkFirstBuild(b *testing.B) {
	benchTexts(b)
	for range loop(b) {
		benchVectors(b)
	}
}

func BenchmarkLoad(b *testing.B) {
	d, vectors := benchVectors(b)
	b.Run("index", func(b *testing.B) {
		for range loop(b) {
			if _, err := NewIndex(d).Load(vectors); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("dictionary", func(b *testing.B) {
		for range loop(b) {
			again := NewDictionary()
			for id, term := range d.Added(1) {
				if err := again.Load(id, term); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.ReportMetric(float64(d.Len()), "terms")
	})
	b.Run("pack", func(b *testing.B) {
		x := NewIndex(d)
		for _, v := range vectors {
			if _, err := x.Add(v); err != nil {
				b.Fatal(err)
			}
		}
		for range loop(b) {
			x.Pack()
		}
	})
}

// What stays in memory, in bytes a note and a term.
func BenchmarkMemory(b *testing.B) {
	texts := benchTexts(b)
	for range loop(b) {
		before := heap()
		d, vectors := benchVectors(b)
		postings := 0
		for _, v := range vectors {
			for range v.Terms() {
				postings++
			}
		}
		x := NewIndex(d)
		if _, err := x.Load(vectors); err != nil {
			b.Fatal(err)
		}
		vectors = nil
		both := heap() - before
		s := x.Stats()
		x = nil
		dictionary := heap() - before
		b.ReportMetric(both/1e6, "MB")
		b.ReportMetric(dictionary/float64(s.Terms), "B/term")
		b.ReportMetric((both-dictionary)/float64(postings), "B/posting")
		b.ReportMetric(float64(postings)/float64(len(texts)), "terms/note")
		runtime.KeepAlive(d)
	}
	runtime.KeepAlive(texts)
}

// loop is b.Loop with the CPU time of each turn as well.
func loop(b *testing.B) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		n, before := 0, cpuTime()
		for b.Loop() {
			if !yield(n) {
				return
			}
			n++
		}
		b.ReportMetric(float64(cpuTime()-before)/float64(n), "cpu-ns/op")
	}
}

func heap() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

func BenchmarkCandidates(b *testing.B) {
	x := benchIndex(b)
	v := x.View(func(doc uint32) bool { return doc%10 > 0 })
	for _, bb := range []struct{ name, text string }{
		{"rare", vaultgen.Rare}, {"absent", vaultgen.Absent}, {"common", vaultgen.Common}, {"part", "arbou"}, {"two letters", "th"},
		{"one letter", "e"}, {"accent", "naïve"}, {"two words", "the harbour"}, {"parts of words", "e " + vaultgen.Rare},
		{"one Chinese", "\u4e5d"}, {"two Chinese", "\u4e5d\u4e2d"}, {"no letter", "->"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			n := 0
			for range loop(b) {
				n = len(x.Candidates(bb.text, v))
			}
			b.ReportMetric(float64(n), "notes")
		})
	}
}

func BenchmarkRank(b *testing.B) {
	x := benchIndex(b)
	v := x.View(func(doc uint32) bool { return doc%10 > 0 })
	for _, bb := range []struct {
		name string
		q    Query
	}{
		{"rare", Query{Text: vaultgen.Rare}},
		{"common", Query{Text: vaultgen.Common}},
		{"common, accents folded", Query{Text: vaultgen.Common, FoldDiacritics: true}},
		{"everywhere", Query{Text: "the"}},
		{"five words", Query{Text: "the plan of harbour cafe", FoldDiacritics: true}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			bb.q.Limit = 50
			b.ReportAllocs()
			n := 0
			for range loop(b) {
				_, n = x.Rank(bb.q, v)
			}
			b.ReportMetric(float64(n), "notes")
		})
	}
}

// A note changes: it is counted, encoded, added, and the old state removed; the
// next query of a view sees it.
func BenchmarkChange(b *testing.B) {
	for _, copies := range []int{1, 4} {
		b.Run(fmt.Sprint(copies*10_000), func(b *testing.B) {
			texts := benchTexts(b)
			d, vectors := benchVectors(b)
			x := NewIndex(d)
			for range copies {
				if _, err := x.Load(vectors); err != nil {
					b.Fatal(err)
				}
			}
			x.Pack()
			v := x.View(func(uint32) bool { return true })
			var c Counter
			var vec Vector
			old := uint32(0)
			for range loop(b) {
				c.Count(texts[int(old)%len(texts)])
				vec = d.Encode(vec[:0], &c)
				if _, err := x.Add(vec); err != nil {
					b.Fatal(err)
				}
				x.Remove(old)
				old++
				v.Docs()
			}
		})
	}
}
