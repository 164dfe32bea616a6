package elicit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"vault-mcp/hitl"
)

// List shows what waits for a person, and takes their answers until they leave.
func (d *Desk) List(ctx context.Context) error {
	t, err := d.Terminal()
	if err != nil {
		return fmt.Errorf("%w; a script approves with --hash where elicit.unattended is set", err)
	}
	defer t.Close()
	for {
		if err := d.Look(ctx); err != nil {
			return err
		}
		list, wrong := d.Waiting(ctx, hitl.RouteConsole)
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
func (d *Desk) answerList(ctx context.Context, t *Terminal, list []Found) (again bool) {
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
		switch verb {
		case 'd':
			for _, i := range chosen {
				list[i].show(ctx, t)
			}
		case 'n':
			for _, i := range chosen {
				report(t, i, "declined", list[i].Decline(ctx, hitl.RouteConsole))
			}
			return true
		case 'y':
			if approve(ctx, t, list, chosen) {
				return true
			}
		}
	}
}

// approve shows the chosen requests and asks about them: which note is meant, for
// each by itself, and for approval at once. It reports whether any was answered.
func approve(ctx context.Context, t *Terminal, list []Found, chosen []int) (answered bool) {
	gated := map[int]string{} // by their place in the list, with what was chosen
	for _, i := range chosen {
		f := list[i]
		f.show(ctx, t)
		path, said := "", yes
		if len(f.Candidates) > 0 {
			path, said = pick(ctx, t, f.Candidates)
		}
		switch {
		case said == nothing:
			fmt.Fprintf(t, "%d: left open\n", i+1)
			continue
		case said == decline:
			report(t, i, "declined", f.Decline(ctx, hitl.RouteConsole))
		case f.Floor == "":
			report(t, i, "chosen", f.Approve(ctx, hitl.RouteConsole, path))
		default:
			gated[i] = path
			continue
		}
		answered = true
	}
	if len(gated) == 0 {
		return answered
	}
	if answer(ctx, t, fmt.Sprintf("Approve %d? [y/N] ", len(gated))) != yes {
		fmt.Fprintln(t, "Nothing was approved.")
		return answered
	}
	for _, i := range slices.Sorted(maps.Keys(gated)) {
		report(t, i, "approved", list[i].Approve(ctx, hitl.RouteConsole, gated[i]))
	}
	return true
}

// report says what became of the answer to a request of the list.
func report(t *Terminal, i int, done string, err error) {
	if err != nil {
		done = hitl.Display(err.Error())
	}
	fmt.Fprintf(t, "%d: %s\n", i+1, done)
}

func (f Found) show(ctx context.Context, t *Terminal) {
	now, err := f.store.Requests().Now(ctx)
	if err != nil {
		fmt.Fprintln(t, hitl.Display(err.Error()))
		return
	}
	fmt.Fprintf(t, "\n%s\n%s\n", head(f.Request, now), body(f.Request, 0))
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
