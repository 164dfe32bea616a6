package rename

import (
	"reflect"
	"testing"

	"vault-mcp/internal/fingerprint"
	"vault-mcp/vault/settings"
)

// What was found out for the plan before must not outlive what it hangs on.
func TestAPlanMadeAgainIsThatOfTheVaultAsItIs(t *testing.T) {
	all := files{
		"a/Hub.md": "# Hub\n[[Hub]]\n", "one.md": "[[Hub]] and [[other]]\n", "two.md": "[hub](a/Hub.md)\n", "other.md": "x\n",
		"board.canvas": `{"nodes":[{"id":"1","type":"file","file":"a/Hub.md","x":0,"y":0,"width":1,"height":1}],"edges":[]}`,
	}
	moves := []Move{{From: "a/Hub.md", To: "b/Centre.md"}}
	folder := []Move{{From: "a", To: "c", Dir: true}}
	shortest, absolute := settings.Default(), settings.Default()
	absolute.NewLinkFormat = settings.Absolute
	for name, again := range map[string]struct {
		moves []Move
		s     settings.Settings
		files files
	}{
		"nothing has changed":             {moves, shortest, nil},
		"a note has another text":         {moves, shortest, files{"one.md": "more: [[Hub]]\n"}},
		"a note links no more":            {moves, shortest, files{"two.md": "none\n"}},
		"the moved note has another":      {moves, shortest, files{"a/Hub.md": "[[Hub#x]] [[one]]\n"}},
		"a note links that did not":       {moves, shortest, files{"other.md": "[[Hub]]\n"}},
		"a namesake of the old name":      {moves, shortest, files{"z/Hub.md": "x\n"}},
		"a namesake of the new name":      {moves, shortest, files{"z/Centre.md": "x\n"}},
		"another kind of links is wished": {moves, absolute, nil},
		"another place is wished":         {[]Move{{From: "a/Hub.md", To: "b/Middle.md"}}, shortest, nil},
		"its folder is moved":             {folder, shortest, nil},
		"a canvas has another text":       {moves, shortest, files{"board.canvas": `{"nodes":[],"edges":[]}`}},
	} {
		t.Run(name, func(t *testing.T) {
			now := files{}
			for p, text := range all {
				now[p] = text
			}
			var p Planner
			if _, err := p.Plan(newMemory(now), moves, shortest); err != nil {
				t.Fatal(err)
			}
			for path, text := range again.files {
				now[path] = text
			}
			m := newMemory(now)
			got, err := p.Plan(m, again.moves, again.s)
			if err != nil {
				t.Fatal(err)
			}
			reads := m.reads
			m = newMemory(now)
			want, err := Plan(m, again.moves, again.s)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%+v\nnot %+v", got, want)
			}
			if reads != m.reads {
				t.Errorf("%d files were read, not %d", reads, m.reads)
			}
			for i := range got.Edits {
				if e := &got.Edits[i]; e.Content != nil && e.After != fingerprint.OfContent(e.Content) {
					t.Errorf("the hash of %q is not that of its content", e.Path)
				}
			}
		})
	}
}

// The index of a vault may be the same one as before, and have other paths.
func TestAPlanMadeAgainSeesThatTheSameIndexHasChanged(t *testing.T) {
	m := newMemory(files{"a/Hub.md": "", "one.md": "[[a/Hub]]\n"})
	moves := []Move{{From: "a/Hub.md", To: "b/Centre.md"}}
	var p Planner
	if _, err := p.Plan(m, moves, settings.Default()); err != nil {
		t.Fatal(err)
	}
	m.files["z/Centre.md"] = []byte("x")
	m.paths.Add("z/Centre.md")
	got, err := p.Plan(m, moves, settings.Default())
	if err != nil {
		t.Fatal(err)
	}
	want, err := Plan(m, moves, settings.Default())
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nnot %+v", got, want)
	}
}
