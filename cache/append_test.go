package cache

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// appending is the file to which a child of the test adds lines.
const appending = "CACHE_TEST_APPEND"

// Several processes lose no line, tear none, and stay within the bound.
func TestManyAppendLines(t *testing.T) {
	const lines, limit = 200, 64 << 10
	add := func(who, path string) {
		for i := range lines {
			line := fmt.Appendf(nil, "%s %d %s", who, i, strings.Repeat("x", 50))
			err := AppendLine(path, line, limit)
			for try := 0; err != nil && try < 20; try++ { // the machine may be slow
				err = AppendLine(path, line, limit)
			}
			if err != nil {
				t.Error(err)
			}
		}
	}
	if path := os.Getenv(appending); path != "" {
		add("child", path)
		return
	}
	path := filepath.Join(t.TempDir(), "events.jsonl")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			cmd := exec.Command(exe, "-test.run=^"+t.Name()+"$")
			cmd.Env = append(os.Environ(), appending+"="+path)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	for range 2 {
		wg.Go(func() { add("own", path) })
	}
	wg.Wait()
	n, size := 0, 0
	for _, p := range []string{path + ".1", path} {
		text, err := os.ReadFile(p)
		if err != nil {
			continue
		}
		if info, err := os.Stat(p); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
		size += len(text)
		for l := range bytes.Lines(text) {
			n++
			if !bytes.HasSuffix(l, []byte(strings.Repeat("x", 50)+"\n")) || bytes.Count(l, []byte(" ")) != 2 {
				t.Errorf("torn: %q", l)
			}
		}
	}
	if n != 4*lines {
		t.Errorf("%d lines, %d bytes", n, size)
	}
}

func TestLinesTurnToOneOlderFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	const limit = 1000
	for i := range 100 {
		if err := AppendLine(path, fmt.Appendf(nil, "line %d", i), limit); err != nil {
			t.Fatal(err)
		}
		now, _ := os.ReadFile(path)
		old, _ := os.ReadFile(path + ".1")
		if len(now)+len(old) > limit || !bytes.HasSuffix(now, fmt.Appendf(nil, "line %d\n", i)) {
			t.Fatalf("%d and %d bytes", len(now), len(old))
		}
	}
	if _, err := os.Stat(path + ".1"); err != nil {
		t.Error(err)
	}
	if err := AppendLine(path, make([]byte, limit), limit); err == nil {
		t.Error("a line that is longer than the bound")
	}
}
