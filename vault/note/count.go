package note

import "bytes"

// CountLines is the number of lines of a text without scanning its structure: 0 for an empty text, and a final line end
// opens no line of its own.
func CountLines(text []byte) int {
	if len(text) == 0 {
		return 0
	}
	n := bytes.Count(text, []byte{'\n'})
	if bytes.IndexByte(text, '\r') >= 0 {
		for i, c := range text {
			if c == '\r' && (i+1 == len(text) || text[i+1] != '\n') {
				n++
			}
		}
	}
	if last := text[len(text)-1]; last != '\n' && last != '\r' {
		n++
	}
	return n
}

// LineEnd is the length of the first line of a text with its line end.
func LineEnd(text []byte) int {
	line := text
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		line = text[:i+1]
	}
	cr := bytes.IndexByte(line, '\r')
	if cr < 0 || cr == len(line)-2 && line[cr+1] == '\n' {
		return len(line)
	}
	return cr + 1
}
