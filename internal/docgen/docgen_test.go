package docgen

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the documents")

// The documents say what the code says. go generate ./... writes them.
//
//go:generate go test . -run TestGenerated -update
func TestGenerated(t *testing.T) {
	root := filepath.Join("..", "..")
	want, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	parts, err := Parts()
	if err != nil {
		t.Fatal(err)
	}
	for name, some := range parts {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		if want[name], err = Fill(string(text), some); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	for name, text := range want {
		path := filepath.Join(root, filepath.FromSlash(name))
		if *update {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Errorf("%v (go generate ./... writes it)", err)
			continue
		}
		if d := cmp.Diff(text, string(got)); d != "" {
			t.Errorf("%s has drifted; go generate ./... writes it (-want +got):\n%s", name, d)
		}
	}
}
