package link

import (
	"fmt"
	"runtime"
	"testing"
)

// bigVault has 100,000 files: most with a name of their own, some of them not in ASCII, and one README in each folder.
func bigVault() []string {
	paths := make([]string, 0, 100_000)
	for i := range 100_000 {
		name := fmt.Sprintf("Meeting notes %d.md", i)
		switch {
		case i%50 == 0:
			name = "README.md"
		case i%20 == 1:
			name = fmt.Sprintf("Gespräch über %d.md", i)
		case i%20 == 2:
			name = fmt.Sprintf("Screenshot %d.png", i)
		}
		paths = append(paths, fmt.Sprintf("Projects/Area %d/Topic %d/%s", i%40, i/50, name))
	}
	return paths
}

func BenchmarkBuild100k(b *testing.B) {
	paths := bigVault()
	b.ReportAllocs()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	x := NewIndex(paths)
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(x)
	for b.Loop() {
		NewIndex(paths)
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MB-held")
}

func BenchmarkClone100k(b *testing.B) {
	x := NewIndex(bigVault())
	b.ReportAllocs()
	for b.Loop() {
		x.Clone()
	}
}

func BenchmarkAddRemove(b *testing.B) {
	x := NewIndex(bigVault())
	b.ReportAllocs()
	for b.Loop() {
		x.Add("Projects/README.md")
		x.Remove("Projects/README.md")
	}
}

func BenchmarkResolve(b *testing.B) {
	x := NewIndex(bigVault())
	from := "Projects/Area 13/Topic 1000/Meeting notes 50013.md"
	for _, bb := range []struct{ name, target string }{
		{"name", "Meeting notes 4711"},
		{"path", "Projects/Area 33/Topic 94/Meeting notes 4713.md"},
		{"non-ASCII", "Gespräch über 4721"},
		{"2000 of a name", "README"},
		{"2000 of a name, part of a path", "Topic 1999/README"},
		{"unresolved", "Meeting notes of nobody"},
		{"relative", "../Topic 1000/Meeting notes 50013"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				x.Resolve(from, bb.target, nil)
			}
		})
	}
}

func BenchmarkText(b *testing.B) {
	x := NewIndex(bigVault())
	b.ReportAllocs()
	for b.Loop() {
		x.Text("Projects/a.md", "Projects/Area 33/Topic 94/Meeting notes 4713.md", Options{})
	}
}
