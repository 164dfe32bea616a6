package field

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"

	"vault-mcp/internal/app"
)

// registered are the tools that are served.
var registered = sync.OnceValues(func() (map[string]bool, error) {
	r, err := app.Registry()
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, t := range r.All() {
		names[t.Name] = true
	}
	return names, nil
})

// pick is the best way that can be gone, or why there is none.
func pick(what string) (run adapter, missing string) {
	have, err := registered()
	if err != nil {
		return nil, err.Error()
	}
	missing = "unknown operation " + what
	for _, w := range ops[what].ways {
		at := slices.IndexFunc(w.tools, func(t string) bool { return !have[t] })
		switch {
		case at >= 0:
			missing = "no tool " + w.tools[at]
		case w.run == nil:
			missing = "no adapter for the tool " + strings.Join(w.tools, ", ")
		default:
			return w.run, ""
		}
	}
	return nil, missing
}

// verdict is what became of a case.
type verdict uint8

const (
	passed verdict = iota
	failed
	notSupported
)

func (v verdict) String() string { return [...]string{"passed", "failed", "unsupported"}[v] }

// result is a case with its verdict; why says what differs or is missing.
type result struct {
	fieldCase
	verdict verdict
	detail  string
}

// breaks reports whether the result is a failure of the program.
func (r *result) breaks() bool {
	return r.verdict == failed && r.Certainty == "high" && !r.Optional
}

// run runs one case in a folder of its own, with an index or without.
func (c fieldCase) run(ctx context.Context, dir string, index bool) (r result) {
	r = result{fieldCase: c}
	defer func() {
		if p := recover(); p != nil {
			r.verdict, r.detail = failed, fmt.Sprintf("panic: %v", p)
		}
	}()
	err := c.try(ctx, dir, index)
	if reason, ok := err.(unsupported); ok {
		r.verdict, r.detail = notSupported, string(reason)
	} else if err != nil {
		r.verdict, r.detail = failed, err.Error()
	}
	return r
}

func (c fieldCase) try(ctx context.Context, dir string, index bool) error {
	o := outcome{op: ops[c.Op.What]}
	run, missing := pick(c.Op.What)
	if run == nil {
		return unsupported(missing)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Op.Args)) {
		if !slices.Contains(o.op.args, name) {
			return unsupported("unknown argument " + name)
		}
	}
	if len(c.Expect) == 0 {
		return unsupported("nothing is expected")
	}
	var err error
	o.site, err = newSite(ctx, dir, c.Files)
	if err != nil {
		return fmt.Errorf("the vault cannot be made: %w", err)
	}
	defer o.site.close()
	o.site.index = index
	o.got, o.err = run(o.site, c.Op.Args)
	switch o.err.(type) {
	case trouble, unsupported:
		return o.err
	}
	if o.after, err = snapshot(o.site.dir); err != nil {
		return err
	}
	if err := o.site.escaped(); err != nil {
		return err
	}
	return o.check(c.Expect)
}

// runFolder runs every case of a folder, and returns the results in the order
// of the cases.
func runFolder(t *testing.T, dir string) []result {
	t.Helper()
	all, err := load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return runAll(t, all, false)
}

// runAll runs cases, several at a time.
func runAll(t *testing.T, all []fieldCase, index bool) []result {
	t.Helper()
	results, root := make([]result, len(all)), t.TempDir()
	var work sync.WaitGroup
	turn := make(chan struct{}, 4*runtime.GOMAXPROCS(0)) // most of the time they wait for the disk
	for i, c := range all {
		work.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			results[i] = c.run(t.Context(), filepath.Join(root, fmt.Sprint(i)), index)
		})
	}
	work.Wait()
	return results
}

// folder is where the cases are: the one that FIELD_CASES names, counted from
// the module's root, or the project's own copy.
func folder(env func(string) string) string {
	const root = "../.."
	switch dir := env("FIELD_CASES"); {
	case dir == "":
		return filepath.Join(root, "testdata", "field")
	case filepath.IsAbs(dir):
		return dir
	default:
		return filepath.Join(root, dir)
	}
}

// TestField runs the field cases and prints how many of each kind passed.
func TestField(t *testing.T) {
	dir := folder(os.Getenv)
	report(t, dir, runFolder(t, dir))
}

// TestFieldOwn runs cases of the same kinds from other angles.
func TestFieldOwn(t *testing.T) { report(t, own, runFolder(t, own)) }

const own = "../../testdata/field-own"

// TestFieldIndexed runs the cases again that an index is asked for, with one.
func TestFieldIndexed(t *testing.T) {
	have, err := registered()
	if err != nil {
		t.Fatal(err)
	}
	if !have[status] {
		t.Skipf("no tool %s", status)
	}
	for _, dir := range []string{folder(os.Getenv), own} {
		all, err := load(dir)
		if err != nil {
			t.Fatal(err)
		}
		all = slices.DeleteFunc(all, func(c fieldCase) bool { return !ops[c.Op.What].indexed })
		report(t, dir+", with an index", runAll(t, all, true))
	}
}

func report(t *testing.T, title string, results []result) {
	t.Helper()
	t.Logf("%s\n%s", title, table(results))
	for i := range results {
		r := &results[i]
		text := fmt.Sprintf("%s (%s): %s\n\twhy: %s", r.ID, r.Certainty, r.detail, r.Why)
		switch {
		case r.breaks():
			t.Error(text)
		case r.verdict == failed:
			t.Log(text)
		}
	}
}

var certainties = []string{"high", "medium", "low"}

// table is passed/failed/unsupported for each kind and certainty, and below it
// what the unsupported cases ask for.
func table(results []result) string {
	counts, missing := map[string]map[string]*[3]int{}, map[string]int{}
	add := func(kind, certainty string, v verdict) {
		if counts[kind] == nil {
			counts[kind] = map[string]*[3]int{}
		}
		if counts[kind][certainty] == nil {
			counts[kind][certainty] = &[3]int{}
		}
		counts[kind][certainty][v]++
	}
	const total = "~all" // behind every name of a file
	columns := slices.Clone(certainties)
	for _, r := range results {
		add(r.kind, r.Certainty, r.verdict)
		add(total, r.Certainty, r.verdict)
		if !slices.Contains(columns, r.Certainty) {
			columns = append(columns, r.Certainty)
		}
		if r.verdict == notSupported {
			missing[r.detail]++
		}
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	fmt.Fprintf(w, "passed/failed/unsupported\t%s\n", strings.Join(columns, "\t"))
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprint(w, strings.TrimPrefix(kind, "~"))
		for _, c := range columns {
			if n := counts[kind][c]; n != nil {
				fmt.Fprintf(w, "\t%d/%d/%d", n[passed], n[failed], n[notSupported])
			} else {
				fmt.Fprint(w, "\t-")
			}
		}
		fmt.Fprintln(w)
	}
	_ = w.Flush() // into memory
	for _, why := range slices.Sorted(maps.Keys(missing)) {
		fmt.Fprintf(&b, "unsupported, %s: %d\n", why, missing[why])
	}
	return b.String()
}
