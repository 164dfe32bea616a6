package doctor

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"unicode/utf8"
)

// maxText is how many bytes of a note are looked at.
const maxText = 1 << 20

// texts is what is unusual in the notes that were read.
type texts struct {
	read                  int
	encoding, bom, mixed  sample
	lf, crlf, neither, cr int
}

// readTexts reads the chosen notes.
func readTexts(ctx context.Context, root string, paths []string) (t texts, err error) {
	buffer := make([]byte, maxText)
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return t, err
		}
		f, err := os.Open(filepath.Join(root, filepath.FromSlash(path)))
		if err != nil {
			continue // the index and the walk tell what cannot be read
		}
		n, err := io.ReadFull(f, buffer)
		_ = f.Close() // it was only read
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			continue
		}
		t.read++
		t.look(path, buffer[:n], n == maxText)
	}
	return t, nil
}

// look looks at the text of a note; cut says that it may end within a character.
func (t *texts) look(path string, text []byte, cut bool) {
	if cut {
		for range utf8.UTFMax {
			if r, size := utf8.DecodeLastRune(text); r != utf8.RuneError || size > 1 {
				break
			}
			text = text[:len(text)-1]
		}
	}
	utf16 := bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff"))
	if utf16 || !utf8.Valid(text) {
		t.encoding.add(path)
		return
	}
	if bytes.HasPrefix(text, []byte("\ufeff")) {
		t.bom.add(path)
	}
	crlf := bytes.Count(text, []byte("\r\n"))
	lf := bytes.Count(text, []byte("\n")) - crlf
	cr := bytes.Count(text, []byte("\r")) - crlf
	switch {
	case min(crlf, lf) > 0 || cr > 0 && crlf+lf > 0:
		t.mixed.add(path)
	case crlf > 0:
		t.crlf++
	case lf > 0:
		t.lf++
	case cr > 0:
		t.cr++
	default:
		t.neither++
	}
}
