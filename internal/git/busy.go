package git

import (
	"os"
	"path/filepath"
	"strings"
)

// Busy says what this work tree is in the middle of, in one word: merge, rebase,
// am, cherry-pick, revert or bisect; "" for nothing. What cannot be looked at
// counts as there.
func (r *Repo) Busy() string {
	for _, s := range []struct{ file, word string }{
		{"rebase-apply/applying", "am"},
		{"rebase-apply", "rebase"},
		{"rebase-merge", "rebase"},
		{"MERGE_HEAD", "merge"},
		{"CHERRY_PICK_HEAD", "cherry-pick"},
		{"REVERT_HEAD", "revert"},
		{"sequencer", r.sequence()},
		{"BISECT_LOG", "bisect"},
	} {
		if _, err := os.Lstat(filepath.Join(r.Dir, filepath.FromSlash(s.file))); !absent(err) {
			return s.word
		}
	}
	return ""
}

// sequence is what a row of commits between two of them is: HEAD's files of the
// one that stopped are gone, and only the list of the next ones tells.
func (r *Repo) sequence() string {
	b, err := readFile(filepath.Join(r.Dir, "sequencer", "todo"), maxConfig)
	if err == nil && strings.HasPrefix(string(b), "revert") {
		return "revert"
	}
	return "cherry-pick"
}
