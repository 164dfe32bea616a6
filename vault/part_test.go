package vault

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vault-mcp/internal/fault"
	"vault-mcp/internal/fingerprint"
)

// Parts, whatever their length, make the file again, and each has the hash of
// the whole.
func TestPartsMakeTheWhole(t *testing.T) {
	text := strings.Repeat("0123456789abcdef-", window/8)
	files := map[string]any{"a/big.bin": text, "empty.bin": "", "edge.bin": text[:window]}
	bothWays(t, func(t *testing.T, portable bool) {
		v := open(t, plant(t, files), portable)
		for name, content := range files {
			whole, p := content.(string), find(t, v, name)
			for _, n := range []int64{7919, window - 1, window, window + 1, int64(len(whole)) + 1} {
				var got []byte
				for from := int64(0); from <= int64(len(whole)); from += n {
					part, err := v.ReadPart(p, from, n, int64(len(text)))
					if err != nil {
						t.Fatal(err)
					}
					if part.Size != int64(len(whole)) || part.Hash != fingerprint.OfContent([]byte(whole)) || !part.ModTime.Equal(p.ModTime()) {
						t.Fatalf("%s from %d: size %d, hash %s, time %v", name, from, part.Size, part.Hash, part.ModTime)
					}
					got = append(got, part.Bytes...)
				}
				if !bytes.Equal(got, []byte(whole)) {
					t.Errorf("%s in parts of %d: %d bytes, want %d", name, n, len(got), len(whole))
				}
			}
		}
	})
}

// A part is refused as the whole would be.
func TestPartIsRefusedAsTheWhole(t *testing.T) {
	bothWays(t, func(t *testing.T, portable bool) {
		dir := plant(t, map[string]any{"a/x.bin": "0123456789", "a/other.bin": "other"})
		v := open(t, dir, portable)
		p := find(t, v, "a/x.bin")
		if part, err := v.ReadPart(p, 20, 5, 10); err != nil || len(part.Bytes) != 0 || part.Size != 10 {
			t.Errorf("behind the end: got %q, %v", part.Bytes, err)
		}
		if e, ok := errors.AsType[*TooLargeError](errOf(v.ReadPart(p, 0, 3, 9))); !ok || e.Size != 10 || e.Max != 9 {
			t.Errorf("too large: got %v", e)
		}
		if err := errOf(v.ReadPart(find(t, v, "a"), 0, 3, 9)); codeOf(err) != fault.NoteNotFound {
			t.Errorf("a folder: got %v", err)
		}
		if err := os.Rename(filepath.Join(dir, "a", "other.bin"), filepath.Join(dir, "a", "x.bin")); err != nil {
			t.Fatal(err)
		}
		if err := errOf(v.ReadPart(p, 0, 3, 10)); !errors.Is(err, ErrChanged) {
			t.Errorf("another file in its place: got %v", err)
		}
	})
}

func errOf(_ Part, err error) error { return err }

// A file that grows while it is read never takes more memory than its part.
func TestPartOfAFileThatGrows(t *testing.T) {
	s := &span{from: 2, n: 3}
	got, err := s.fill(strings.NewReader("0123456789"), 4, 100)
	if err != nil || string(got) != "234" || s.size != 10 {
		t.Errorf("got %q of %d bytes, %v", got, s.size, err)
	}
	if _, err := s.fill(strings.NewReader("0123456789"), 4, 9); !errors.As(err, new(*TooLargeError)) {
		t.Errorf("beyond the bound: got %v", err)
	}
}

func BenchmarkReadPart(b *testing.B) {
	const size = 10_000_000
	v := open(b, plant(b, map[string]any{"big.bin": strings.Repeat("x", size)}), false)
	p := find(b, v, "big.bin")
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := v.ReadPart(p, size/2, 740_000, size); err != nil {
			b.Fatal(err)
		}
	}
}
