package stdio

import (
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func TestLines(t *testing.T) {
	big := strings.Repeat("x", 200_000)
	type line struct {
		Text string
		Long bool
	}
	tests := []struct {
		name, in string
		max      int
		want     []line
	}{
		{"empty", "", 10, []line{{"", false}}},
		{"two and a rest", "a\nbb\r\n\nccc", 10, []line{{"a", false}, {"bb\r", false}, {"", false}, {"ccc", false}}},
		{"just fits", "0123456789\nx\n", 10, []line{{"0123456789", false}, {"x", false}, {"", false}}},
		{"too long", "0123456789a\nx\n", 10, []line{{"0123456789a", true}, {"x", false}, {"", false}}},
		{"longer than the buffer", big + "\nx", 300_000, []line{{big, false}, {"x", false}}},
		{"too long over several buffers", big + big + "\nx", 100_000, []line{{big[:headSize], true}, {"x", false}}},
		{"too long and unterminated", big, 100_000, []line{{big[:headSize], true}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, in := range []io.Reader{strings.NewReader(tt.in), iotest.HalfReader(strings.NewReader(tt.in)), iotest.DataErrReader(strings.NewReader(tt.in))} {
				var got []line
				l := newLines(in, tt.max)
				for {
					b, long, err := l.next()
					got = append(got, line{string(b), long})
					if err != nil {
						break
					}
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			}
		})
	}
}

// endless is a line of n bytes that exists nowhere.
type endless struct{ n int }

func (e *endless) Read(b []byte) (int, error) {
	if e.n == 0 {
		return 0, io.EOF
	}
	n := min(len(b), e.n)
	for i := range b[:n] {
		b[i] = 'x'
	}
	e.n -= n
	return n, nil
}

func TestLongMessageIsRefusedAndNotHeld(t *testing.T) {
	const max = 1 << 20
	in := io.MultiReader(
		strings.NewReader(`{"jsonrpc":"2.0","id":"big","method":"tools/call","params":{"name":"`), &endless{200 << 20}, strings.NewReader("\"}}\n"),
		strings.NewReader(`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"`), &endless{max}, strings.NewReader("\"},\"id\":5}\n"),
		strings.NewReader(`{"jsonrpc":"2.0","id":5,"result":{"name":"`), &endless{max}, strings.NewReader("\"}}\n"),
		strings.NewReader(`{"jsonrpc":"2.0","id":6,"method":"ping"}`),
	)
	var out strings.Builder
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := Serve(t.Context(), testServer(), in, &out, Options{MaxMessage: max}); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	const refusal = `,"error":{"code":-32600,"message":"Invalid request: The message is longer than 1048576 bytes."}}` + "\n"
	want := `{"jsonrpc":"2.0","id":"big"` + refusal +
		`{"jsonrpc":"2.0","id":null` + refusal +
		`{"jsonrpc":"2.0","id":null` + refusal +
		`{"jsonrpc":"2.0","id":6,"result":{}}` + "\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 32<<20 {
		t.Errorf("%d MiB were allocated for 200 MiB", used>>20)
	}
}

func TestLargestMessageIsTaken(t *testing.T) {
	// With a fault that is found after the length has passed.
	head, tail := `{"jsonrpc":"1.0","id":1,"method":"ping","params":{"x":"`, `"}}`
	const max = 16 << 20
	fits := head + strings.Repeat("x", max-len(head)-len(tail)) + tail
	var out strings.Builder
	in := strings.NewReader(fits + "\n" + strings.Replace(fits, "x\"}}", "xx\"}}", 1) + "\n")
	if err := Serve(t.Context(), testServer(), in, &out, Options{}); err != nil {
		t.Fatal(err)
	}
	first, second, _ := strings.Cut(out.String(), "\n")
	if !strings.Contains(first, `must be \"2.0\"`) || !strings.Contains(second, "longer than 16777216 bytes") {
		t.Errorf("got %q", out.String())
	}
}
