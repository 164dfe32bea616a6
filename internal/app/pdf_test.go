package app_test

import (
	"crypto/md5"
	"crypto/rc4"
	"encoding/binary"
	"fmt"
	"strings"
)

// pdfFile is a PDF to be made: the content stream of each page, what comes into
// its information dictionary, and whether it is encrypted.
type pdfFile struct {
	pages   []string
	info    string
	encrypt func(object int, stream []byte) []byte
	keys    string // the encryption dictionary
}

// bytes are the file's.
func (f pdfFile) bytes() string {
	const first = 5 // the objects before the pages
	var kids strings.Builder
	for i := range f.pages {
		fmt.Fprintf(&kids, "%d 0 R ", first+2*i)
	}
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", kids.String(), len(f.pages)),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
		"<< " + f.info + " >>",
	}
	for i, page := range f.pages {
		stream := []byte(page)
		if f.encrypt != nil {
			stream = f.encrypt(first+2*i+1, stream)
		}
		objects = append(objects,
			fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 1000 9000] /Contents %d 0 R /Resources << /Font << /F 3 0 R >> >> >>", first+2*i+1),
			fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(stream), stream))
	}
	var b, table strings.Builder
	b.WriteString("%PDF-1.4\n")
	for i, o := range objects {
		fmt.Fprintf(&table, "%010d 00000 n \n", b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R /Info 4 0 R %s >>\nstartxref\n%d\n%%%%EOF\n",
		len(objects)+1, table.String(), len(objects)+1, f.keys, start)
	return b.String()
}

// lines is the content stream of a page with some lines.
func lines(text ...string) string {
	var b strings.Builder
	b.WriteString("BT /F 10 Tf 12 TL 20 8900 Td\n")
	for _, l := range text {
		fmt.Fprintf(&b, "(%s) Tj T*\n", strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`).Replace(l))
	}
	b.WriteString("ET")
	return b.String()
}

// pdfOf has one line on each page.
func pdfOf(pages ...string) string {
	var f pdfFile
	for _, p := range pages {
		f.pages = append(f.pages, lines(p))
	}
	return f.bytes()
}

// protect encrypts a file by the standard handler of revision 2, which has 40
// bits: without a password, but for the given permissions alone, or with one
// that nobody knows.
func (f pdfFile) protect(permissions int32, password bool) pdfFile {
	const id = "0123456789abcdef"
	padding := []byte("\x28\xBF\x4E\x5E\x4E\x75\x8A\x41\x64\x00\x4E\x56\xFF\xFA\x01\x08\x2E\x2E\x00\xB6\xD0\x68\x3E\x80\x2F\x0C\xA9\xFE\x64\x53\x69\x7A")
	owner := make([]byte, 32)
	h := append(append([]byte{}, padding...), owner...)
	h = append(binary.LittleEndian.AppendUint32(h, uint32(permissions)), id...)
	sum := md5.Sum(h)
	key := sum[:5]
	user := crypt(key, padding)
	if password {
		user = make([]byte, 32)
	}
	f.encrypt = func(object int, stream []byte) []byte {
		sum := md5.Sum(append(append([]byte{}, key...), byte(object), byte(object>>8), byte(object>>16), 0, 0))
		return crypt(sum[:10], stream)
	}
	f.keys = fmt.Sprintf("/ID [<%x> <%x>] /Encrypt << /Filter /Standard /V 1 /R 2 /P %d /O <%x> /U <%x> >>", id, id, permissions, owner, user)
	return f
}

func crypt(key, text []byte) []byte {
	c, err := rc4.NewCipher(key)
	if err != nil {
		panic(err) // keys made here have a length that it takes
	}
	out := make([]byte, len(text))
	c.XORKeyStream(out, text)
	return out
}
