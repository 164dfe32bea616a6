package field

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"vault-mcp/vault"
	"vault-mcp/vault/note"
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

// fileKeys are what a case says about files after the operation.
var fileKeys map[string]func(*outcome, comparison, values) error

func init() {
	whole := func(match func(c comparison, text string, want any) bool, key string) func(*outcome, comparison, values) error {
		return func(o *outcome, c comparison, expect values) error {
			text, err := o.text()
			if err != nil {
				return err
			}
			if !match(c, text, expect[key]) {
				return differ(key, expect[key], text)
			}
			return nil
		}
	}
	fileKeys = map[string]func(*outcome, comparison, values) error{
		"content_one_of": whole(func(c comparison, text string, want any) bool {
			return slices.ContainsFunc(texts(want), func(w string) bool { return c.same(w, text) })
		}, "content_one_of"),
		"content": whole(func(c comparison, text string, want any) bool { return c.same(want, text) }, "content"),
		"base64": whole(func(_ comparison, text string, want any) bool {
			return want == base64.StdEncoding.EncodeToString([]byte(text))
		}, "base64"),
		"nonblank_lines": whole(func(c comparison, text string, want any) bool {
			got := slices.DeleteFunc(lines(text), func(l any) bool { return strings.TrimSpace(l.(string)) == "" })
			return c.same(want, got)
		}, "nonblank_lines"),
		"prefix":       whole(func(c comparison, text string, want any) bool { return strings.HasPrefix(text, fmt.Sprint(want)) }, "prefix"),
		"suffix":       whole(func(c comparison, text string, want any) bool { return strings.HasSuffix(text, fmt.Sprint(want)) }, "suffix"),
		"contains":     whole(containsAll, "contains"),
		"must_contain": whole(containsAll, "must_contain"),
		"not_contains": whole(func(_ comparison, text string, want any) bool {
			return !slices.ContainsFunc(texts(want), func(w string) bool { return strings.Contains(text, w) })
		}, "not_contains"),
		"reparse": (*outcome).reparse, "files": (*outcome).files, "accept": (*outcome).accept, "json": (*outcome).json,
		"absent": (*outcome).absent, "present": (*outcome).present, "absent_exact": (*outcome).absentExact,
		"unchanged": (*outcome).unchanged, "unchanged_all": (*outcome).unchanged, "only_files": (*outcome).onlyFiles,
		"still_symlink": (*outcome).stillSymlink, "mode": (*outcome).mode, "resolves": (*outcome).resolves,
		"paths_include": (*outcome).pathsInclude,
	}
}

func containsAll(_ comparison, text string, want any) bool {
	return !slices.ContainsFunc(texts(want), func(w string) bool { return !strings.Contains(text, w) })
}

// text is what the operation answered, or the file that it is about.
func (o *outcome) text() (string, error) {
	if o.err != nil {
		return "", fmt.Errorf("it was refused: %w", o.err)
	}
	if s, ok := o.got.data["content"].(string); ok {
		return s, nil
	}
	e, ok := o.after[o.got.file]
	if !ok {
		return "", fmt.Errorf("%q is not there", o.got.file)
	}
	return e.content, nil
}

func (o *outcome) reparse(c comparison, expect values) error {
	text, err := o.text()
	if err != nil {
		return err
	}
	p := note.ParseProperties([]byte(text))
	got, err := plain(p.Map())
	if err != nil {
		return err
	}
	if !c.same(expect["reparse"], got) {
		return differ("reparse", expect["reparse"], got)
	}
	return nil
}

func (o *outcome) files(c comparison, expect values) error {
	want, ok := expect["files"].(values)
	if !ok {
		return unsupported("files is no object")
	}
	accept, _ := expect["accept"].(values)
	anySpelling := texts(expect["accept_any_spelling"])
	for _, path := range slices.Sorted(maps.Keys(want)) {
		e, ok := o.after[path]
		if !ok {
			return fmt.Errorf("%q is not there", path)
		}
		content, mode, err := fileOf(want[path])
		if err != nil {
			return unsupported(err.Error())
		}
		if slices.Contains(anySpelling, path) {
			continue
		}
		if !c.same(string(content), e.content) && !slices.ContainsFunc(texts(accept[path]), func(a string) bool { return c.same(a, e.content) }) {
			return differ(path, string(content), e.content)
		}
		if mode != 0 && e.mode.Perm() != mode {
			return differ("mode of "+path, mode.String(), e.mode.Perm().String())
		}
	}
	return nil
}

// accept is judged with files; it has to be about one of them.
func (o *outcome) accept(_ comparison, expect values) error {
	files, _ := expect["files"].(values)
	accept, ok := expect["accept"].(values)
	for path := range accept {
		if _, listed := files[path]; !listed {
			ok = false
		}
	}
	if !ok {
		return unsupported("accept without its file in files")
	}
	return nil
}

func (o *outcome) json(c comparison, expect values) error {
	want, ok := expect["json"].(values)
	if !ok {
		return unsupported("json is no object")
	}
	for path, w := range want {
		var got any
		if err := decode([]byte(o.after[path].content), &got); err != nil {
			return fmt.Errorf("%s: %w in %q", path, err, o.after[path].content)
		}
		if !c.same(w, got) {
			return differ(path, w, got)
		}
	}
	return nil
}

func (o *outcome) absent(_ comparison, expect values) error {
	for _, path := range texts(expect["absent"]) {
		if _, err := os.Lstat(filepath.Join(o.site.dir, filepath.FromSlash(path))); err == nil {
			return fmt.Errorf("%q is there", path)
		}
	}
	return nil
}

func (o *outcome) absentExact(_ comparison, expect values) error {
	for _, path := range texts(expect["absent_exact"]) {
		if _, ok := o.after[path]; ok {
			return fmt.Errorf("%q is there", path)
		}
	}
	return nil
}

func (o *outcome) present(_ comparison, expect values) error {
	for _, path := range texts(expect["present"]) {
		if _, err := os.Lstat(filepath.Join(o.site.dir, filepath.FromSlash(path))); err != nil {
			return fmt.Errorf("%q is not there", path)
		}
	}
	return nil
}

// unchanged is about all files that were there, or about those in a list.
func (o *outcome) unchanged(_ comparison, expect values) error {
	if expect["unchanged"] == true || expect["unchanged_all"] == true {
		for path, e := range o.after {
			if o.site.before[path] != e {
				return differ(path+" unchanged", o.site.before[path].content, e.content)
			}
		}
		for path := range o.site.before {
			if _, ok := o.after[path]; !ok {
				return fmt.Errorf("%q is gone", path)
			}
		}
		return nil
	}
	for _, path := range texts(expect["unchanged"]) {
		before, ok := o.site.before[path]
		if after := o.after[path]; !ok || before != after {
			return differ(path+" unchanged", before.content, after.content)
		}
	}
	return nil
}

func (o *outcome) onlyFiles(_ comparison, expect values) error {
	want, got := texts(expect["only_files"]), []string{}
	for path := range o.after {
		if _, was := o.site.before[path]; was && strings.HasPrefix(path, ".obsidian/") {
			continue
		}
		got = append(got, path)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		return differ("only_files", want, got)
	}
	return nil
}

func (o *outcome) stillSymlink(_ comparison, expect values) error {
	for _, path := range texts(expect["still_symlink"]) {
		if o.after[path].mode.Type() != fs.ModeSymlink {
			return fmt.Errorf("%q is no symbolic link", path)
		}
	}
	return nil
}

func (o *outcome) mode(_ comparison, expect values) error {
	want, ok := expect["mode"].(values)
	if !ok {
		return unsupported("mode is no object")
	}
	for path, mode := range want {
		if got := fmt.Sprintf("%04o", o.after[path].mode.Perm()); got != mode {
			return differ("mode of "+path, mode, got)
		}
	}
	return nil
}

// resolves says where links lead afterwards, however they are spelled.
func (o *outcome) resolves(c comparison, expect values) error {
	triples, ok := expect["resolves"].([]any)
	if !ok {
		return unsupported("resolves is no list")
	}
	v, err := vault.Open(o.site.dir)
	if err != nil {
		return err
	}
	defer v.Close()
	now := &site{ctx: o.site.ctx, dir: o.site.dir, vault: v}
	for _, t := range triples {
		triple, _ := t.([]any)
		if len(triple) != 3 {
			return unsupported("resolves without triples")
		}
		file, _ := triple[0].(string)
		number, _ := triple[1].(json.Number)
		all, err := now.links(file)
		if err != nil {
			return err
		}
		i, err := number.Int64()
		if err != nil || i < 0 || int(i) >= len(all) {
			return fmt.Errorf("%s has no link %v", file, triple[1])
		}
		if got := all[i].(values)["resolved"]; !c.same(triple[2], got) {
			return differ(fmt.Sprintf("link %d of %s", i, file), triple[2], got)
		}
	}
	return nil
}

func (o *outcome) pathsInclude(c comparison, expect values) error {
	if o.err != nil {
		return nil
	}
	if _, ok := o.op.keys["paths"]; !ok {
		return unsupported("paths_include without paths")
	}
	got, err := plain(o.got.data["paths"])
	if err != nil {
		return err
	}
	have, _ := got.([]any)
	for _, w := range texts(expect["paths_include"]) {
		if !slices.ContainsFunc(have, func(g any) bool { return c.same(w, g) }) {
			return differ("paths_include", expect["paths_include"], got)
		}
	}
	return nil
}
