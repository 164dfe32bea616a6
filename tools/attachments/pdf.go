package attachments

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"vault-mcp/governor"
	"vault-mcp/internal/compact"
	"vault-mcp/internal/fault"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/internal/poppler"
	"vault-mcp/internal/run"
	"vault-mcp/tools"
	"vault-mcp/vault"
)

// pdf is the media type of PDF.
const pdf = "application/pdf"

// pdfs are read by the programs of Poppler.
type pdfs struct {
	programs *run.Programs
	slots    chan struct{} // who works on a PDF has put something in
}

// atOnce is how many PDFs are worked on at a time: each is in memory whole, and
// in that of a program.
const atOnce = 2

func newPDFs(programs *run.Programs) *pdfs {
	return &pdfs{programs, make(chan struct{}, atOnce)}
}

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
	header = fmt.Sprintf("%s · %s · %s · %s", o.Path, o.ContentHash, o.MIME, poppler.Pages(o.from, o.to, o.pages))
	if o.noCopy {
		header += " · its author asks that its text not be copied"
	}
	if o.next != nil {
		header += " · more with cursor " + *o.next
	}
	return header, o.text
}

// text reads as many pages as an answer takes.
func (x *pdfs) text(ctx context.Context, c *tools.Call, in getIn, p vault.Path, at position) (pdfText, error) {
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
	room := c.Budget - frame - headerRoom - compact.StringLen(p.String())
	if room < poppler.MinRoom {
		return pdfText{}, governor.Overflow(c.Budget-room+poppler.MinRoom, c.Budget, "")
	}
	room = min(room, max(c.Soft.Chars(), poppler.MinRoom)) // characters take bytes, so it is no more than these
	t, err := poppler.Read(ctx, x.programs, content.Bytes, poppler.Place{Page: at.Page, Offset: at.Offset, Pages: at.Pages}, room)
	if err != nil {
		return pdfText{}, refusal(err)
	}
	o := pdfText{
		facts: facts{p.String(), pdf, content.Size, hash.String()},
		from:  at.Page, to: t.Last, pages: at.Pages, noCopy: at.NoCopy, text: t.Text,
	}
	if !t.Done {
		at.Page, at.Offset = t.Next.Page, t.Next.Offset
		o.next, err = c.NextCursor(at)
	}
	return o, err
}

// headerRoom is kept free for the header line, in bytes.
const headerRoom = 2 << 10

// start is where the text begins, with what holds for the whole file.
func (x *pdfs) start(ctx context.Context, content []byte, hash fingerprint.Content, page int) (position, error) {
	pages, noCopy, err := poppler.Info(ctx, x.programs, content)
	if err != nil {
		return position{}, refusal(err)
	}
	at := position{Hash: hash.String(), Page: max(page, 1), Pages: pages, NoCopy: noCopy}
	if at.Pages == 0 {
		return at, unreadable("broken", "The PDF has no pages that could be read.")
	}
	if at.Page > at.Pages {
		return at, fault.New(fault.InvalidInput, "The PDF has %d pages; page %d is not there.", at.Pages, at.Page).
			With("argument", "from_page").With("pages", at.Pages)
	}
	return at, nil
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
		return fault.New(fault.OperationTimeout, "The text of the PDF was not done after %d seconds.", int(poppler.TextTime.Seconds())).Because(err)
	}
	return err
}

// unreadable is the refusal of a PDF; its bytes can be had all the same.
func unreadable(reason, format string, args ...any) *fault.Error {
	return fault.New(fault.InvalidInput, format, args...).With("argument", "path").With("reason", reason)
}
