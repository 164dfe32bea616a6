package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write NOTICE")

// NOTICE names every library that is part of the program, with its licence.
//
//go:generate go test . -run TestNotice -update
func TestNotice(t *testing.T) {
	list, err := modules("../../cmd/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 15 {
		t.Errorf("only %d libraries were looked at", len(list))
	}
	want := notice(list)
	path := filepath.Join("..", "..", "NOTICE")
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("NOTICE has drifted (%v); go generate ./internal/release writes it", err)
	}
}

// What only tests and measurements use has such a licence too.
func TestEveryLicenceIsOneThatWeAccept(t *testing.T) {
	list, err := modules("-test", "../../...")
	if err != nil {
		t.Fatal(err)
	}
	if list["github.com/google/go-cmp"].ids == nil || list["modernc.org/sqlite"].ids == nil {
		t.Errorf("not all were looked at: %d", len(list))
	}
}

func TestALicenceThatWeDoNotAccept(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := licence(dir); err == nil {
		t.Error("no licence is taken for one")
	}
	if err := os.WriteFile(filepath.Join(dir, "LICENSE"), []byte("GNU GENERAL PUBLIC LICENSE Version 3"), 0o600); err != nil {
		t.Fatal(err)
	}
	if ids, _, err := licence(dir); err == nil {
		t.Errorf("taken for %q", ids)
	}
}

// Nothing in an archive tells when or where it was made, and the program can be
// started as it comes out.
func TestArchivesHoldNoTimesOfTheirOwn(t *testing.T) {
	files := under("vault-mcp-1", []file{{"vault-mcp", 0o755, []byte("program")}, {"README.md", 0o644, []byte("read me")}})
	want := []string{"vault-mcp-1/vault-mcp 755 315532800 program", "vault-mcp-1/README.md 644 315532800 read me"}
	_, text, err := tarred("", files)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil || !z.ModTime.IsZero() || z.OS != 255 {
		t.Fatalf("%v: %+v", err, z)
	}
	var got []string
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil || h.Uid != 0 || h.Gid != 0 || h.Uname != "" {
			t.Fatalf("%v: %+v", err, h)
		}
		b, _ := io.ReadAll(r)
		got = append(got, fmt.Sprintf("%s %o %d %s", h.Name, h.Mode, h.ModTime.Unix(), b))
	}
	if !slices.Equal(got, want) {
		t.Errorf("tar: %q", got)
	}
	_, text, err = zipped("", files)
	if err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	got = nil
	for _, f := range r.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(in)
		got = append(got, fmt.Sprintf("%s %o %d %s", f.Name, f.Mode(), f.Modified.Unix(), b))
	}
	if !slices.Equal(got, want) {
		t.Errorf("zip: %q", got)
	}
}

// A bundle names the program that is in it, and asks for the vault.
func TestABundleNamesItsProgram(t *testing.T) {
	for _, target := range targets {
		_, text, err := bundle("", target, "1.2.3", file{target.binary(), 0o755, []byte("program")}, []file{{"LICENSE", 0o644, nil}, {"README.md", 0o644, nil}})
		if err != nil {
			t.Fatal(err)
		}
		r, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
		if err != nil {
			t.Fatal(err)
		}
		var m struct {
			Version string
			Server  struct {
				Entry  string                   `json:"entry_point"`
				Config struct{ Command string } `json:"mcp_config"`
			}
		}
		in, err := r.Open("manifest.json")
		if err == nil {
			err = json.NewDecoder(in).Decode(&m)
		}
		if err != nil {
			t.Fatal(err)
		}
		f, err := r.Open(m.Server.Entry)
		if err != nil || m.Version != "1.2.3" || m.Server.Config.Command != "${__dirname}/"+m.Server.Entry {
			t.Fatalf("%s: %v %+v", target, err, m)
		}
		if info, err := f.Stat(); err != nil || info.Mode().Perm() != 0o755 || strings.HasSuffix(m.Server.Entry, ".exe") != (target.os == "windows") {
			t.Errorf("%s: %v %v", target, info, err)
		}
		if len(r.File) != 3 {
			t.Errorf("%s: %d files", target, len(r.File))
		}
	}
}

// What was released twice, from one folder here, has the sums that it says. That
// another folder makes no difference is tried by .ci/run.
func TestSumsAreThoseOfTheFiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := sums(dir); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	if want := fmt.Sprintf("%x  a\n", sha256.Sum256([]byte("text"))); err != nil || string(got) != want {
		t.Errorf("%v: %q, want %q", err, got, want)
	}
}

func TestTargetsThatAreNone(t *testing.T) {
	if _, err := choose("plan9/amd64"); err == nil {
		t.Error("taken")
	}
	if got, err := choose("windows/arm64,linux/amd64"); err != nil || len(got) != 2 || got[0].binary() != "vault-mcp.exe" {
		t.Errorf("%v, %v", got, err)
	}
}
