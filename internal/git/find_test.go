package git

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// kind is the kind of a refusal, "" for another error or none.
func kind(err error) string {
	var r *RefusedError
	if errors.As(err, &r) {
		return r.Kind
	}
	return ""
}

func TestOpenFindsWhatGitFinds(t *testing.T) {
	r := newRepo(t)
	r.write("Notes/Deep/a.md", "a\n")
	first := r.commit("one")
	r.git("worktree", "add", "-q", "../linked")
	r.git("clone", "-q", "--separate-git-dir", "../apart.git", ".", "../apart")
	r.git("clone", "-q", ".", "../lib")
	r.git("submodule", "--quiet", "add", "../lib", "lib")
	if err := os.Symlink(filepath.Join(r.dir, "Notes"), filepath.Join(r.dir, "..", "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.dir, "Notes", ".gitkeep"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	r.git("clone", "-q", "--bare", ".", "../bare.git")
	r.git("-C", "../bare.git", "worktree", "add", "-q", "--detach", "../ofbare")
	r.git("-C", "../apart", "config", "core.worktree", "../apart")
	for _, c := range []struct{ vault, prefix string }{
		{".", ""}, {"Notes", "Notes/"}, {"Notes/Deep", "Notes/Deep/"}, {"../link", "Notes/"},
		{"../linked", ""}, {"../linked/Notes", "Notes/"}, {"../ofbare", ""}, {"../apart", ""}, {"../apart/Notes/Deep", "Notes/Deep/"}, {"lib", ""}, {"lib/Notes", "Notes/"},
	} {
		got := r.open(c.vault)
		at := func(args ...string) string {
			return r.git(append([]string{"-C", c.vault, "rev-parse", "--path-format=absolute"}, args...)...)
		}
		if got.Prefix != c.prefix || got.Work != at("--show-toplevel") || got.Dir != at("--git-dir") || got.Common != at("--git-common-dir") {
			t.Errorf("%s: %+v", c.vault, got)
		}
		if h, err := got.Head(); err != nil || h.Commit != first {
			t.Errorf("%s: %v %v", c.vault, h, err)
		}
	}
}

func TestOpenFindsNone(t *testing.T) {
	r := bareRepo(t)
	if _, err := Open(r.dir, Options{}); !errors.Is(err, ErrNone) {
		t.Errorf("no repository: %v", err)
	}
	r.git("init", "-q", "--bare", "bare")
	r.git("init", "-q", "off")
	r.git("init", "-q") // the nearest one counts, not this
	r.git("-C", "off", "config", "core.bare", "true")
	for _, dir := range []string{"bare", "bare/refs", "off", "off/.git", "off/.git/objects"} {
		if _, err := Open(filepath.Join(r.dir, dir), Options{}); !errors.Is(err, ErrNone) {
			t.Errorf("%s: %v", dir, err)
		}
	}
	t.Setenv("GIT_DIR", filepath.Join(r.dir, ".git"))
	if _, err := Open(r.home, Options{}); !errors.Is(err, ErrNone) {
		t.Errorf("GIT_DIR counts: %v", err)
	}
}

func TestOpenRefusesWhatIsBroken(t *testing.T) {
	for name, harm := range map[string]func(r *repo, dir string) error{
		"empty folder": func(r *repo, dir string) error {
			os.RemoveAll(dir)
			return os.Mkdir(dir, 0o755)
		},
		"no HEAD":    func(r *repo, dir string) error { return os.Remove(filepath.Join(dir, "HEAD")) },
		"no objects": func(r *repo, dir string) error { return os.RemoveAll(filepath.Join(dir, "objects")) },
		"empty file": func(r *repo, dir string) error {
			os.RemoveAll(dir)
			return os.WriteFile(dir, nil, 0o644)
		},
		"leads nowhere": func(r *repo, dir string) error {
			os.RemoveAll(dir)
			return os.WriteFile(dir, []byte("gitdir: ../gone\n"), 0o644)
		},
		"dangling link": func(r *repo, dir string) error {
			os.RemoveAll(dir)
			return os.Symlink("gone", dir)
		},
		"lost commondir": func(r *repo, dir string) error {
			return os.WriteFile(filepath.Join(dir, "commondir"), []byte("../gone\n"), 0o644)
		},
		"work tree below": func(r *repo, dir string) error {
			r.git("config", "core.worktree", filepath.Join(r.dir, "sub"))
			return os.Mkdir(filepath.Join(r.dir, "sub"), 0o755)
		},
		"other work tree": func(r *repo, dir string) error {
			r.git("config", "core.worktree", r.home)
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			outer := newRepo(t)
			outer.git("init", "-q", "inner")
			inner := *outer
			inner.dir = filepath.Join(outer.dir, "inner")
			if err := harm(&inner, filepath.Join(inner.dir, ".git")); err != nil {
				t.Fatal(err)
			}
			if got, err := Open(inner.dir, Options{}); kind(err) != "broken" {
				t.Errorf("%+v %v", got, err)
			}
		})
	}
}

func TestOpenJudgesTheFormat(t *testing.T) {
	for _, c := range []struct{ config, kind string }{
		{"[core]\nrepositoryformatversion = 0\n", ""},
		{"[core]\n\trepositoryFormatVersion = 1\n[extensions]\n\tnoop = 1\n\tpreciousObjects = true\n\tpartialClone = origin\n\trelativeWorktrees = true\n\tworktreeConfig = true\n", ""},
		{"[core]\nrepositoryformatversion = 2\n", "format"},
		{"[core]\nrepositoryformatversion = 1\n[extensions]\nobjectFormat = sha256\n", "sha256"},
		{"[core]\nrepositoryformatversion = 1\n[Extensions]\nobjectformat = sha1\n", ""},
		{"[core]\nrepositoryformatversion = 1\n[extensions]\nrefStorage = reftable\n", "reftable"},
		{"[core]\nrepositoryformatversion = 1\n[extensions]\nrefStorage = files\n", ""},
		{"[core]\nrepositoryformatversion = 1\n[extensions]\nmagicDust = true\n", "extension"},
		{"[core]\nrepositoryformatversion = 0\n[extensions]\nmagicDust = true\n", ""},
		{"[core\n", "config"},
		{"; a comment\n[core] bare = false # so\n[url \"git@example.org:\"]\n\tinsteadOf = \"https://example.org/\" ; x\n[alias]\n\tl = !git log \\\n --oneline\n[branch \"a.b\"]\n\tmerge = refs/heads/x\n[foo]\n\tvalueless\n\tpath = C:\\\\dir\\\\x\n", ""},
		{"\xef\xbb\xbf[core]\r\n\tbare = false\r\n\tautocrlf = true\r\n", ""},
		{"", ""},
	} {
		r := newRepo(t)
		if err := os.WriteFile(filepath.Join(r.dir, ".git", "config"), []byte(c.config), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(r.dir, Options{}); kind(err) != c.kind || c.kind == "" && err != nil {
			t.Errorf("%q: %v", c.config, err)
		}
		// Older ones do not know all of them yet.
		if _, err := r.try("status"); c.kind == "" && err != nil && !strings.Contains(err.Error(), "unknown repository extension") {
			t.Errorf("git does not take %q: %v", c.config, err)
		}
	}
	r := bareRepo(t)
	if _, err := r.try("init", "-q", "--object-format=sha256"); err == nil {
		if _, err := Open(r.dir, Options{}); kind(err) != "sha256" {
			t.Errorf("sha256: %v", err)
		}
	}
}

func TestConfigIsReadAsGitDoes(t *testing.T) {
	r := newRepo(t)
	text := "none = 1\n; a comment\n[core] bare = false # so\n[A \"B c\\\"d\"]k=v\n[sec]\n\tvalueless\n\tempty =\n" +
		"\tblank =  a  b  ; c\n\tquoted = \"  x ; y \" z\n\tlong = one \\\n two\n\tesc = a\\tb\\\\c\\nd\\\"\n\tTWICE = 1\n\ttwice = 2\n[x.Y]\n\tk = 1\n[last] on"
	path := filepath.Join(r.dir, "file")
	r.write("file", text)
	options, err := readConfig(path)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, o := range options {
		got.WriteString(o.name)
		if !o.bare {
			got.WriteString("\n" + o.value)
		}
		got.WriteString("\x00")
	}
	if want := r.git("config", "--file", path, "--list", "-z"); got.String() != want {
		t.Errorf("%q\n%q", got.String(), want)
	}
	for _, bad := range []string{"[a", "[a \"b]\nk=1\n", "[a]\nk = \"x\n", "[a]\nk = \\q\n", "[a]\n?\n", "[a]\nk v\n"} {
		if got, err := parseConfig(bad); err == nil {
			t.Errorf("%q: %v", bad, got)
		}
		r.write("bad", bad)
		if _, err := r.try("config", "--file", filepath.Join(r.dir, "bad"), "--list"); err == nil {
			t.Errorf("git takes %q", bad)
		}
	}
}
