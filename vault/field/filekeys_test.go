package field

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"vault-mcp/vault"
	"vault-mcp/vault/note"
)

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
