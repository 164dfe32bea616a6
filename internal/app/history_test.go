package app_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vault-mcp/internal/fault"
)

type changesOut struct {
	Changes []struct {
		ID       string `json:"change_id"`
		Tool     string
		Summary  string
		UndoneBy string `json:"undone_by"`
		Files    int
	}
	Next *string `json:"next_cursor"`
}

func TestAChangeIsListedReadAndTakenBack(t *testing.T) {
	a, dir := writable(t, map[string]string{"a.md": "one\n"}, false)
	var out written
	if err := call(t, a, "append_note", args{"path": "a.md", "content": "two\n"}, &out); err != nil {
		t.Fatal(err)
	}
	var list changesOut
	if err := call(t, a, "list_changes", args{"path": "a.md"}, &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Changes) != 1 || list.Changes[0].ID != out.ChangeID || list.Changes[0].Tool != "append_note" {
		t.Fatalf("%+v", list)
	}
	var read struct{ Diff string }
	if err := call(t, a, "read_change", args{"change_id": out.ChangeID}, &read); err != nil || !strings.Contains(read.Diff, " one\n+two\n") {
		t.Fatalf("%+v, %v", read, err)
	}
	var undo written
	if err := call(t, a, "undo_change", args{"change_id": out.ChangeID}, &undo); err != nil {
		t.Fatal(err)
	}
	if got := content(t, dir, "a.md"); got != "one\n" {
		t.Errorf("%q", got)
	}
	if err := call(t, a, "undo_change", args{"change_id": out.ChangeID}, &undo); code(err) != fault.InvalidInput {
		t.Error(err)
	}
	// And the taking back is taken back.
	if err := call(t, a, "list_changes", args{}, &list); err != nil || len(list.Changes) != 2 || list.Changes[1].UndoneBy != list.Changes[0].ID {
		t.Fatalf("%+v %v", list, err)
	}
	if err := call(t, a, "undo_change", args{"change_id": list.Changes[0].ID}, &undo); err != nil {
		t.Fatal(err)
	}
	if got := content(t, dir, "a.md"); got != "one\ntwo\n" {
		t.Errorf("%q", got)
	}
}

// Who looks for what to take back has no use for what was refused.
func TestWhatChangedNothingIsListedByRequest(t *testing.T) {
	a, dir := writable(t, map[string]string{"a.md": "one\n", "b.md": "b\n"}, false)
	var out written
	if err := call(t, a, "append_note", args{"path": "b.md", "content": "two\n"}, &out); err != nil {
		t.Fatal(err)
	}
	locked := filepath.Join(dir, "a.md")
	if err := os.Chmod(locked, 0o444); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(locked, 0o644) }) // the test's folder goes in any case
	if err := call(t, a, "append_note", args{"path": "a.md", "content": "two\n"}, &written{}); code(err) != fault.WriteFailed {
		t.Fatal(err)
	}
	for all, want := range map[bool]int{false: 1, true: 2} {
		var list changesOut
		if err := call(t, a, "list_changes", args{"all": all, "limit": 5}, &list); err != nil || len(list.Changes) != want || list.Changes[want-1].ID != out.ChangeID {
			t.Errorf("all %v: %+v, %v", all, list, err)
		}
	}
}

func TestWhatWasChangedSinceIsNotTakenBack(t *testing.T) {
	a, dir := writable(t, map[string]string{"a.md": "one\n"}, true)
	var out, undo written
	if err := call(t, a, "append_note", args{"path": "a.md", "content": "two\n"}, &out); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.md"), []byte("by hand\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	err := call(t, a, "undo_change", args{"change_id": out.ChangeID}, &undo)
	if code(err) != fault.ConcurrentModification || !slices.Contains(fault.Of(err).Details["paths"].([]string), "a.md") {
		t.Error(err)
	}
	if got := content(t, dir, "a.md"); got != "by hand\n" {
		t.Errorf("%q", got)
	}
}

func TestAVersionIsReadComparedAndRestored(t *testing.T) {
	a, dir := writable(t, map[string]string{"a.md": "one\n"}, true)
	var out written
	for _, text := range []string{"two\n", "three\n"} {
		if err := call(t, a, "write_note", args{"path": "a.md", "content": text, "mode": "overwrite"}, &out); err != nil {
			t.Fatal(err)
		}
	}
	var list struct{ Snapshots []struct{ ID int64 } }
	if err := call(t, a, "list_snapshots", args{"path": "a"}, &list); err != nil || len(list.Snapshots) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	first := list.Snapshots[1].ID
	var diff struct{ Diff string }
	if err := call(t, a, "diff_note", args{"path": "a.md", "against": first}, &diff); err != nil || !strings.Contains(diff.Diff, "-one\n+three\n") {
		t.Errorf("%+v, %v", diff, err)
	}
	if err := call(t, a, "restore_note", args{"path": "a.md", "snapshot_id": first}, &out); err != nil {
		t.Fatal(err)
	}
	if got := content(t, dir, "a.md"); got != "one\n" {
		t.Errorf("%q", got)
	}
	if err := os.Remove(filepath.Join(dir, "a.md")); err != nil {
		t.Fatal(err)
	}
	if err := call(t, a, "restore_note", args{"path": "a.md", "snapshot_id": first}, &out); err != nil || content(t, dir, "a.md") != "one\n" {
		t.Error(err)
	}
	var kept struct {
		ID int64 `json:"snapshot_id"`
	}
	if err := call(t, a, "snapshot_note", args{"path": "a.md"}, &kept); err != nil || kept.ID == 0 {
		t.Error(err)
	}
}

func TestHistoryOfHiddenNotesDoesNotExist(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(t.TempDir(), "vault")
	plant(t, dir, map[string]string{"Private/p.md": "one\n", "a.md": "x\n"})
	yaml := "vaults: [{path: " + dir + "%s}]\n"
	a := start(t, home, strings.ReplaceAll(yaml, "%s", ""))
	var out written
	if err := call(t, a, "append_note", args{"path": "Private/p.md", "content": "secret\n"}, &out); err != nil {
		t.Fatal(err)
	}
	a.Close()
	a = start(t, home, strings.ReplaceAll(yaml, "%s", `, rules: [{glob: "Private/**", verbs: {read: hide}}]`))
	var list changesOut
	if err := call(t, a, "list_changes", args{}, &list); err != nil || len(list.Changes) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	var any map[string]any
	if err := call(t, a, "read_change", args{"change_id": out.ChangeID}, &any); code(err) != fault.NotFound {
		t.Error(err)
	}
	if err := call(t, a, "undo_change", args{"change_id": out.ChangeID}, &any); code(err) != fault.NotFound {
		t.Error(err)
	}
	if err := call(t, a, "read_snapshot", args{"snapshot_id": 1}, &any); code(err) != fault.NotFound {
		t.Error(err)
	}
	if err := call(t, a, "list_snapshots", args{"path": "Private/p.md"}, &any); code(err) != fault.NoteNotFound {
		t.Error(err)
	}
}
