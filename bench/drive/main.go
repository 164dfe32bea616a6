// Command drive measures the built server over its real pipes, in turns with
// the least server that there could be, and prints our figure, the floor's and
// their ratio beside the gate. Nothing in it is a test: the figures of a busy
// machine are for a person to judge.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"vault-mcp/bench/vaultgen"
)

type options struct {
	notes, runs   int
	bin, stub     string
	raw           string
	index         bool
	ref, only     string
	json          bool
	growth, check bool
	slack         float64
}

func main() {
	var o options
	flag.IntVar(&o.notes, "n", 10_000, "notes of the large vault")
	flag.IntVar(&o.runs, "runs", 9, "samples of each figure")
	flag.StringVar(&o.bin, "bin", "", "the server; built if left out")
	flag.StringVar(&o.stub, "stub", "", "the floor; built if left out")
	flag.StringVar(&o.raw, "raw", "", "the floor of the index; built if left out")
	flag.BoolVar(&o.index, "index", false, "measure the index instead")
	flag.StringVar(&o.ref, "ref", "", "the command of another floor with the stub's tools; {vault} stands for the folder")
	flag.StringVar(&o.only, "only", "", "measure these parts only: start, search, calls, sizes, flood, exit, memory; with commas between")
	flag.BoolVar(&o.json, "json", false, "print JSON")
	flag.BoolVar(&o.growth, "growth", false, "measure how cost grows with the vault, at 1,000, 10,000 and 50,000 notes, instead")
	flag.BoolVar(&o.check, "check", false, "exit with 1 if a figure is over slack times its gate")
	flag.Float64Var(&o.slack, "slack", 2, "how far over its gate a figure may be with -check")
	flag.Parse()
	over, err := run(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "drive:", err)
		os.Exit(2)
	}
	if over && o.check {
		os.Exit(1)
	}
}

// run reports whether a figure is over its gate by more than the slack.
func run(o options) (over bool, err error) {
	if runtime.GOOS != "linux" {
		return false, fmt.Errorf("memory and processor time are read from /proc, which %s does not have", runtime.GOOS)
	}
	if o.notes < 10 || o.runs < 1 {
		return false, fmt.Errorf("-n is at least 10, -runs at least 1")
	}
	home, err := os.MkdirTemp("", "vault-mcp-drive-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(home)
	for _, p := range []struct {
		path *string
		pkg  string
	}{{&o.bin, "vault-mcp/cmd/vault-mcp"}, {&o.stub, "vault-mcp/bench/stub"}, {&o.raw, "vault-mcp/bench/raw"}} {
		if *p.path == "" {
			*p.path = filepath.Join(home, filepath.Base(p.pkg))
			build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", *p.path, p.pkg)
			build.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is released
			if out, err := build.CombinedOutput(); err != nil {
				return false, fmt.Errorf("build %s: %w\n%s", p.pkg, err, out)
			}
		}
	}
	b := &bench{ours: ours(o.bin, home), stub: stub(o.stub), raw: o.raw, runs: o.runs, only: o.only, home: home}
	if o.growth {
		return false, b.reportGrowth(o.json)
	}
	if o.ref != "" {
		c := other(o.ref)
		b.ref = &c
	}
	if o.index {
		return b.reportIndex(o)
	}
	if b.rg, err = exec.LookPath("rg"); err != nil {
		fmt.Fprintln(os.Stderr, "drive: no rg on the path, so the first search has only the stub to compare with")
	}
	vaults, err := cached(10, o.notes)
	if err != nil {
		return false, err
	}
	sizes, err := vaultgen.Write(filepath.Join(home, "sizes"), 10, 1)
	if err == nil {
		err = withBig(sizes)
	}
	if err != nil {
		return false, err
	}
	if err := b.measure(vaults[0], vaults[1], sizes); err != nil {
		return false, err
	}
	return b.report(o)
}

// report prints the table.
func (b *bench) report(o options) (over bool, err error) {
	for _, r := range b.rows {
		over = over || r.excess() > o.slack
	}
	if o.json {
		return over, printJSON(b.rows)
	}
	return over, print(os.Stdout, b.rows)
}

func (b *bench) reportIndex(o options) (over bool, err error) {
	vaults, err := cached(o.notes)
	if err != nil {
		return false, err
	}
	if err := b.measureIndex(vaults[0]); err != nil {
		return false, err
	}
	return b.report(o)
}

func (b *bench) reportGrowth(asJSON bool) error {
	vaults, err := cached(1_000, 10_000, 50_000)
	if err != nil {
		return err
	}
	table, err := b.growth(vaults)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(table)
	}
	return printGrowth(os.Stdout, vaults, table)
}

// cached are vaults of these sizes, kept between runs.
func cached(sizes ...int) ([]*vaultgen.Vault, error) {
	var all []*vaultgen.Vault
	for _, n := range sizes {
		v, err := vaultgen.Cached(filepath.Join(os.TempDir(), "vault-mcp-bench"), n, 42)
		if err != nil {
			return nil, err
		}
		if len(v.Sample) == 0 {
			return nil, fmt.Errorf("%s has no note of common size", v.Dir)
		}
		all = append(all, v)
	}
	return all, nil
}

func printJSON(v any) error {
	e := json.NewEncoder(os.Stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "\t")
	return e.Encode(v)
}
