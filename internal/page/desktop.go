package page

import (
	"fmt"
	"strings"
)

// DesktopFile is the name of the entry that DesktopEntry makes. It belongs into
// $XDG_DATA_HOME/applications, by default ~/.local/share/applications.
const DesktopFile = "vault-mcp-approvals.desktop"

// DesktopEntry is a desktop entry of Linux (Desktop Entry Specification 1.5) that
// opens the page: binary is the absolute path of this program, and args are further
// arguments of vault-mcp elicit page. It fails for what such an entry cannot hold.
func DesktopEntry(binary string, args ...string) (string, error) {
	words := append([]string{binary, "elicit", "page"}, args...)
	for i, w := range words {
		q, err := desktopWord(w)
		if err != nil {
			return "", err
		}
		words[i] = q
	}
	if !strings.HasPrefix(binary, "/") {
		return "", fmt.Errorf("a desktop entry needs the absolute path of the program, not %q", binary)
	}
	return `[Desktop Entry]
Type=Application
Version=1.5
Name=Vault approvals
Comment=Approve or decline what AI agents want to change in your notes
Exec=` + strings.Join(words, " ") + `
Icon=dialog-question
Terminal=false
Categories=Utility;
Keywords=vault;obsidian;agent;approve;
`, nil
}

// desktopWord quotes a word of an Exec line: first as an argument, then as a string
// of the file, each of which has backslashes of its own.
func desktopWord(w string) (string, error) {
	if strings.ContainsFunc(w, func(r rune) bool { return r < ' ' || r == 0x7F }) {
		return "", fmt.Errorf("a desktop entry cannot hold control characters: %q", w)
	}
	if strings.Contains(w, "=") && strings.HasPrefix(w, "/") {
		return "", fmt.Errorf("a desktop entry cannot start a program with = in its path: %q", w)
	}
	w = strings.ReplaceAll(w, "%", "%%")
	w = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`", "$", `\$`).Replace(w)
	return `"` + strings.ReplaceAll(w, `\`, `\\`) + `"`, nil
}
