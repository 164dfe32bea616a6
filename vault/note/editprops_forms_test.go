package note

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// formWriter writes properties in all the ways that people and programs do.
type formWriter struct{ r *rand.Rand }

func (w formWriter) pick(s ...string) string { return s[w.r.IntN(len(s))] }

func (w formWriter) comment() string { return w.pick("", "", "", " # c", "   # a: b, [c] 'd") }

func (w formWriter) scalar() string {
	return w.pick("x", "two words", "'it''s'", `"a \"b\" # c"`, "007", "1.50", "true", "~", "2031-02-03", "yes", `"[[Note|n]]"`, "-1", "über 🌱", `""`, "http://a.b/c?d=e#f", "'#t'", "!!str 5", "a\u00a0b", "`"[:0]+"n")
}

func (w formWriter) flow(depth int) string {
	n := w.r.IntN(4)
	parts := make([]string, n)
	list := depth > 1 || w.r.IntN(3) > 0
	for i := range parts {
		parts[i] = w.pick("a", "b c", `"d, e"`, "'f'", "12", "null", "[g, h]", "{i: j}")
		if !list {
			parts[i] = fmt.Sprintf("k%d: %s", i, parts[i])
		}
	}
	sep := w.pick(", ", ",", " , ", ",\n    ")
	inner := strings.Join(parts, sep)
	switch {
	case n > 0 && w.r.IntN(5) == 0:
		inner = "\n    " + inner + "\n  "
	case n > 0 && w.r.IntN(5) == 0:
		inner += ","
	case w.r.IntN(3) == 0:
		inner = " " + inner + " "
	}
	if list {
		return "[" + inner + "]"
	}
	return "{" + inner + "}"
}

// value writes what stands behind a colon, to the end of its last line.
func (w formWriter) value(indent string, depth int) string {
	switch k := w.r.IntN(10); {
	case k < 3:
		return " " + w.scalar() + w.comment() + "\n"
	case k == 3:
		return w.comment() + "\n"
	case k == 4:
		return w.pick(" ", "  ") + w.flow(depth) + w.comment() + "\n"
	case k == 5:
		in := indent + w.pick("  ", "    ")
		return " " + w.pick("|", "|-", ">", ">-", "|+", ">+") + w.comment() + "\n" + in + "one # no comment\n" + w.pick("", "\n", in+"  more\n") + in + "two: 2\n" + w.pick("", "\n")
	case k == 6:
		return " " + w.pick("\"a\n"+indent+"  b\"", "plain\n"+indent+"  goes on", "'c\n\n"+indent+"  d'") + w.comment() + "\n"
	case k == 7 && depth < 3:
		in := indent + w.pick("  ", " ", "    ")
		out := w.comment() + "\n"
		for i := range 1 + w.r.IntN(3) {
			out += w.pick("", "", in+"# on it\n") + fmt.Sprintf("%sk%d:", in, i) + w.value(in, depth+1)
		}
		return out
	}
	in := indent + w.pick("", "  ", "    ")
	out := w.comment() + "\n"
	for range 1 + w.r.IntN(3) {
		out += w.pick("", "", in+"# on it\n", "\n") + in + "-"
		switch w.r.IntN(6) {
		case 0:
			out += w.comment() + "\n"
		case 1:
			out += " k: " + w.scalar() + "\n" + in + "  l:" + w.value(in+"  ", 3)
		case 2:
			out += " " + w.flow(2) + w.comment() + "\n"
		case 3:
			out += " |-\n" + in + "   x\n" + in + "   y\n"
		default:
			out += w.pick(" ", "   ") + w.scalar() + w.comment() + "\n"
		}
	}
	return out
}

// TestOrdinaryFormsAreEdited: whatever form properties are written in, each can be set, removed, renamed and added to, by
// the rules that FuzzEditProperties has.
func TestOrdinaryFormsAreEdited(t *testing.T) {
	values := []any{"x", "a\nb", "- q", nil, []any{}, []any{"x", nil, "[[y]]"}, (&Map{}).with("k0", "v").with("n", []any{"m"}), int64(7), true, []any{[]any{"z"}, (&Map{}).with("a", (&Map{}).with("b", nil))}}
	refused, total, valid := map[string]int{}, 0, 0
	for seed := range uint64(100) {
		w := formWriter{rand.New(rand.NewPCG(seed, 1))}
		yaml := w.pick("", "# top\n", "\n")
		for i := range 1 + w.r.IntN(5) {
			yaml += w.pick("k", "'k'", "K e y ", `"k:"`, "tags")[:] + fmt.Sprint(i)
			if strings.Contains(yaml[strings.LastIndexByte(yaml, '\n')+1:], `'`) || strings.Contains(yaml[strings.LastIndexByte(yaml, '\n')+1:], `"`) {
				yaml = yaml[:strings.LastIndexByte(yaml, '\n')+1] + fmt.Sprintf(`"q %d"`, i)
			}
			yaml += w.pick("", "", " ") + ":" + w.value("", 0) + w.pick("", "", "\n", "# between\n")
		}
		text := []byte("---\n" + strings.TrimSuffix(yaml, "\n") + "\n---\nbody\r\n---")
		if w.r.IntN(3) == 0 {
			text = []byte(strings.ReplaceAll(string(text), "\n", "\r\n"))
		}
		p := ParseProperties(text)
		if p.State != StateOK {
			continue // a flow value that is not indented deeper than its key
		}
		valid++
		checkSelf(t, text)
		for i, prop := range p.List {
			for op := range uint8(4) {
				checkEdit(t, text, op, uint8(i), values[w.r.IntN(len(values))])
			}
			checkEdit(t, text, 0, 200, values[w.r.IntN(len(values))])
			for _, v := range values {
				total++
				if _, err := EditProperties(text, SetProperty(prop.Key, v)); err != nil {
					refused[err.Error()]++
					t.Logf("set %q to %v in %q: %v", prop.Key, v, text, err)
				}
			}
			for what, e := range map[string]PropertyEdit{"remove": RemoveProperty(prop.Key), "rename": RenameProperty(prop.Key, "yes"), "add": AddItems(prop.Key, "new")} {
				if _, isMap := prop.Value.(*Map); isMap && what == "add" {
					continue
				}
				total++
				if _, err := EditProperties(text, e); err != nil {
					if what == "remove" && bytes.ContainsAny(text, "+") {
						continue // a block scalar that keeps blank lines would take in those behind the key
					}
					refused[err.Error()]++
					t.Logf("%s %q in %q: %v", what, prop.Key, text, err)
				}
			}
			if list, ok := prop.Value.([]any); ok {
				for k := range list {
					total++
					if _, err := EditProperties(text, SetProperty(prop.Key, slices.Delete(slices.Clone(list), k, k+1))); err != nil {
						refused[err.Error()]++
						t.Logf("without item %d of %q in %q: %v", k, prop.Key, text, err)
					}
				}
			}
		}
	}
	if valid < 90 || len(refused) > 0 {
		t.Errorf("%d texts; of %d edits refused: %v", valid, total, refused)
	}
}
