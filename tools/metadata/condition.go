package metadata

import (
	"regexp"
	"slices"
	"strings"

	"vault-mcp/cache/index/facts"
	"vault-mcp/internal/fault"
	"vault-mcp/vault"
)

// operator is what a property is asked for.
type operator string

const (
	opEquals     operator = "equals"
	opContains   operator = "contains"
	opExists     operator = "exists"
	opMissing    operator = "missing"
	opEmpty      operator = "empty"
	opStartsWith operator = "starts_with"
	opMatches    operator = "matches"
)

// Values lists the operators for the schema.
func (operator) Values() []string {
	return []string{"equals", "contains", "exists", "missing", "empty", "<", "<=", ">", ">=", "starts_with", "matches"}
}

// maxPattern bounds a regular expression, in bytes.
const maxPattern = 1000

// condition is an operator with its value.
type condition struct {
	op       operator
	value    any    // as decoded from JSON
	text     string // of a scalar, folded
	number   float64
	isNumber bool
	date     string // in the form that isoDate gives, or ""
	pattern  *regexp.Regexp
}

// newCondition checks that operator and value go together.
func newCondition(op operator, value any) (condition, error) {
	if op == "" {
		op = opEquals
		if value == nil {
			op = opExists
		}
	}
	c := condition{op: op, value: value}
	wrong := func(format string, args ...any) (condition, error) {
		return c, fault.New(fault.InvalidInput, format, args...).With("argument", "value").With("op", string(op))
	}
	switch op {
	case opExists, opMissing, opEmpty:
		if value != nil {
			return wrong("The op %q takes no value.", op)
		}
		return c, nil
	}
	switch v := value.(type) {
	case nil:
		return wrong("The op %q needs a value; for properties without one there is the op %q.", op, opEmpty)
	case bool:
		c.text = "false"
		if v {
			c.text = "true"
		}
	case float64:
		c.text, _ = scalarText(v)
		c.number, c.isNumber = v, true
	case string:
		c.text = vault.FoldName(v)
		c.number, c.isNumber = parseNumber(v)
		c.date, _ = isoDate(v)
	default:
		if op != opEquals {
			return wrong("The op %q needs a text, a number or a truth value; lists and objects go with %q.", op, opEquals)
		}
	}
	switch op {
	case "<", "<=", ">", ">=":
		if !c.isNumber && c.date == "" {
			return wrong("The op %q needs a number, or a date such as 2031-05-09 or 2031-05-09T14:30.", op)
		}
	case opContains, opStartsWith:
		if c.text == "" {
			return wrong("The op %q needs a value that is not empty.", op)
		}
	case opMatches:
		s, ok := value.(string)
		if !ok || len(s) > maxPattern {
			return wrong("The op %q needs a regular expression of at most %d bytes.", op, maxPattern)
		}
		var err error
		if c.pattern, err = regexp.Compile("(?i)" + s); err != nil {
			return wrong("The value is no regular expression of RE2: %v.", err)
		}
	}
	return c, nil
}

// holds reports whether a property that a note has fits.
func (c *condition) holds(v any) bool {
	switch c.op {
	case opExists:
		return true
	case opMissing:
		return false
	case opEmpty:
		return isEmpty(v)
	case opEquals:
		if same(v, c.value) {
			return true
		}
	}
	if list, ok := v.([]any); ok {
		return slices.ContainsFunc(list, c.holds)
	}
	return c.scalar(v)
}

// scalar reports whether a value that is no list fits.
func (c *condition) scalar(v any) bool {
	switch c.op {
	case opEquals:
		return c.equals(v)
	case "<", "<=", ">", ">=":
		return c.compares(v)
	}
	text, ok := scalarText(v)
	if !ok {
		return false
	}
	switch c.op {
	case opContains:
		if _, isText := v.(string); !isText {
			return c.equals(v)
		}
		return strings.Contains(vault.FoldName(text), c.text)
	case opStartsWith:
		return strings.HasPrefix(vault.FoldName(text), c.text)
	}
	return c.pattern.MatchString(text)
}

// equals compares with a scalar. A number and its digits as text are equal,
// since YAML's quotes are easily forgotten.
func (c *condition) equals(v any) bool {
	switch v := v.(type) {
	case string:
		return c.isScalar() && vault.FoldName(v) == c.text
	case bool:
		return v && c.text == "true" || !v && c.text == "false"
	}
	if !c.isNumber {
		return false
	}
	n, ok := compareNumber(v, c.number)
	return ok && n == 0
}

func (c *condition) isScalar() bool {
	switch c.value.(type) {
	case []any, map[string]any:
		return false
	}
	return true
}

func (c *condition) compares(v any) bool {
	var n int
	var ok bool
	if s, isText := v.(string); isText && c.date != "" {
		var date string
		if date, ok = isoDate(s); ok {
			n = strings.Compare(date, c.date)
		}
	} else if c.isNumber {
		n, ok = compareNumber(v, c.number)
	}
	if !ok {
		return false
	}
	switch c.op {
	case "<":
		return n < 0
	case "<=":
		return n <= 0
	case ">":
		return n > 0
	}
	return n >= 0
}

// isEmpty: Obsidian shows a property without a value for all of these.
func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case facts.Map:
		return len(v) == 0
	}
	return false
}

// same reports whether a list or mapping of the properties is one of JSON, item
// by item.
func same(v, want any) bool {
	switch w := want.(type) {
	case []any:
		list, ok := v.([]any)
		return ok && slices.EqualFunc(list, w, sameItem)
	case map[string]any:
		m, ok := v.(facts.Map)
		if !ok || len(m) != len(w) {
			return false
		}
		for _, e := range m {
			item, ok := w[e.Key]
			if !ok || !sameItem(e.Value, item) {
				return false
			}
		}
		return true
	}
	return false
}

func sameItem(v, want any) bool {
	if want == nil {
		return v == nil
	}
	c, err := newCondition(opEquals, want)
	if err != nil {
		return false
	}
	if c.isScalar() {
		return c.equals(v)
	}
	return same(v, want)
}
