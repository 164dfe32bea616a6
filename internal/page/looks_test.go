package page

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
)

// Every text can be read: contrast of WCAG AA, 4.5 for text and 3 for the edges of
// what is pressed, in light and dark.
func TestContrast(t *testing.T) {
	css, err := web.ReadFile("web/style.css")
	if err != nil {
		t.Fatal(err)
	}
	colour := regexp.MustCompile(`--([a-z-]+): #([0-9a-f]{6});`)
	light, dark, ok := strings.Cut(string(css), "prefers-color-scheme: dark")
	if !ok {
		t.Fatal("no dark colours")
	}
	for scheme, text := range map[string]string{"light": light, "dark": dark[:strings.Index(dark, "* {")]} {
		colours := map[string]float64{}
		for _, m := range colour.FindAllStringSubmatch(text, -1) {
			var r, g, b int
			if _, err := fmt.Sscanf(m[2], "%02x%02x%02x", &r, &g, &b); err != nil {
				t.Fatal(err)
			}
			colours[m[1]] = 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
		}
		for _, pair := range []string{
			"text back", "text card", "faint back", "faint card", "faint head", "link back", "link card", "link note", "yes-text yes", "text add", "text del",
			"add-mark add", "del-mark del", "add-mark card", "del-mark card", "text good", "text warn", "text note", "odd add", "odd del", "odd card",
		} {
			a, b, _ := strings.Cut(pair, " ")
			if got := contrast(colours[a], colours[b]); got < 4.5 {
				t.Errorf("%s: %s has %.2f", scheme, pair, got)
			}
		}
		if got := contrast(colours["field"], colours["card"]); got < 3 {
			t.Errorf("%s: the edge of a button has %.2f", scheme, got)
		}
	}
}

func linear(c int) float64 {
	v := float64(c) / 255
	if v <= 0.04045 {
		return v / 12.92
	}
	return math.Pow((v+0.055)/1.055, 2.4)
}

func contrast(a, b float64) float64 { return (max(a, b) + 0.05) / (min(a, b) + 0.05) }

// A desktop reads the entry back as the very command.
func TestDesktopEntry(t *testing.T) {
	for _, binary := range []string{"/opt/vault-mcp", `/home/a b/100%/it's "$HOME" \x` + "`"} {
		text, err := DesktopEntry(binary, "--config", "/home/a b/c.yaml")
		if err != nil {
			t.Fatal(err)
		}
		_, line, _ := strings.Cut(text, "\nExec=")
		line, _, _ = strings.Cut(line, "\n")
		if got := execWords(line); strings.Join(got, "|") != binary+"|elicit|page|--config|/home/a b/c.yaml" {
			t.Errorf("%s is read as %q", line, got)
		}
	}
	for _, bad := range []string{"vault-mcp", "/a\nTerminal=true", "/a=b/vault-mcp", ""} {
		if _, err := DesktopEntry(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// execWords reads an Exec line of quoted words, by the specification of desktop
// entries: the escapes of a string of the file, then those of an argument, then %%.
func execWords(line string) (words []string) {
	line = strings.ReplaceAll(line, `\\`, `\`)
	for line != "" {
		line = strings.TrimPrefix(strings.TrimSpace(line), `"`)
		word := ""
		for line != "" && line[0] != '"' {
			if line[0] == '\\' {
				line = line[1:]
			}
			word, line = word+line[:1], line[1:]
		}
		words, line = append(words, strings.ReplaceAll(word, "%%", "%")), strings.TrimPrefix(line, `"`)
	}
	return words
}
