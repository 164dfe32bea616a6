// Package match finds texts and regular expressions in text: which lines have a
// match, where it is, and how that is shown. It takes time linear in the text,
// whatever is looked for, and knows nothing of notes, folders or tools.
package match

// Found are the matching lines of one text, in order. Lines and Text are valid
// until the Workspace that they were found with is used again.
type Found struct {
	Text  []byte // what the offsets of Lines are about
	Lines []Hit
	More  bool // there are more matching lines
	Total int  // matches that count
}

// Workspace is what one goroutine needs to search a text, kept for the next.
type Workspace struct {
	finding finding
	liner   liner
	lines   []Hit
	text    []byte
	runes   runes
}
