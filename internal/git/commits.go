package git

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing"
)

// Person is who made something, and when, in their own time zone.
type Person struct {
	Name, Email string
	When        time.Time
}

// Commit is one commit. Its texts are UTF-8.
type Commit struct {
	ID, Tree ID
	// Parents are as the repository has them: none at the end of a shallow clone.
	Parents []ID
	// Author wrote the change, Committer made this commit of it.
	Author, Committer Person
	// Message is all of it, with its line ends.
	Message string
}

// Subject is the first paragraph of the message on one line.
func (c Commit) Subject() string {
	text := strings.TrimLeft(c.Message, "\n")
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimRight(line, " \t\r\v\f"); line == "" {
			break
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, " ")
}

// maxCommit bounds what is read of a commit or a tag, in bytes.
const maxCommit = 16 << 20

// Commit reads a commit.
func (r *Repo) Commit(id ID) (Commit, error) {
	o, err := r.objects()
	if err != nil {
		return Commit{}, err
	}
	defer o.close()
	at, err := wantOID(id)
	if err != nil {
		return Commit{}, err
	}
	return o.commit(at)
}

func wantOID(id ID) (oid, error) {
	o, ok := parseOID(string(id))
	if !ok {
		return o, errors.New("not the full name of an object: " + strconv.Quote(string(id)))
	}
	return o, nil
}

func (o *objects) commit(id oid) (Commit, error) {
	b, err := o.get(id, plumbing.CommitObject, maxCommit)
	if err != nil {
		return Commit{}, err
	}
	c, err := parseCommit(b)
	if err != nil {
		return Commit{}, o.named(id, err)
	}
	c.ID = id.id()
	if o.shallow[id] {
		c.Parents = nil
	}
	return c, nil
}

// treeOf is the tree of a commit.
func (o *objects) treeOf(id ID) (oid, error) {
	at, err := wantOID(id)
	if err != nil {
		return at, err
	}
	c, err := o.commit(at)
	if err != nil {
		return at, err
	}
	return wantOID(c.Tree)
}

// parseCommit reads the data of a commit.
func parseCommit(b []byte) (c Commit, err error) {
	head, message, _ := bytes.Cut(b, []byte("\n\n"))
	encoding, ended := "", false
	for line := range strings.SplitSeq(string(head), "\n") {
		key, value, _ := strings.Cut(line, " ")
		switch key {
		case "tree", "parent":
			if ended {
				return c, errors.New("its head is out of order")
			}
			if _, ok := parseOID(value); !ok {
				return c, errors.New("it names no object as its " + key)
			}
			if key == "parent" {
				c.Parents = append(c.Parents, ID(value))
			} else if c.Tree == "" {
				c.Tree = ID(value)
			}
		case "author":
			ended = true
			c.Author = person(value)
		case "committer":
			c.Committer = person(value)
		case "encoding":
			encoding = value
		}
	}
	if c.Tree == "" {
		return c, errors.New("it has no tree")
	}
	c.Message = toUTF8(string(message), encoding)
	for _, p := range []*Person{&c.Author, &c.Committer} {
		p.Name, p.Email = toUTF8(p.Name, encoding), toUTF8(p.Email, encoding)
	}
	return c, nil
}

// person reads "Name <email> seconds zone". What is wrong with it is left out.
func person(s string) Person {
	open, end := strings.IndexByte(s, '<'), strings.LastIndexByte(s, '>')
	if open < 0 || end < open {
		return Person{Name: strings.TrimSpace(s)}
	}
	p := Person{Name: strings.TrimSpace(s[:open]), Email: strings.TrimSpace(s[open+1 : end])}
	at, zone, _ := strings.Cut(strings.TrimSpace(s[end+1:]), " ")
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return p
	}
	hhmm, err := strconv.Atoi(zone)
	if err != nil || hhmm < -9999 || hhmm > 9999 {
		hhmm = 0
	}
	p.When = time.Unix(seconds, 0).In(time.FixedZone("", hhmm/100*3600+hhmm%100*60))
	return p
}

// toUTF8 is a text as UTF-8. Of other encodings only Latin-1 is known; what is not
// readable becomes a mark.
func toUTF8(s, encoding string) string {
	if utf8.ValidString(s) {
		return s
	}
	switch strings.ToLower(encoding) {
	case "iso-8859-1", "iso8859-1", "latin1", "latin-1":
		r := make([]rune, len(s))
		for i := range len(s) {
			r[i] = rune(s[i])
		}
		return string(r)
	}
	return strings.ToValidUTF8(s, "\ufffd")
}
