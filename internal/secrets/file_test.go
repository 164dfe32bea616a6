package secrets

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// childDir makes the test program one of many processes that open a ring: it
// waits for a line, opens, and prints a signature.
const (
	childDir    = "SECRETS_TEST_DIR"
	childNoLink = "SECRETS_TEST_NO_LINK"
)

func TestMain(m *testing.M) {
	dir := os.Getenv(childDir)
	if dir == "" {
		os.Exit(m.Run())
	}
	link := os.Link
	if os.Getenv(childNoLink) != "" {
		link = noLink
	}
	bufio.NewReader(os.Stdin).ReadString('\n')
	r, err := open(dir, link)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(r.Sign("test", []byte("m")))
}

func noLink(string, string) error { return syscall.ENOSYS }

func TestRacingServersAgreeOnOneRing(t *testing.T) {
	tests := []struct {
		name   string
		noLink string
		link   func(string, string) error
	}{
		{"with hard links", "", os.Link},
		{"without hard links", "yes", noLink},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			var mu sync.Mutex
			sigs := map[string]int{}
			var wg sync.WaitGroup
			start := make(chan struct{})
			for range 20 {
				wg.Go(func() {
					<-start
					r, err := open(dir, tt.link)
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					defer mu.Unlock()
					sigs[r.Sign("test", []byte("m"))]++
				})
			}
			for range 5 {
				cmd := exec.Command(os.Args[0])
				cmd.Env = append(os.Environ(), childDir+"="+dir, childNoLink+"="+tt.noLink)
				in, err := cmd.StdinPipe()
				if err != nil {
					t.Fatal(err)
				}
				var out strings.Builder
				cmd.Stdout = &out
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				wg.Go(func() {
					<-start
					io.WriteString(in, "\n")
					if err := cmd.Wait(); err != nil {
						t.Error(err, out.String())
					}
					mu.Lock()
					defer mu.Unlock()
					sigs[strings.TrimSpace(out.String())]++
				})
			}
			close(start)
			wg.Wait()
			if len(sigs) != 1 {
				t.Errorf("got %d rings, want one: %v", len(sigs), sigs)
			}
			left, err := os.ReadDir(filepath.Join(dir, "secrets"))
			if err != nil || len(left) != 1 {
				t.Errorf("got %v, %v, want ring.json alone", left, err)
			}
		})
	}
}

func TestRingIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs modes")
	}
	for name, link := range map[string]func(string, string) error{"linked": os.Link, "in place": noLink} {
		dir := t.TempDir()
		if _, err := open(dir, link); err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]os.FileMode{"secrets": 0o700, "secrets/ring.json": 0o600} {
			info, err := os.Stat(filepath.Join(dir, path))
			if err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: %s: got %v, %v, want %v", name, path, info.Mode(), err, want)
			}
		}
	}
}

func TestRingThatOthersCouldReadIsRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs modes and links")
	}
	tests := []struct {
		name  string
		spoil func(t *testing.T, folder, ring string) error
		want  string
	}{
		{"file readable by others", func(_ *testing.T, _, ring string) error { return os.Chmod(ring, 0o644) }, "run chmod 600 "},
		{"file writable by the group", func(_ *testing.T, _, ring string) error { return os.Chmod(ring, 0o620) }, "run chmod 600 "},
		{"folder open to others", func(_ *testing.T, folder, _ string) error { return os.Chmod(folder, 0o755) }, "run chmod 700 "},
		{"file is a link", func(t *testing.T, folder, ring string) error {
			return errors.Join(os.Rename(ring, ring+"2"), os.Symlink(ring+"2", ring))
		}, "symbolic link"},
		{"folder is a link", func(t *testing.T, folder, ring string) error {
			return errors.Join(os.Rename(folder, folder+"2"), os.Symlink(folder+"2", folder))
		}, "symbolic link"},
		{"a folder in place of the file", func(t *testing.T, folder, ring string) error {
			return errors.Join(os.Remove(ring), os.Mkdir(ring, 0o700))
		}, "is not a file"},
		{"of another account", func(t *testing.T, folder, ring string) error {
			if os.Geteuid() != 0 {
				t.Skip("only root can give a file away")
			}
			return os.Chown(ring, 12345, -1)
		}, "belongs to another account"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if _, err := Open(dir); err != nil {
				t.Fatal(err)
			}
			folder := filepath.Join(dir, "secrets")
			if err := tt.spoil(t, folder, filepath.Join(folder, "ring.json")); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
		})
	}
}

func TestDamagedRingIsNeverOverwritten(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"empty", "", "restore it from a backup"},
		{"cut", ringText(oldKid, oldSecret)[:60], "restore it from a backup"},
		{"no keys", ringText(oldKid), "current key is missing"},
		{"current missing", ringText(newKid, oldSecret), "current key is missing"},
		{"one id twice", ringText(oldKid, oldSecret, oldSecret), "two keys of one id"},
		{"short secret", ringText("00000000", `{"kid":"00000000","secret":"AAEC"}`), "not whole"},
		{"bad id", ringText("x", `{"kid":"x","secret":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"}`), "not whole"},
		{"no version", `{}`, "version is missing"},
		{"newer", `{"version":2}`, "update this one"},
		{"huge", strings.Repeat(" ", maxFile) + ringText(oldKid, oldSecret), "restore it from a backup"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			putRing(t, dir, tt.text)
			path := filepath.Join(dir, "secrets", "ring.json")
			past := time.Now().Add(-time.Hour)
			if err := os.Chtimes(path, past, past); err != nil {
				t.Fatal(err)
			}
			_, err := Open(dir)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
			if err != nil && (strings.Contains(err.Error(), "AAEC") || strings.Contains(err.Error(), "\n")) {
				t.Errorf("the error shows a secret or has several lines: %v", err)
			}
			if got, _ := os.ReadFile(path); string(got) != tt.text {
				t.Errorf("the file was changed to %q", got)
			}
		})
	}
}

func TestRingLastsOverARestart(t *testing.T) {
	dir := t.TempDir()
	a, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Verify("cursor", []byte("m"), a.Sign("cursor", []byte("m"))); err != nil {
		t.Error(err)
	}
}

func TestNoStateFolder(t *testing.T) {
	if _, err := Open(filepath.Join(t.TempDir(), "absent")); err == nil {
		t.Error("a ring was opened where no folder is")
	}
}
