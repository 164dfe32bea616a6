package field

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// unsupported says what a case asks for that is not there.
type unsupported string

func (u unsupported) Error() string { return string(u) }

// outcome is what came of an operation.
type outcome struct {
	site  *site
	op    op
	got   answer
	err   error // a refusal
	after map[string]entry
}

// check compares an outcome with what a case expects: nil if it is met, an
// unsupported if the case says something that this runner does not know, and
// else what differs.
func (o *outcome) check(expect values) error {
	if err := o.unknown(expect); err != nil {
		return err // before anything is said to be wrong
	}
	if alternatives, ok := expect["one_of"].([]any); ok {
		return o.checkOneOf(expect, alternatives)
	}
	switch wantError, _ := expect["error"].(bool); {
	case wantError && o.err == nil:
		return fmt.Errorf("it was not refused: %s", short(o.got.data))
	case !wantError && o.err != nil:
		return fmt.Errorf("it was refused: %w", o.err)
	}
	c := comparison{fold: folding(expect["compare"])}
	if c.fold == nil {
		return unsupported(fmt.Sprintf("compare: %v", expect["compare"]))
	}
	for _, key := range slices.Sorted(maps.Keys(expect)) {
		if err := o.checkKey(c, expect, key); err != nil {
			return err
		}
	}
	return nil
}

// checkOneOf passes if everything else of the case and one alternative hold.
func (o *outcome) checkOneOf(expect values, alternatives []any) error {
	var failed []error
	for _, a := range alternatives {
		alternative, ok := a.(values)
		if !ok {
			return unsupported("one_of without objects")
		}
		whole := maps.Clone(expect)
		delete(whole, "one_of")
		maps.Copy(whole, alternative)
		err := o.check(whole)
		if _, unknown := err.(unsupported); err == nil || unknown {
			return err
		}
		failed = append(failed, err)
	}
	if len(failed) == 0 {
		return unsupported("one_of of nothing")
	}
	return fmt.Errorf("none of %d alternatives: %w", len(failed), errors.Join(failed...))
}

// unknown is the first key that nothing is known of, as an unsupported.
func (o *outcome) unknown(expect values) error {
	for _, key := range slices.Sorted(maps.Keys(expect)) {
		if _, ok := o.op.keys[key]; ok {
			continue
		}
		if _, ok := o.op.keys["markup"]; ok && key == "markup_one_of" {
			continue
		}
		if _, ok := fileKeys[key]; !ok && key != "error" && key != "compare" && key != "ordered" && key != "one_of" && key != "accept_any_spelling" {
			return unsupported("unknown key " + key)
		}
	}
	return nil
}

func (o *outcome) checkKey(c comparison, expect values, key string) error {
	want := expect[key]
	switch key {
	case "error", "compare", "ordered", "accept_any_spelling":
		return nil // they change how other keys are judged
	case "markup_one_of":
		if _, ok := o.op.keys["markup"]; ok {
			alternatives, _ := want.([]any)
			got, err := plain(o.got.data["markup"])
			if err != nil {
				return err
			}
			if slices.ContainsFunc(alternatives, func(a any) bool { return c.same(a, got) }) {
				return nil
			}
			return differ(key, want, got)
		}
	}
	s, ok := o.op.keys[key]
	if !ok {
		check, ok := fileKeys[key]
		if !ok {
			return unsupported("unknown key " + key)
		}
		return check(o, c, expect)
	}
	if o.err != nil {
		return nil // a refusal says nothing
	}
	have, ok := o.got.data[key]
	if !ok {
		return unsupported("no answer has " + key)
	}
	got, err := plain(have)
	if err != nil {
		return err
	}
	if ordered, ok := expect["ordered"].(bool); ok && (s == rows || s == set) {
		if s = set; ordered {
			s = rows
		}
	}
	if key == "body_starts_with" {
		prefix, _ := want.(string)
		body, _ := got.(string)
		if !strings.HasPrefix(c.fold(body), c.fold(prefix)) {
			return differ(key, want, got)
		}
		return nil
	}
	return c.shaped(key, s, want, got)
}

func differ(key string, want, got any) error {
	return fmt.Errorf("%s: want %s, got %s", key, short(want), short(got))
}

// short is a value as JSON, cut to what a reader can take in.
func short(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	if len(raw) > 400 {
		return string(raw[:400]) + "…"
	}
	return string(raw)
}

// comparison compares values of JSON; fold brings each string to the form that
// counts.
type comparison struct{ fold func(string) string }

func folding(compare any) func(string) string {
	switch compare {
	case nil:
		return func(s string) string { return s }
	case "nfc":
		return norm.NFC.String
	case "casefold":
		return cases.Fold().String
	case "ignore_trailing_blank_lines":
		return func(s string) string {
			all := slices.Collect(strings.Lines(s))
			for len(all) > 0 && strings.TrimSpace(all[len(all)-1]) == "" {
				all = all[:len(all)-1]
			}
			return strings.TrimRight(strings.Join(all, ""), "\r\n")
		}
	}
	return nil
}

// shaped compares an answer in the way of its shape.
func (c comparison) shaped(key string, s shape, want, got any) error {
	switch s {
	case value:
		if !c.same(want, got) {
			return differ(key, want, got)
		}
		return nil
	case keyed, within:
		w, ok := want.(values)
		g, gotten := got.(values)
		if !ok || !gotten || s == keyed && len(w) != len(g) {
			return differ(key, want, got)
		}
		for k, v := range w {
			have, ok := g[k]
			if !ok {
				return differ(key, want, got)
			}
			if err := c.part(key, v, have); err != nil {
				return orDiffer(err, key, want, got)
			}
		}
		return nil
	}
	w, ok := want.([]any)
	g, gotten := got.([]any)
	if !ok || !gotten || len(w) != len(g) {
		return differ(key, want, got)
	}
	switch s {
	case sets:
		for i := range w {
			if err := c.shaped(fmt.Sprintf("%s[%d]", key, i), set, w[i], g[i]); err != nil {
				return err
			}
		}
		return nil
	case set:
		return c.unordered(key, w, g)
	}
	for i := range w {
		if err := c.part(key, w[i], g[i]); err != nil {
			return orDiffer(err, key, want, got)
		}
	}
	return nil
}

func (c comparison) unordered(key string, want, got []any) error {
	left := slices.Clone(got)
	for _, w := range want {
		at := -1
		for i, g := range left {
			err := c.part(key, w, g)
			if _, unknown := err.(unsupported); unknown {
				return err
			}
			if err == nil {
				at = i
				break
			}
		}
		if at < 0 {
			return differ(key, want, got)
		}
		left = slices.Delete(left, at, at+1)
	}
	return nil
}

func orDiffer(err error, key string, want, got any) error {
	if _, unknown := err.(unsupported); unknown {
		return err
	}
	return differ(key, want, got)
}

// part compares one row: of an object only the keys that are wanted.
func (c comparison) part(key string, want, got any) error {
	w, ok := want.(values)
	if !ok {
		if !c.same(want, got) {
			return differ(key, want, got)
		}
		return nil
	}
	g, ok := got.(values)
	if !ok {
		return differ(key, want, got)
	}
	for _, k := range slices.Sorted(maps.Keys(w)) {
		have, ok := g[k]
		if !ok {
			return unsupported(fmt.Sprintf("unknown key %s in %s", k, key))
		}
		if w[k] == nil && (have == "" || c.same(json.Number("0"), have)) {
			continue // how a row says that there is none
		}
		if list, ok := w[k].([]any); ok && key == "canvases" {
			if err := c.shaped(k, rows, list, have); err != nil {
				return err
			}
			continue
		}
		if k == "key" && g[itemKey] != nil && c.same(w[k], g[itemKey]) {
			continue
		}
		if !c.same(w[k], have) {
			return differ(key, want, got)
		}
	}
	return nil
}

// same reports whether two values are equal; numbers are by what they mean.
func (c comparison) same(want, got any) bool {
	switch w := want.(type) {
	case string:
		g, ok := got.(string)
		return ok && c.fold(w) == c.fold(g)
	case json.Number:
		g, ok := got.(json.Number)
		return ok && (w == g || equal(w, g))
	case []any:
		g, ok := got.([]any)
		return ok && slices.EqualFunc(w, g, c.same)
	case values:
		g, ok := got.(values)
		if !ok || len(w) != len(g) {
			return false
		}
		folded := map[string]any{}
		for k, v := range g {
			folded[c.fold(k)] = v
		}
		for k, v := range w {
			if have, ok := folded[c.fold(k)]; !ok || !c.same(v, have) {
				return false
			}
		}
		return true
	}
	return want == got
}

func equal(a, b json.Number) bool {
	const longest = 400 // digits and exponent of a number that is worked out
	if len(a) > longest || len(b) > longest {
		return false
	}
	x, _, err := big.ParseFloat(a.String(), 10, 2000, big.ToNearestEven)
	y, _, err2 := big.ParseFloat(b.String(), 10, 2000, big.ToNearestEven)
	return err == nil && err2 == nil && x.Cmp(y) == 0
}
