package app_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vault-mcp/internal/app"
)

// killedVault and killedHome are the folders of the process that is to be killed.
const killedVault, killedHome = "APP_TEST_VAULT", "APP_TEST_HOME"

// A process that is killed between the moves of a bulk run leaves no note at two
// places or at none: the next one takes everything back, and can do it then.
func TestABulkRunThatIsKilledBetweenItsMovesIsTakenBack(t *testing.T) {
	const notes = 90
	files := map[string]string{"swap 1.md": "first\n", "swap 2.md": "second [[swap 1]]\n"}
	moves := []args{{"from": "swap 1", "to": "swap 2"}, {"from": "swap 2", "to": "swap 1"}}
	hub := ""
	for i := range notes {
		name := fmt.Sprintf("n%d", i)
		files["From/"+name+"/"+name+".md"] = fmt.Sprintf("note %d [[swap 1]]\n", i)
		moves = append(moves, args{"from": "From/" + name + "/" + name, "to": moved(i)})
		hub += "[[" + name + "]]\n"
	}
	files["hub.md"] = hub
	serve := func(home, dir string) *app.App {
		a := start(t, home, fmt.Sprintf("vaults: [{path: %q}]\n", dir))
		person(a, agrees)
		return a
	}
	bulk := func(a *app.App) (out written) {
		t.Helper()
		if err := call(t, a, "bulk_move_notes", args{"moves": moves}, &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	if dir := os.Getenv(killedVault); dir != "" {
		bulk(serve(os.Getenv(killedHome), dir))
		return
	}
	there := func(dir string, i int) bool {
		_, err := os.Stat(filepath.Join(dir, moved(i)))
		return err == nil
	}
	const enough = 2
	partly := 0
	for try := range 30 {
		if partly == enough {
			break
		}
		at := try * 7 % notes // a later move each time
		home, dir := t.TempDir(), filepath.Join(t.TempDir(), "vault")
		plant(t, dir, files)
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), killedVault+"="+dir, killedHome+"="+home)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		for giveUp := time.Now().Add(30 * time.Second); !there(dir, at); {
			if len(ended) > 0 && !there(dir, 0) || time.Now().After(giveUp) {
				t.Fatal("nothing was moved")
			}
		}
		_ = cmd.Process.Kill() // it may just have ended
		<-ended
		if !there(dir, notes-1) {
			partly++
		}
		a := serve(home, dir)
		a.Begin(t.Context())
		now := bytesOf(t, dir)
		if content(t, dir, "hub.md") == hub { // not whole, so it is undone
			if d := cmp.Diff(files, now); d != "" {
				t.Fatalf("killed at move %d (-before +after):\n%s", at, d)
			}
			out := bulk(a)
			checkMoved(t, dir, notes)
			back(t, a, dir, out.ChangeID, files)
		} else {
			checkMoved(t, dir, notes)
		}
		a.Close()
	}
	if partly < enough {
		t.Errorf("it was killed between two moves %d times only", partly)
	}
}

// moved is where note i goes.
func moved(i int) string { return fmt.Sprintf("Target/%d/moved n%d.md", i, i) }

// checkMoved compares a vault with what the whole of the moves makes of it.
func checkMoved(t *testing.T, dir string, notes int) {
	t.Helper()
	want := map[string]string{"swap 2.md": "first\n", "swap 1.md": "second [[swap 2]]\n", "hub.md": ""}
	for i := range notes {
		want[moved(i)] = fmt.Sprintf("note %d [[swap 2]]\n", i)
		want["hub.md"] += fmt.Sprintf("[[moved n%d]]\n", i)
	}
	if d := cmp.Diff(want, bytesOf(t, dir)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
