package doctor

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestEachStateOfARepositoryIsTold(t *testing.T) {
	tests := []struct {
		name, id string
		level    Level
		make     func(b *bed)
	}{
		{"none", "git.repository", Off, func(b *bed) { b.must(os.RemoveAll(filepath.Join(b.vault, ".git"))) }},
		{"one", "git.repository", OK, func(*bed) {}},
		{"a broken one", "git.refused", Warning, func(b *bed) { b.must(os.Remove(filepath.Join(b.vault, ".git", "HEAD"))) }},
		{"a merge", "git.busy", Warning, func(b *bed) { b.note(".git/MERGE_HEAD", "0\n") }},
		{"an old lock", "git.locked", Warning, func(b *bed) {
			path := b.note(".git/index.lock", "")
			b.must(os.Chtimes(path, time.Time{}, b.o.Now.Add(-time.Hour)))
		}},
		{"a new lock", "git.locked", "", func(b *bed) { b.note(".git/index.lock", "") }},
		{"hooks", "git.hooks", Off, func(b *bed) { b.must(os.Chmod(b.note(".git/hooks/pre-commit", "#!/bin/sh\n"), 0o755)) }},
		{"hooks that run", "git.hooks", OK, func(b *bed) { b.config("", "git: {hooks: true}\n") }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBed(t, "Notes")
			b.note(".git/HEAD", "ref: refs/heads/main\n")
			b.note(".git/config", "[core]\n\trepositoryformatversion = 0\n")
			b.note(".git/objects/info/x", "")
			b.note(".git/refs/heads/x", "")
			tt.make(b)
			r := b.examine()
			if found := r.all(tt.id); r.level(tt.id) != tt.level || tt.level == Warning && found[0].Fix == "" {
				t.Errorf("%s: %+v", tt.id, r.Findings)
			}
		})
	}
}
