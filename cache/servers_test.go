package cache

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// childHome makes the test program a server: it registers with that home,
// says so, and stays until its input ends.
const childHome = "CACHE_TEST_HOME"

func TestMain(m *testing.M) {
	home := os.Getenv(childHome)
	if home == "" {
		os.Exit(m.Run())
	}
	_, err := Register(homeEnv(home), Entry{StateDir: "/state", Version: "child"})
	fmt.Println("registered", err)
	io.Copy(io.Discard, os.Stdin)
}

func homeEnv(home string) func(string) string {
	return fakeEnv(map[string]string{"HOME": home, "LOCALAPPDATA": home, "XDG_STATE_HOME": "/somewhere/else"})
}

// server is a running child; closing stdin ends it without a farewell.
type server struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	out   *bufio.Reader
}

func startServer(t *testing.T, home string) server {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childHome+"="+home)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := server{cmd, in, bufio.NewReader(out)}
	t.Cleanup(s.end)
	return s
}

func (s server) end() {
	s.stdin.Close()
	s.cmd.Wait()
}

func list(t *testing.T, home string) []Entry {
	t.Helper()
	entries, err := List(homeEnv(home))
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

func TestServersFindEachOther(t *testing.T) {
	home := t.TempDir()
	if got := list(t, home); len(got) != 0 {
		t.Fatalf("got %v before the first server", got)
	}
	if entries, _ := os.ReadDir(home); len(entries) != 0 {
		t.Errorf("reading the list made %v", entries)
	}
	want := Entry{
		StateDir: "/state/notes-0123456789abcdef", Config: "/home/ana/vault.yaml", Version: "1.2.3",
		Started: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC),
		Vaults:  []ServedVault{{ID: "main", Path: "/home/ana/Notes", StateDir: "/state/notes-0123456789abcdef"}},
	}
	remove, err := Register(homeEnv(home), want)
	if err != nil {
		t.Fatal(err)
	}
	want.PID = os.Getpid()
	want.Birth, _ = process(want.PID)
	want.Parent = processOf(os.Getppid())
	if diff := cmp.Diff([]Entry{want}, list(t, home)); diff != "" {
		t.Error(diff)
	}
	if runtime.GOOS == "linux" {
		if err := Private(filepath.Join(home, ".local", "state", "vault-mcp", "servers")); err != nil {
			t.Errorf("the list is not where other commands look for it, or not private: %v", err)
		}
		if want.Birth == "" {
			t.Error("the start time of this process was not read")
		}
	}
	if err := remove(); err != nil {
		t.Fatal(err)
	}
	if got := list(t, home); len(got) != 0 {
		t.Errorf("got %v after the server took itself out", got)
	}
}

func TestNoServerIsLostWhenManyStartAtOnce(t *testing.T) {
	home := t.TempDir()
	var servers []server
	for range 8 {
		servers = append(servers, startServer(t, home))
	}
	want := map[int]bool{}
	for _, s := range servers {
		line, err := s.out.ReadString('\n')
		if line != "registered <nil>\n" {
			t.Fatalf("got %q, %v", line, err)
		}
		want[s.cmd.Process.Pid] = true
	}
	got := map[int]bool{}
	for _, e := range list(t, home) {
		got[e.PID] = true
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}

	servers[0].cmd.Process.Kill()
	servers[0].end()
	delete(want, servers[0].cmd.Process.Pid)
	if got := list(t, home); len(got) != len(want) {
		t.Errorf("got %d servers, want %d: the killed one is no server any more", len(got), len(want))
	}
}

func TestManyRegistrationsOfOneProcessAreOneEntry(t *testing.T) {
	home := t.TempDir()
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			if _, err := Register(homeEnv(home), Entry{}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := list(t, home); len(got) != 1 {
		t.Errorf("got %v, want one entry", got)
	}
}

func TestDamagedLinesHideNobody(t *testing.T) {
	home := t.TempDir()
	if _, err := Register(homeEnv(home), Entry{Version: "me"}); err != nil {
		t.Fatal(err)
	}
	l, err := listOf(homeEnv(home))
	if err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(string(l))
	if err != nil {
		t.Fatal(err)
	}
	dirt := "\n{\"pid\":\n{\"pid\":-1}\n{\"pid\":0}\nnull\n\x00\xff\n{\"pid\":2147483646,\"version\":\"dead\"}\n"
	reused := strings.Replace(string(good), `"birth":"`, `"birth":"9`, 1)
	if reused == string(good) {
		reused = ""
	}
	// A newer version may write more than this one knows.
	newer := strings.Replace(string(good), `"version"`, `"colour":"red","version"`, 1)
	newer = strings.Replace(newer, fmt.Sprintf(`"pid":%d`, os.Getpid()), fmt.Sprintf(`"pid":%d`, os.Getppid()), 1)
	if parent, _ := process(os.Getppid()); parent != "" {
		self, _ := process(os.Getpid())
		newer = strings.Replace(newer, `"birth":"`+self, `"birth":"`+parent, 1)
	}
	if err := os.WriteFile(string(l), []byte(dirt+reused+newer), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := list(t, home); len(got) != 1 || got[0].PID != os.Getppid() {
		t.Errorf("got %v, want only the entry of the parent", got)
	}
	if _, err := Register(homeEnv(home), Entry{Version: "me"}); err != nil {
		t.Fatal(err)
	}
	if got := list(t, home); len(got) != 2 {
		t.Errorf("got %v, want the parent and this process", got)
	}
	if text, _ := os.ReadFile(string(l)); !strings.Contains(string(text), `"colour":"red"`) || strings.Contains(string(text), "dead") {
		t.Errorf("got %s, want the newer entry whole and no dead one", text)
	}
}

func TestForgedListIsRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs modes")
	}
	home := t.TempDir()
	if _, err := Register(homeEnv(home), Entry{}); err != nil {
		t.Fatal(err)
	}
	l, err := listOf(homeEnv(home))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(string(l), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := List(homeEnv(home)); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("got %v, want a refusal that says chmod 600", err)
	}
}
