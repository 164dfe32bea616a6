package field

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// values is a JSON object; numbers in it are json.Number.
type values = map[string]any

// fieldCase is one case of a file of cases.
type fieldCase struct {
	ID        string
	Files     values
	Op        operation
	Expect    values
	Why       string
	Certainty string
	Optional  bool

	kind string // the file's name
}

// operation is what is done with the files of a case.
type operation struct {
	What string
	Args values
}

// load reads every file of cases in a folder, in the order of their names.
func load(dir string) ([]fieldCase, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no *.json in %q", dir)
	}
	var all []fieldCase
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var cases []fieldCase
		if err := decode(raw, &cases); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for i := range cases {
			cases[i].kind = strings.TrimSuffix(filepath.Base(file), ".json")
		}
		all = append(all, cases...)
	}
	return all, nil
}

// decode reads JSON without rounding its numbers.
func decode(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(into)
}

// plain is a value as JSON has it.
func plain(v any) (any, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var out any
	return out, decode(raw, &out)
}

// plant writes the files of a case. What does not exist yet when a link is made
// does not matter: links come last.
func plant(dir string, files values) error {
	if len(files) == 0 {
		files = values{".obsidian/app.json": "{}"}
	}
	var links []string
	for _, p := range slices.Sorted(maps.Keys(files)) {
		full := filepath.Join(dir, filepath.FromSlash(p))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			return err
		}
		if spec, ok := files[p].(values); ok && spec["symlink"] != nil {
			links = append(links, p)
			continue
		}
		content, mode, err := fileOf(files[p])
		if err != nil {
			return fmt.Errorf("file %q: %w", p, err)
		}
		if err := os.WriteFile(full, content, 0o644); err != nil {
			return err
		}
		if mode != 0 {
			if err := os.Chmod(full, mode); err != nil {
				return err
			}
		}
	}
	for _, p := range links {
		target, _ := files[p].(values)["symlink"].(string)
		if err := os.Symlink(target, filepath.Join(dir, filepath.FromSlash(p))); err != nil {
			return err
		}
	}
	return nil
}

// fileOf is the content of a file as a case writes it, and its mode or 0.
func fileOf(spec any) ([]byte, fs.FileMode, error) {
	switch spec := spec.(type) {
	case string:
		return []byte(spec), 0, nil
	case values:
		if s, ok := spec["base64"].(string); ok && len(spec) == 1 {
			b, err := base64.StdEncoding.DecodeString(s)
			return b, 0, err
		}
		if s, ok := spec["mode"].(string); ok && len(spec) == 2 {
			mode, err := strconv.ParseUint(s, 8, 12)
			if err != nil {
				return nil, 0, err
			}
			b, _, err := fileOf(spec["content"])
			return b, fs.FileMode(mode), err
		}
		if unit, ok := spec["repeat"].(string); ok && len(spec) == 2 {
			n, err := strconv.Atoi(fmt.Sprint(spec["count"]))
			return []byte(strings.Repeat(unit, max(n, 0))), 0, err
		}
	}
	return nil, 0, fmt.Errorf("no content in %v", spec)
}

// entry is a file on disk at one moment.
type entry struct {
	content string
	mode    fs.FileMode
	link    string
}

// snapshot is every file below a folder, by its path from there.
func snapshot(dir string) (map[string]entry, error) {
	all := map[string]entry{}
	err := filepath.WalkDir(dir, func(full string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, full)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		e := entry{mode: info.Mode()}
		if e.mode.Type() == fs.ModeSymlink {
			e.link, err = os.Readlink(full)
		} else {
			var b []byte
			b, err = os.ReadFile(full)
			e.content = string(b)
		}
		all[filepath.ToSlash(rel)] = e
		return err
	})
	return all, err
}
