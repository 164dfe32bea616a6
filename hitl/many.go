package hitl

import "fmt"

// Widely are the reasons to ask a person about one edit that is made in so many
// notes at once: none for a few.
func Widely(notes int) []string {
	if notes <= manyOthers {
		return nil
	}
	return []string{fmt.Sprintf("it changes %d notes", notes)}
}
