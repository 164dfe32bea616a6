package doctor

import (
	"errors"
	"os"
	"runtime"

	"vault-mcp/cache"
	"vault-mcp/internal/run"
)

// program checks the file of this command.
func (e *exam) program() {
	s := e.general()
	info, err := os.Stat(e.o.Program)
	switch {
	case err != nil:
		s.broken("program.file", "this command cannot find its own file", "install it again, at a place that stays")
	case runtime.GOOS != "windows" && info.Mode()&0o111 == 0:
		s.broken("program.file", e.o.Program+" cannot be executed", "chmod +x "+cache.ShellQuote(e.o.Program))
	default:
		s.ok("program.file", "vault-mcp %s, %s", e.o.Version, e.o.Program)
	}
}

// optional are programs of others that some tools use, and how they are installed.
var optional = []struct{ name, use, fix string }{
	{"git", "git_stage, git_commit and what else needs more than plain repositories", "install git"},
	{"pdftotext", "the text of PDFs", "apt install poppler-utils, or brew install poppler"},
	{"pdfinfo", "the pages of PDFs", "apt install poppler-utils, or brew install poppler"},
}

// programs looks for other programs, as each config says where they are.
func (e *exam) programs(setups []setup) {
	s := e.general()
	told := map[string]bool{}
	if len(setups) == 0 {
		setups = []setup{{programs: run.New(run.Options{})}}
	}
	for _, o := range optional {
		for _, in := range setups {
			path, err := in.programs.Find(o.name)
			if told[o.name+path] {
				continue
			}
			told[o.name+path] = true
			missing, ok := errors.AsType[*run.MissingError](err)
			switch {
			case err == nil:
				s.ok("program.found", "%s: %s", o.name, path)
			case ok && missing.Path != "":
				s.broken("program.missing", "programs."+o.name+" of the config names "+missing.Path+", where there is no program that may be started",
					"correct programs."+o.name+", or leave it out")
			default:
				s.off("program.missing", o.name+" is not installed, which "+o.use+" would need", o.fix)
			}
		}
	}
}
