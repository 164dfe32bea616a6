package git

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"

	"vault-mcp/internal/racing"
)

// stored is one object of a pack that no git wrote.
type stored struct {
	id   oid
	body []byte
}

// packOf writes a pack with its index into a repository's folder of objects.
func packOf(t testing.TB, objects string, all ...stored) {
	t.Helper()
	pack := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(len(all)))
	var w idxfile.Writer
	for _, s := range all {
		w.Add(plumbing.Hash(s.id), uint64(len(pack)), 0)
		pack = append(pack, s.body...)
	}
	sum := sha1.Sum(pack)
	pack = append(pack, sum[:]...)
	if err := w.OnFooter(plumbing.Hash(sum)); err != nil {
		t.Fatal(err)
	}
	ix, err := w.Index()
	if err != nil {
		t.Fatal(err)
	}
	var idx bytes.Buffer
	if _, err := idxfile.NewEncoder(&idx).Encode(ix); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(objects, "pack", fmt.Sprintf("pack-%x", sum))
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name+".pack", pack, 0o644), os.WriteFile(name+".idx", idx.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// inPack is an object as a pack has it: its type, the size that it claims, what names
// its base, and its data.
func inPack(kind plumbing.ObjectType, size uint64, base, data []byte) []byte {
	b := []byte{byte(kind)<<4 | byte(size&15)}
	for size >>= 4; size > 0; size >>= 7 {
		b[len(b)-1] |= 0x80
		b = append(b, byte(size&0x7f))
	}
	return append(append(b, base...), deflated(data)...)
}

func deflated(data []byte) []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	z.Write(data)
	z.Close()
	return b.Bytes()
}

// TestPacksThatNoGitWrote has an end in little memory, whatever a pack claims.
func TestPacksThatNoGitWrote(t *testing.T) {
	racing.Skips(t)
	a, b := oid{0xaa, 1}, oid{0xaa, 2}
	delta := []byte{4, 4, 0x90, 4}
	whole := inPack(plumbing.BlobObject, 4, nil, []byte("text"))
	var far []stored
	next := oid{0xbb}
	for len(far) <= maxChain+1 {
		body, base := whole, []byte(nil)
		if n := len(far); n > 0 {
			base = []byte{byte(len(far[n-1].body))}
			body = inPack(plumbing.OFSDeltaObject, 4, base, delta)
		}
		far = append(far, stored{next, body})
		next = oid{0xbb, byte(len(far) >> 8), byte(len(far))}
	}
	far[len(far)-1].id = a
	zeros := make([]byte, 64<<20)
	for name, all := range map[string][]stored{
		"a circle": {
			{a, inPack(plumbing.REFDeltaObject, 4, b[:], delta)},
			{b, inPack(plumbing.REFDeltaObject, 4, a[:], delta)},
		},
		"its own base":         {{a, inPack(plumbing.REFDeltaObject, 4, a[:], delta)}},
		"a base that is gone":  {{a, inPack(plumbing.REFDeltaObject, 4, b[:], delta)}},
		"a base before all":    {{a, inPack(plumbing.OFSDeltaObject, 4, []byte{0x7f}, delta)}},
		"a far base":           far,
		"more than it says":    {{a, inPack(plumbing.BlobObject, 10, nil, zeros)}},
		"less than it says":    {{a, inPack(plumbing.BlobObject, 10, nil, []byte("nine bytes")[:9])}},
		"a delta of more":      {{b, whole}, {a, inPack(plumbing.REFDeltaObject, 4, b[:], append(delta[:4:4], zeros...))}},
		"a delta of nothing":   {{b, whole}, {a, inPack(plumbing.REFDeltaObject, 0, b[:], nil)}},
		"a huge result":        {{b, whole}, {a, inPack(plumbing.REFDeltaObject, 10, b[:], []byte{4, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x90, 4, 0})}},
		"a size below nothing": {{a, inPack(plumbing.BlobObject, 1<<63, nil, zeros)}},
		"an unknown type":      {{a, inPack(5, 4, nil, []byte("text"))}},
		"another object":       {{a, whole}},
		"no data":              {{a, []byte{0x34}}},
		"nothing":              {{a, nil}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			packOf(t, filepath.Join(r.dir, ".git", "objects"), all...)
			repo := r.open(".")
			var got []byte
			var err error
			if n := testing.AllocsPerRun(1, func() { got, err = repo.Blob(a.id(), 1<<10) }); n > 100_000 {
				t.Errorf("%v allocations", n)
			}
			if err == nil || !strings.Contains(err.Error(), string(a.id())) && !errors.Is(err, ErrTooLarge) {
				t.Errorf("%q %v", got, err)
			}
			if _, err := repo.Resolve("aa01"); err == nil {
				t.Error("it is taken for a commit")
			}
		})
	}
}

// TestLooseObjectsThatNoGitWrote is the same for those outside packs.
func TestLooseObjectsThatNoGitWrote(t *testing.T) {
	racing.Skips(t)
	id := oid{0xaa, 1}
	for name, data := range map[string][]byte{
		"more than it says":    append([]byte("blob 10\x00"), make([]byte, 64<<20)...),
		"no end of its head":   make([]byte, 64<<20)[1:],
		"a type without end":   bytes.Repeat([]byte("blob"), 16<<20),
		"a size without end":   append([]byte("blob "), bytes.Repeat([]byte("1"), 64<<20)...),
		"less than it says":    []byte("blob 10\x00nine byte"),
		"a size below nothing": []byte("blob -1\x00"),
		"a delta":              []byte("ofs-delta 4\x00text"),
		"another object":       []byte("blob 4\x00text"),
	} {
		r := newRepo(t)
		path := filepath.Join(r.dir, ".git", "objects", "aa", string(id.id())[2:])
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, deflated(data), 0o644)); err != nil {
			t.Fatal(err)
		}
		if got, err := r.open(".").Blob(id.id(), 1<<10); err == nil || !strings.Contains(err.Error(), string(id.id())) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
}

// git reads every pack of the folder, whatever its name: git maintenance makes
// loose-*.pack of new objects.
func TestPacksOfAnyName(t *testing.T) {
	r := newRepo(t)
	r.write("a.md", "a\n")
	want := r.commit("one")
	r.git("maintenance", "run", "--task=loose-objects")
	r.git("maintenance", "run", "--task=loose-objects")
	if loose, err := filepath.Glob(filepath.Join(r.dir, ".git", "objects", "??")); err != nil || len(loose) > 0 {
		t.Fatal(loose, err)
	}
	if c, err := r.open(".").Commit(want); err != nil || c.Subject() != "one" {
		t.Errorf("%+v %v", c, err)
	}
}

// Objects may be borrowed from one that borrows, by paths from the folder of objects.
func TestBorrowedByRelativePaths(t *testing.T) {
	r := newRepo(t)
	r.write("a.md", "a\n")
	r.commit("one")
	blob := r.git("rev-parse", "HEAD:a.md")
	origin := filepath.Dir(r.dir)
	r.git("clone", "-q", "--shared", ".", "../second")
	r.git("clone", "-q", "--shared", "../second", "../third")
	for from, to := range map[string]string{"third": "second", "second": "work"} {
		path := filepath.Join(origin, from, ".git", "objects", "info", "alternates")
		if err := os.WriteFile(path, []byte("# a remark\n\n../../../"+to+"/.git/objects\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r.dir = filepath.Join(origin, "third")
	if r.git("cat-file", "blob", blob) != "a" {
		t.Fatal("git itself does not borrow it")
	}
	for _, state := range []string{"loose", "packed"} {
		if got, err := r.open(".").Blob(ID(blob), 10); err != nil || string(got) != "a\n" {
			t.Errorf("%s: %q %v", state, got, err)
		}
		r.dir = filepath.Join(origin, "work")
		r.git("repack", "-q", "-a", "-d")
		r.dir = filepath.Join(origin, "third")
	}
}

// Packs are not opened, which takes long where they are large, as long as HEAD's
// commit says that nothing is staged.
func TestFingerprintOpensNoPack(t *testing.T) {
	r := newRepo(t)
	r.write("Notes/a.md", "a\n")
	r.commit("one")
	r.git("repack", "-q", "-a", "-d")
	r.write("b.md", "b\n")
	r.commit("two")
	packs, err := filepath.Glob(filepath.Join(r.dir, ".git", "objects", "pack", "*"))
	if err != nil || len(packs) < 2 {
		t.Fatal(packs, err)
	}
	for _, path := range packs {
		os.Remove(path)
		if err := os.WriteFile(path, []byte("harmed"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	repo := r.open(".")
	head, err := repo.Head()
	if err != nil {
		t.Fatal(err)
	}
	ix, err := repo.Index()
	if err != nil {
		t.Fatal(err)
	}
	if changes, err := repo.Staged(context.Background(), head, ix); err != nil || len(changes) > 0 {
		t.Errorf("%v %v", changes, err)
	}
	old, _ := parseOID(string(ix.Entries[0].ID))
	if got, err := repo.Blob(old.id(), 10); err == nil || !strings.Contains(err.Error(), ".idx") {
		t.Errorf("%q %v: the harm is not told", got, err)
	}
}

// A panic of go-git about what it holds for an index ends the call, and not the
// process.
func TestPanicsAreErrors(t *testing.T) {
	id := oid{0xaa, 1}
	harmed := &idxfile.MemoryIndex{Names: [][]byte{nil}, Offset32: [][]byte{make([]byte, 4)}}
	o := &objects{packs: []*pack{{path: "x.idx", idx: harmed}}}
	if _, _, err := o.size(id); kind(err) != "broken" {
		t.Errorf("%v", err)
	}
	if _, err := o.get(id, plumbing.BlobObject, 10); kind(err) != "broken" {
		t.Errorf("%v", err)
	}
}
