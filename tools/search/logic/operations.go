package logic

import (
	"math"
	"slices"
	"strings"
)

type operation func(m *machine, args []Expr, data any) any

// operations are those of jsonlogic.com but log. They are set in init because
// evaluation comes back to them.
var operations map[string]operation

func init() {
	operations = map[string]operation{
		"var":          func(m *machine, a []Expr, d any) any { return m.variable(a, d) },
		"missing":      missing,
		"missing_some": missingSome,

		"==":  on2(func(a, b any) any { return looseEqual(a, b) }),
		"!=":  on2(func(a, b any) any { return !looseEqual(a, b) }),
		"===": on2(func(a, b any) any { return strictEqual(a, b) }),
		"!==": on2(func(a, b any) any { return !strictEqual(a, b) }),
		"<":   between(func(c int) bool { return c < 0 }),
		"<=":  between(func(c int) bool { return c <= 0 }),
		">":   on2(func(a, b any) any { c, ok := compare(a, b); return ok && c > 0 }),
		">=":  on2(func(a, b any) any { c, ok := compare(a, b); return ok && c >= 0 }),

		"!":   func(m *machine, a []Expr, d any) any { return !truthy(m.arg(a, 0, d)) },
		"!!":  func(m *machine, a []Expr, d any) any { return truthy(m.arg(a, 0, d)) },
		"and": until(false),
		"or":  until(true),
		"if":  choose,
		"?:":  choose,

		"in":     in2,
		"cat":    cat,
		"substr": substr,
		"merge":  merge,

		"+":   sum,
		"*":   fold(1, func(a, b float64) float64 { return a * b }, leadingNumber),
		"-":   minus,
		"/":   on2(func(a, b any) any { return number(a) / number(b) }),
		"%":   on2(func(a, b any) any { return math.Mod(number(a), number(b)) }),
		"min": fold(math.Inf(1), math.Min, number),
		"max": fold(math.Inf(-1), math.Max, number),

		"map":    mapItems,
		"filter": filter,
		"reduce": reduce,
		"all":    quantify(false, false),
		"some":   quantify(true, true),
		"none":   quantify(true, false),
	}
}

func on2(f func(a, b any) any) operation {
	return func(m *machine, args []Expr, data any) any {
		a, b := m.arg(args, 0, data), m.arg(args, 1, data)
		return f(a, b)
	}
}

// between compares two values, or asks whether the middle one of three lies
// between the others.
func between(holds func(c int) bool) operation {
	return func(m *machine, args []Expr, data any) any {
		list := m.all(args[:min(3, len(args))], data)
		for i := 1; i < max(2, len(list)); i++ {
			var a, b any
			if i < len(list) {
				a, b = list[i-1], list[i]
			}
			if c, ok := compare(a, b); !ok || !holds(c) {
				return false
			}
		}
		return true
	}
}

// until is the first value whose truth is stop, or the last one.
func until(stop bool) operation {
	return func(m *machine, args []Expr, data any) (v any) {
		for i := range args {
			if v = m.eval(&args[i], data); truthy(v) == stop {
				break
			}
		}
		return v
	}
}

func choose(m *machine, args []Expr, data any) any {
	for len(args) > 1 {
		if truthy(m.eval(&args[0], data)) {
			return m.eval(&args[1], data)
		}
		args = args[2:]
	}
	return m.arg(args, 0, data)
}

func missing(m *machine, args []Expr, data any) any {
	names := m.all(args, data)
	if len(names) > 0 {
		if list, ok := names[0].([]any); ok {
			names = list
		}
	}
	return m.missing(names, data)
}

func missingSome(m *machine, args []Expr, data any) any {
	need := number(m.arg(args, 0, data))
	names, _ := m.arg(args, 1, data).([]any)
	gone := m.missing(names, data)
	if float64(len(names)-len(gone)) >= need {
		return []any{}
	}
	return gone
}

// in2 looks for a text in a text, or an item in a list.
func in2(m *machine, args []Expr, data any) any {
	what, where := m.arg(args, 0, data), m.arg(args, 1, data)
	switch where := where.(type) {
	case string:
		m.went(where)
		return strings.Contains(where, text(what))
	case []any:
		m.went(where)
		return slices.ContainsFunc(where, func(v any) bool { return strictEqual(plainValue(v), what) })
	}
	return false
}

func cat(m *machine, args []Expr, data any) any {
	var b strings.Builder
	for i := range args {
		s := text(m.eval(&args[i], data))
		m.went(s)
		b.WriteString(s)
	}
	return b.String()
}

// substr counts characters; what is negative counts from the end.
func substr(m *machine, args []Expr, data any) any {
	s := text(m.arg(args, 0, data))
	m.went(s)
	all := []rune(s)
	place := func(v any, from int) int {
		f := number(v)
		if math.IsNaN(f) {
			f = 0
		}
		if f < 0 {
			f += float64(len(all))
		} else {
			f += float64(from)
		}
		return int(max(0, min(f, float64(len(all)))))
	}
	start, end := place(m.arg(args, 1, data), 0), len(all)
	if len(args) > 2 {
		end = place(m.arg(args, 2, data), start)
	}
	return string(all[start:max(start, end)])
}

func merge(m *machine, args []Expr, data any) any {
	list := []any{}
	for i := range args {
		v := m.eval(&args[i], data)
		if items, ok := v.([]any); ok {
			m.went(items)
			list = append(list, items...)
		} else {
			list = append(list, v)
		}
	}
	return list
}

// sum adds, and makes a number of a single value.
func sum(m *machine, args []Expr, data any) any {
	total := 0.0
	for i := range args {
		total += leadingNumber(m.eval(&args[i], data))
	}
	return total
}

func minus(m *machine, args []Expr, data any) any {
	a := number(m.arg(args, 0, data))
	if len(args) < 2 {
		return -a
	}
	return a - number(m.arg(args, 1, data))
}

func fold(from float64, f func(a, b float64) float64, as func(any) float64) operation {
	return func(m *machine, args []Expr, data any) any {
		v := from
		for i := range args {
			v = f(v, as(m.eval(&args[i], data)))
		}
		return v
	}
}

func mapItems(m *machine, args []Expr, data any) any {
	list := []any{}
	m.each(args, data, func(_, v any) bool { list = append(list, v); return true })
	return list
}

func filter(m *machine, args []Expr, data any) any {
	list := []any{}
	m.each(args, data, func(item, v any) bool {
		if truthy(v) {
			list = append(list, item)
		}
		return true
	})
	return list
}

func reduce(m *machine, args []Expr, data any) any {
	list, _ := m.arg(args, 0, data).([]any)
	v := m.arg(args, 2, data)
	if len(args) < 2 {
		return v
	}
	for _, item := range list {
		v = m.eval(&args[1], mapOf{"current": plainValue(item), "accumulator": v})
	}
	return v
}

// quantify looks for an item whose truth is that; found is what follows from
// one. All holds for no item of an empty list, as there.
func quantify(truth, found bool) operation {
	return func(m *machine, args []Expr, data any) any {
		any1, result := false, !found
		m.each(args, data, func(_, v any) bool {
			any1 = true
			if truthy(v) == truth {
				result = found
			}
			return result != found
		})
		return result && (truth || any1)
	}
}
