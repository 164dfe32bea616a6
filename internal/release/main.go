// Command release builds what is given to people: an archive and a bundle for
// each system and processor, with checksums and lists of what is in them.
//
//	scripts/release -out dist
//
// The same source and the same Go give the same bytes, in whatever folder and at
// whatever time.
package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// target is a system and a processor, as Go names them.
type target struct{ os, arch string }

var targets = []target{
	{"linux", "amd64"}, {"linux", "arm64"},
	{"darwin", "amd64"}, {"darwin", "arm64"},
	{"windows", "amd64"}, {"windows", "arm64"},
}

func (t target) String() string { return t.os + "/" + t.arch }

// binary is the name of the program's file.
func (t target) binary() string {
	if t.os == "windows" {
		return name + ".exe"
	}
	return name
}

const name = "vault-mcp"

func main() {
	log.SetFlags(0)
	log.SetPrefix("release: ")
	out := flag.String("out", "dist", "the folder to write to; it is made, and has to be empty")
	only := flag.String("targets", "", "only these, such as linux/amd64,darwin/arm64")
	flag.Parse()
	if err := release(*out, *only); err != nil {
		log.Fatal(err)
	}
}

func release(out, only string) error {
	wanted, err := choose(only)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	if there, err := os.ReadDir(out); err != nil || len(there) > 0 {
		return fmt.Errorf("%s is not empty (%v)", out, err)
	}
	work, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	licences, err := modules("./cmd/" + name)
	if err != nil {
		return err
	}
	common, version, err := texts(work, licences)
	if err != nil {
		return err
	}
	for _, t := range wanted {
		binary := filepath.Join(work, t.os+"-"+t.arch)
		if err := build(t, binary); err != nil {
			return err
		}
		program, err := os.ReadFile(binary)
		if err != nil {
			return err
		}
		base := fmt.Sprintf("%s_%s_%s_%s", name, version, t.os, t.arch)
		exe := file{t.binary(), 0o755, program}
		put := func(ext string, text []byte, err error) error {
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(out, base+ext), text, 0o644)
		}
		inFolder := under(fmt.Sprintf("%s-%s", name, version), append([]file{exe}, common...))
		if t.os == "windows" {
			err = put(zipped(".zip", inFolder))
		} else {
			err = put(tarred(".tar.gz", inFolder))
		}
		if err == nil {
			err = put(bundle(".mcpb", t, version, exe, common))
		}
		if err == nil {
			err = put(sbom(".cdx.json", binary, version, licences))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
	}
	return sums(out)
}

func choose(only string) ([]target, error) {
	if only == "" {
		return targets, nil
	}
	var list []target
	for s := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(targets, func(t target) bool { return t.String() == s })
		if i < 0 {
			return nil, fmt.Errorf("%q is not one of %v", s, targets)
		}
		list = append(list, targets[i])
	}
	return list, nil
}

// build makes the program. The environment is given whole, so that no setting of
// the machine gets in.
func build(t target, to string) error {
	c := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -buildid=", "-o", to, "./cmd/"+name)
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch,
		"GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=", "GOEXPERIMENT=", "GOWORK=off")
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("go build for %s: %w\n%s", t, err, out)
	}
	return nil
}

// texts are the files that come with every program, and its version. Some are
// written by the program itself, as it is on this machine.
func texts(work string, licences map[string]module) (list []file, version string, err error) {
	here := filepath.Join(work, "here")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", here, "./cmd/"+name).CombinedOutput(); err != nil {
		return nil, "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	says := func(args ...string) []byte {
		out, e := exec.Command(here, args...).Output()
		if e != nil && err == nil {
			err = fmt.Errorf("%s %v: %w", name, args, e)
		}
		return out
	}
	version = strings.TrimSpace(strings.TrimPrefix(string(says("version")), name))
	list = []file{
		{"man/" + name + ".1", 0o644, says("man")},
		{"completion/" + name + ".bash", 0o644, says("completion", "bash")},
		{"completion/_" + name, 0o644, says("completion", "zsh")},
		{"completion/" + name + ".fish", 0o644, says("completion", "fish")},
	}
	docs, _ := filepath.Glob("docs/*.md") // cannot fail: the pattern is one
	for _, path := range append([]string{"README.md", "CHANGELOG.md", "LICENSE", "NOTICE"}, docs...) {
		text, e := os.ReadFile(path)
		if e != nil && err == nil {
			err = e
		}
		list = append(list, file{filepath.ToSlash(path), 0o644, text})
	}
	theirs, e := thirdParty(licences)
	if e != nil && err == nil {
		err = e
	}
	return append(list, file{"THIRD-PARTY.txt", 0o644, theirs}), version, err
}

// sums writes SHA256SUMS, as sha256sum --check reads it.
func sums(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(text), e.Name())
	}
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(b.String()), 0o644)
}
