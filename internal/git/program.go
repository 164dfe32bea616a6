package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"vault-mcp/internal/run"
)

const (
	// quick is the time for what does not depend on a person or on other
	// programs; slow for what runs filters, hooks or signs: as long as that takes,
	// the person's own git is kept waiting.
	quick, slow = time.Minute, 2 * time.Minute
	// maxOutput is the most that is read from git, in bytes.
	maxOutput = 256 << 20
)

// call is one run of git.
type call struct {
	args  []string
	stdin []byte
	// index is a private index to work on in place of the repository's.
	index string
	// off are hooks of git's config to turn off, by their names.
	off []string
	// hooks lets hooks run.
	hooks bool
	// timeout is quick unless given.
	timeout time.Duration
}

// passed are the variables that git may see: who commits, which config is
// theirs, what signs, and what programs of Windows cannot do without. None
// that would lead it to another repository, index or config than was judged.
var passed = []string{
	"HOME", "XDG_CONFIG_HOME", "USER", "LOGNAME", "EMAIL", "GNUPGHOME", "SSH_AUTH_SOCK", "TMPDIR",
	"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE",
	"GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_COMMITTER_DATE",
	"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
	"SystemRoot", "windir", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "HOMEDRIVE", "HOMEPATH",
	"APPDATA", "LOCALAPPDATA", "ProgramData", "ProgramFiles", "USERNAME",
}

// fixed is what git sees in any case: it asks nobody, starts no editor and
// pager, fetches nothing, takes paths as they are, and looks for its
// repository in the root of the work tree alone.
func (r *Repo) fixed() []string {
	return []string{
		"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=false", "SSH_ASKPASS=false", "SSH_ASKPASS_REQUIRE=force",
		"GIT_EDITOR=false", "GIT_SEQUENCE_EDITOR=false", "GIT_PAGER=cat",
		"GIT_NO_LAZY_FETCH=1", "GIT_LITERAL_PATHSPECS=1", "GIT_OPTIONAL_LOCKS=0",
		"GIT_CEILING_DIRECTORIES=" + filepath.Dir(r.Work),
	}
}

func (r *Repo) env(c call) []string {
	env := r.fixed()
	for _, name := range passed {
		if v := r.lookup(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	env = append(env, "PATH="+r.o.Programs.SearchPath(r.lookup("PATH")))
	if c.index != "" {
		env = append(env, "GIT_INDEX_FILE="+c.index)
	}
	if len(c.off) > 0 {
		// Not by -c, as a name may hold any character.
		env = append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(c.off)))
		for i, name := range c.off {
			env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=hook.%s.enabled", i, name), fmt.Sprintf("GIT_CONFIG_VALUE_%d=false", i))
		}
	}
	return env
}

// lookup is a variable of the environment that git may see, or "".
func (r *Repo) lookup(name string) string {
	if r.o.Env == nil {
		return ""
	}
	return r.o.Env(name)
}

// always are the options of each run. The git folder is named only where git
// would not find it in the work tree's root: it does not ask whose one is that
// it was given.
func (r *Repo) always(hooks bool) []string {
	args := []string{"-C", r.Work}
	if at, err := gitFolder(filepath.Join(r.Work, ".git")); err != nil || at != r.Dir {
		args = append(args, "--git-dir="+r.Dir)
	}
	args = append(args,
		"--work-tree="+r.Work, "--no-pager", "--no-replace-objects",
		"-c", "core.fsmonitor=false", "-c", "safe.bareRepository=explicit", "-c", "core.quotePath=false",
		"-c", "i18n.commitEncoding=UTF-8", "-c", "gc.auto=0", "-c", "maintenance.auto=false")
	if !hooks {
		args = append(args, "-c", "core.hooksPath=/dev/null")
	}
	return args
}

// git runs git and returns what it writes.
func (r *Repo) git(ctx context.Context, c call) ([]byte, error) {
	var out bytes.Buffer
	err := r.stream(ctx, c, &out)
	return out.Bytes(), err
}

// stream is git for what is read as it comes. Its errors are those of run, and
// *RefusedError where a person can do something.
func (r *Repo) stream(ctx context.Context, c call, out io.Writer) error {
	if r.o.Programs == nil {
		return &run.MissingError{Name: "git"}
	}
	err := r.o.Programs.Run(ctx, run.Command{
		Name: "git", Args: slices.Concat(r.always(c.hooks), c.args), Env: r.env(c), Stdin: c.stdin,
		MaxOutput: maxOutput, Timeout: max(c.timeout, quick),
	}, out)
	if e, ok := errors.AsType[*run.ExitError](err); ok {
		return explain(e)
	}
	return err
}

// line is git for an answer of one line.
func (r *Repo) line(ctx context.Context, c call) (string, error) {
	out, err := r.git(ctx, c)
	return strings.TrimRight(string(out), "\r\n"), err
}

// exits reports whether git ended with this code.
func exits(err error, code int) bool {
	e, ok := errors.AsType[*run.ExitError](err)
	return ok && e.Code == code
}

// said are the messages of git behind which a person can do something. The
// first that fits counts.
var said = []struct{ text, kind, reason string }{
	{"detected dubious ownership", "owner", "The repository belongs to another account: allow it with git config --global --add safe.directory and its folder."},
	{"Please tell me who you are", "identity", identity},
	{"empty ident name", "identity", identity},
	{"auto-detect email address", "identity", identity},
	{"auto-detect name", "identity", identity},
	{"are ignored by one of your .gitignore files", "ignored", "Some of these files are ignored by .gitignore, .git/info/exclude or the global ignore file, so they are not staged."},
	{"sparse-checkout", "sparse", "Some of these files are outside of the sparse checkout: change it with git sparse-checkout add."},
	{"beyond a symbolic link", "link", "Some of these files are behind a symbolic link."},
	{"in submodule", "submodule", "Some of these files belong to a submodule: work on it by itself."},
	{"would be replaced by", "line_ends", "core.safecrlf refuses to change the line ends of some of these files: save them with the line ends that the repository wants."},
	{".lock': File exists", "locked", "Another git program works on the repository, or has left a .lock file in its git folder: wait for it to end, or remove the file."},
	{"failed to sign", "signing", signing},
	{"but expected", "moved", "The branch has moved meanwhile."},
	{"reference already exists", "moved", "The branch has moved meanwhile."},
	{"not a git repository", "broken", "git finds no repository there: look at it with git status."},
}

const (
	identity = "git does not know who commits: set user.name and user.email with git config."
	signing  = "The commit has to be signed, and that failed: look at it with git commit -S in a terminal, or unlock the key for this session."
)

// explain is what an error of git means. The error itself stays for the log.
func explain(e *run.ExitError) error {
	for _, s := range said {
		if strings.Contains(e.Stderr, s.text) {
			return fmt.Errorf("%w (%w)", refused(s.kind, "%s", s.reason), e)
		}
	}
	return e
}

// step tells a test how far a change is.
func (r *Repo) step(name string) {
	if r.o.at != nil {
		r.o.at(name)
	}
}
