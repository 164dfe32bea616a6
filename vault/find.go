package vault

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"vault-mcp/internal/fault"
)

// maxLinks is how many symbolic links one look-up follows.
const maxLinks = 40

// maxCandidates is how many spellings an ambiguous name is answered with.
const maxCandidates = 10

// Find finds the file or folder that arg means: by its exact name, else by the
// only one that is equal when composed (NFC), else by the only one that is
// equal without regard to case; component by component. Symbolic links are
// followed as long as they stay inside the vault.
//
// Errors: what Clean refuses, and a link that leads outside, is path_invalid;
// several names that only differ in case or form are invalid_input with
// details.candidates; all that is not there, is neither file nor folder, or
// may not be known of by keep, is note_not_found with details.closest: up to
// three names of the deepest folder that exists, none without a keep. An answer
// depends on nothing that keep rejects.
func (v *Vault) Find(arg string, keep Filter) (Path, error) {
	clean, err := Clean(arg)
	if err != nil {
		return Path{}, err
	}
	return v.find(arg, clean, keep, anything).result(`No file or folder at %q.`)
}

// FindNote is Find for a file. Where arg names a folder or nothing, arg with
// ".md" behind it is meant. If only a folder is there, note_not_found says so.
func (v *Vault) FindNote(arg string, keep Filter) (Path, error) {
	clean, err := Clean(arg)
	if err != nil {
		return Path{}, err
	}
	if clean == "" {
		return Path{}, absent("%q is a folder, not a note or file.", arg, nil)
	}
	asGiven := v.find(arg, clean, keep, file)
	if asGiven.err == nil || isOutside(asGiven.err) {
		return asGiven.result(`No note or file at %q.`)
	}
	withMD := v.find(arg, clean+".md", keep, file)
	if !withMD.missing() {
		return withMD.result("")
	}
	if asGiven.missing() && v.find(arg, clean, keep, dir).err == nil {
		return Path{}, absent("%q is a folder, not a note or file.", arg, nil)
	}
	if asGiven.missing() && len(withMD.closest) > 0 {
		return withMD.result(`No note or file at %q.`)
	}
	return asGiven.result(`No note or file at %q.`)
}

// FindFolder is Find for a folder. "" is the root folder; slashes at either
// end do not matter. If only a file is there, note_not_found says so.
func (v *Vault) FindFolder(arg string, keep Filter) (Path, error) {
	clean, err := Clean(strings.Trim(arg, "/"))
	if err != nil {
		return Path{}, err
	}
	found := v.find(arg, clean, keep, dir)
	if found.missing() && v.find(arg, clean, keep, file).err == nil {
		return Path{}, absent("%q is a file, not a folder.", arg, nil)
	}
	return found.result(`No folder at %q.`)
}

// sought is what the last name of a look-up may be.
type sought int

const (
	anything sought = iota
	file
	dir
)

// fits reports whether an entry can be what is sought, or lead there.
func (s sought) fits(n node) bool {
	switch {
	case n.isLink():
		return true
	case n.isDir():
		return s != file
	}
	return n.isRegular() && s != dir
}

// finding is the outcome of one look-up. If err is errMissing, closest are
// the names that come nearest to the one that is missing.
type finding struct {
	path    Path
	err     error
	arg     string
	closest []string
}

var errMissing = errors.New("missing")

func (f finding) missing() bool { return f.err == errMissing }

// result is the finding as an answer; message is for what is missing.
func (f finding) result(message string) (Path, error) {
	if f.missing() {
		return Path{}, absent(message, f.arg, f.closest)
	}
	return f.path, f.err
}

// absent is the one error for what is not there and what is hidden.
func absent(message, arg string, closest []string) error {
	if closest == nil {
		closest = []string{}
	}
	return fault.New(fault.NoteNotFound, message, arg).With("closest", closest)
}

func isOutside(err error) bool { return fault.Of(err).Code == fault.PathInvalid }

// lookup walks from the root to one path.
type lookup struct {
	v     *Vault
	arg   string
	keep  Filter
	want  sought
	links int

	trail []step // the folders from the root to where it is
}

type step struct {
	rel string
	folder
}

func (v *Vault) find(arg, clean string, keep Filter, want sought) finding {
	l := &lookup{v: v, arg: arg, keep: keep, want: want}
	defer func() {
		for _, s := range l.trail {
			s.close()
		}
	}()
	f := finding{arg: arg}
	root, err := v.enter(v.root, v.dir)
	if err == nil {
		l.trail = []step{{"", root}}
		var names []string
		if clean != "" {
			names = strings.Split(clean, "/")
		}
		f.path, f.closest, err = l.walk(names)
	}
	switch {
	case err == nil || err == errMissing:
		f.err = err
	case isAbsent(err) || err == errNotFolder:
		f.err = errMissing // it vanished on the way
	default:
		f.err = l.fault(err)
	}
	return f
}

// fault is what a caller is told when a folder that it may know of, or may
// not, cannot be looked into: the same for both.
func (l *lookup) fault(err error) error {
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	if errors.Is(err, fs.ErrPermission) {
		return fault.New(fault.Internal, "The operating system does not let the server look for %q.", l.arg).Because(err)
	}
	return fault.New(fault.Internal, "The look-up of %q failed.", l.arg).Because(err)
}

// walk goes along names, which may hold "." and ".." where they come from
// links.
func (l *lookup) walk(names []string) (Path, []string, error) {
	for len(names) > 0 {
		name := names[0]
		names = names[1:]
		switch {
		case name == "" || name == ".":
			continue
		case name == "..":
			if len(l.trail) == 1 {
				return Path{}, nil, l.outside()
			}
			l.up()
			continue
		case name[0] == '.':
			return Path{}, nil, l.outside()
		}
		want := l.want
		if len(names) > 0 {
			want = dir
		}
		name, n, closest, err := l.pick(name, want)
		if err != nil {
			if l.links > 0 {
				closest = nil // they would be neighbours of a link's target
			}
			return Path{}, closest, err
		}
		here := l.trail[len(l.trail)-1]
		rel := join(here.rel, name)
		switch {
		case n.isDir():
			child, err := here.openDir(name)
			if err != nil {
				return Path{}, nil, err
			}
			l.trail = append(l.trail, step{rel, child})
		case n.isLink():
			target, err := l.follow(here, name)
			if err != nil {
				return Path{}, nil, err
			}
			names = append(target, names...)
		default:
			if slices.ContainsFunc(names, func(s string) bool { return s != "" }) {
				return Path{}, nil, errMissing
			}
			return Path{rel, n}, nil, nil
		}
	}
	end := l.trail[len(l.trail)-1]
	n, err := end.self()
	if err == nil && l.want == file {
		err = errMissing
	}
	return Path{end.rel, n}, nil, err
}

func (l *lookup) up() {
	l.trail[len(l.trail)-1].close()
	l.trail = l.trail[:len(l.trail)-1]
}

// outside refuses a link that leaves the vault, without saying where to.
func (l *lookup) outside() error {
	return fault.New(fault.PathInvalid, "The path %q leads outside the vault by a symbolic link; only files inside the vault can be used.", l.arg)
}

// follow returns the names that a link stands for, from the folder where the
// look-up then is.
func (l *lookup) follow(here step, name string) ([]string, error) {
	if l.links++; l.links > maxLinks {
		return nil, errMissing
	}
	target, err := here.readlink(name)
	if err != nil {
		return nil, err
	}
	if !filepath.IsAbs(target) {
		if filepath.VolumeName(target) != "" || strings.HasPrefix(filepath.ToSlash(target), "/") {
			return nil, l.outside()
		}
		return strings.Split(filepath.ToSlash(target), "/"), nil
	}
	target = strings.TrimPrefix(target, `\\?\`)
	for _, root := range []string{l.v.dir, l.v.typed} {
		if rest, ok := strings.CutPrefix(target, root); ok && (rest == "" || rest[0] == filepath.Separator) {
			for len(l.trail) > 1 {
				l.up()
			}
			return strings.Split(filepath.ToSlash(rest), "/"), nil
		}
	}
	return nil, l.outside()
}

// knows reports whether an entry belongs to the vault and may be known of.
func (l *lookup) knows(rel string, n node) bool {
	switch {
	case n.isLink():
		return l.keep.lets(rel, false) && l.keep.lets(rel, true)
	case n.isDir(), n.isRegular():
		return l.keep.lets(rel, n.isDir())
	}
	return false
}

// pick finds the entry of the current folder that name means. Without one the
// error is errMissing, with the closest entries.
func (l *lookup) pick(name string, want sought) (string, node, []string, error) {
	here := l.trail[len(l.trail)-1]
	n, err := here.lstat(name)
	if err != nil && !isAbsent(err) {
		return "", node{}, nil, err
	}
	if err == nil && want.fits(n) && !l.mayBeSpelledOtherwise(here, name, n) && l.knows(join(here.rel, name), n) {
		return name, n, nil, nil
	}
	entries, err := here.entries()
	if err != nil {
		return "", node{}, nil, err
	}
	name, n, err = l.choose(here, entries, name, want)
	if err == errMissing {
		if l.keep == nil { // it looks everywhere: what it would name may be hidden from who asks
			return "", node{}, nil, err
		}
		return "", node{}, l.nearest(here.rel, entries, name, want), err
	}
	return name, n, nil, err
}

// mayBeSpelledOtherwise reports whether the file system found name although
// its folder may list it in other case or form.
func (l *lookup) mayBeSpelledOtherwise(here step, name string, n node) bool {
	return otherSpellings(name, func(s string) bool {
		o, err := here.lstat(s)
		return err == nil && o.same(n)
	})
}

// candidate is an entry that a name may mean; rank 0 is equal, 1 is equal when
// composed, 2 is equal when folded.
type candidate struct {
	name string
	n    node
	rank int
}

// choose finds the one entry that name means: of the best rank there is, files
// and folders before links. The name that is missing is returned with
// errMissing.
func (l *lookup) choose(here step, entries []fs.DirEntry, name string, want sought) (string, node, error) {
	composed, folded := norm.NFC.String(name), FoldName(name)
	var found []candidate
	for _, e := range entries {
		c := candidate{name: e.Name()}
		switch {
		case c.name[0] == '.' || !nameable(c.name):
			continue
		case c.name == name:
		case norm.NFC.String(c.name) == composed:
			c.rank = 1
		case FoldName(c.name) == folded:
			c.rank = 2
		default:
			continue
		}
		var err error
		if c.n, err = here.lstat(c.name); err == nil && want.fits(c.n) && l.knows(join(here.rel, c.name), c.n) {
			found = append(found, c)
		}
	}
	if len(found) == 0 {
		return name, node{}, errMissing
	}
	order := func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.n.typ&fs.ModeSymlink, b.n.typ&fs.ModeSymlink))
	}
	slices.SortFunc(found, func(a, b candidate) int { return cmp.Or(order(a, b), strings.Compare(a.name, b.name)) })
	best := found[0]
	var spellings []string
	for _, c := range found {
		if order(c, best) == 0 && len(spellings) < maxCandidates {
			spellings = append(spellings, join(here.rel, c.name))
		}
	}
	if len(spellings) > 1 {
		return "", node{}, fault.New(fault.InvalidInput, "%q is ambiguous: several names differ from it only in case or accents.", l.arg).
			With("candidates", spellings)
	}
	return best.name, best.n, nil
}
