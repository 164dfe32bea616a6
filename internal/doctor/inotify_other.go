//go:build !linux

package doctor

// watching says nothing: here no limit is known beforehand.
func (s subject) watching(*census) {
	s.ok("index.watch", "changes of files are reported where the system does")
}
