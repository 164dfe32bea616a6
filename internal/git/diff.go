package git

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"vault-mcp/internal/run"
)

// DiffOptions say what is compared. Without any, the files are compared with
// the index.
type DiffOptions struct {
	// Staged compares the index instead of the files: with From, else with HEAD.
	Staged bool
	// Paths are the files or folders that are wanted; none: the vault's folder.
	Paths []string
	// From and To are commits. Without To, From is compared with the files or,
	// with Staged, with the index.
	From, To ID
	// MaxFile is how many bytes of one file's diff are given; 0: as many as of
	// all.
	MaxFile int64
}

// Diff is a bounded comparison.
type Diff struct {
	Files []FileDiff
	// More says that there are more files than were looked at.
	More bool
}

// FileDiff is how one file differs.
type FileDiff struct {
	Change
	// Binary says that the file has no lines to compare.
	Binary bool
	// Added and Removed count lines, those that were cut off too.
	Added, Removed int
	// Text is a unified diff with its header, whole lines only.
	Text string
	// Cut is how many bytes of it were left out.
	Cut int64
}

const (
	// maxDiffFiles is how many files a diff lists.
	maxDiffFiles = 10_000
	// maxArgs bounds the bytes of paths in one run: Windows takes 32 KB.
	maxArgs = 20 << 10
)

var errEnough = errors.New("enough")

// Diff compares as git diff does, so that attributes and line ends count; a
// file in conflict with what our side has. No
// program that the config or attributes name for showing differences runs.
// Without the git program renames are a deletion and an addition.
// It gives at most max bytes of text, and says of each file what was left out.
func (r *Repo) Diff(ctx context.Context, o DiffOptions, max int64) (*Diff, error) {
	args := []string{
		"-c", "diff.autoRefreshIndex=false", // which would write the index
		"diff", "--raw", "-z", "--patch", "--no-abbrev", "--no-color", "--no-ext-diff", "--no-textconv",
		"--src-prefix=a/", "--dst-prefix=b/", "--no-relative", "--find-renames", "-l1000", "--unified=3",
		"--inter-hunk-context=0", "--submodule=short", "--ignore-submodules=dirty", "--word-diff=none", "-O/dev/null",
	}
	switch {
	case o.Staged:
		args = append(args, "--cached")
	case o.From == "":
		args = append(args, "--ours") // else git writes a conflict in another form
	}
	for _, id := range []ID{o.From, o.To} {
		if id == "" {
			continue
		}
		if _, ok := parseOID(string(id)); !ok {
			return nil, refused("revision", "%q is no commit.", id)
		}
		args = append(args, string(id))
	}
	if o.To != "" && (o.From == "" || o.Staged) {
		return nil, refused("revision", "Two commits are compared, or one with the index or the files.")
	}
	paths := o.Paths
	if len(paths) == 0 {
		paths = r.prefix()
	}
	for _, p := range paths {
		if err := plainPath(p); err != nil {
			return nil, err
		}
	}
	if !r.hasProgram() {
		return r.diffAlone(ctx, o, paths, max)
	}
	p := &diffReader{left: max, maxFile: o.MaxFile}
	if p.maxFile <= 0 {
		p.maxFile = max
	}
	for {
		some := paths
		for n, i := 0, 0; i < len(paths); i++ {
			if n += len(paths[i]) + 1; n > maxArgs && i > 0 {
				some = paths[:i]
				break
			}
		}
		paths = paths[len(some):]
		p.begin()
		err := r.stream(ctx, call{args: append(append(args[:len(args):len(args)], "--"), some...), timeout: slow}, p)
		if err == nil {
			err = p.end()
		}
		if errors.Is(err, errEnough) || errors.Is(err, run.ErrTooMuch) {
			p.keep()
			p.diff.More = true
			return p.changed(), nil
		}
		if err != nil {
			return nil, err
		}
		if len(paths) == 0 {
			return p.changed(), nil
		}
	}
}

// diffReader reads what git diff --raw -z --patch writes, as it comes.
type diffReader struct {
	diff Diff
	// lines are how many lines the patch of each file has.
	lines []int
	// left is how many bytes of text may still be kept.
	left, maxFile int64
	// rest is the begin of a field or line whose end has not come.
	rest []byte
	// patch is whether the list of files has ended.
	patch bool
	// raw are the fields of a file in the list that have come.
	raw []string
	// files are this run's by the first line of their patch.
	files map[string]int
	// at is the file of the patch that comes, or -1; hunk is whether its header
	// has ended; text is what is kept of it; closed is whether more is left out.
	at     int
	hunk   bool
	text   []byte
	closed bool
}

var errDiff = errors.New("git diff wrote something unknown")

// begin makes it ready for one run of git.
func (p *diffReader) begin() {
	p.rest, p.patch, p.raw, p.files, p.at = nil, false, nil, map[string]int{}, -1
}

// end is called when git has written all.
func (p *diffReader) end() error {
	if len(p.raw) > 0 || len(p.rest) > 0 && !p.patch {
		return errDiff
	}
	if len(p.rest) > 0 {
		if err := p.line(p.rest); err != nil {
			return err
		}
	}
	p.keep()
	return nil
}

func (p *diffReader) Write(b []byte) (int, error) {
	p.rest = append(p.rest, b...)
	used := 0
	for {
		end := byte(0)
		if p.patch {
			end = '\n'
		}
		i := bytes.IndexByte(p.rest[used:], end)
		if i < 0 {
			break
		}
		part, err := p.rest[used:used+i+1], error(nil)
		used += len(part)
		if p.patch {
			err = p.line(part)
		} else {
			err = p.field(string(part[:i]))
		}
		if err != nil {
			return 0, err
		}
	}
	p.rest = append(p.rest[:0], p.rest[used:]...)
	return len(b), nil
}

// field takes a field of the list of files. An empty one ends the list.
func (p *diffReader) field(f string) error {
	if len(p.raw) == 0 && f == "" {
		p.patch = true
		return nil
	}
	p.raw = append(p.raw, f)
	info := strings.Fields(p.raw[0])
	if len(info) != 5 || info[0][0] != ':' || info[4] == "" {
		return errDiff
	}
	c := Change{Status: info[4][0]}
	if twice := c.Status == 'R' || c.Status == 'C'; len(p.raw) < 2 || twice && len(p.raw) < 3 {
		return nil
	}
	if c.Path = p.raw[len(p.raw)-1]; len(p.raw) == 3 {
		c.From = p.raw[1]
	}
	p.raw = p.raw[:0]
	for _, m := range []struct {
		text string
		mode *Mode
		id   string
		to   *ID
	}{{info[0][1:], &c.OldMode, info[2], &c.Old}, {info[1], &c.NewMode, info[3], &c.New}} {
		for _, d := range m.text {
			if d < '0' || d > '7' {
				return errDiff
			}
			*m.mode = *m.mode<<3 | Mode(d-'0')
		}
		if ID(m.id) != noID {
			*m.to = ID(m.id)
		}
	}
	before := c.Path
	if c.From != "" {
		before = c.From
	}
	line, _, _ := strings.Cut(c.Path, "\n")
	heads := []string{"diff --git " + quoted("a/"+before) + " " + quoted("b/"+c.Path), "* Unmerged path " + line}
	if i, ok := p.files[heads[0]]; ok { // a conflict is listed as such, and then as a change
		if p.diff.Files[i].Status == 'U' {
			return nil
		}
	}
	if len(p.diff.Files) == maxDiffFiles {
		return errEnough
	}
	for _, h := range heads {
		p.files[h] = len(p.diff.Files)
	}
	p.diff.Files, p.lines = append(p.diff.Files, FileDiff{Change: c}), append(p.lines, 0)
	return nil
}

// line takes a line of the patch. Within a file each begins with a blank, a
// sign or a word of the header, so one that begins another file is no text.
func (p *diffReader) line(line []byte) error {
	bare := strings.TrimSuffix(string(line), "\n")
	if strings.HasPrefix(bare, "diff --git ") || strings.HasPrefix(bare, "* Unmerged path ") {
		at, ok := p.files[bare]
		if !ok {
			return errDiff
		}
		if at != p.at { // else a file that became a link: it goes, then comes
			p.keep()
		}
		p.at, p.hunk = at, false
	}
	if p.at < 0 {
		return errDiff
	}
	p.lines[p.at]++
	f := &p.diff.Files[p.at]
	switch {
	case strings.HasPrefix(bare, "@@"):
		p.hunk = true
	case !p.hunk && strings.HasPrefix(bare, "Binary files "):
		f.Binary = true
	case p.hunk && strings.HasPrefix(bare, "+"):
		f.Added++
	case p.hunk && strings.HasPrefix(bare, "-"):
		f.Removed++
	}
	n := int64(len(line))
	if p.closed || n > p.left || int64(len(p.text))+n > p.maxFile {
		p.closed = true
		f.Cut += n
		return nil
	}
	p.left -= n
	p.text = append(p.text, line...)
	return nil
}

// changed is the diff without the files that were only touched: of them git
// writes no patch, or its first line alone.
func (p *diffReader) changed() *Diff {
	var files []FileDiff
	for i, f := range p.diff.Files {
		if f.Status != 'M' || f.OldMode != f.NewMode || p.lines[i] > 1 {
			files = append(files, f)
		}
	}
	p.diff.Files = files
	return &p.diff
}

// keep ends the patch of a file.
func (p *diffReader) keep() {
	if p.at >= 0 {
		p.diff.Files[p.at].Text = string(p.text)
	}
	p.text, p.closed = p.text[:0], false
}

// quoted is a path as git writes it in the header of a patch with
// core.quotePath off.
func quoted(path string) string {
	const short = "\a\b\t\n\v\f\r\"\\"
	var b strings.Builder
	plain := true
	for i := range len(path) {
		c := path[i]
		switch at := strings.IndexByte(short, c); {
		case at >= 0:
			b.WriteByte('\\')
			b.WriteByte(`abtnvfr"\`[at])
		case c < ' ' || c == 0x7f:
			b.Write([]byte{'\\', '0' + c>>6, '0' + c>>3&7, '0' + c&7})
		default:
			b.WriteByte(c)
			continue
		}
		plain = false
	}
	if plain {
		return path
	}
	return `"` + b.String() + `"`
}
