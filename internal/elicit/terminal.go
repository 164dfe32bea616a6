package elicit

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// ErrNoTerminal means that no person sits before this process.
var ErrNoTerminal = errors.New("there is no terminal here to ask a person")

// errEnded means that the person has left, or the process has to end.
var errEnded = errors.New("ended")

// Keys of a terminal in raw mode.
const (
	ctrlC = 3
	ctrlD = 4
)

// Terminal is the person's own, whatever stdin and stdout are.
type Terminal struct {
	in, out *os.File
	input   chan []byte // what the person typed; closed when the terminal is gone
	raw     *term.State // how it was before raw mode, or nil
}

// Open opens the terminal of this process. It fails with ErrNoTerminal if there
// is none, or somebody else is talking with the person there.
func Open() (*Terminal, error) {
	in, out, err := openTerminal()
	if err != nil {
		return nil, ErrNoTerminal
	}
	t := &Terminal{in: in, out: out, input: make(chan []byte)}
	t.flush()
	go t.read()
	return t, nil
}

// read passes on what is typed. It ends with the terminal; a read that is under
// way then ends with the process.
func (t *Terminal) read() {
	defer close(t.input)
	var buf [1024]byte
	for {
		n, err := t.in.Read(buf[:])
		if n > 0 {
			t.input <- bytes.Clone(buf[:n])
		}
		if err != nil || n == 0 {
			return
		}
	}
}

// Close gives the terminal back as it was.
func (t *Terminal) Close() {
	t.restore()
	t.in.Close()
	if t.out != t.in {
		t.out.Close()
	}
}

// single makes the terminal pass on each key at once, until restore.
func (t *Terminal) single() (err error) {
	t.raw, err = term.MakeRaw(int(t.in.Fd()))
	return err
}

func (t *Terminal) restore() {
	if t.raw != nil {
		_ = term.Restore(int(t.in.Fd()), t.raw) // there is nobody to tell
		t.raw = nil
	}
}

// Write shows text.
func (t *Terminal) Write(text []byte) (int, error) {
	shown := text
	if t.raw != nil {
		shown = bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
	}
	if _, err := t.out.Write(shown); err != nil {
		return 0, err
	}
	return len(text), nil
}

// line asks for a line. What was typed before the question was shown does not
// count: it answers something else, or was pasted together with the command.
func (t *Terminal) line(ctx context.Context, question string) (string, error) {
	t.flush()
	if _, err := io.WriteString(t, question); err != nil {
		return "", err
	}
	select {
	case typed, ok := <-t.input:
		if !ok || bytes.IndexByte(typed, ctrlD) >= 0 {
			return "", errEnded
		}
		return strings.TrimSpace(string(typed)), nil
	case <-ctx.Done():
		_, _ = io.WriteString(t, "\n") // the cursor stands behind the question
		return "", errEnded
	}
}

// Ask asks for a line; an empty answer is none.
func (t *Terminal) Ask(ctx context.Context, question string) (string, error) {
	return t.line(ctx, question)
}

// flush drops what was typed and not read.
func (t *Terminal) flush() {
	flushInput(t.in)
	for {
		select {
		case _, ok := <-t.input:
			if !ok {
				return
			}
		default:
			return
		}
	}
}

// keyOf is the key that was pressed, or 0: what comes in one piece with other
// keys was pasted, or belongs to a key that is none of ours.
func keyOf(typed []byte) rune {
	if bytes.IndexByte(typed, ctrlC) >= 0 || bytes.IndexByte(typed, ctrlD) >= 0 {
		return ctrlC // ends in any case
	}
	typed = bytes.TrimSuffix(bytes.TrimRight(typed, "\n"), []byte("\r"))
	if len(typed) == 0 {
		return '\r'
	}
	r, size := utf8.DecodeRune(typed)
	if size != len(typed) {
		return 0
	}
	return r
}
