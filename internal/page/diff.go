package page

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// line is one line of a diff.
type line struct {
	// Kind is add, del, hunk, file or "", and Mark stands before the text of the first
	// two.
	Kind, Mark string
	Text       []piece
}

// piece is a part of a line. An odd one names a character that would not be seen,
// or would change how the others are seen.
type piece struct {
	Text string
	Odd  bool
}

// diff is what a person is shown of a change.
type diff struct {
	// Lines are shown at once, and Rest when they ask for it.
	Lines, Rest    []line
	Added, Removed int
}

const (
	// wholeLines is up to how many lines a diff is shown at once, and firstLines how
	// many of a longer one are.
	wholeLines = 60
	firstLines = 20
)

// diffOf reads a unified diff of one file or several. What is in a hunk is counted,
// so that no line of a note can pass for something else.
func diffOf(text string) diff {
	var d diff
	if text == "" {
		return d
	}
	var lines []line
	was, is := 0, 0 // how many lines of both versions the hunk has still
	for l := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		in := was > 0 || is > 0
		switch {
		case in && strings.HasPrefix(l, "+"):
			lines = append(lines, line{"add", "+", pieces(l[1:])})
			is--
			d.Added++
		case in && strings.HasPrefix(l, "-"):
			lines = append(lines, line{"del", "−", pieces(l[1:])})
			was--
			d.Removed++
		case in && (strings.HasPrefix(l, " ") || l == ""):
			lines = append(lines, line{"", " ", pieces(strings.TrimPrefix(l, " "))})
			was, is = was-1, is-1
		case strings.HasPrefix(l, "@@ "):
			was, is = hunk(l)
			lines = append(lines, line{"hunk", "", pieces(l)})
		case strings.HasPrefix(l, "--- "), strings.HasPrefix(l, "+++ "), strings.HasPrefix(l, "diff "):
			lines = append(lines, line{"file", "", pieces(l)})
		default:
			lines = append(lines, line{"", "", pieces(l)})
		}
	}
	if len(lines) > wholeLines {
		d.Lines, d.Rest = lines[:firstLines], lines[firstLines:]
	} else {
		d.Lines = lines
	}
	return d
}

// hunk is how many lines of both versions follow the head of a hunk, as in
// "@@ -1,3 +1 @@".
func hunk(head string) (was, is int) {
	fields := strings.Fields(head)
	if len(fields) < 3 {
		return 0, 0
	}
	return length(fields[1], "-"), length(fields[2], "+")
}

func length(span, sign string) int {
	span, ok := strings.CutPrefix(span, sign)
	_, n, given := strings.Cut(span, ",")
	if !ok || !given {
		return 1
	}
	count, err := strconv.Atoi(n)
	if err != nil {
		return 0
	}
	return count
}

// pieces are a line with all that is in it to be seen.
func pieces(text string) (list []piece) {
	text = strings.ToValidUTF8(text, "\uFFFD")
	from := 0
	for at, r := range text {
		if !odd(r) {
			continue
		}
		if at > from {
			list = append(list, piece{Text: text[from:at]})
		}
		list = append(list, piece{fmt.Sprintf("U+%04X", r), true})
		from = at + utf8.RuneLen(r)
	}
	if from < len(text) {
		list = append(list, piece{Text: text[from:]})
	}
	return list
}

// odd reports whether a character cannot be seen as it is: controls, such as those
// of terminals and of the direction of text, and fillers that look like nothing.
func odd(r rune) bool {
	switch r {
	case '\t':
		return false
	case '\u2028', '\u2029', '\u115F', '\u1160', '\u3164', '\uFFA0':
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co)
}
