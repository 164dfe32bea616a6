package rename

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"vault-mcp/internal/fault"
	"vault-mcp/vault/settings"
)

// generated makes a small vault with many namesakes and links of every form.
type generated struct {
	*rand.Rand
	paths []string
}

var (
	folderNames = []string{"", "", "a", "b", "a/b", "b/a", "A b/c", "Ä"}
	fileNames   = []string{"x.md", "X y.md", "it's.md", "x.png", "a.md", "b.md", "v1.2.md", "c$1 (d).md", "50%25 x.md", "x", "é&amp;.md", "x#y.md", "q].md", "Ab.canvas", "v1.2", "B.base"}
)

func (g generated) one(of ...string) string { return of[g.IntN(len(of))] }

func (g generated) path() string { return path.Join(g.one(folderNames...), g.one(fileNames...)) }

// target is the path of a link: often one that leads somewhere, in some form.
func (g generated) target(from string) string {
	to := g.path()
	if g.IntN(4) > 0 && len(g.paths) > 0 {
		to = g.one(g.paths...)
	}
	switch g.IntN(6) {
	case 0, 1:
		to = path.Base(to)
	case 2:
		to = "/" + to
	case 3:
		up := strings.Repeat("../", strings.Count(from, "/"))
		if up == "" {
			up = "./"
		}
		to = up + to
	}
	if g.IntN(2) > 0 {
		to = strings.TrimSuffix(to, ".md")
	}
	if g.IntN(8) == 0 {
		to = strings.ToLower(to)
	}
	return to
}

func (g generated) link(from string) string {
	to, sub := g.target(from), g.one("", "", "#h", "#h#x", "#^b", "#a b")
	text := g.one("", "x", strings.TrimSuffix(path.Base(to), ".md"), "100x50", "a [[b")
	esc := strings.NewReplacer("%", "%25", " ", "%20", "(", "%28", "&", "%26")
	switch g.IntN(6) {
	case 0:
		return g.one("", "!") + "[" + text + "](" + esc.Replace(to) + strings.ReplaceAll(sub, " ", "%20") + g.one("", " \"t\"") + ")"
	case 1:
		return "[" + text + "](<" + strings.ReplaceAll(to, "%", "%25") + sub + ">)"
	case 2:
		return "[r" + fmt.Sprint(g.IntN(100)) + "]: " + esc.Replace(to)
	}
	if text != "" {
		text = "|" + text
	}
	return g.one("", "!") + "[[" + to + sub + text + "]]"
}

func (g generated) note(from string) string {
	var s strings.Builder
	if g.IntN(3) == 0 {
		l := g.link(from)
		fmt.Fprintf(&s, "---\na: \"%s\"\nb: ['%s', \"%s\"]\nc:\n  - '%s'\n---\n", quoted(l, '"'), doubled(l), quoted(g.link(from), '"'), doubled(g.link(from)))
	}
	for range g.IntN(6) {
		l := g.link(from)
		switch g.IntN(7) {
		case 0:
			fmt.Fprintf(&s, "`%s` %s\n", l, g.link(from))
		case 1:
			fmt.Fprintf(&s, "\n| a | b |\n|---|---|\n| %s | y |\n\n", strings.ReplaceAll(l, "|", `\|`))
		case 2:
			fmt.Fprintf(&s, "> - %s\n\n", l)
		case 3:
			fmt.Fprintf(&s, "\n# %s\n", l)
		case 4:
			fmt.Fprintf(&s, "\n%s\n\n", l)
		default:
			fmt.Fprintf(&s, "t %s [%s](u)\n", l, g.link(from))
		}
	}
	return s.String()
}

func (g generated) canvas(from string) string {
	return fmt.Sprintf(`{"nodes":[{"type":"file","file":"%s"},{"type":"text","text":"%s"}]}`,
		quoted(g.one(g.paths...), '"'), quoted(g.note(from), '"'))
}

func (g generated) base() string {
	file, dir := g.one(g.paths...), path.Dir(g.one(g.paths...))
	return "filters:\n  or:\n" +
		"    - file.inFolder(\"" + dir + "\") # \"" + dir + "\"\n" +
		"    - 'file.path == \"" + doubled(file) + "\"'\n" +
		"    - \"file.hasLink(\\\"" + strings.TrimSuffix(file, ".md") + "#a b\\\")\"\n" +
		"    - 'file.folder != ''" + doubled(quoted(dir, '\'')) + "'''\n" +
		"    - x == link('" + quoted(path.Base(file), '\'') + "', \"x\")\n"
}

func newGenerated(seed uint64) (generated, *memory) {
	g := generated{Rand: rand.New(rand.NewPCG(seed, 1))}
	for range 3 + g.IntN(9) {
		if p := g.path(); !slices.ContainsFunc(g.paths, func(q string) bool {
			return strings.EqualFold(p, q) || within(strings.ToLower(p), strings.ToLower(q)) || within(strings.ToLower(q), strings.ToLower(p))
		}) {
			g.paths = append(g.paths, p)
		}
	}
	all := files{}
	for _, p := range g.paths {
		switch path.Ext(p) {
		case ".md":
			all[p] = g.note(p)
		case ".canvas":
			all[p] = g.canvas(p)
		case ".base":
			all[p] = g.base()
		default:
			all[p] = "x"
		}
	}
	return g, newMemory(all)
}

// moves are some moves of files and folders that are there.
func (g generated) moves(m *memory) []Move {
	var moves []Move
	var folders []string
	for d := range m.folders {
		folders = append(folders, d)
	}
	slices.Sort(folders)
	for range 1 + g.IntN(3) {
		if g.IntN(3) == 0 && len(folders) > 0 {
			moves = append(moves, Move{From: g.one(folders...), To: g.one("a", "b", "c", "a/b", "c/a", "Ä", "ä", "b/q r"), Dir: true})
			continue
		}
		from, to := g.one(g.paths...), g.path()
		if g.IntN(4) == 0 {
			to = g.one(g.paths...)
		}
		if g.IntN(3) == 0 {
			to = path.Join(path.Dir(from), g.one(fileNames...))
		}
		if path.Ext(to) != path.Ext(from) {
			to = strings.TrimSuffix(to, path.Ext(to)) + path.Ext(from)
		}
		moves = append(moves, Move{From: from, To: to})
	}
	return moves
}

// FuzzMoves moves things of generated vaults: every link leads where it led, unless the report names it, and a plan is
// refused for a reason or can be carried out.
func FuzzMoves(f *testing.F) {
	for seed := range uint64(400) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		g, m := newGenerated(seed)
		moves := g.moves(m)
		s := settings.Settings{NewLinkFormat: settings.LinkFormat(g.one("shortest", "relative", "absolute"))}
		if _, err := Plan(m, moves, s); err != nil {
			e, ok := errors.AsType[*fault.Error](err)
			if !ok || e.Code == fault.Internal {
				t.Fatalf("%v: %v (%v)", moves, err, errors.Unwrap(err))
			}
			return
		}
		m.run(t, moves, s)
	})
}

// FuzzThereAndBack renames a note to a name that nothing has, and back: no byte differs, unless a link could not follow.
func FuzzThereAndBack(f *testing.F) {
	for seed := range uint64(400) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		g, m := newGenerated(seed)
		from := g.one(g.paths...)
		if slices.ContainsFunc(g.paths, func(p string) bool { return p != from && strings.EqualFold(path.Base(p), path.Base(from)) }) {
			t.Skip("links to it by its name alone get longer")
		}
		to := path.Join(path.Dir(from), strings.TrimSuffix(path.Base(from), path.Ext(from))+" there"+path.Ext(from))
		was := newMemory(m.now())
		there, err := Plan(m, []Move{{From: from, To: to}}, settings.Default())
		if err != nil {
			t.Skip(err)
		}
		if err := m.apply(there.Edits); err != nil {
			t.Fatal(err)
		}
		back, err := Plan(m, []Move{{From: to, To: from}}, settings.Default())
		if err != nil {
			t.Skip(err)
		}
		if len(there.Report.Left)+len(back.Report.Left)+there.Report.Ambiguous+back.Report.Ambiguous > 0 {
			return
		}
		if err := m.apply(back.Edits); err != nil {
			t.Fatal(err)
		}
		for p, b := range was.files {
			if !bytes.Equal(b, m.files[p]) {
				t.Errorf("%s to %s: %s\n%s\n---\n%s", from, to, p, firstDifference(b, m.files[p]), b)
			}
		}
	})
}
