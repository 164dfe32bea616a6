package logic

import (
	"cmp"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Values are nil, bool, float64, string, []any, or an Object.

// plainValue is a value of the data or of an expression as one of those.
func plainValue(v any) any {
	switch v := v.(type) {
	case int:
		return float64(v)
	case int64:
		return float64(v)
	case interface{ Float64() (float64, error) }:
		f, _ := v.Float64() // what is too large is infinite
		return f
	}
	return v
}

func truthy(v any) bool {
	switch v := plainValue(v).(type) {
	case nil:
		return false
	case bool:
		return v
	case float64:
		return v != 0 && !math.IsNaN(v)
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	}
	return true
}

// text is a value as a text: nothing for null, the items of a list with commas.
func text(v any) string { return textOf(v, maxDepth) }

func textOf(v any, depth int) string {
	switch v := plainValue(v).(type) {
	case nil:
		return ""
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return numberText(v)
	case string:
		return v
	case []any:
		if depth == 0 {
			return ""
		}
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = textOf(v[i], depth-1)
		}
		return strings.Join(parts, ",")
	}
	return "[object Object]"
}

func numberText(f float64) string {
	switch {
	case math.IsInf(f, 0):
		return strings.Replace(strconv.FormatFloat(f, 'g', -1, 64), "Inf", "Infinity", 1)
	case f == 0:
		return "0"
	case math.Abs(f) < 1e21 && math.Abs(f) >= 1e-6:
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// number is a value as a number, NaN if it is none.
func number(v any) float64 {
	switch v := plainValue(v).(type) {
	case nil:
		return 0
	case bool:
		if v {
			return 1
		}
		return 0
	case float64:
		return v
	}
	s := strings.TrimSpace(text(v))
	if s == "" {
		return 0
	}
	if leading().FindString(s) != s {
		return math.NaN()
	}
	f, _ := strconv.ParseFloat(s, 64) // what is too large is infinite
	return f
}

var leading = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?`) })

// leadingNumber is the number that the text of a value begins with.
func leadingNumber(v any) float64 {
	if f, ok := plainValue(v).(float64); ok {
		return f
	}
	s := leading().FindString(strings.TrimSpace(text(v)))
	if s == "" {
		return math.NaN()
	}
	f, _ := strconv.ParseFloat(s, 64)
	return f
}

// compare orders texts as such and everything else as numbers; it fails for
// what is no number.
func compare(a, b any) (int, bool) {
	s, ok1 := plainValue(a).(string)
	t, ok2 := plainValue(b).(string)
	if ok1 && ok2 {
		return strings.Compare(s, t), true
	}
	x, y := number(a), number(b)
	return cmp.Compare(x, y), !math.IsNaN(x) && !math.IsNaN(y)
}

// strictEqual compares without converting anything. Lists are equal if their
// items are.
func strictEqual(a, b any) bool { return equal(a, b, maxDepth) }

func equal(a, b any, depth int) bool {
	a, b = plainValue(a), plainValue(b)
	switch a := a.(type) {
	case nil, bool, float64, string:
		switch b.(type) {
		case nil, bool, float64, string:
			return a == b
		}
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) || depth == 0 {
			return false
		}
		for i := range a {
			if !equal(a[i], b[i], depth-1) {
				return false
			}
		}
		return true
	}
	return false
}

// looseEqual compares as == does in JavaScript.
func looseEqual(a, b any) bool {
	a, b = plainValue(a), plainValue(b)
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	s, ok1 := single(a)
	t, ok2 := single(b)
	switch {
	case !ok1 && !ok2:
		return strictEqual(a, b)
	case !ok1:
		s = text(a)
	case !ok2:
		t = text(b)
	}
	if s, ok := s.(string); ok {
		if t, ok := t.(string); ok {
			return s == t
		}
	}
	return number(s) == number(t)
}

// single is a value that is no list and no object.
func single(v any) (any, bool) {
	switch v.(type) {
	case bool, float64, string:
		return v, true
	}
	return nil, false
}
