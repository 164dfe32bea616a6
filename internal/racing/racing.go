// Package racing tells tests whether the race detector runs. Under it SQLite, which
// is translated from C, is fifteen times slower, and a long table finds no more
// races than a part of it. So tables whose cases differ in their data alone are
// thinned; without the detector all of them run.
package racing

// kept is of how many cases one is kept.
const kept = 4

// Thins reports whether a case of a long table is left out, by its number in the
// table.
func Thins(i int) bool { return On && i%kept != 0 }

// Skips leaves a test to the run without the detector: it is about data alone.
func Skips(t interface {
	Helper()
	Skip(args ...any)
}) {
	if On {
		t.Helper()
		t.Skip("it is about data alone, and runs without the race detector")
	}
}
