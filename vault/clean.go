package vault

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"vault-mcp/internal/fault"
)

// The longest path and the longest name, in bytes.
const (
	maxPath = 1024
	maxName = 255
)

// Clean makes of an argument the path that it means: relative, "/"-separated,
// without empty and "." segments and without a slash at the end. "" is the
// root folder. It looks at no disk. What can name no file of a vault is
// path_invalid with the reason: an absolute path, a drive letter, a "\", a
// ".." segment, a segment that begins with a dot, control characters, invalid
// UTF-8, more than 1024 bytes.
func Clean(arg string) (string, error) {
	if len(arg) > maxPath {
		return "", fault.New(fault.PathInvalid, "The path has %d bytes; a path has at most %d.", len(arg), maxPath)
	}
	if why := unfitText(arg); why != "" {
		return "", invalid(arg, why)
	}
	switch {
	case startsWithDrive(arg):
		return "", invalid(arg, "starts with a drive letter; give the path from the vault's root")
	case strings.Contains(arg, `\`):
		return "", invalid(arg, `has a \; put / between folders`)
	case strings.HasPrefix(arg, "/"):
		return "", invalid(arg, "is absolute; give the path from the vault's root, without the / in front")
	}
	var kept []string
	for s := range strings.SplitSeq(arg, "/") {
		switch {
		case s == "" || s == ".":
		case s == "..":
			return "", invalid(arg, "goes up with ..; give the path from the vault's root")
		case s[0] == '.':
			return "", invalid(arg, "has a name that begins with a dot; such files and folders are no part of the vault")
		default:
			kept = append(kept, s)
		}
	}
	clean := strings.Join(kept, "/")
	if startsWithDrive(clean) {
		return "", invalid(arg, "starts with a drive letter; give the path from the vault's root")
	}
	return clean, nil
}

func invalid(arg, why string) error {
	return fault.New(fault.PathInvalid, "The path %q %s.", arg, why)
}

// unfitText says why s can be no part of a path, or nothing.
func unfitText(s string) string {
	if !utf8.ValidString(s) {
		return "is not valid UTF-8"
	}
	if strings.ContainsFunc(s, unicode.IsControl) {
		return "has a control character"
	}
	return ""
}

// startsWithDrive reports whether p begins with a Windows drive: "C:" as the
// whole of the first segment.
func startsWithDrive(p string) bool {
	if len(p) < 2 || p[1] != ':' || (p[0]|0x20) < 'a' || (p[0]|0x20) > 'z' {
		return false
	}
	return len(p) == 2 || p[2] == '/' || p[2] == '\\'
}

// nameable reports whether Clean leaves a name that is found on disk as it
// is, so that a file with that name can be named at all.
func nameable(name string) bool {
	for i := range len(name) {
		if c := name[i]; c >= utf8.RuneSelf || c < 0x20 || c == 0x7f || c == '\\' {
			return unfitText(name) == "" && !strings.Contains(name, `\`)
		}
	}
	return true
}

// CheckNew refuses a cleaned path that not every system can hold, although
// this one may: a segment with one of : * ? " < > | \, a dot or blank at the
// end of one, a Windows device name such as CON or LPT1 with any extension,
// more than 255 bytes in one. Files that exist with such names can be read;
// only new ones are refused. The error is path_invalid.
func CheckNew(path string) error {
	for s := range strings.SplitSeq(path, "/") {
		switch {
		case len(s) > maxName:
			return fault.New(fault.PathInvalid, "A name in the path has %d bytes; a file system holds at most %d.", len(s), maxName)
		case strings.ContainsAny(s, `:*?"<>|\`):
			return invalid(path, `has one of the characters : * ? " < > | \ in a name, which not every system can hold`)
		case strings.HasSuffix(s, ".") || strings.HasSuffix(s, " "):
			return invalid(path, "has a name that ends in a dot or a blank, which Windows cannot hold")
		case isDevice(s):
			return invalid(path, "has a name that Windows keeps for a device")
		}
	}
	return nil
}

// isDevice reports whether Windows takes a name for a device, whatever its
// extension.
func isDevice(name string) bool {
	stem, _, _ := strings.Cut(name, ".")
	stem = strings.ToUpper(strings.TrimRight(stem, " "))
	switch stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	n, ok := strings.CutPrefix(stem, "COM")
	if !ok {
		n, ok = strings.CutPrefix(stem, "LPT")
	}
	return ok && (len(n) == 1 && n >= "1" && n <= "9" || n == "¹" || n == "²" || n == "³")
}
