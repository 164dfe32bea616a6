// Command raw is the least work that an index can be: walk, read, scan the
// lines for links and tags, insert into SQLite with FTS5, and answer from that.
// It governs nothing and follows no change. What the real index costs is
// measured against it.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: raw index|warm|serve <vault> <database>")
		os.Exit(2)
	}
	do := map[string]func(root, name string) error{"index": index, "warm": warm, "serve": serve}[os.Args[1]]
	if do == nil {
		do = func(string, string) error { return errors.New("no such command") }
	}
	if err := do(os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "raw:", err)
		os.Exit(1)
	}
}

type file struct {
	path        string
	size, mtime int64
}

func walk(root string) ([]file, error) {
	var files []file
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && p != root:
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(d.Name(), ".md"):
			return nil
		}
		info, err := d.Info()
		if err == nil {
			files = append(files, file{p[len(root)+1:], info.Size(), info.ModTime().UnixNano()})
		}
		return err
	})
	return files, err
}

type linked struct {
	to   string
	line int
}

type scanned struct {
	file
	text  []byte
	links []linked
	tags  []string
}

// key is what links and notes meet under.
func key(target string) string {
	if i := strings.IndexAny(target, "#|"); i >= 0 {
		target = target[:i]
	}
	return strings.ToLower(strings.TrimSuffix(path.Base(target), ".md"))
}

// scan finds the links and tags of a note, line by line, outside of fences.
func scan(f file, text []byte) scanned {
	s := scanned{file: f, text: text}
	fenced, n := false, 0
	for line := range bytes.Lines(text) {
		n++
		if bytes.HasPrefix(line, []byte("```")) {
			fenced = !fenced
		}
		if fenced {
			continue
		}
		for _, b := range [][2]string{{"[[", "]]"}, {"](", ")"}} {
			for rest := line; ; {
				_, after, ok := bytes.Cut(rest, []byte(b[0]))
				target, next, closed := bytes.Cut(after, []byte(b[1]))
				if !ok || !closed {
					break
				}
				s.links = append(s.links, linked{key(string(target)), n})
				rest = next
			}
		}
		for i, c := range line {
			if c != '#' || i > 0 && line[i-1] != ' ' {
				continue
			}
			tag := line[i+1:]
			if end := bytes.IndexAny(tag, " \t\r\n.,;:!?)#"); end > 0 {
				s.tags = append(s.tags, string(tag[:end]))
			}
		}
	}
	return s
}

const perTransaction = 500

func index(root, name string) error {
	d, err := open(name)
	if err != nil {
		return err
	}
	defer d.close()
	err = d.run("CREATE TABLE notes (id INTEGER PRIMARY KEY, path TEXT, key TEXT, size INTEGER, mtime INTEGER)",
		"CREATE TABLE links (src INTEGER, dst TEXT, line INTEGER)", "CREATE TABLE tags (note INTEGER, tag TEXT)",
		"CREATE VIRTUAL TABLE words USING fts5(title, body, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2')")
	if err != nil {
		return err
	}
	var into [4]stmt
	for i, q := range []string{"INSERT INTO notes VALUES (?, ?, ?, ?, ?)", "INSERT INTO links VALUES (?, ?, ?)",
		"INSERT INTO tags VALUES (?, ?)", "INSERT INTO words (rowid, title, body) VALUES (?, ?, ?)"} {
		if into[i], err = d.prepare(q); err != nil {
			return err
		}
	}
	files, err := walk(root)
	if err != nil {
		return err
	}
	// The order of insertion is the one of reading; nothing depends on it.
	work, done := make(chan file, 64), make(chan scanned, 64)
	var readers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		readers.Go(func() {
			for f := range work {
				if text, err := os.ReadFile(root + "/" + f.path); err == nil {
					done <- scan(f, text)
				}
			}
		})
	}
	go func() {
		for _, f := range files {
			work <- f
		}
		close(work)
		readers.Wait()
		close(done)
	}()
	id := int64(0)
	for s := range done {
		if id%perTransaction == 0 {
			if id > 0 {
				err = d.run("COMMIT")
			}
			err = errors.Join(err, d.run("BEGIN"))
		}
		id++
		title := strings.TrimSuffix(path.Base(s.path), ".md")
		err = errors.Join(err, into[0].exec(id, s.path, strings.ToLower(title), s.size, s.mtime), into[3].exec(id, title, string(s.text)))
		for _, l := range s.links {
			err = errors.Join(err, into[1].exec(id, l.to, int64(l.line)))
		}
		for _, t := range s.tags {
			err = errors.Join(err, into[2].exec(id, t))
		}
		if err != nil {
			return err
		}
	}
	if id > 0 {
		err = d.run("COMMIT")
	}
	return errors.Join(err, d.run("CREATE INDEX links_dst ON links (dst)", "PRAGMA wal_checkpoint(TRUNCATE)"))
}

// warm loads what queries need in memory and compares every file with it.
func warm(root, name string) error {
	d, err := open(name)
	if err != nil {
		return err
	}
	defer d.close()
	known := map[string]file{}
	links, tags := map[int64][]string{}, map[int64][]string{}
	all := func(query string, row func([]any)) {
		s, failed := d.prepare(query)
		if failed == nil {
			failed = s.query(row)
		}
		err = errors.Join(err, failed)
	}
	all("SELECT path, size, mtime FROM notes", func(r []any) {
		known[r[0].(string)] = file{r[0].(string), r[1].(int64), r[2].(int64)}
	})
	all("SELECT src, dst FROM links", func(r []any) { links[r[0].(int64)] = append(links[r[0].(int64)], r[1].(string)) })
	all("SELECT note, tag FROM tags", func(r []any) { tags[r[0].(int64)] = append(tags[r[0].(int64)], r[1].(string)) })
	files, walked := walk(root)
	if err = errors.Join(err, walked); err != nil {
		return err
	}
	for _, f := range files {
		if known[f.path] != f {
			return fmt.Errorf("%s changed", f.path)
		}
	}
	return nil
}
