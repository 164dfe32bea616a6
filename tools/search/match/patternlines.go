package match

import "bytes"

// lines are the first lines in which a match begins, at most limit, and
// whether there are more. The next match is looked for behind the line of the
// one before, or behind its end if it goes over several.
func (s *PatternFinding) lines(limit int) (lines []Hit, more bool) {
	lines = s.w.lines[:0]
	l := &s.w.liner
	l.begin(s.text)
	for from := 0; from <= len(s.text); {
		at, end := s.next(from)
		if at < 0 || at == len(s.text) && at > 0 && s.text[at-1] == '\n' {
			break // an empty match behind the last line is in no line
		}
		if more = len(lines) == limit; more {
			break
		}
		l.seek(at)
		h := Hit{l.line, l.at, at, end}
		lines = append(lines, h)
		l.seek(max(at, end-1))
		if from = l.next(); l.line > h.Line {
			from = end
		}
		if from == len(s.text) {
			break
		}
	}
	s.w.lines = lines
	return lines, more
}

// unixLines makes every line end LF, so that $ stands before it. Lines and
// columns stay the same.
func (w *Workspace) unixLines(b []byte) []byte {
	const most = 8 << 20 // bytes that are kept for the next note
	i := bytes.IndexByte(b, '\r')
	if i < 0 {
		return b
	}
	text := append(w.text[:0], b[:i]...)
	for ; i < len(b); i++ {
		c := b[i]
		if c == '\r' {
			if i+1 < len(b) && b[i+1] == '\n' {
				continue
			}
			c = '\n'
		}
		text = append(text, c)
	}
	if cap(text) <= most {
		w.text = text
	}
	return text
}
