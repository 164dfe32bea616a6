package query

import (
	"fmt"
	"strconv"
	"strings"
)

// maxValueDepth is how deep lists and mappings of a property are looked into.
const maxValueDepth = 100

// eachValue gives the single values of a property until yield returns false: the items of lists, the values of
// mappings. An empty list has none.
func eachValue(v any, depth int, yield func(any) bool) bool {
	if depth > maxValueDepth {
		return true
	}
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if !eachValue(item, depth+1, yield) {
				return false
			}
		}
		return true
	case interface {
		Keys() []string
		Get(string) (any, bool)
	}:
		for _, key := range v.Keys() {
			item, _ := v.Get(key)
			if !eachValue(item, depth+1, yield) {
				return false
			}
		}
		return true
	}
	return yield(v)
}

// matchesKey: names of properties are compared whole and without regard to case (release note 1.4.5).
func (c *check) matchesKey(key string) bool {
	switch c.kind {
	case kindAny:
		return true
	case kindRegex:
		return c.inString(key)
	}
	if c.fold {
		return strings.EqualFold(key, c.text)
	}
	return key == c.text
}

// matchesValue compares with one single value: a part of a text, but the whole of a number or a truth value (release
// note 1.5.0).
func (c *check) matchesValue(v any) bool {
	switch c.kind {
	case kindAny:
		return true
	case kindNull:
		s, isText := v.(string)
		return v == nil || isText && c.finder != nil && c.inString(s)
	case kindEmpty:
		return v == ""
	case kindCompare:
		return c.compares(v)
	}
	switch v := v.(type) {
	case nil:
		return false
	case string:
		return c.inString(v)
	}
	text := fmt.Sprint(v)
	if c.kind == kindRegex {
		return c.inString(text)
	}
	if f, ok := number(v); ok {
		want, err := strconv.ParseFloat(c.text, 64)
		return err == nil && f == want || text == c.text
	}
	return strings.EqualFold(text, c.text)
}

// number is the value of a number.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case float64:
		return v, true
	case interface{ Float64() (float64, error) }:
		f, err := v.Float64()
		return f, err == nil
	}
	return 0, false
}
