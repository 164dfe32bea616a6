package git

import (
	"bytes"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"vault-mcp/internal/racing"
)

func TestBlobIsWhatGitHas(t *testing.T) {
	racing.Skips(t)
	t.Parallel()
	r := newRepo(t)
	random := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 200_000)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	text := lines(2000, "text")
	for i := range 12 {
		r.write("big.md", text)
		r.write("noise.bin", string(noise))
		r.write("empty.md", "")
		r.commit(fmt.Sprint(i))
		text = fmt.Sprintf("%d\n", i) + strings.Replace(text, fmt.Sprintf("line %d ", i*40), "changed ", 1) + "end\n"
		noise[i*1000]++
	}
	check := func(state string, deltas bool) {
		t.Helper()
		repo := r.open(".")
		chained := 0
		o, err := repo.objects()
		if err != nil {
			t.Fatal(err)
		}
		defer o.close()
		for line := range strings.Lines(r.git("cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize) %(deltabase)", "--batch-all-objects")) {
			var id, typ, base string
			var size int64
			fmt.Sscan(line, &id, &typ, &size, &base)
			if strings.Trim(base, "0\n") != "" {
				chained++
			}
			at, _ := parseOID(id)
			k, n, err := o.size(at)
			if err != nil || k.String() != typ || n != size {
				t.Errorf("%s: size %s: %s %d %v", state, line, k, n, err)
			}
			if typ != "blob" {
				if got, err := repo.Blob(ID(id), 1<<20); err == nil {
					t.Errorf("%s %s: %q", state, line, got)
				}
				continue
			}
			want, err := r.try("cat-file", "blob", id)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := repo.Blob(ID(id), size); err != nil || string(got) != want {
				t.Errorf("%s: %s differs: %v", state, id, err)
			}
			if got, err := repo.Blob(ID(id), size-1); !errors.Is(err, ErrTooLarge) {
				t.Errorf("%s: %s: %d bytes, %v", state, id, len(got), err)
			}
		}
		if deltas != (chained > 10) {
			t.Errorf("%s: %d deltas: the test does not show what it should", state, chained)
		}
	}
	check("loose", false)
	r.git("repack", "-q", "-a", "-d", "-f", "--depth=50")
	check("packed", true)
	r.git("-c", "repack.useDeltaBaseOffset=false", "repack", "-q", "-a", "-d", "-f")
	check("by name", true)
	packs, err := filepath.Glob(filepath.Join(r.dir, ".git", "objects", "pack", "*.pack"))
	if err != nil || len(packs) != 1 {
		t.Fatal(packs, err)
	}
	if err := os.Remove(strings.TrimSuffix(packs[0], "pack") + "idx"); err != nil {
		t.Fatal(err)
	}
	r.git("index-pack", "--index-version=2,0x100", packs[0]) // as for packs above 2 GiB
	check("far offsets", true)
	r.git("clone", "-q", "--shared", ".", "../borrower")
	origin := r.dir
	r.dir = filepath.Join(filepath.Dir(origin), "borrower")
	check("borrowed", true)
	// Packed again while somebody reads.
	r.dir = origin
	o, err := r.open(".").objects()
	if err != nil {
		t.Fatal(err)
	}
	defer o.close()
	r.write("late.md", "late")
	r.commit("late")
	r.git("repack", "-q", "-a", "-d", "-f")
	late, _ := parseOID(r.git("rev-parse", "HEAD:late.md"))
	if got, err := o.blob(late, 10); err != nil || string(got) != "late" {
		t.Errorf("%q %v", got, err)
	}
}

// What was changed on the disk is not taken for what its name says.
func TestObjectsAreHeldAgainstTheirNames(t *testing.T) {
	r := newRepo(t)
	r.write("a.md", "a\n")
	r.write("b.md", "b\n")
	r.commit("one")
	a, b := r.git("rev-parse", "HEAD:a.md"), r.git("rev-parse", "HEAD:b.md")
	path := func(id string) string { return filepath.Join(r.dir, ".git", "objects", id[:2], id[2:]) }
	other, err := os.ReadFile(path(b))
	if err != nil {
		t.Fatal(err)
	}
	for name, harm := range map[string]func() error{
		"another object": func() error { return os.WriteFile(path(a), other, 0o644) },
		"cut":            func() error { return os.WriteFile(path(a), other[:len(other)/2], 0o644) },
		"empty":          func() error { return os.WriteFile(path(a), nil, 0o644) },
		"garbage":        func() error { return os.WriteFile(path(a), bytes.Repeat([]byte("x"), 99), 0o644) },
		"gone":           func() error { return nil },
	} {
		os.Remove(path(a))
		if err := harm(); err != nil {
			t.Fatal(err)
		}
		got, err := r.open(".").Blob(ID(a), 100)
		if err == nil || !strings.Contains(err.Error(), a) {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
}

func TestFile(t *testing.T) {
	r := newRepo(t)
	r.write("a.md", "a\n")
	r.write("Notes/Deep/ü.md", "u\n")
	first := r.commit("one")
	r.write("a.md", "b\n")
	r.git("update-index", "--add", "--cacheinfo", "160000,"+string(first)+",sub")
	r.git("commit", "-q", "-m", "sub")
	repo := r.open(".")
	ctx := context.Background()
	for _, path := range []string{"a.md", "Notes/Deep/ü.md", "sub"} {
		e, err := repo.File(ctx, ID(r.git("rev-parse", "HEAD")), path)
		want := r.git("ls-tree", "-z", "HEAD", "--", path)
		mode, rest, _ := strings.Cut(want, " ")
		if err != nil || e.Path != path || fmt.Sprintf("%06o", e.Mode) != mode || !strings.Contains(rest, " "+string(e.ID)+"\t") {
			t.Errorf("%s: %+v %v, want %q", path, e, err, want)
		}
	}
	for _, path := range []string{"", "Notes", "Notes/Deep", "Notes/", "/a.md", "a.md/", "a.md/x", "none", "Notes/none", "./a.md", "sub/x", "..", "Notes/../a.md"} {
		if e, err := repo.File(ctx, first, path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %+v %v", path, e, err)
		}
	}
}

// What a pack, an index of one or a loose object may hold is an error at worst, and
// what is read has the size that was asked for at most.
func FuzzObject(f *testing.F) {
	id := oid{0xaa, 1}
	whole := inPack(plumbing.BlobObject, 4, nil, []byte("text"))
	f.Add(whole, []byte("100644 a\x00"), uint16(0), byte(0))
	f.Add(inPack(plumbing.REFDeltaObject, 4, id[:], []byte("\x04\x04\x90\x04")), []byte("tree"), uint16(8+4*0xaa), byte(0xff))
	f.Add(inPack(plumbing.OFSDeltaObject, 4, []byte{byte(len(whole))}, []byte("\x04\x04\x90\x04")), deflated([]byte("blob 4\x00text")), uint16(1040), byte(1))
	f.Fuzz(func(t *testing.T, data, other []byte, at uint16, flip byte) {
		dir := filepath.Join(t.TempDir(), "objects")
		packOf(t, dir, stored{oid{0xaa, 2}, whole}, stored{id, data})
		names, err := filepath.Glob(filepath.Join(dir, "pack", "*.idx"))
		if err != nil || len(names) != 1 {
			t.Fatal(names, err)
		}
		idx, err := os.ReadFile(names[0])
		if err != nil {
			t.Fatal(err)
		}
		// Its checksum is made to fit, so that the change is not found at once.
		idx[int(at)%(len(idx)-20)] ^= flip
		sum := sha1.Sum(idx[:len(idx)-20])
		loose := filepath.Join(dir, "bb", strings.Repeat("0", 38))
		if err := errors.Join(os.WriteFile(names[0], append(idx[:len(idx)-20], sum[:]...), 0o644), os.Mkdir(filepath.Dir(loose), 0o755), os.WriteFile(loose, other, 0o644)); err != nil {
			t.Fatal(err)
		}
		o := &objects{dirs: []string{dir}, cache: map[place]object{}}
		defer o.close()
		for _, id := range []oid{id, {0xaa, 2}, {0xbb}} {
			o.size(id)
			if _, got, err := o.any(id, 1<<16); err == nil && len(got) > 1<<16 {
				t.Errorf("%d bytes", len(got))
			}
		}
		for _, p := range o.packs {
			if p.idx != nil {
				if got, err := o.unpack(p, 12+int64(len(whole)), 1<<16); err == nil && len(got.data) > 1<<16 {
					t.Errorf("%d bytes", len(got.data))
				}
			}
		}
		o.prefixed("aa")
		for rest := other; len(rest) > 0 && err == nil; {
			_, rest, err = nextEntry(rest)
		}
		parseCommit(other)
	})
}
