package attachments

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"vault-mcp/governor"
	"vault-mcp/internal/compact"
	"vault-mcp/internal/fault"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/internal/run"
	"vault-mcp/tools"
	"vault-mcp/vault"
)

// pdf is the media type of PDF.
const pdf = "application/pdf"

// poppler takes the text out of PDFs, by the programs of that name.
type poppler struct {
	programs *run.Programs
	slots    chan struct{} // who works on a PDF has put something in
}

// atOnce is how many PDFs are worked on at a time: each is in memory whole, and
// in that of a program.
const atOnce = 2

func newPoppler(programs *run.Programs) *poppler {
	return &poppler{programs, make(chan struct{}, atOnce)}
}

const (
	infoTime = 10 * time.Second
	// textTime ends before a call does, so that it answers with the pages that
	// were done.
	textTime = 35 * time.Second
	// programMemory is address space: of what a program reads, only a little
	// is ever touched.
	programMemory = 2 << 30
	// maxInfo is more than pdfinfo has to say about a sane file.
	maxInfo = 1 << 20
)

// pdfText is the text of some pages.
type pdfText struct {
	facts
	from, to, pages int
	noCopy          bool
	text            string
	next            *string
}

// Prose is the text under one line that says whose it is.
func (o pdfText) Prose() (header, text string) {
	header = fmt.Sprintf("%s · %s · %s · %s", o.Path, o.ContentHash, o.MIME, pagesOf(o.from, o.to, o.pages))
	if o.noCopy {
		header += " · its author asks that its text not be copied"
	}
	if o.next != nil {
		header += " · more with cursor " + *o.next
	}
	return header, o.text
}

// pagesOf names some pages of all.
func pagesOf(from, to, all int) string {
	if from == to {
		return fmt.Sprintf("page %d of %d", from, all)
	}
	return fmt.Sprintf("pages %d-%d of %d", from, to, all)
}

// text reads as many pages as an answer takes.
func (x *poppler) text(ctx context.Context, c *tools.Call, in getIn, p vault.Path, at position) (pdfText, error) {
	select {
	case x.slots <- struct{}{}:
		defer func() { <-x.slots }()
	case <-ctx.Done():
		return pdfText{}, ctx.Err()
	}
	content, err := c.View.Read(p, in.MaxBytes)
	if err != nil {
		return pdfText{}, err
	}
	hash := fingerprint.OfContent(content.Bytes)
	if err := at.still(hash); err != nil {
		return pdfText{}, err
	}
	if !bytes.Contains(content.Bytes[:min(len(content.Bytes), 1024)], []byte("%PDF-")) {
		return pdfText{}, unreadable("broken", "%q is no PDF, in spite of its name.", p.String())
	}
	if at.Page == 0 {
		if at, err = x.start(ctx, content.Bytes, hash, in.FromPage); err != nil {
			return pdfText{}, err
		}
	}
	b := &booklet{at: at, left: c.Budget - frame - headerRoom - compact.StringLen(p.String())}
	if b.left < headerRoom {
		return pdfText{}, governor.Overflow(c.Budget-b.left+headerRoom, c.Budget, "")
	}
	done, err := x.fill(ctx, b, content.Bytes)
	if err != nil {
		return pdfText{}, err
	}
	b.flush()
	o := pdfText{
		facts: facts{p.String(), pdf, content.Size, hash.String()},
		from:  at.Page, to: b.last, pages: at.Pages, noCopy: at.NoCopy, text: strings.TrimRight(b.String(), "\n") + "\n",
	}
	if !done {
		o.next, err = c.NextCursor(b.at)
	}
	return o, err
}

// headerRoom is kept free for the header line, in bytes.
const headerRoom = 2 << 10

// start is where the text begins, with what holds for the whole file.
func (x *poppler) start(ctx context.Context, content []byte, hash fingerprint.Content, page int) (position, error) {
	var out bytes.Buffer
	err := x.programs.Run(ctx, run.Command{
		Name: "pdfinfo", Args: []string{"-enc", "UTF-8", "-"}, Stdin: content,
		MaxOutput: maxInfo, Timeout: infoTime, MaxMemory: programMemory,
	}, &out)
	if err != nil {
		return position{}, refusal(err)
	}
	at := position{Hash: hash.String(), Page: max(page, 1)}
	if at.Pages, at.NoCopy = parseInfo(out.String()); at.Pages == 0 {
		return at, unreadable("broken", "The PDF has no pages that could be read.")
	}
	if at.Page > at.Pages {
		return at, fault.New(fault.InvalidInput, "The PDF has %d pages; page %d is not there.", at.Pages, at.Page).
			With("argument", "from_page").With("pages", at.Pages)
	}
	return at, nil
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

// batch is how many pages one run of the program is asked for at most.
const batch = 32

// fill puts pages into the booklet until it is full, and reports whether that
// were all. Pages that were done count, also where the next one fails: then the
// call for that one says so.
func (x *poppler) fill(ctx context.Context, b *booklet, content []byte) (done bool, err error) {
	within, end := context.WithTimeoutCause(ctx, textTime, run.ErrTimeout)
	defer end()
	for n := batch; b.at.Page <= b.at.Pages; {
		last := min(b.at.Page+n-1, b.at.Pages)
		if b.at.Offset > 0 {
			last = b.at.Page
		}
		raw, whole, err := x.pages(within, content, b.at, last, b.left)
		if err != nil {
			if b.empty() || ctx.Err() != nil {
				return false, refusal(err)
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

// pages is the text of the pages from a position to a last one, and whether it
// is whole: at most left bytes are read.
func (x *poppler) pages(ctx context.Context, content []byte, at position, last, left int) (raw []byte, whole bool, err error) {
	s := &stretch{skip: at.Offset, left: left}
	err = x.programs.Run(ctx, run.Command{
		Name: "pdftotext", Stdin: content,
		Args:      []string{"-enc", "UTF-8", "-eol", "unix", "-f", strconv.Itoa(at.Page), "-l", strconv.Itoa(last), "-", "-"},
		MaxOutput: at.Offset + int64(left) + 1<<20, Timeout: textTime, MaxMemory: programMemory,
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

// refusal is what a caller is told about a program's failure. What the program
// said may hold text of the file, and goes into the log alone.
func refusal(err error) error {
	if _, ok := errors.AsType[*run.MissingError](err); ok {
		return unreadable("program_missing", "The text of a PDF needs the programs pdftotext and pdfinfo, which are not on this machine: "+
			"install poppler-utils (on macOS and Windows: poppler), or use format json for the file's bytes.").Because(err)
	}
	e, ok := errors.AsType[*run.ExitError](err)
	switch {
	case ok && strings.Contains(e.Stderr, "Incorrect password"):
		return unreadable("encrypted", "The PDF is protected by a password, so its text cannot be read.").Because(err)
	case ok && e.Code == 3:
		return unreadable("copy_forbidden", "The author of the PDF forbids that its text is taken out.").Because(err)
	case ok:
		return unreadable("broken", "The text of the PDF could not be read: the file is broken, or the page needs too much memory.").Because(err)
	case errors.Is(err, run.ErrTimeout):
		return fault.New(fault.OperationTimeout, "The text of the PDF was not done after %d seconds.", int(textTime.Seconds())).Because(err)
	}
	return err
}

// unreadable is the refusal of a PDF; its bytes can be had all the same.
func unreadable(reason, format string, args ...any) *fault.Error {
	return fault.New(fault.InvalidInput, format, args...).With("argument", "path").With("reason", reason)
}
