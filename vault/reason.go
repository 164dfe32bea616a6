package vault

import (
	"errors"
	"fmt"
	"io/fs"

	"vault-mcp/internal/fault"
)

const (
	// NotText is what a person is told of a file that is read and is no text;
	// see Text.
	NotText = "its content is not UTF-8 text"
	// Unreadable is what Reason says where the system gives no better reason:
	// the file may be readable in a moment.
	Unreadable = "it could not be read"
	// Gone is what Reason says of a file that was there a moment before.
	Gone = "it was deleted meanwhile"
)

// Reason says for people why a file or folder was not read: the same words for
// the same problem, whoever met it. It holds no path.
func Reason(err error) string {
	if e, ok := errors.AsType[*TooLargeError](err); ok {
		return fmt.Sprintf("it is larger than the %d bytes that are read", e.Max)
	}
	for _, known := range []error{ErrAway, ErrName, ErrIrregular} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Code == fault.NoteNotFound {
		return Gone
	}
	switch {
	case isAbsent(err), errors.Is(err, errNotRegular), errors.Is(err, errNotFolder), errors.Is(err, ErrChanged):
		return Gone
	case errors.Is(err, fs.ErrPermission):
		return "the operating system does not let the server read it"
	}
	return Unreadable
}
