package git

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// oid is an object's name in bytes.
type oid [20]byte

func (o oid) id() ID { return ID(hex.EncodeToString(o[:])) }

// parseOID reads 40 hex digits.
func parseOID(s string) (o oid, ok bool) {
	if len(s) != 40 {
		return o, false
	}
	_, err := hex.Decode(o[:], []byte(s))
	return o, err == nil
}

// Head reads HEAD of this work tree, and the branch that it names. A file that
// cannot be read is an error, not an unborn branch.
func (r *Repo) Head() (Head, error) {
	target, id, err := r.rawRef("HEAD")
	if err != nil {
		return Head{}, err
	}
	if target == "" {
		if id == "" {
			return Head{}, broken("HEAD", "it is not there")
		}
		return Head{Commit: id}, nil
	}
	id, err = r.ref(target)
	return Head{Ref: target, Commit: id}, err
}

// ref is what a full ref name stands for, "" if there is none.
func (r *Repo) ref(name string) (ID, error) {
	for range 5 { // as deep as git follows names of names
		target, id, err := r.rawRef(name)
		if err != nil || target == "" {
			return id, err
		}
		name = target
	}
	return "", broken("ref "+name, "it leads to itself")
}

// rawRef reads one ref: the name that it is for another, or an id, or neither.
func (r *Repo) rawRef(name string) (target string, id ID, err error) {
	if !refName(name) {
		return "", "", broken("refs", fmt.Sprintf("%q is no name of one", name))
	}
	path := filepath.Join(r.refFolder(name), filepath.FromSlash(name))
	if to, err := os.Readlink(path); err == nil && refName(filepath.ToSlash(to)) {
		return filepath.ToSlash(to), "", nil // how git once wrote HEAD
	}
	b, err := readFile(path, maxSmall)
	switch {
	case absent(err) || errors.Is(err, syscall.EISDIR):
		// Deleting or packing refs may leave an empty folder.
		id, err = r.packedRef(name)
		return "", id, err
	case err != nil:
		return "", "", broken("ref "+name, err)
	}
	text := strings.TrimSpace(string(b))
	if to, ok := strings.CutPrefix(text, "ref:"); ok {
		if to = strings.TrimSpace(to); !refName(to) {
			return "", "", broken("ref "+name, "it names no ref")
		}
		return to, "", nil
	}
	text, _, _ = strings.Cut(text, "\n") // FETCH_HEAD and the like say more
	if len(text) > 40 && (text[40] == ' ' || text[40] == '\t') {
		text = text[:40]
	}
	o, ok := parseOID(text)
	if !ok {
		return "", "", broken("ref "+name, "it holds no object name")
	}
	return "", o.id(), nil
}

// refName reports whether a name can be that of a ref and leads to no file out
// of the refs: HEAD or its like, or a name below refs/.
func refName(name string) bool {
	if !strings.HasPrefix(name, "refs/") {
		return name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == ""
	}
	for _, part := range strings.Split(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") || strings.HasSuffix(part, ".") {
			return false
		}
	}
	return !strings.Contains(name, "..") && !strings.Contains(name, "@{") &&
		!strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c == 0x7f || strings.ContainsRune(`~^:?*[\`, c) })
}

// refFolder is where a ref is kept: HEAD and a few more are each work tree's own.
func (r *Repo) refFolder(name string) string {
	for _, own := range []string{"refs/bisect/", "refs/worktree/", "refs/rewritten/"} {
		if strings.HasPrefix(name, own) {
			return r.Dir
		}
	}
	if strings.HasPrefix(name, "refs/") {
		return r.Common
	}
	return r.Dir
}

// packedRef is what packed-refs says of a ref, "" if nothing.
func (r *Repo) packedRef(name string) (ID, error) {
	var found ID
	err := r.packedRefs(func(n string, id ID) {
		if n == name {
			found = id
		}
	})
	return found, err
}

// packedRefs calls each with all refs of the file packed-refs.
func (r *Repo) packedRefs(each func(name string, id ID)) error {
	b, err := readFile(filepath.Join(r.Common, "packed-refs"), maxTable)
	if absent(err) {
		return nil
	}
	if err != nil {
		return broken("packed-refs", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(b))
	lines.Buffer(nil, maxSmall)
	for lines.Scan() {
		line := lines.Text()
		if line == "" || line[0] == '#' || line[0] == '^' {
			continue
		}
		id, name, _ := strings.Cut(line, " ")
		if _, ok := parseOID(id); !ok || name == "" {
			return broken("packed-refs", "a line of it is no ref")
		}
		each(name, ID(id))
	}
	if err := lines.Err(); err != nil {
		return broken("packed-refs", err)
	}
	return nil
}
