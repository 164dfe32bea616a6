package state_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"vault-mcp/cache/state"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/internal/secrets"
	"vault-mcp/vault"
	"vault-mcp/vault/change"
)

var soak = flag.Bool("soak", false, "run the long tests whole")

// fiftyFiles is a vault and a plan about it with every kind of edit, chains of
// them, folders and both kinds of removal.
func fiftyFiles() (tree, change.Plan) {
	t := tree{map[string]bool{"A": true, "A/sub": true, "B": true, "Old": true, "Gone": true, ".trash": true}, map[string]string{}}
	var p change.Plan
	text := func(n string) string { return strings.Repeat("text of "+n+"\n", 20) }
	add := func(path string) string { t.files[path] = text(path); return t.files[path] }
	put := func(path, old, now string) {
		p.Edits = append(p.Edits, change.NewPut(path, []byte(old), []byte(now)))
	}
	move := func(from, to, content string) {
		h := fingerprint.OfContent([]byte(content))
		p.Edits = append(p.Edits, change.Edit{Kind: change.Move, Path: from, To: to, Before: h, After: h})
	}
	for i := range 20 {
		f := fmt.Sprintf("%s/put %d.md", []string{"A", "B", "A/sub"}[i%3], i)
		old := add(f)
		put(f, old, old+"more\n")
	}
	for i := range 5 {
		p.Edits = append(p.Edits, change.NewCreate(fmt.Sprintf("A/new %d.md", i), []byte(text("new"))))
	}
	p.Edits = append(p.Edits, change.Edit{Kind: change.Mkdir, Path: "New"})
	for i := range 5 {
		f := fmt.Sprintf("B/move %d.md", i)
		c := add(f)
		move(f, fmt.Sprintf("New/moved %d.md", i), c)
		if i%2 == 0 { // and its own links change
			put(fmt.Sprintf("New/moved %d.md", i), c, c+"own link\n")
		}
	}
	one, two := add("one.md"), add("two.md")
	move("one.md", ".vault-mcp-turn.md", one) // two notes change places
	move("two.md", "one.md", two)
	move(".vault-mcp-turn.md", "two.md", one)
	c := add("case.md")
	move("case.md", "Case.md", c)
	for i := range 4 {
		add(fmt.Sprintf("Old/in folder %d.md", i))
	}
	p.Edits = append(p.Edits, change.Edit{Kind: change.Move, Dir: true, Path: "Old", To: "A/Old"})
	put("A/Old/in folder 1.md", t.files["Old/in folder 1.md"], "changed after its folder moved\n")
	for i := range 4 {
		f := fmt.Sprintf("trash %d.md", i)
		h := fingerprint.OfContent([]byte(add(f)))
		p.Edits = append(p.Edits, change.Edit{Kind: change.Remove, Path: f, To: ".trash/" + f, Before: h, After: h, Old: []byte(t.files[f])})
	}
	for i := range 4 {
		f := fmt.Sprintf("Gone/%d.md", i)
		h := fingerprint.OfContent([]byte(add(f)))
		p.Edits = append(p.Edits, change.Edit{Kind: change.Remove, Path: f, Before: h, Old: []byte(t.files[f])})
	}
	p.Edits = append(p.Edits, change.Edit{Kind: change.Remove, Path: "Gone", Dir: true})
	add("untouched.md")
	return t, p
}

type noting struct {
	change.Journal
	ops *record
}

func (n noting) Begin(ctx context.Context, r *change.Record) error {
	err := n.Journal.Begin(ctx, r)
	n.ops.add(op{what: "begin"})
	return err
}

func (n noting) End(ctx context.Context, r *change.Record) error {
	err := n.Journal.End(ctx, r)
	n.ops.add(op{what: "end"})
	return err
}

func applier(tb testing.TB, dir string, s *state.Store) *change.Applier {
	tb.Helper()
	v, err := vault.Open(dir)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { v.Close() })
	return &change.Applier{
		Disk: change.OnDisk(v, nil), Journal: s.Journal(), Now: time.Now,
		Lock: func(context.Context) (func(), error) { return func() {}, nil },
	}
}

func openState(tb testing.TB, dir string) *state.Store {
	tb.Helper()
	s, err := state.Open(tb.Context(), dir, secrets.NewProcessRing())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.Close() })
	return s
}

// recordOps applies the plan for real and tells what was done to files.
func recordOps(t *testing.T, was tree, plan change.Plan) (ops []op, id string, is tree) {
	t.Helper()
	dir := t.TempDir()
	was.put(t, dir)
	a := applier(t, dir, openState(t, t.TempDir()))
	noted := &record{}
	a.Disk, a.Journal = recorder{a.Disk, noted}, noting{a.Journal, noted}
	r := &change.Record{ID: change.NewID(), Tool: "t", Caller: "test"}
	if err := a.Apply(t.Context(), r, plan, func(context.Context) (change.Plan, error) { return plan, nil }); err != nil {
		t.Fatal(err)
	}
	return noted.ops, r.ID, read(t, dir)
}

// A power cut may come after any operation, and what was not synced may be lost
// or not, in any combination.
func TestAPowerCutLeavesEveryFileBeforeOrAfter(t *testing.T) {
	was, plan := fiftyFiles()
	ops, id, is := recordOps(t, was, plan)
	for f := range is.files {
		if strings.Contains(f, change.TempPrefix) {
			t.Fatalf("%s is left after a change", f)
		}
	}
	begin := slices.IndexFunc(ops, func(o op) bool { return o.what == "begin" })
	end := slices.IndexFunc(ops, func(o op) bool { return o.what == "end" })
	if begin != 0 || end != len(ops)-1 {
		t.Fatalf("files are changed outside the journal: begin %d, end %d of %d", begin, end, len(ops))
	}
	s := openState(t, t.TempDir())
	rng := rand.New(rand.NewPCG(1, 2))
	step, variants := 7, 3
	if *soak {
		step, variants = 1, 8
	}
	outcomes := map[change.Outcome]int{}
	for cut := 1; cut < len(ops); cut += step {
		for v := range variants {
			left := was.clone()
			for i, o := range ops[1:cut] {
				if !synced(o, ops[i+2:cut]) {
					switch {
					case v == 0: // everything that was not synced is lost
						continue
					case v > 1 && rng.IntN(2) == 0:
						continue
					}
				}
				left.do(renamed(o, id, ""))
			}
			if v == 1 {
				for _, o := range beingWritten(ops[cut:]) {
					o.content = torn(rng, o.content)
					left.do(renamed(o, id, ""))
				}
			}
			name := fmt.Sprintf("cut at %d of %d (%s %s), variant %d", cut, len(ops), ops[cut].what, ops[cut].a, v)
			outcomes[recoverFrom(t, name, s, left, plan, was, is)]++
		}
	}
	t.Log(outcomes)
	if outcomes[change.Applied] == 0 || outcomes[change.RolledBack] == 0 || outcomes[change.NotApplied] == 0 {
		t.Errorf("not every outcome was seen: %v", outcomes)
	}
}

// atOnce is how many files may be being written at the moment of the cut.
const atOnce = 64

// beingWritten are the writes that may have begun when the first of these
// operations was cut short: files are written ahead of their edits.
func beingWritten(ops []op) (writes []op) {
	for _, o := range ops[:min(len(ops), 3*atOnce)] {
		switch o.what {
		case "write":
			writes = append(writes, o)
		case "mkdir", "rmdir", "sync", "end":
			return writes
		}
	}
	return writes
}

// torn is what may be of a content on the disk: a part of it, and pages of it
// not yet.
func torn(rng *rand.Rand, content string) string {
	b := []byte(content[:rng.IntN(len(content)+1)])
	if rng.IntN(2) == 0 {
		clear(b[rng.IntN(len(b)+1):])
	}
	if rng.IntN(2) == 0 {
		clear(b[:rng.IntN(len(b)+1)])
	}
	return string(b)
}

// synced reports whether the folders of an operation were synced later.
func synced(o op, later []op) bool {
	in := func(dir string) bool {
		return slices.ContainsFunc(later, func(l op) bool { return l.what == "sync" && l.dir == dir })
	}
	return o.what == "sync" || in(o.dir) && (o.what != "move" || in(o.dir2))
}

const anyID = "0000000000000000"

// renamed is an operation with another id in its names.
func renamed(o op, from, to string) op {
	if to == "" {
		to = anyID
	}
	o.a, o.b = strings.ReplaceAll(o.a, from, to), strings.ReplaceAll(o.b, from, to)
	return o
}

// recoverFrom runs recovery on what was left, and looks whether all is as it
// was or all is as it was meant to be.
func recoverFrom(t *testing.T, name string, s *state.Store, left tree, plan change.Plan, was, is tree) change.Outcome {
	t.Helper()
	r := &change.Record{ID: change.NewID(), Tool: "t", Caller: "test", Edits: plan.Edits, Began: time.Now()}
	mine := tree{left.dirs, map[string]string{}}
	for f, c := range left.files {
		mine.files[strings.ReplaceAll(f, anyID, r.ID)] = c
	}
	dir, err := os.MkdirTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	mine.put(t, dir)
	if err := s.Journal().Begin(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	a := applier(t, dir, s)
	outcome := change.Outcome("")
	a.Journal = watching{a.Journal, func(r *change.Record) { outcome = r.Outcome }}
	if err := a.Settle(t.Context()); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	got := read(t, dir)
	want := was
	if outcome == change.Applied {
		want = is
	}
	if !got.equal(want) {
		t.Fatalf("%s: %s, but\n%s", name, outcome, differences(want, got))
	}
	return outcome
}

type watching struct {
	change.Journal
	ended func(*change.Record)
}

func (w watching) End(ctx context.Context, r *change.Record) error {
	w.ended(r)
	return w.Journal.End(ctx, r)
}

func differences(want, got tree) string {
	var b strings.Builder
	for f, c := range want.files {
		if g, ok := got.files[f]; !ok {
			fmt.Fprintf(&b, "lost: %s\n", f)
		} else if g != c {
			fmt.Fprintf(&b, "%s: %d bytes, not %d\n", f, len(g), len(c))
		}
	}
	for f := range got.files {
		if _, ok := want.files[f]; !ok {
			fmt.Fprintf(&b, "left over: %s\n", f)
		}
	}
	for d := range want.dirs {
		if !got.dirs[d] {
			fmt.Fprintf(&b, "lost folder: %s\n", d)
		}
	}
	for d := range got.dirs {
		if !want.dirs[d] {
			fmt.Fprintf(&b, "folder left over: %s\n", d)
		}
	}
	return b.String()
}

// What somebody wrote after the crash is not ours to take back.
func TestRecoveryLeavesForeignFilesAndNamesThem(t *testing.T) {
	was, plan := fiftyFiles()
	ops, id, _ := recordOps(t, was, plan)
	left := was.clone()
	for _, o := range ops[1 : len(ops)/3] {
		left.do(renamed(o, id, ""))
	}
	left.files["A/put 0.md"] = "somebody else was here\n"
	s := openState(t, t.TempDir())
	dir := t.TempDir()
	left.put(t, dir)
	r := &change.Record{ID: anyID, Tool: "t", Caller: "test", Edits: plan.Edits, Began: time.Now()}
	if err := s.Journal().Begin(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	a := applier(t, dir, s)
	var ended *change.Record
	a.Journal = watching{a.Journal, func(r *change.Record) { ended = r }}
	if err := a.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if ended.Outcome != change.Indeterminate || !slices.Equal(ended.Foreign, []string{"A/put 0.md"}) {
		t.Errorf("outcome %s, foreign %q", ended.Outcome, ended.Foreign)
	}
	got := read(t, dir)
	want := was.clone()
	want.files["A/put 0.md"] = "somebody else was here\n"
	if !got.equal(want) {
		t.Error(differences(want, got))
	}
}

// Every operation may also fail, with the process alive.
func TestAFailureTakesEverythingBack(t *testing.T) {
	was, plan := fiftyFiles()
	ops, _, is := recordOps(t, was, plan)
	s := openState(t, t.TempDir())
	broken := errors.New("broken")
	step := 9
	if *soak {
		step = 1
	}
	for at := 1; at < len(ops)-1; at += step {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		was.put(t, dir)
		a := applier(t, dir, s)
		var left atomic.Int64
		left.Store(int64(at))
		a.Disk = failing{a.Disk, &left, broken}
		r := &change.Record{ID: change.NewID(), Tool: "t", Caller: "test"}
		err = a.Apply(t.Context(), r, plan, func(context.Context) (change.Plan, error) { return plan, nil })
		if err == nil { // dropping what was kept is tried again later
			if err = a.Settle(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := read(t, dir); !got.equal(is) {
				t.Fatalf("operation %d (%s %s) fails:\n%s", at, ops[at].what, ops[at].a, differences(is, got))
			}
			continue
		}
		if r.Outcome != change.NotApplied && r.Outcome != change.RolledBack || err == nil {
			t.Fatalf("operation %d (%s %s) fails: outcome %q, error %v", at, ops[at].what, ops[at].a, r.Outcome, err)
		}
		if got := read(t, dir); !got.equal(was) {
			t.Fatalf("operation %d (%s %s) fails:\n%s", at, ops[at].what, ops[at].a, differences(was, got))
		}
		os.RemoveAll(dir)
	}
}

// failing is a disk one operation of which fails.
type failing struct {
	change.Disk
	left *atomic.Int64
	err  error
}

type failingPlace struct {
	change.Place
	f failing
}

func (f failing) Place(rel string) (change.Place, error) {
	p, err := f.Disk.Place(rel)
	return failingPlace{p, f}, err
}

func (p failingPlace) now() error {
	if p.f.left.Add(-1) == 0 {
		return p.f.err
	}
	return nil
}

func (p failingPlace) Write(name string, content []byte, mode fs.FileMode, like string) error {
	if err := p.now(); err != nil {
		return err
	}
	return p.Place.Write(name, content, mode, like)
}
func (p failingPlace) Swap(a, b string) error {
	if err := p.now(); err != nil {
		return err
	}
	return p.Place.Swap(a, b)
}
func (p failingPlace) Move(name string, to change.Place, as string) error {
	if err := p.now(); err != nil {
		return err
	}
	return p.Place.Move(name, to.(failingPlace).Place, as)
}
func (p failingPlace) Remove(name string) error {
	if err := p.now(); err != nil {
		return err
	}
	return p.Place.Remove(name)
}
func (p failingPlace) RemoveDir(name string) error {
	if err := p.now(); err != nil {
		return err
	}
	return p.Place.RemoveDir(name)
}
func (p failingPlace) Mkdir(name string) error {
	if err := p.now(); err != nil {
		return err
	}
	return p.Place.Mkdir(name)
}
func (p failingPlace) Sync() error {
	if err := p.now(); err != nil {
		return err
	}
	return p.Place.Sync()
}
