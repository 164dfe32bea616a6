package obsidian

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vault-mcp/internal/clients"
	"vault-mcp/internal/config"
)

// machine is a home folder with Obsidian's list of vaults in it.
type machine struct {
	t    *testing.T
	home string
}

func (m machine) system() clients.System {
	return clients.System{OS: "linux", Env: config.Env(func(name string) string {
		if name == "HOME" {
			return m.home
		}
		return ""
	})}
}

func (m machine) list(folder, text string) {
	m.t.Helper()
	dir := filepath.Join(m.home, folder)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "obsidian.json"), []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

func (m machine) vault(name string) string {
	m.t.Helper()
	dir := filepath.Join(m.home, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		m.t.Fatal(err)
	}
	return dir
}

func names(vaults []Vault) string {
	var b strings.Builder
	for _, v := range vaults {
		b.WriteString(" " + v.Name())
	}
	return strings.TrimSpace(b.String())
}

func TestVaultsOfTheApp(t *testing.T) {
	m := machine{t, t.TempDir()}
	if got, err := Vaults(m.system()); err != nil || len(got) != 0 {
		t.Fatalf("without the app: %v, %v", got, err)
	}
	a, b, c := m.vault("a"), m.vault("b c"), m.vault("c")
	m.list(".config/obsidian", fmt.Sprintf(`{"vaults": {"01": {"path": %q, "ts": 5}, "02": {"path": %q, "ts": 9, "open": true}, "03": {"path": %q, "ts": 7}, "04": {"path": "C:\\Notes", "ts": 1}}, "updateDisabled": true}`, a, b, a+"/gone"))
	m.list("snap/obsidian/current/.config/obsidian", fmt.Sprintf(`{"vaults": {"05": {"path": %q, "ts": 6}, "01": {"path": %q, "ts": 1}}}`, c, a))
	got, err := Vaults(m.system())
	if err != nil || names(got) != "b c gone c a" || !got[1].Gone || got[0].Gone || got[0].ID != "02" {
		t.Fatalf("%+v, %v", got, err)
	}
	for dir, want := range map[string]string{
		m.home: "b c", m.vault("a/deep"): "a", filepath.Join(m.home, "none"): "b c",
	} {
		if likely := Likely(got, dir); names(likely) != want {
			t.Errorf("in %s: %s", dir, names(likely))
		}
	}
	got[0].Open = false
	if likely := Likely(got, m.home); names(likely) != "b c c a" {
		t.Errorf("nothing is open: %s", names(likely))
	}
}

func TestAHalfWrittenListIsAnErrorAndNotAnEmptyList(t *testing.T) {
	m := machine{t, t.TempDir()}
	m.list(".config/obsidian", `{"vaults": {"01": {"pa`)
	m.list("snap/obsidian/current/.config/obsidian", fmt.Sprintf(`{"vaults": {"05": {"path": %q}}}`, m.vault("c")))
	got, err := Vaults(m.system())
	if err == nil || names(got) != "c" {
		t.Errorf("%v, %v", got, err)
	}
}
