package git

import (
	"context"
	"fmt"
	"testing"
)

// BenchmarkFingerprint reads what an approval of a commit is bound to, with 10,000
// notes in 280 folders: as git leaves the index after git add, and where nothing says
// which folders are as in HEAD.
func BenchmarkFingerprint(b *testing.B) {
	r := newRepo(b)
	for i := range 10_000 {
		r.write(fmt.Sprintf("Folder %02d/Sub %d/Note %05d.md", i%40, i%7, i), fmt.Sprintf("# Note %d\n\n%s", i, lines(10, "text")))
	}
	r.commit("one")
	r.git("gc", "-q")
	r.write("Folder 01/Sub 1/Note 00001.md", "changed\n")
	r.git("add", "-A")
	for _, cached := range []bool{true, false} {
		b.Run(fmt.Sprintf("cached=%t", cached), func(b *testing.B) {
			for b.Loop() {
				repo, err := Open(r.dir, Options{})
				if err != nil {
					b.Fatal(err)
				}
				head, err := repo.Head()
				if err != nil {
					b.Fatal(err)
				}
				ix, err := repo.Index()
				if err != nil {
					b.Fatal(err)
				}
				if !cached {
					ix.trees = nil
				}
				ix.Sum()
				changes, err := repo.Staged(context.Background(), head, ix)
				if err != nil || len(changes) != 1 {
					b.Fatal(changes, err)
				}
			}
		})
	}
}
