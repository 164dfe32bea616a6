package hitl

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"vault-mcp/internal/fingerprint"
	"vault-mcp/vault"
	"vault-mcp/vault/change"
	"vault-mcp/vault/note"
)

// What a change may do without a person. No setting, no argument and no client
// moves these.
const (
	// manyOthers is how many other files a change may touch to keep links right.
	manyOthers = 10
	// muchText and muchLines are how much of a note may go away: so many bytes if
	// they are more than half, so many lines in any case.
	muchText  = 1 << 10
	muchLines = 100
)

// Earlier is the content of a file some minutes ago, if that is known, so that
// many small steps count as the large one that they are.
type Earlier func(path string) (content []byte, ok bool)

// FloorOf says why a plan needs a person, or "" if it does not. It looks at
// what the plan does, whichever tool made it; now is when the call came.
func FloorOf(p change.Plan, now time.Time, earlier Earlier) string {
	if len(p.Ask) > 0 {
		return strings.Join(p.Ask, ", and ")
	}
	others := 0
	for i := range p.Edits {
		e := &p.Edits[i]
		if e.Upkeep {
			others++
		}
		if reason := floorOf(e, now, earlier); reason != "" {
			return reason
		}
	}
	if others > manyOthers {
		return fmt.Sprintf("it rewrites links in %d other files", others)
	}
	return ""
}

func floorOf(e *change.Edit, now time.Time, earlier Earlier) string {
	switch e.Kind {
	case change.Remove:
		return fmt.Sprintf("it removes %q", e.Path)
	case change.Move:
		if path.Dir(e.Path) != path.Dir(e.To) {
			return fmt.Sprintf("it moves %q to another folder", e.Path)
		}
	case change.Create:
		if len(code(e.Path, e.Content)) > 0 {
			return fmt.Sprintf("it adds code to %q that plugins run", e.Path)
		}
	case change.Put:
		if e.Whole && len(bytes.TrimSpace(e.Old)) > 0 {
			return fmt.Sprintf("it replaces the whole of %q", e.Path)
		}
		if adds(code(e.Path, e.Old), code(e.Path, e.Content)) {
			return fmt.Sprintf("it adds code to %q that plugins run", e.Path)
		}
		if e.Upkeep {
			break
		}
		if reason := harms(e.Path, e.Old, e.Content, now); reason != "" {
			return reason
		}
		if earlier == nil {
			break
		}
		if was, ok := earlier(e.Path); ok && fingerprint.OfContent(was) != e.Before {
			return harms(e.Path, was, e.Content, now)
		}
	}
	return ""
}

// harms says what is wrong with one text of a note in the place of another.
func harms(path string, was, is []byte, now time.Time) string {
	if reason := loses(path, was, is); reason != "" {
		return reason
	}
	if reopens(path, was, is, now) {
		return fmt.Sprintf("it reopens a task done more than %d days ago", settled)
	}
	return ""
}

// loses says what of a note's body goes away, if that is much.
func loses(path string, was, is []byte) string {
	before, after := body(was), body(is)
	if len(bytes.TrimSpace(before)) > 0 && len(bytes.TrimSpace(after)) == 0 {
		return fmt.Sprintf("it leaves %q empty", path)
	}
	if gone := len(before) - len(after); gone > muchText && gone > len(before)/2 {
		return fmt.Sprintf("it removes more than half of %q", path)
	}
	if gone := missing(before, after); gone > muchLines {
		return fmt.Sprintf("it removes %d lines of %q", gone, path)
	}
	return ""
}

func body(text []byte) []byte { return text[note.BodyStart(text):] }

// missing is how many lines of one text are not in another, wherever.
func missing(was, is []byte) (n int) {
	was, is = differing(was, is)
	if len(was) == 0 {
		return 0 // nearly always: counting the lines of a long note takes its time
	}
	there := map[string]int{}
	for line := range bytes.Lines(is) {
		there[string(bytes.TrimSpace(line))]++
	}
	for line := range bytes.Lines(was) {
		l := string(bytes.TrimSpace(line))
		if l == "" {
			continue
		}
		if there[l]--; there[l] < 0 {
			n++
		}
	}
	return n
}

// differing are two texts without the whole lines that both start with, and the
// lines that both end with. Lines end at \n.
func differing(a, b []byte) (_, _ []byte) {
	n := 0
	for most := min(len(a), len(b)); n < most; { // many bytes at a time: notes are long
		step := min(4<<10, most-n)
		if !bytes.Equal(a[n:n+step], b[n:n+step]) {
			for a[n] == b[n] {
				n++
			}
			break
		}
		n += step
	}
	if n < len(a) || n < len(b) {
		n = bytes.LastIndexByte(a[:n], '\n') + 1
	}
	a, b = a[n:], b[n:]
	for n = 0; n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n]; n++ {
	}
	if n < len(a) && a[len(a)-1-n] != '\n' || n < len(b) && b[len(b)-1-n] != '\n' {
		// They differ within a line: what follows it is common.
		end := bytes.IndexByte(a[len(a)-n:], '\n')
		if end < 0 {
			return a, b
		}
		n -= end + 1
	}
	return a[:len(a)-n], b[:len(b)-n]
}

// runnable finds, whole, what the plugins Dataview (dataviewjs, inline $=) and
// Templater run when a note is opened or made.
var runnable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(?ms)^[ \t>]*(?:```+|~~~+)[ \t]*dataviewjs\\b.*?(?:^[ \t>]*(?:```|~~~)|\\z)|`\\$=[^`]*|<%.*?(?:%>|\\z)")
})

// marks are what each match of runnable has one of.
var marks = [][]byte{[]byte("dataviewjs"), []byte("`$="), []byte("<%")}

// code is what plugins run of a text, each piece as often as it stands there.
// Bytes of a picture may look like some.
func code(path string, text []byte) map[string]int {
	switch vault.Kind(path) {
	case vault.Image, vault.Audio, vault.Video, vault.PDF:
		return nil
	}
	if !slices.ContainsFunc(marks, func(m []byte) bool { return bytes.Contains(text, m) }) {
		return nil // nearly always: the expression takes its time over a thousand notes
	}
	pieces := map[string]int{}
	for _, p := range runnable().FindAll(text, -1) {
		pieces[string(p)]++
	}
	return pieces
}

// adds reports whether there is a piece that was not there before, or not so
// often.
func adds(was, is map[string]int) bool {
	for piece, n := range is {
		if n > was[piece] {
			return true
		}
	}
	return false
}
