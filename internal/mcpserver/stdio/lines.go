package stdio

import (
	"bufio"
	"bytes"
	"io"
)

// headSize is how much of a line that is too long is kept, to look for its id.
const headSize = 4 << 10

// lines reads newline-delimited messages of at most max bytes.
type lines struct {
	r   *bufio.Reader
	max int
}

func newLines(in io.Reader, max int) *lines {
	return &lines{r: bufio.NewReaderSize(in, 64<<10), max: max}
}

// next returns the next line without its newline, in memory of its own. Of a
// line longer than max it returns the head and long; the rest is skipped as it
// is read. A last line without a newline comes together with io.EOF.
func (l *lines) next() (line []byte, long bool, err error) {
	for {
		part, err := l.r.ReadSlice('\n')
		part = bytes.TrimSuffix(part, []byte{'\n'})
		switch {
		case long: // skipping
		case len(line)+len(part) > l.max:
			long = true
			line = append(line, part[:min(len(part), headSize)]...)
			line = bytes.Clone(line[:min(len(line), headSize)])
		default:
			line = append(line, part...)
		}
		if err != bufio.ErrBufferFull {
			return line, long, err
		}
	}
}
