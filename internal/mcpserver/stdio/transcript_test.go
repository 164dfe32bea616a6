package stdio

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite the server's side of the transcripts")

// TestTranscripts plays testdata/*.txtar: each client section is sent, and what
// the server writes until it has nothing more to do is the server section that
// follows it. A client line "sleep 20ms" lets time pass, "eof" ends the input.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			bubble(t, Options{}, func(t *testing.T, c *client) { play(t, c, ar) })
			if *update {
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func play(t *testing.T, c *client, ar *txtar.Archive) {
	for i := 0; i+1 < len(ar.Files); i += 2 {
		in, out := ar.Files[i], &ar.Files[i+1]
		if in.Name != "client" || out.Name != "server" {
			t.Fatalf("sections %q and %q, want client and server", in.Name, out.Name)
		}
		for line := range strings.Lines(string(in.Data)) {
			line = strings.TrimSuffix(line, "\n")
			if d, ok := strings.CutPrefix(line, "sleep "); ok {
				pause, err := time.ParseDuration(d)
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(pause)
			} else if line == "eof" {
				c.in.Close()
			} else {
				c.send(line)
			}
		}
		got := strings.Join(c.received(), "\n")
		if got != "" {
			got += "\n"
		}
		if *update {
			out.Data = []byte(got)
		} else if diff := cmp.Diff(string(out.Data), got); diff != "" {
			t.Errorf("step %d, after %s(-want +got)\n%s", i/2+1, in.Data, diff)
		}
	}
}
