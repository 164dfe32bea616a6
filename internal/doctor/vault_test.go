package doctor

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"vault-mcp/cache"
	"vault-mcp/internal/smalldisk"
	"vault-mcp/vault"
)

// A vault that nothing is wrong with has no warning, and no check says otherwise than
// on a vault with just that fault.
func TestEachFaultOfAVaultIsFound(t *testing.T) {
	healthy := newBed(t, "Notes").examine()
	if healthy.Status == Broken || healthy.Counts[Warning] > 0 {
		t.Errorf("a healthy vault: %+v", healthy.Findings)
	}
	tests := []struct {
		name, id string
		level    Level
		make     func(t *testing.T, b *bed)
		paths    []string
	}{
		{"two mistakes in a config", "config.problem", Broken, func(_ *testing.T, b *bed) { b.config("", "nonsense: 1\ngovernor: {max_response_bytes: 1}\n") }, nil},
		{"a vault that is gone", "vault.open", Broken, func(_ *testing.T, b *bed) { b.o.Config = filepath.Join(b.home, "gone") }, nil},
		{"an empty folder", "vault.open", Broken, func(_ *testing.T, b *bed) {
			b.o.Config = filepath.Join(b.home, "empty")
			b.must(os.Mkdir(b.o.Config, 0o755))
		}, nil},
		{"a vault that cannot be written to", "vault.write", Broken, func(t *testing.T, b *bed) {
			notRoot(t)
			b.must(os.Chmod(b.vault, 0o555))
			t.Cleanup(func() { _ = os.Chmod(b.vault, 0o755) })
		}, nil},
		{"a vault that Obsidian never opened", "vault.obsidian", Off, func(_ *testing.T, b *bed) { b.must(os.RemoveAll(filepath.Join(b.vault, ".obsidian"))) }, nil},
		{"damaged settings", "vault.settings", Warning, func(_ *testing.T, b *bed) { b.note(".obsidian/app.json", "{") }, nil},
		{"no trash", "vault.trash", Warning, func(_ *testing.T, b *bed) { b.note(".obsidian/app.json", `{"trashOption": "none"}`) }, nil},
		{"a link out of the vault", "vault.links", Warning, func(t *testing.T, b *bed) {
			if err := os.Symlink(b.home, filepath.Join(b.vault, "Out")); err != nil {
				t.Skip("this account may make no links")
			}
		}, []string{"Out"}},
		{"a closed folder", "vault.unread", Warning, func(t *testing.T, b *bed) {
			notRoot(t)
			b.note("Closed/a.md", "x")
			b.must(os.Chmod(filepath.Join(b.vault, "Closed"), 0))
			t.Cleanup(func() { _ = os.Chmod(filepath.Join(b.vault, "Closed"), 0o755) })
		}, []string{"Closed"}},
		{"a huge note", "vault.large", Warning, func(_ *testing.T, b *bed) {
			b.note("Huge.md", strings.Repeat("x", vault.DefaultMaxBytes+1))
		}, []string{"Huge.md"}},
		{"a file of a change that was interrupted", "vault.leftover", Warning, func(_ *testing.T, b *bed) { b.note("Garden/.vault-mcp-0123456789abcdef-1", "x") }, []string{"Garden/.vault-mcp-0123456789abcdef-1"}},
		{"a name that Windows cannot hold", "names.foreign", Warning, func(t *testing.T, b *bed) {
			if runtime.GOOS == "windows" {
				t.Skip("no such file can be made here")
			}
			b.note("Why?.md", "x")
		}, []string{"Why?.md"}},
		{"two names that differ by case", "names.twins", Warning, func(t *testing.T, b *bed) {
			b.note("compost.md", "x")
			if len(names(t, b.vault)) < 4 {
				t.Skip("this file system does not tell them apart")
			}
		}, []string{"compost.md"}},
		{"Latin-1", "text.encoding", Warning, func(_ *testing.T, b *bed) { b.note("Old.md", "caf\xe9\n") }, []string{"Old.md"}},
		{"UTF-16", "text.encoding", Warning, func(_ *testing.T, b *bed) { b.note("Old.md", "\xff\xfea\x00") }, []string{"Old.md"}},
		{"a byte order mark", "text.bom", Warning, func(_ *testing.T, b *bed) { b.note("Old.md", "\ufeffa\n") }, []string{"Old.md"}},
		{"mixed line ends", "text.mixed", Warning, func(_ *testing.T, b *bed) { b.note("Old.md", "a\r\nb\n") }, []string{"Old.md"}},
		{"two syncs", "sync.several", Warning, func(_ *testing.T, b *bed) {
			b.note(".stfolder/x", "")
			b.note(".obsidian/core-plugins.json", `{"sync": true}`)
		}, nil},
		{"a placeholder of iCloud", "sync.placeholders", Warning, func(_ *testing.T, b *bed) { b.note("Garden/.Old.md.icloud", "bplist") }, []string{"Garden/.Old.md.icloud"}},
		{"a file without its content", "sync.placeholders", Warning, func(t *testing.T, b *bed) {
			path := b.note("Away.md", "")
			b.must(os.Truncate(path, 8192))
			if info, err := os.Stat(path); err != nil || !elsewhere(info) {
				t.Skip("this file system gives it room")
			}
		}, []string{"Away.md"}},
		{"a copy of two versions", "sync.conflicts", Warning, func(_ *testing.T, b *bed) { b.note("Compost.sync-conflict-20261130-101112-ABCDEFG.md", "x") }, []string{"Compost.sync-conflict-20261130-101112-ABCDEFG.md"}},
		{"no watching", "index.watch", Off, func(_ *testing.T, b *bed) { b.config("", "index: {watch: false}\n") }, nil},
		{"a program that may not be started", "program.missing", Broken, func(t *testing.T, b *bed) {
			if runtime.GOOS == "windows" {
				t.Skip("every file may be started here")
			}
			b.config("", "programs: {git: '"+b.put("git", "x")+"'}\n")
		}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBed(t, "Notes")
			tt.make(t, b)
			r := b.examine()
			found := r.all(tt.id)
			if r.level(tt.id) != tt.level || found[len(found)-1].Fix == "" {
				t.Fatalf("%s: %+v", tt.id, found)
			}
			if was := healthy.level(tt.id); was == tt.level && tt.id != "program.missing" {
				t.Errorf("a healthy vault has it as well: %+v", healthy.all(tt.id))
			}
			if tt.paths != nil && !slices.Equal(found[0].Paths, tt.paths) {
				t.Errorf("paths %q", found[0].Paths)
			}
		})
	}
}

func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// Every problem of a config is a finding of its own.
func TestAllProblemsOfAConfigAreTold(t *testing.T) {
	b := newBed(t, "Notes")
	b.config("", "nonsense: 1\ngovernor: {max_response_bytes: 1}\n")
	if found := b.examine().all("config.problem"); len(found) != 2 {
		t.Errorf("%+v", found)
	}
	b.config(", read_only: true", "")
	r := b.examine()
	if r.level("config.valid") != OK || !strings.Contains(r.all("vault.write")[0].Text, "read-only") {
		t.Errorf("%+v", r.Findings)
	}
}

func TestWhoSyncsAVaultIsToldByItsPlaceOrWhatTheyLeave(t *testing.T) {
	for folder, want := range map[string]string{
		"Library/Mobile Documents/iCloud~md~obsidian/Documents/Notes": "iCloud Drive",
		"Dropbox (Personal)/Notes":                                    "Dropbox", "OneDrive - Work/Notes": "OneDrive",
		"Library/CloudStorage/GoogleDrive-ana@example.com/My Drive/Notes": "Google Drive", "Notes": "",
	} {
		got := textOf(newBed(t, folder).examine(), "sync.folder")
		if want == "" && !strings.Contains(got, "no program") || want != "" && got != "synced by "+want {
			t.Errorf("%s: %s", folder, got)
		}
	}
}

func textOf(r Report, id string) string { return r.all(id)[0].Text }

func TestCopiesOfTwoVersionsAreToldByTheirNames(t *testing.T) {
	beside := map[string]bool{"Note.md": true}
	for name, want := range map[string]certainty{
		"Note (Ana's conflicted copy 2026-11-30).md": surely, "Note (conflicted copy 2026-11-30 101112).md": surely,
		"Note (Conflicted copy phone 202611301011).md": surely, "Note (Case Conflict).md": surely,
		"Note.sync-conflict-20261130-101112-ABCDEFG.md": surely, "Note_conflict-20261130-101112.md": surely, "Note.Conflict.md": surely,
		"Note-ANA-PC.md": surely, "Note-DESKTOP-1A2B3C4.md": surely, "Note (1).md": maybe, "Note 2.md": maybe,
		"Note.md": no, "Other 2.md": no, "Conflict.md": no, "On conflict.md": no, "Other-ANA-PC.md": no, "Note 20.md": no,
	} {
		if got := conflict(name, "ANA-PC", beside); got != want {
			t.Errorf("%s: %d", name, got)
		}
	}
}

// A folder with many files is looked at without keeping their names, and of very many
// notes an even choice is read, which the report says.
func TestOfManyNotesSomeAreRead(t *testing.T) {
	b := newBed(t, "Notes")
	for i := range maxRead {
		b.note(fmt.Sprintf("Many/%d.md", i), "x\n")
	}
	r := b.examine()
	if got := textOf(r, "text.sample"); !strings.HasPrefix(got, fmt.Sprintf("%d of %d notes", maxRead, maxRead+2)) {
		t.Error(got)
	}
	if got := textOf(r, "vault.size"); !strings.HasPrefix(got, fmt.Sprintf("%d notes, ", maxRead+2)) {
		t.Error(got)
	}
}

func TestANoteThatEndsWithinACharacterWhereReadingEndsIsUTF8(t *testing.T) {
	b := newBed(t, "Notes")
	b.note("Long.md", strings.Repeat("x", maxText-1)+"é\n")
	if r := b.examine(); r.level("text.encoding") != "" {
		t.Errorf("%+v", r.all("text.encoding"))
	}
}

// Servers that were killed, and those of another version, are told.
func TestServersOnTheListAreTold(t *testing.T) {
	b := newBed(t, "Notes")
	served := []cache.ServedVault{{ID: "main", Path: b.vault}}
	for _, e := range []cache.Entry{{Version: "0.0.1", Vaults: served}, {PID: 1 << 30, Version: "0.1.0", Vaults: served}} {
		_, err := cache.Register(b.env(), e)
		b.must(err)
	}
	r := b.examine()
	if r.level("servers.version") != Warning || r.level("servers.gone") != Off || r.level("servers.running") != "" {
		t.Errorf("%+v", r.Findings)
	}
	if home, err := cache.Home(b.env()); err != nil || runtime.GOOS != "windows" && os.Chmod(filepath.Join(home, "servers"), 0o644) != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && b.examine().level("servers.list") != Broken {
		t.Error("a list that others may write was believed")
	}
}

// Without a path it looks at what runs, else at what Obsidian knows.
func TestVaultsAreFoundWithoutBeingNamed(t *testing.T) {
	b := newBed(t, "Notes")
	b.o.Config = ""
	if r := b.examine(); r.level("config.none") != Off || r.Status == Broken {
		t.Errorf("nothing to be found: %+v", r.Findings)
	}
	app := ".config/obsidian/obsidian.json"
	if runtime.GOOS == "darwin" {
		app = "Library/Application Support/obsidian/obsidian.json"
	} else if runtime.GOOS == "windows" {
		app = "AppData/Roaming/obsidian/obsidian.json"
	}
	b.put(app, fmt.Sprintf(`{"vaults": {"0123456789abcdef": {"path": %q, "ts": 1}}}`, b.vault))
	if r := b.examine(); r.level("vault.open") != OK {
		t.Errorf("Obsidian's list: %+v", r.Findings)
	}
	other := filepath.Join(b.home, "Other")
	b.put("Other/a.md", "x")
	_, err := cache.Register(b.env(), cache.Entry{Version: "0.1.0", Vaults: []cache.ServedVault{{ID: "main", Path: other}}})
	b.must(err)
	if r := b.examine(); len(r.all("vault.open")) != 1 || r.all("vault.open")[0].Vault != other {
		t.Errorf("a running server: %+v", r.Findings)
	}
}

func TestAFullDiskIsBroken(t *testing.T) {
	smalldisk.Run(t, func(t *testing.T) {
		disk := smalldisk.New(t, 8<<20)
		b := newBed(t, "Notes")
		b.config("", "state_dir: '"+disk.Dir+"'\n")
		if r := b.examine(); r.level("state.space") != Broken {
			t.Errorf("%+v", r.all("state.space"))
		}
	})
}

// What is printed has no line that a terminal would obey, and a fix for what is wrong.
func TestAReportIsPrintedByWhatItIsAbout(t *testing.T) {
	b := newBed(t, "Notes")
	b.note("Old\x1b[31m.md", "caf\xe9\n")
	var out bytes.Buffer
	b.must(b.examine().Print(&out))
	text := out.String()
	if strings.ContainsRune(text, 0x1b) || !strings.Contains(text, "vault "+b.vault+"\n") || strings.Count(text, "this machine\n") != 1 || !strings.Contains(text, "→ save them as UTF-8") {
		t.Error(text)
	}
}

func TestAgesAreToldInTheirGreatestUnit(t *testing.T) {
	now := time.Now()
	for d, want := range map[time.Duration]string{-time.Hour: "0 seconds", time.Minute: "1 minute", 47 * time.Hour: "47 hours", 72 * time.Hour: "3 days"} {
		if got := age(now, now.Add(-d)); got != want {
			t.Errorf("%s: %s", d, got)
		}
	}
}
