package vaultgen

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"time"
)

// text is one note: properties, then blocks of all kinds until its size is
// reached. What was planted stands in the first third.
func (w *writer) text(i int) []byte {
	p := &w.notes[i]
	size := int(min(max(math.Exp(meanLog+spread*w.NormFloat64()), minBytes), maxBytes))
	var b bytes.Buffer
	if w.IntN(5) > 0 {
		w.properties(&b, i)
	}
	fmt.Fprintf(&b, "# %s\n\n", p.title)
	for _, hub := range p.hubs {
		w.v.Links++
		fmt.Fprintf(&b, "Belongs to [[%s]].\n\n", w.notes[hub].title)
	}
	if p.rare {
		fmt.Fprintf(&b, "Found %s %s %s.\n\n", w.word(), Rare, w.word())
	}
	if p.common {
		for range 1 + w.IntN(3) {
			fmt.Fprintf(&b, "%s %s %s %s %s. ", w.name(), w.word(), Common, w.word(), w.word())
		}
		b.WriteString("\n\n")
	}
	for b.Len() < size {
		w.block(&b)
	}
	return b.Bytes()
}

func (w *writer) properties(b *bytes.Buffer, i int) {
	fmt.Fprintf(b, "---\ncreated: %s\nstatus: %s\n", w.day(), []string{"seed", "growing", "done"}[w.IntN(3)])
	b.WriteString("tags:\n")
	for range 1 + w.IntN(4) {
		fmt.Fprintf(b, "  - %s\n", w.tag())
	}
	if w.IntN(5) == 0 {
		fmt.Fprintf(b, "aliases: [\"%s %d\"]\n", w.name(), i)
	}
	if w.IntN(4) == 0 {
		fmt.Fprintf(b, "rating: %d\nreviewed: %t\nsource: https://example.org/%d\n", w.IntN(6), w.IntN(2) == 0, i)
	}
	b.WriteString("---\n\n")
}

func (w *writer) block(b *bytes.Buffer) {
	switch w.IntN(10) {
	case 0, 1:
		fmt.Fprintf(b, "%s %s %s\n\n", strings.Repeat("#", 2+w.IntN(3)), w.name(), w.word())
	case 2:
		for range 2 + w.IntN(4) {
			due := ""
			if w.IntN(2) == 0 {
				due = " 📅 " + w.day()
			}
			fmt.Fprintf(b, "- [%c] %s %s %s%s\n", " x"[w.IntN(2)], w.word(), w.word(), w.word(), due)
		}
		b.WriteByte('\n')
	case 3:
		for range 2 + w.IntN(4) {
			b.WriteString("- ")
			w.sentence(b)
			b.WriteByte('\n')
		}
		b.WriteByte('\n')
	case 4:
		if w.IntN(4) == 0 {
			fmt.Fprintf(b, "```sh\necho \"#no-tag [[no link]]\" > %s\n```\n\n", w.word())
		}
	default:
		for range 2 + w.IntN(4) {
			w.sentence(b)
		}
		if w.IntN(20) == 0 {
			fmt.Fprintf(b, "^block-%d", b.Len())
		}
		b.WriteString("\n\n")
	}
}

func (w *writer) sentence(b *bytes.Buffer) {
	b.WriteString(w.name())
	for range 6 + w.IntN(12) {
		b.WriteByte(' ')
		switch r := w.IntN(200); {
		case r < 4:
			b.WriteString(w.link())
		case r < 6:
			b.WriteString("#" + w.tag())
		case r < 9:
			b.WriteString("**" + w.word() + "**")
		case r < 20:
			b.WriteString(w.word() + ",")
		default:
			b.WriteString(w.word())
		}
	}
	b.WriteString(". ")
}

// link prefers the first notes, so that some have many backlinks; never the
// hubs, whose number is exact.
func (w *writer) link() string {
	w.v.Links++
	first := min(2, len(w.notes)-1)
	p := &w.notes[first+int(float64(len(w.notes)-first)*math.Pow(w.Float64(), 3))]
	switch w.IntN(8) {
	case 0:
		return "[[" + p.title + "|" + w.word() + "]]"
	case 1:
		return "[[" + p.title + "#" + w.name() + "]]"
	case 2:
		return "[[" + strings.TrimSuffix(p.path(), ".md") + "]]"
	case 3:
		return "![[" + p.title + "]]"
	case 4:
		return "[" + w.word() + "](" + strings.ReplaceAll(p.path(), " ", "%20") + ")"
	case 5:
		return "[[Lost " + w.name() + "]]"
	}
	return "[[" + p.title + "]]"
}

func (w *writer) tag() string { return w.tags[int(float64(len(w.tags))*math.Pow(w.Float64(), 2))] }

func (w *writer) day() string { return epoch.AddDate(0, 0, w.IntN(2000)).Format(time.DateOnly) }
