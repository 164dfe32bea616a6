package mcpserver_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vault-mcp/cache"
	"vault-mcp/internal/app"
	"vault-mcp/internal/config"
)

var update = flag.Bool("update", false, "rewrite what the tests compare with")

// Times go out with their offset: those of the tests are in UTC.
func TestMain(m *testing.M) {
	flag.Parse()
	time.Local = time.UTC
	os.Exit(m.Run())
}

const garden = "../../testdata/vaults/garden"

// copyGarden copies the garden vault to a folder of its own. Every file is a
// minute younger than the one before it.
func copyGarden(t testing.TB) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "garden")
	if err := os.CopyFS(dir, os.DirFS(garden)); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		at = at.Add(time.Minute)
		return os.Chtimes(path, at, at)
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// newApp serves a vault by a config with a small budget, under a key that is
// the same each time.
func newApp(t testing.TB, log *slog.Logger, vaultDir string) *app.App {
	t.Helper()
	return newAppWith(t, log, vaultDir, budget)
}

func newAppWith(t testing.TB, log *slog.Logger, vaultDir string, budget int) *app.App {
	t.Helper()
	return newAppIn(t, log, t.TempDir(), ring, budget, vaultDir)
}

// newSurface serves vaults by a config with these settings besides.
func newSurface(t testing.TB, settings map[string]any, vaultDirs ...string) *app.App {
	t.Helper()
	return configured(t, slog.New(slog.DiscardHandler), t.TempDir(), ring, settings, vaultDirs)
}

// newAppIn serves vaults, whose ids are the names of their folders. home keeps its
// config and its state, and ring its keys.
func newAppIn(t testing.TB, log *slog.Logger, home, ring string, budget int, vaultDirs ...string) *app.App {
	t.Helper()
	return newAppOf(t, log, home, ring, budget, nil, vaultDirs...)
}

// newAppOf is newAppIn with settings of elicit.
func newAppOf(t testing.TB, log *slog.Logger, home, ring string, budget int, elicit map[string]any, vaultDirs ...string) *app.App {
	t.Helper()
	settings := map[string]any{"governor": map[string]any{"max_response_bytes": budget}}
	if elicit != nil {
		settings["elicit"] = elicit
	}
	return configured(t, log, home, ring, settings, vaultDirs)
}

func configured(t testing.TB, log *slog.Logger, home, ring string, settings map[string]any, vaultDirs []string) *app.App {
	t.Helper()
	env := config.Env(func(name string) string {
		if name == "HOME" {
			return home
		}
		return ""
	})
	var vaults []any
	for _, dir := range vaultDirs {
		vaults = append(vaults, map[string]any{"id": filepath.Base(dir), "path": dir})
	}
	file := filepath.Join(home, "config.yaml")
	all := map[string]any{"state_dir": filepath.Join(home, "state"), "vaults": vaults}
	maps.Copy(all, settings)
	text, err := json.Marshal(all)
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := env.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	folder, err := cache.Folder(env, cfg.StateDir, cfg.Vaults[0].Real)
	if err == nil {
		err = os.MkdirAll(filepath.Join(folder, "secrets"), 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "secrets", "ring.json"), []byte(ring), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.New(cfg, app.Options{Env: env, Version: "0.0.0", Log: log, NoIndex: true, Listen: listen}) // transcripts stand still in time, an index does not
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

// budget is the largest answer, in bytes: as small as a config may set it.
const budget = 10_000

// ring is a key ring with one key of zeros.
var ring = ringOf("00000000", "A")

// ringOf is a key ring with one key, whose secret is made of one letter.
func ringOf(kid, letter string) string {
	return fmt.Sprintf(`{"version":1,"current":%q,"keys":[{"kid":%q,"secret":%q,"created":"2000-01-01T00:00:00Z"}]}`,
		kid, kid, strings.Repeat(letter, 42)+"A")
}
