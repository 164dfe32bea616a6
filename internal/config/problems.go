package config

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// Bounds of what a person is shown of a broken config.
const (
	maxProblems = 20
	maxQuoted   = 200
	maxLine     = 2000
)

// problems collects what is wrong with a config, in the order in which it
// should be read: what the decoder found, then what the values mean together.
type problems struct {
	file  string          // empty for a bare folder
	lines map[string]int  // of the keys that were read
	wrong map[string]bool // keys with a problem
	list  []string        // at most maxProblems
	more  int             // that are not in the list
}

// line adds a problem with the key at a line of the file.
func (p *problems) line(n int, key, format string, args ...any) {
	if p.wrong == nil {
		p.wrong = map[string]bool{}
	}
	p.wrong[key] = true
	if len(p.list) == maxProblems {
		p.more++
		return
	}
	text := fmt.Sprintf(format, args...)
	if p.file != "" {
		if key != "" {
			text = key + ": " + text
		}
		if n > 0 {
			text = fmt.Sprintf("%s:%d: %s", p.file, n, text)
		} else {
			text = p.file + ": " + text
		}
	}
	p.list = append(p.list, oneLine(text))
}

// at adds a problem with a key, at its line or that of the group it is in.
func (p *problems) at(key, format string, args ...any) {
	group := key
	for p.lines[group] == 0 && group != "" {
		group = group[:max(strings.LastIndexAny(group, ".["), 0)]
	}
	p.line(p.lines[group], key, format, args...)
}

// environment adds a problem that is not in the file.
func (p *problems) environment(format string, args ...any) {
	outside := problems{}
	outside.line(0, "", format, args...)
	p.list = append(p.list, outside.list...)
}

func (p *problems) err() error {
	if len(p.list) == 0 {
		return nil
	}
	list := p.list
	if p.more > 0 {
		list = append(list, fmt.Sprintf("and %d more problems", p.more))
	}
	return errors.New(strings.Join(list, "\n"))
}

// oneLine keeps a problem on its line and free of control characters.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
	return cut(s, maxLine)
}

// reason is why an operation on a file failed, without the path.
func reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// quote shows a value from the file or the command line.
func quote(s string) string { return strconv.Quote(cut(s, maxQuoted)) }

// cut shortens s to about limit bytes, not inside a character.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}

// nearest is the accepted name that a person most likely meant, or "".
func nearest(name string, accepted []string) string {
	best, least := "", len(name)/2+1
	for _, a := range accepted {
		if d := distance(name, a); d < least {
			best, least = a, d
		}
	}
	return best
}

// distance counts the edits (one byte put in, taken out, or changed) that turn
// a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
