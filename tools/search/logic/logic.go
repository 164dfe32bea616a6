// Package logic evaluates JsonLogic (jsonlogic.com): conditions written as JSON,
// over the variables of whatever is judged. It knows nothing of notes. Values
// behave as in JavaScript, for which JsonLogic was written, and no expression
// takes more than a bounded number of steps.
package logic

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// MaxSteps is how many steps an expression may take over one set of data, so
// that none can take up a server. Each operation is a step, and so are each 16
// KiB of text that it goes through; an item of a list counts as 256 bytes.
const MaxSteps = 10_000

// maxDepth bounds how deep expressions are nested, and how deep a value is
// looked into.
const maxDepth = 64

// Expr is a JsonLogic expression that was checked, or a part of one: an
// operation, a list, or a value. Goroutines may share it.
type Expr struct {
	op    string // "" for a list or value
	list  bool
	args  []Expr
	value any
}

// Parse checks an expression as package json decodes it: a mapping with one key
// is an operation, one with none or several is a value. It fails, in words for
// whoever wrote the expression, for operations that do not exist and for more
// than 64 levels.
func Parse(v any) (Expr, error) { return parse(v, 1) }

func parse(v any, depth int) (Expr, error) {
	if depth > maxDepth {
		return Expr{}, fmt.Errorf("the expression is nested too deep: at most %d levels are allowed", maxDepth)
	}
	switch v := v.(type) {
	case []any:
		e := Expr{list: true}
		err := e.parse(v, depth)
		return e, err
	case map[string]any:
		if len(v) != 1 {
			return Expr{value: mapOf(v)}, nil
		}
		for op, args := range v {
			if _, ok := operations[op]; !ok {
				return Expr{}, fmt.Errorf("there is no operation %q; there are %s", cutName(op), strings.Join(slices.Sorted(maps.Keys(operations)), " "))
			}
			list, ok := args.([]any)
			if !ok {
				list = []any{args}
			}
			e := Expr{op: op}
			err := e.parse(list, depth)
			return e, err
		}
	}
	return Expr{value: v}, nil
}

func (e *Expr) parse(args []any, depth int) error {
	for _, a := range args {
		kid, err := parse(a, depth+1)
		if err != nil {
			return err
		}
		e.args = append(e.args, kid)
	}
	return nil
}

// cutName is a name from outside that is short enough to send back.
func cutName(s string) string {
	if len(s) > 60 {
		return strings.ToValidUTF8(s[:60], "") + "…"
	}
	return s
}

// Mentions reports whether the expression may ask for a variable: by its name,
// by one that is computed, or as a part of everything there is.
func (e *Expr) Mentions(name string) bool {
	switch e.op {
	case "var":
		if len(e.args) == 0 || e.args[0].op != "" || e.args[0].list {
			return true
		}
		if s := text(e.args[0].value); s == "" || s == name || strings.HasPrefix(s, name+".") {
			return true
		}
	case "missing", "missing_some":
		return true
	}
	return slices.ContainsFunc(e.args, func(a Expr) bool { return a.Mentions(name) })
}

// ErrSteps says that an expression takes more than MaxSteps.
var ErrSteps = errors.New("too many steps")

// machine evaluates an expression over one set of data.
type machine struct{ steps int }

// Holds reports whether the expression is true for data: nil, a bool, a number,
// a string, a []any or an Object, in lists too. Its only error is ErrSteps.
func (e *Expr) Holds(data any) (ok bool, err error) {
	m := &machine{steps: MaxSteps}
	defer func() {
		if r := recover(); r != nil {
			if r != any(ErrSteps) {
				panic(r)
			}
			err = ErrSteps
		}
	}()
	return truthy(m.eval(e, data)), nil
}

// spend takes steps from the budget.
func (m *machine) spend(n int) {
	if m.steps -= n; m.steps < 0 {
		panic(ErrSteps)
	}
}

// stride is how much of values is gone through in a step, in bytes of text;
// an item of a list counts as many bytes.
const (
	stride     = 16 << 10
	itemWeight = 256
)

// went takes what it costs to go through a value.
func (m *machine) went(v any) {
	n := 0
	m.weigh(v, maxDepth, &n)
	m.spend(n / stride)
}

// weigh adds how much there is to go through in a value, and ends the
// evaluation when it is too much.
func (m *machine) weigh(v any, depth int, n *int) {
	switch v := v.(type) {
	case string:
		*n += len(v)
	case []any:
		*n += itemWeight * len(v)
		for i := 0; i < len(v) && depth > 0; i++ {
			m.weigh(v[i], depth-1, n)
		}
	}
	if *n > stride*(m.steps+1) {
		panic(ErrSteps)
	}
}

func (m *machine) eval(e *Expr, data any) any {
	m.spend(1)
	switch {
	case e.op != "":
		return operations[e.op](m, e.args, data)
	case e.list:
		return m.all(e.args, data)
	}
	return e.value
}

func (m *machine) all(args []Expr, data any) []any {
	list := make([]any, len(args))
	for i := range args {
		list[i] = m.eval(&args[i], data)
	}
	return list
}

// arg is the value of an argument, nil if it is not there.
func (m *machine) arg(args []Expr, i int, data any) any {
	if i >= len(args) {
		return nil
	}
	return m.eval(&args[i], data)
}

// Object is a mapping, or what is judged itself: Get is the value under a key.
type Object interface{ Get(key string) (any, bool) }

// mapOf is a mapping of an expression.
type mapOf map[string]any

// Get is a member.
func (m mapOf) Get(key string) (any, bool) { v, ok := m[key]; return v, ok }

// lookUp finds a variable: "" is all data, a dot leads into lists and mappings.
func lookUp(data any, name string) (any, bool) {
	for name != "" {
		switch d := data.(type) {
		case Object:
			if v, ok := d.Get(name); ok { // a key may hold dots
				return plainValue(v), true
			}
			key, rest, _ := strings.Cut(name, ".")
			v, ok := d.Get(key)
			if !ok {
				return nil, false
			}
			data, name = v, rest
		case []any:
			key, rest, _ := strings.Cut(name, ".")
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(d) {
				return nil, false
			}
			data, name = d[i], rest
		default:
			return nil, false
		}
	}
	return plainValue(data), true
}

func (m *machine) variable(args []Expr, data any) any {
	name := text(m.arg(args, 0, data))
	if v, ok := lookUp(data, name); ok && v != nil {
		m.went(v)
		return v
	}
	return m.arg(args, 1, data)
}

// missing are the names of variables that are not there, or empty.
func (m *machine) missing(names []any, data any) []any {
	list := []any{}
	for _, n := range names {
		m.spend(1)
		if v, ok := lookUp(data, text(n)); !ok || v == nil || v == "" {
			list = append(list, n)
		}
	}
	return list
}

// each evaluates an expression with every item of a list as the data, until
// yield returns false.
func (m *machine) each(args []Expr, data any, yield func(item, value any) bool) {
	list, _ := m.arg(args, 0, data).([]any)
	if len(args) < 2 {
		return
	}
	for _, item := range list {
		item = plainValue(item)
		if !yield(item, m.eval(&args[1], item)) {
			return
		}
	}
}
