package vault

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault-mcp/internal/fault"
)

// hide rejects the paths that begin with one of prefixes, and what is below.
func hide(prefixes ...string) Filter {
	return func(rel string, dir bool) bool {
		for _, p := range prefixes {
			if rel == p || strings.HasPrefix(rel, p+"/") {
				return false
			}
		}
		return true
	}
}

// answer is all that a caller learns from a look-up.
func answer(p Path, err error) string {
	if err == nil {
		return "found " + p.String()
	}
	f := fault.Of(err)
	return fmt.Sprintf("%s %q %v", f.Code, f.Message, f.Details)
}

func TestFind(t *testing.T) {
	files := map[string]any{
		"Home.md":              "home",
		"Projects/Alpha.md":    "a",
		"Projects/Alpha/x.md":  "x",
		"v1.2.md":              "v",
		"x.md/inner.md":        "in",
		"what?: a|b.md":        "hi #odd\n",
		"Cafe\u0301.md":        "decomposed",
		"Stra\u00dfe.md":       "sharp s",
		"Twice/note.md":        "1",
		"Twice/NOTE.md":        "2",
		"Forms/\u00e9.md":      "composed",
		"Forms/e\u0301.md":     "decomposed",
		"Folder/sub/deep.md":   "d",
		"folder only/x.md":     "",
		"pic.png":              "png",
		"links/in.md":          link("../Home.md"),
		"links/in folder":      link("../Projects"),
		"links/chain.md":       link("in.md"),
		"links/out.md":         link("/etc/hostname"),
		"links/up.md":          link("../../x.md"),
		"links/sneaky.md":      link("../Projects/../../../etc/hostname"),
		"links/dot.md":         link("../.obsidian/app.json"),
		"links/dead.md":        link("nowhere.md"),
		"links/near.md":        link("../Hom.md"),
		"links/loop.md":        link("loop.md"),
		"links/pong":           link("ping"),
		"links/ping":           link("pong"),
		"links/Upper.MD":       link("../Home.md"),
		"root":                 link("."),
		".obsidian/app.json":   "{}",
		".trash/Gone.md":       "gone",
		"Shared/MIXED case.md": "m",
	}
	tests := []struct {
		name string
		find string // find, note or folder
		arg  string
		want string // "found …", or a part of the answer
	}{
		{"exact", "find", "Projects/Alpha.md", "found Projects/Alpha.md"},
		{"folder", "find", "Projects/", "found Projects"},
		{"root", "find", "", "found "},
		{"other case", "find", "projects/ALPHA.md", "found Projects/Alpha.md"},
		{"full folding", "find", "STRASSE.md", "found Stra\u00dfe.md"},
		{"composed name of a decomposed file", "find", "Caf\u00e9.md", "found Cafe\u0301.md"},
		{"decomposed and in other case", "note", "CAFE\u0301", "found Cafe\u0301.md"},
		{"odd but existing name", "find", "what?: a|b.md", "found what?: a|b.md"},
		{"exact beats folded", "find", "Twice/NOTE.md", "found Twice/NOTE.md"},
		{"several in other case", "find", "twice/Note.md", `invalid_input "\"twice/Note.md\" is ambiguous: several names differ from it only in case or accents." map[candidates:[Twice/NOTE.md Twice/note.md]]`},
		{"exact form", "find", "Forms/e\u0301.md", "found Forms/e\u0301.md"},
		{"missing", "find", "Nothing.md", `note_not_found "No file or folder at \"Nothing.md\"." map[closest:[]]`},
		{"misspelled", "find", "Projects/Alpa.md", "closest:[Projects/Alpha.md]"},
		{"misspelled folder", "find", "Project/Alpha.md", "closest:[Projects]"},
		{"below a file", "find", "Home.md/x.md", "note_not_found"},
		{"trash", "find", ".trash/Gone.md", "path_invalid"},
		{"traversal", "find", "../outside.md", "path_invalid"},

		{"note without extension", "note", "Home", "found Home.md"},
		{"note beside a folder of that name", "note", "Projects/Alpha", "found Projects/Alpha.md"},
		{"note in a folder of that name", "note", "Projects/Alpha/x", "found Projects/Alpha/x.md"},
		{"dot in a name", "note", "v1.2", "found v1.2.md"},
		{"not only notes", "note", "pic.png", "found pic.png"},
		{"folder named like a note", "note", "x.md", "is a folder"},
		{"in a folder named like a note", "note", "x.md/inner", "found x.md/inner.md"},
		{"only a folder", "note", "folder only", "is a folder"},
		{"the root as a note", "note", "", "is a folder"},
		{"misspelled note", "note", "Hme", "closest:[Home.md]"},
		{"ambiguous note", "note", "Twice/Note", "invalid_input"},

		{"folder root", "folder", "/", "found "},
		{"folder with slashes", "folder", "/projects/", "found Projects"},
		{"file as folder", "folder", "Home.md", "is a file"},
		{"no such folder", "folder", "Projekts", "closest:[Projects]"},

		{"link inside", "find", "links/in.md", "found Home.md"},
		{"link inside, as note", "note", "links/in", "found Home.md"},
		{"link in other case", "note", "links/upper", "found Home.md"},
		{"link to a folder", "find", "links/in folder/Alpha.md", "found Projects/Alpha.md"},
		{"link to the root", "find", "root/root/Home.md", "found Home.md"},
		{"chain", "find", "links/chain.md", "found Home.md"},
		{"symlink leaves the vault", "find", "links/out.md", "path_invalid \"The path \\\"links/out.md\\\" leads outside"},
		{"symlink leaves the vault, as note", "note", "links/out", "path_invalid"},
		{"relative symlink leaves the vault", "find", "links/up.md", "leads outside the vault"},
		{"symlink leaves on a detour", "find", "links/sneaky.md", "leads outside the vault"},
		{"symlink into the config folder", "find", "links/dot.md", "leads outside the vault"},
		{"dead link", "find", "links/dead.md", "note_not_found"},
		{"dead link names no neighbour of its target", "find", "links/near.md", "closest:[]"},
		{"link to itself", "find", "links/loop.md", "note_not_found"},
		{"two links to each other", "find", "links/ping", "note_not_found"},
	}
	bothWays(t, func(t *testing.T, portable bool) {
		v := open(t, plant(t, files), portable)
		how := map[string]func(string, Filter) (Path, error){"find": v.Find, "note": v.FindNote, "folder": v.FindFolder}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				got := answer(how[tt.find](tt.arg, everything))
				if strings.HasPrefix(tt.want, "found ") && got != tt.want || !strings.Contains(got, tt.want) {
					t.Errorf("got %s, want %s", got, tt.want)
				}
			})
		}
	})
}

func TestFindAbsoluteLinkIntoTheVault(t *testing.T) {
	dir := plant(t, map[string]any{"v/a/Note.md": "n", "alias": link("v"), "vx/Other.md": "o"})
	os.Symlink(filepath.Join(dir, "v", "a", "Note.md"), filepath.Join(dir, "v", "real.md"))
	os.Symlink(filepath.Join(dir, "alias", "a"), filepath.Join(dir, "v", "typed"))
	os.Symlink(filepath.Join(dir, "vx", "Other.md"), filepath.Join(dir, "v", "namesake.md"))
	v := open(t, filepath.Join(dir, "alias"), false)
	for arg, want := range map[string]string{
		"real.md":       "found a/Note.md",
		"typed/Note.md": "found a/Note.md",
		"namesake.md":   "leads outside",
	} {
		if got := answer(v.Find(arg, nil)); !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", arg, got, want)
		}
	}
}

// The test of hiding: the same vault with the hidden files deleted answers
// every look-up alike.
func TestHiddenPathTellsItselfByNothing(t *testing.T) {
	open1 := map[string]any{
		"Home.md":        "h",
		"Open/Diary.md":  "d",
		"Open/note.md":   "n",
		"Open/to priv":   link("../Private"),
		"Open/to one.md": link("../Private/Secret.md"),
		"Open/via.md":    link("../Private/../Home.md"),
		"Open/far.md":    link("../Private/out.md"),
		"Open/twin.md":   "1",
	}
	hidden := map[string]any{
		"Private/Secret.md":  "s",
		"Private/Sub/x.md":   "x",
		"Private/out.md":     link("/etc/hostname"),
		"Private/in.md":      link("../Home.md"),
		"private/other.md":   "o",
		"Open/DIARY.md":      "D",
		"Open/Twin.md":       "2",
		"Open/TWIN.md":       "3",
		"Open/noted.md":      "near by name",
		"Open/hidden.md":     link("note.md"),
		"Private.md":         "beside",
		"Home":               folderOnly{},
		"Open/leaves.md":     link("/etc/hostname"),
		"Open/note.md.md/xx": "",
	}
	all := map[string]any{}
	var hiddenNames []string
	for p, c := range open1 {
		all[p] = c
	}
	for p, c := range hidden {
		all[p] = c
		hiddenNames = append(hiddenNames, p)
	}
	keep := hide(append(hiddenNames, "Private", "private", "Open/note.md.md")...)
	args := []string{
		"Private", "private", "PRIVATE", "Private/", "Private/Secret.md", "Private/Secret", "private/secret", "Private/Nothing.md",
		"Private/Sub", "Private/Sub/x.md", "Private/in.md", "Private/out.md", "Privat", "Private.md", "Privatee.md",
		"Open/to priv", "Open/to priv/Secret.md", "Open/to priv/Sub/x", "Open/to one.md", "Open/to one", "Open/via.md", "Open/far.md",
		"Open/DIARY.md", "Open/diary.md", "Open/Diary", "Open/TWIN.md", "Open/Twin", "Open/tWin.md", "Open/noted.md", "Open/noted", "Open/notes.md",
		"Open/hidden.md", "Open/hiddn.md", "Home", "HOME", "Open/leaves.md", "Open/note.md.md", "Open/note.md", "", "Open",
	}
	bothWays(t, func(t *testing.T, portable bool) {
		full, bare := open(t, plant(t, all), portable), open(t, plant(t, open1), portable)
		if _, err := full.Find("Open/DIARY.md", nil); err != nil {
			t.Fatal(err)
		}
		for _, arg := range args {
			for name, look := range map[string][2]func(string, Filter) (Path, error){
				"Find": {full.Find, bare.Find}, "FindNote": {full.FindNote, bare.FindNote}, "FindFolder": {full.FindFolder, bare.FindFolder},
			} {
				want, got := answer(look[1](arg, keep)), answer(look[0](arg, keep))
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s(%q) tells (-deleted +hidden):\n%s", name, arg, diff)
				}
			}
		}
	})
}

// everything is a filter that lets everything be known.
func everything(string, bool) bool { return true }

// A look-up that no filter bounds sees what the rules hide, so it names nothing.
func TestWithoutAFilterNothingCloseIsNamed(t *testing.T) {
	v := open(t, plant(t, map[string]any{"Private.md": ""}), false)
	_, err := v.FindNote("Privat", nil)
	if diff := cmp.Diff([]string{}, fault.Of(err).Details["closest"]); diff != "" {
		t.Error(diff)
	}
}

func TestClosestIsBoundedAndNearestFirst(t *testing.T) {
	v := open(t, plant(t, map[string]any{
		"Meeting 01.md": "", "Meeting 02.md": "", "Meeting 03.md": "", "Meeting 04.md": "", "Meetings 01.md": "",
		"Meeting 0": folderOnly{}, "Unrelated.md": "",
	}), false)
	_, err := v.FindNote("meeting 1", everything)
	want := []string{"Meeting 01.md", "Meeting 02.md", "Meeting 03.md"}
	if diff := cmp.Diff(want, fault.Of(err).Details["closest"]); diff != "" {
		t.Error(diff)
	}
}

func TestDistance(t *testing.T) {
	tests := []struct {
		a, b  string
		limit int
		want  int
	}{
		{"", "", 3, 0}, {"a", "", 3, 1}, {"kitten", "sitting", 5, 3}, {"abc", "abc", 0, 0}, {"äb", "ab", 3, 1}, {"flaw", "lawn", 3, 2},
	}
	for _, tt := range tests {
		if got := distance([]rune(tt.a), []rune(tt.b), tt.limit); got != tt.want {
			t.Errorf("%q %q: got %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
	if got := distance([]rune("abcdef"), []rune("uvwxyz"), 2); got <= 2 {
		t.Errorf("beyond the limit: got %d", got)
	}
}

func TestFoldName(t *testing.T) {
	for _, pair := range [][2]string{{"ABC.md", "abc.MD"}, {"Stra\u00dfe", "STRASSE"}, {"\u00c9", "e\u0301"}, {"\u03a3", "\u03c2"}, {"\uac00", "\u1100\u1161"}, {"K", "k"}} {
		if FoldName(pair[0]) != FoldName(pair[1]) {
			t.Errorf("%q and %q differ", pair[0], pair[1])
		}
	}
	for _, pair := range [][2]string{{"a", "b"}, {"e", "\u00e9"}, {"i", "\u0131"}} {
		if FoldName(pair[0]) == FoldName(pair[1]) {
			t.Errorf("%q and %q are the same", pair[0], pair[1])
		}
	}
}

func FuzzFind(f *testing.F) {
	dir := plant(f, map[string]any{
		"v/a/Note.md": "inside", "v/up": link(".."), "v/a/root": link("/"), "v/a/self": link("../a"), "v/\u00e9.md": "inside",
		"v/.obsidian/app.json": "config", "v/hidden/x.md": "hidden", "v/a/h.md": link("../hidden/x.md"), "outside.md": "outside",
	})
	v := open(f, filepath.Join(dir, "v"), false)
	p := open(f, filepath.Join(dir, "v"), true)
	for _, s := range []string{"a/Note", "A/NOTE.md", "up/outside.md", "a/root/etc/passwd", "a/self/self/Note.md", "e\u0301", "hidden/x", "a/h", ".obsidian/app.json", "a/root" + v.Dir() + "/a/Note.md"} {
		f.Add(s)
	}
	keep := hide("hidden")
	f.Fuzz(func(t *testing.T, arg string) {
		for _, look := range []func(string, Filter) (Path, error){v.Find, v.FindNote, v.FindFolder} {
			found, err := look(arg, keep)
			if err != nil {
				if strings.Contains(err.Error(), filepath.Dir(v.Dir())) && !strings.Contains(arg, filepath.Dir(v.Dir())) {
					t.Fatalf("%q: a path of the machine: %v", arg, err)
				}
				continue
			}
			if _, err := Clean(found.String()); err != nil || !keep(found.String(), found.IsDir()) {
				t.Fatalf("%q: found %q", arg, found)
			}
			if found.IsDir() {
				continue
			}
			if c, err := v.Read(found, 1000); err != nil || string(c.Bytes) != "inside" {
				t.Fatalf("%q: read %q, %v", arg, c.Bytes, err)
			}
		}
		if a, b := answer(v.FindNote(arg, keep)), answer(p.FindNote(arg, keep)); a != b {
			t.Fatalf("%q: %s, portable %s", arg, a, b)
		}
	})
}
