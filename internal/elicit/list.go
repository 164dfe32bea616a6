package elicit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"vault-mcp/hitl"
	"vault-mcp/internal/config"
)

// waiting are the requests that a person can answer at a console, oldest first,
// and why some places are left out.
func (d *Desk) waiting(ctx context.Context) (list []found, wrong []error) {
	for _, p := range d.inOrder() {
		if p.store == nil && p.wrong == nil {
			continue
		}
		if err := p.refused(config.Route(hitl.RouteConsole)); err != nil {
			wrong = append(wrong, err)
			continue
		}
		rs, err := p.store.List(ctx)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		for _, r := range rs {
			if len(r.Candidates) == 0 { // a question, which only its client asks
				list = append(list, found{p, r})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b found) int { return a.Raised.Compare(b.Raised) })
	return list, wrong
}

// yes approves a request at a console, for the call that waits or is repeated.
func (f found) yes(ctx context.Context) error {
	_, err := f.store.Requests().Approve(ctx, f.ID, hitl.Approval{Route: hitl.RouteConsole, By: Account(), Life: f.life()})
	return late(err)
}

// no declines a request at a console.
func (f found) no(ctx context.Context) error {
	return late(f.store.Requests().End(ctx, f.ID, hitl.Declined, hitl.RouteConsole, Account(), hitl.Open, hitl.Approved, hitl.Declined))
}

// List shows what waits for a person, and takes their answers until they leave.
func (d *Desk) List(ctx context.Context) error {
	t, err := d.Terminal()
	if err != nil {
		return fmt.Errorf("%w; a script approves with --hash where elicit.unattended is set", err)
	}
	defer t.Close()
	for {
		if err := d.look(ctx); err != nil {
			return err
		}
		list, wrong := d.waiting(ctx)
		if len(list) == 0 && len(wrong) > 0 {
			return errors.Join(wrong...)
		}
		for _, err := range wrong {
			fmt.Fprintf(t, "(left out: %s)\n", hitl.Display(err.Error()))
		}
		if len(list) == 0 {
			fmt.Fprintln(t, "Nothing waits for you.")
			return nil
		}
		for i, f := range list {
			now, err := f.store.Requests().Now(ctx)
			if err != nil {
				return err
			}
			fmt.Fprintf(t, "%3d  %s\n", i+1, row(f.Request, now))
		}
		// The numbers stay those of this list: what comes later is not meant by all.
		if again := d.answerList(ctx, t, list); !again {
			return nil
		}
	}
}

const listHelp = "d shows a diff, y approves, n declines; each with numbers: y 2, n 1,3-4, d all. Enter lists again, q ends.\n"

// answerList takes commands until something was answered or the person wants the list
// again.
func (d *Desk) answerList(ctx context.Context, t *Terminal, list []found) (again bool) {
	fmt.Fprint(t, listHelp)
	for {
		text, err := t.line(ctx, "> ")
		if err != nil || text == "q" {
			return false
		}
		if text == "" {
			return true
		}
		verb, chosen, err := command(text, len(list))
		if err != nil {
			fmt.Fprintf(t, "%s\n%s", err, listHelp)
			continue
		}
		if verb == 'd' {
			for _, i := range chosen {
				d.show(ctx, t, list[i])
			}
			continue
		}
		act, done := found.no, "declined"
		if verb == 'y' {
			act, done = found.yes, "approved"
			for _, i := range chosen {
				d.show(ctx, t, list[i])
			}
			if answer(ctx, t, fmt.Sprintf("Approve %d? [y/N] ", len(chosen))) != yes {
				fmt.Fprintln(t, "Nothing was approved.")
				continue
			}
		}
		for _, i := range chosen {
			if err := act(list[i], ctx); err != nil {
				fmt.Fprintf(t, "%d: %s\n", i+1, hitl.Display(err.Error()))
				continue
			}
			fmt.Fprintf(t, "%d: %s\n", i+1, done)
		}
		return true
	}
}

func (d *Desk) show(ctx context.Context, t *Terminal, f found) {
	now, err := f.store.Requests().Now(ctx)
	if err != nil {
		fmt.Fprintln(t, hitl.Display(err.Error()))
		return
	}
	fmt.Fprintf(t, "\n%s\n%s\n", head(f.Request, now), diff(f.Request, 0))
}

// command reads a verb and the numbers from 1 to n that it is for; the answer
// counts from 0, in order and each once. Numbers alone show a diff.
func command(text string, n int) (verb byte, chosen []int, err error) {
	verb = text[0]
	switch verb {
	case 'y', 'n', 'd':
		text = text[1:]
	default:
		verb = 'd'
	}
	fields := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' })
	if len(fields) == 0 && n == 1 && text == "" {
		fields = []string{"1"} // nothing else can be meant
	}
	for _, f := range fields {
		from, to, isRange := strings.Cut(f, "-")
		if !isRange {
			to = from
		}
		a, errA := strconv.Atoi(from)
		b, errB := strconv.Atoi(to)
		if f == "all" {
			a, b, errA, errB = 1, n, nil, nil
		}
		if errA != nil || errB != nil || a < 1 || b > n || a > b {
			return 0, nil, fmt.Errorf("%q is no number from 1 to %d", hitl.Display(f), n)
		}
		for i := a; i <= b; i++ {
			chosen = append(chosen, i-1)
		}
	}
	if len(chosen) == 0 {
		return 0, nil, errors.New("say which ones by their numbers")
	}
	slices.Sort(chosen)
	return verb, slices.Compact(chosen), nil
}
