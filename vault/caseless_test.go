package vault

import (
	"os"
	"testing"
)

// caseless is a folder of a disk that finds names in any case, as those of
// Windows and macOS do, but lists them as they are spelled.
type caseless struct{ folder }

func (c caseless) spelled(name string) string {
	entries, _ := c.entries()
	for _, e := range entries {
		if FoldName(e.Name()) == FoldName(name) {
			return e.Name()
		}
	}
	return name
}

func (c caseless) lstat(name string) (node, error)      { return c.folder.lstat(c.spelled(name)) }
func (c caseless) readlink(name string) (string, error) { return c.folder.readlink(c.spelled(name)) }
func (c caseless) read(name string, how reading, buf []byte) (node, []byte, error) {
	return c.folder.read(c.spelled(name), how, buf)
}

func (c caseless) openDir(name string) (folder, error) {
	d, err := c.folder.openDir(c.spelled(name))
	if err != nil {
		return nil, err
	}
	return caseless{d}, nil
}

func TestCaselessDiskGivesTheTrueSpelling(t *testing.T) {
	v := open(t, plant(t, map[string]any{
		"Projects/README.md": "x", "Private/Diary.md": "hidden", "Caf\u00e9/\u65e5.md": "", "to priv": link("private"), "1.md": "",
	}), false)
	native := v.enter
	v.enter = func(root *os.Root, path string) (folder, error) {
		d, err := native(root, path)
		return caseless{d}, err
	}
	keep := hide("Private") // in this spelling alone
	for arg, want := range map[string]string{
		"projects/readme.md": "found Projects/README.md",
		"PROJECTS/README":    "found Projects/README.md",
		"Projects/README.md": "found Projects/README.md",
		"cafe\u0301/\u65e5":  "found Caf\u00e9/\u65e5.md",
		"1":                  "found 1.md",
		"private":            `note_not_found "No note or file at \"private\"." map[closest:[]]`,
		"PRIVATE/diary.md":   `note_not_found "No note or file at \"PRIVATE/diary.md\"." map[closest:[]]`,
		"to priv/diary":      `note_not_found "No note or file at \"to priv/diary\"." map[closest:[]]`,
	} {
		if got := answer(v.FindNote(arg, keep)); got != want {
			t.Errorf("%q: got %s, want %s", arg, got, want)
		}
	}
}
