package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vault-mcp/internal/fault"
)

type deleted struct {
	written
	Permanent bool
	TrashedTo *string `json:"trashed_to"`
}

func TestANoteGoesWhereTheVaultWantsItAndComesBack(t *testing.T) {
	for _, tt := range []struct {
		option string
		where  string // a part of it
		files  []string
	}{
		{"local", ".trash/a 1.md", []string{".obsidian/app.json", ".trash/a 1.md", ".trash/a.md", "b.md"}},
		{"system", "the system's trash", []string{".obsidian/app.json", ".trash/a.md", "b.md"}},
		{"none", "", []string{".obsidian/app.json", ".trash/a.md", "b.md"}},
	} {
		t.Run(tt.option, func(t *testing.T) {
			home := t.TempDir()
			dir := filepath.Join(t.TempDir(), "vault")
			plant(t, dir, map[string]string{
				"Sub/a.md": "text\n", "b.md": "[[a]]\n", ".trash/a.md": "older\n", ".obsidian/app.json": fmt.Sprintf(`{"trashOption": %q}`, tt.option),
			})
			a := start(t, home, fmt.Sprintf("vaults: [{path: %q}]\n", dir))
			person(a, agrees)
			var out deleted
			if err := call(t, a, "delete_note", args{"path": "Sub/a"}, &out); err != nil {
				t.Fatal(err)
			}
			where := ""
			if out.TrashedTo != nil {
				where = *out.TrashedTo
			}
			if where != tt.where || out.Permanent != (tt.where == "") {
				t.Errorf("%+v, %q", out, where)
			}
			only(t, dir, tt.files...)
			if tt.option == "system" {
				info := content(t, home, ".local/share/Trash/info/a.md.trashinfo")
				if !strings.HasPrefix(info, "[Trash Info]\nPath="+dir+"/Sub/a.md\nDeletionDate=20") || content(t, home, ".local/share/Trash/files/a.md") != "text\n" {
					t.Errorf("%q", info)
				}
			}
			var undo written
			if err := call(t, a, "undo_change", args{"change_id": out.ChangeID}, &undo); err != nil {
				t.Fatal(err)
			}
			only(t, dir, ".obsidian/app.json", ".trash/a.md", "Sub/a.md", "b.md")
			if content(t, dir, "Sub/a.md") != "text\n" {
				t.Error("it came back otherwise")
			}
			if left, _ := filepath.Glob(filepath.Join(home, ".local/share/Trash/*/*")); len(left) != 0 {
				t.Errorf("in the trash are %q", left)
			}
		})
	}
}

func TestNothingIsDeletedThatNobodyApproved(t *testing.T) {
	a, dir := writable(t, map[string]string{"a.md": "text\n", "b.png": "x"}, false)
	var out deleted
	err := call(t, a, "delete_note", args{"path": "a.md"}, &out)
	if code(err) != fault.ElicitRequired || !strings.Contains(err.Error(), "removes") {
		t.Error(err)
	}
	if err := call(t, a, "delete_note", args{"path": "b.png"}, &out); code(err) != fault.InvalidInput {
		t.Error(err)
	}
	only(t, dir, "a.md", "b.png")
	if _, err := os.Stat(filepath.Join(dir, ".trash")); err == nil {
		t.Error("the trash was made")
	}
}
