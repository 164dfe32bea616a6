package vault

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"vault-mcp/internal/fault"
)

func TestReaderReadsOnlyTheVeryFile(t *testing.T) {
	bothWays(t, func(t *testing.T, portable bool) {
		dir := plant(t, map[string]any{
			"a/one.md": "1", "a/two.md": "two", "b/c/three.md": "3", "root.md": "r", "Café.md": "é", ".hidden/x.md": "x",
			"a/link.md": link("two.md"), "way": link("a"), "big.md": "0123456789",
		})
		v := open(t, dir, portable)
		r := v.Reader()
		defer r.Close()
		for _, tt := range []struct{ path, want string }{
			{"a/one.md", "1"}, {"a/two.md", "two"}, {"b/c/three.md", "3"}, {"root.md", "r"}, {"Café.md", "é"}, {"a/one.md", "1"},
		} {
			c, err := r.Read(tt.path, 9)
			if err != nil || string(c.Bytes) != tt.want || c.Size != int64(len(tt.want)) {
				t.Errorf("%s: got %q, %v", tt.path, c.Bytes, err)
			}
			p := find(t, v, tt.path)
			if !c.ModTime.Equal(p.ModTime()) {
				t.Errorf("%s: time %v, found with %v", tt.path, c.ModTime, p.ModTime())
			}
		}
		for _, path := range []string{
			"", "a", "a/", "a//one.md", "./root.md", "../" + filepath.Base(dir) + "/root.md", ".hidden/x.md", "a/none.md", "none/one.md",
			"root.md/x", "a/link.md", "way/one.md", "A/one.md", "a/ONE.md", "Cafe\u0301.md",
		} {
			if c, err := r.Read(path, 9); codeOf(err) != fault.NoteNotFound {
				t.Errorf("%q: got %q, %v", path, c.Bytes, err)
			}
		}
		_, err := r.Read("big.md", 9)
		if e, ok := errors.AsType[*TooLargeError](err); !ok || e.Size != 10 || e.Max != 9 {
			t.Errorf("too large: got %v", err)
		}
	})
}

func TestReaderOnACaselessDisk(t *testing.T) {
	v := open(t, plant(t, map[string]any{"Projects/README.md": "x", "Projects/Other.md": "o", "Private/Diary.md": "d", "1.md": "1"}), false)
	native := v.enter
	v.enter = func(root *os.Root, path string) (folder, error) {
		d, err := native(root, path)
		return caseless{d}, err
	}
	r := v.Reader()
	defer r.Close()
	for path, want := range map[string]string{
		"Projects/README.md": "x", "Projects/readme.md": "", "Projects/Other.md": "o", "projects/README.md": "",
		"private/Diary.md": "", "Private/Diary.md": "d", "1.md": "1",
	} {
		c, err := r.Read(path, 9)
		if string(c.Bytes) != want || (want == "") != (codeOf(err) == fault.NoteNotFound) {
			t.Errorf("%q: got %q, %v", path, c.Bytes, err)
		}
	}
}
