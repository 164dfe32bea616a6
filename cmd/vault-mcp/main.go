// Command vault-mcp serves Obsidian vaults to AI agents over MCP, under the
// rules of the person who owns them.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"vault-mcp/internal/config"
)

// Version is the program's version, and Dated its day. What is built and packed
// has no other date, so that the same source gives the same bytes.
const (
	Version = "0.1.0"
	Dated   = "2026-11-30"
)

// Exit codes.
const (
	exitOK      = 0
	exitRefused = 1 // the call was refused or failed; the reason is on stderr
	exitUsage   = 2 // the command, the config or the vault's path is wrong
)

// cli is every command with its flags.
type cli struct {
	Serve      serveCmd      `cmd:"" default:"withargs" help:"Serve a vault over stdio; what an MCP client runs."`
	Install    installCmd    `cmd:"" help:"Let a client start this program for a vault, or stop that."`
	Doctor     doctorCmd     `cmd:"" help:"Look for what keeps vaults and clients from working, and say what to do."`
	Call       callCmd       `cmd:"" help:"Make one call and print its answer."`
	Explain    explainCmd    `cmd:"" help:"Say what would become of a call, and why, without making it."`
	Undo       undoCmd       `cmd:"" help:"Take a change back, or list the last ones."`
	Tools      toolsCmd      `cmd:"" help:"List the tools, or describe one."`
	Audit      auditCmd      `cmd:"" help:"List what was asked, approved, refused and done, or verify that list."`
	Elicit     elicitCmd     `cmd:"" help:"Approve or decline calls that wait for a person."`
	Secrets    secretsCmd    `cmd:"" help:"Rotate the keys that sign."`
	Index      indexCmd      `cmd:"" help:"Build the index of a vault, or make sure that it is complete."`
	Config     configCmd     `cmd:"" help:"Show or check a config file."`
	Completion completionCmd `cmd:"" help:"Print what a shell needs to complete commands, flags and tools."`
	Man        manCmd        `cmd:"" help:"Print the manual page."`
	Version    versionCmd    `cmd:"" help:"Print the version."`
}

// process is what a command gets from the operating system.
type process struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	env            config.Env
	// patience is how long a call waits for a person; 0 is what is usual.
	patience time.Duration
}

// refused is an outcome that was already reported.
var errRefused = errors.New("refused")

func main() { os.Exit(start(0)) }

func start(patience time.Duration) (code int) {
	// Calls are short and leave little behind: collecting half as often costs a
	// few megabytes and saves a tenth of the time.
	debug.SetGCPercent(200)
	p := process{os.Stdin, os.Stdout, os.Stderr, config.ProcessEnv(), patience}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return run(ctx, os.Args[1:], p)
}

// exited carries the exit code that kong asks for when it has printed help.
type exited int

func run(ctx context.Context, args []string, p process) (code int) {
	defer func() {
		if e, ok := recover().(exited); ok {
			code = int(e)
		}
	}()
	k, err := parser(ctx, p).Parse(args)
	if err != nil {
		say(p.stderr, err.Error()+"; see vault-mcp --help")
		return exitUsage
	}
	switch err := k.Run(); {
	case err == nil:
		return exitOK
	case errors.Is(err, errRefused):
		return exitRefused
	default:
		say(p.stderr, err.Error())
		return exitUsage
	}
}

// parser knows every command and what it takes.
func parser(ctx context.Context, p process) *kong.Kong {
	k, err := kong.New(&cli{},
		kong.Name("vault-mcp"),
		kong.Description("Governed access to Obsidian vaults for AI agents, over MCP.\n\nvault-mcp <folder> serves that vault; every other command says with --help what it takes."),
		kong.Writers(p.stdout, p.stderr),
		kong.Exit(func(code int) { panic(exited(code)) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(p),
	)
	if err != nil {
		panic(err) // the struct of the commands is wrong; every test finds it
	}
	return k
}

// say writes one message for the person at the terminal, a line for each
// problem.
func say(w io.Writer, msg string) {
	for line := range strings.Lines(strings.TrimRight(msg, "\n") + "\n") {
		fmt.Fprint(w, "vault-mcp: ", line)
	}
}
