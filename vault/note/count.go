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
	// By and by, so that no kind of line end is looked for in all of a text that has only another one.
	for most := 512; ; most *= 8 {
		line := text[:min(len(text), most)]
		lf := bytes.IndexByte(line, '\n')
		if lf >= 0 {
			line = line[:lf+1]
		}
		switch cr := bytes.IndexByte(line, '\r'); {
		case cr >= 0 && cr+1 < len(text) && text[cr+1] == '\n':
			return cr + 2
		case cr >= 0:
			return cr + 1
		case lf >= 0 || len(line) == len(text):
			return len(line)
		}
	}
}
