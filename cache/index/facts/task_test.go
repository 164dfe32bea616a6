package facts

import (
	"strings"
	"testing"
)

func TestDescription(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                       "plain",
		"⏫":                           "",
		"#a ⏫ #b":                     "#a #b",
		"x 📅 2031-02-03":              "x",
		"x 📅\ufe0f 2031-02-03":        "x",
		"x 📅2031-02-03":               "x",
		"x 📅 tomorrow":                "x 📅 tomorrow",
		"x 📅 2031-02-03 y":            "x 📅 2031-02-03 y",
		"x 📅 2031-02-03 📅 2031-02-04": "x",
		"x 📅 2031-02-03\u00a0":        "x 📅 2031-02-03\u00a0",
		"  two  blanks   #t  🔁 every day  #u/v": "two  blanks   #t #u/v",
		"x ⛔ a , b": "x",
		"x ✅ 2031-02-03 🆔 q ⏬ 🔁 every day !": "x",
	} {
		for task := range Blob(Of([]byte("- [ ] " + text + "\n")).Append(nil)).Tasks() {
			if got := task.Description(); got != want {
				t.Errorf("%q: %q, want %q", text, got, want)
			}
		}
	}
}

// A description holds nothing that the task does not, and no field at its end.
func FuzzDescription(f *testing.F) {
	for _, s := range []string{"x 📅 2031-02-03 #t ⏫", "#a#b 🔁 every day ⛔ a, b", "⏫⏫ ✅ 2031-02-03", "a 📅\ufe0f 2031-02-03 ^id"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, task := range Of([]byte("- [ ] " + s)).Tasks {
			d := task.Description()
			rest := task.Text
			for _, word := range strings.Fields(d) {
				at := strings.Index(rest, word)
				if at < 0 {
					t.Fatalf("%q: %q is not of it", task.Text, d)
				}
				rest = rest[at+len(word):]
			}
			for _, again := range Of([]byte("- [ ] " + d)).Tasks {
				if again.Text == d && len(again.Fields) > 0 && len(task.Fields) > 0 {
					t.Fatalf("%q: %q still ends with %v", task.Text, d, again.Fields)
				}
			}
		}
	})
}
