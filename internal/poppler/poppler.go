// Package poppler takes the text out of PDFs, by the programs of that name, in
// pieces that fit into answers. It knows nothing of vaults or tools.
package poppler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"vault-mcp/internal/run"
)

const (
	infoTime = 10 * time.Second
	// TextTime bounds one Read. It ends before a call does, so that it answers with the pages that
	// were done.
	TextTime = 35 * time.Second
	// programMemory is address space: of what a program reads, only a little
	// is ever touched.
	programMemory = 2 << 30
	// maxInfo is more than pdfinfo has to say about a sane file.
	maxInfo = 1 << 20
)

// Place is where the text of a PDF goes on.
type Place struct {
	Page   int   // from 1
	Offset int64 // into the text of Page, in bytes
	Pages  int   // that the PDF has
}

// Text is the text of some pages, each under a line with its number.
type Text struct {
	Text string
	Last int   // the last page that something was said about
	Next Place // what comes after
	Done bool  // nothing does
}

// Info is how many pages a PDF has, 0 if none can be read, and whether its author
// asks that its text not be copied. Its errors are those of package run.
func Info(ctx context.Context, programs *run.Programs, content []byte) (pages int, noCopy bool, err error) {
	var out bytes.Buffer
	err = programs.Run(ctx, run.Command{
		Name: "pdfinfo", Args: []string{"-enc", "UTF-8", "-"}, Stdin: content,
		MaxOutput: maxInfo, Timeout: infoTime, MaxMemory: programMemory,
	}, &out)
	if err != nil {
		return 0, false, err
	}
	pages, noCopy = parseInfo(out.String())
	return pages, noCopy, nil
}

// parseInfo reads what pdfinfo says about a file: how many pages it has, and
// whether its author forbids copying. The titles that a file gives itself come
// first and may have several lines, so the last line of a name counts.
func parseInfo(text string) (pages int, noCopy bool) {
	for line := range strings.Lines(text) {
		switch key, value, _ := strings.Cut(strings.TrimSpace(line), ":"); key {
		case "Pages":
			pages, _ = strconv.Atoi(strings.TrimSpace(value)) // no number: no pages
		case "Encrypted":
			noCopy = strings.Contains(value, "copy:no")
		}
	}
	return max(pages, 0), noCopy
}

// MinRoom is the least room that Read takes, in bytes.
const MinRoom = 2 << 10

// Read takes as many pages from a place on as have room in an answer, in bytes as
// a JSON string, or a part of one that has too much text for that. Its errors are
// those of package run; of pages that come after others it gives the others.
func Read(ctx context.Context, programs *run.Programs, content []byte, from Place, room int) (Text, error) {
	b := &booklet{at: from, left: room}
	done, err := b.fill(ctx, programs, content)
	if err != nil {
		return Text{}, err
	}
	b.flush()
	return Text{strings.TrimRight(b.String(), "\n") + "\n", b.last, b.at, done}, nil
}

// Pages names some pages of all.
func Pages(from, to, all int) string {
	if from == to {
		return fmt.Sprintf("page %d of %d", from, all)
	}
	return fmt.Sprintf("pages %d-%d of %d", from, to, all)
}

// batch is how many pages one run of the program is asked for at most.
const batch = 32

// fill puts pages into the booklet until it is full, and reports whether that
// were all. Pages that were done count, also where the next one fails: then the
// call for that one says so.
func (b *booklet) fill(ctx context.Context, programs *run.Programs, content []byte) (done bool, err error) {
	within, end := context.WithTimeoutCause(ctx, TextTime, run.ErrTimeout)
	defer end()
	for n := batch; b.at.Page <= b.at.Pages; {
		last := min(b.at.Page+n-1, b.at.Pages)
		if b.at.Offset > 0 {
			last = b.at.Page
		}
		raw, whole, err := pages(within, programs, content, b.at, last, b.left)
		if err != nil {
			if b.empty() || ctx.Err() != nil {
				return false, err
			}
			return false, nil
		}
		// Each page ends with a form feed. Where there are more, a file has
		// them in its text to shift the numbers of its pages.
		if last > b.at.Page && (!whole || bytes.Count(raw, formFeed) != last-b.at.Page+1) {
			n = (last - b.at.Page + 1) / 2
			continue
		}
		if !b.take(raw, whole, last) {
			return false, nil
		}
	}
	return true, nil
}

var formFeed = []byte("\f")

// pages is the text of the pages from a place to a last one, and whether it
// is whole: at most left bytes are read.
func pages(ctx context.Context, programs *run.Programs, content []byte, at Place, last, left int) (raw []byte, whole bool, err error) {
	s := &stretch{skip: at.Offset, left: left}
	err = programs.Run(ctx, run.Command{
		Name: "pdftotext", Stdin: content,
		Args:      []string{"-enc", "UTF-8", "-eol", "unix", "-f", strconv.Itoa(at.Page), "-l", strconv.Itoa(last), "-", "-"},
		MaxOutput: at.Offset + int64(left) + 1<<20, Timeout: TextTime, MaxMemory: programMemory,
	}, s)
	if errors.Is(err, errFull) {
		return s.kept, false, nil
	}
	return s.kept, true, err
}

// errFull ends a program that has written enough.
var errFull = errors.New("enough")

// stretch keeps so many bytes behind those that it skips.
type stretch struct {
	skip int64
	left int
	kept []byte
}

func (s *stretch) Write(b []byte) (int, error) {
	n := min(int64(len(b)), s.skip)
	s.skip -= n
	rest := b[n:]
	if len(rest) > s.left-len(s.kept) {
		s.kept = append(s.kept, rest[:s.left-len(s.kept)]...)
		return 0, errFull
	}
	s.kept = append(s.kept, rest...)
	return len(b), nil
}
