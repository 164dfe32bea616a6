package metadata

import (
	"bytes"
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"vault-mcp/cache/index/facts"
	"vault-mcp/vault"
)

// The kinds of values, by what Obsidian calls them.
const (
	texts = iota
	numbers
	truths
	dates
	datetimes
	lists
	maps
	nulls
	kinds // how many there are
)

var kindNames = [kinds]string{"string", "number", "boolean", "date", "datetime", "list", "object", "null"}

func kindOf(v any) int {
	switch v := v.(type) {
	case nil:
		return nulls
	case bool:
		return truths
	case string:
		if _, ok := isoDate(v); !ok {
			return texts
		} else if len(v) == len(time.DateOnly) {
			return dates
		}
		return datetimes
	case []any:
		return lists
	case facts.Map:
		return maps
	}
	return numbers
}

// isoDate is a date, with or without a time, in a form whose order is that of
// time: a day begins at midnight.
func isoDate(s string) (string, bool) {
	if len(s) < len(time.DateOnly) || s[4] != '-' || s[7] != '-' {
		return "", false
	}
	if len(s) > len(time.DateOnly) && s[len(time.DateOnly)] == ' ' {
		s = strings.Replace(s, " ", "T", 1)
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02T15:04", "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.Format("2006-01-02T15:04:05.999999999"), true
		}
	}
	return "", false
}

// parseNumber reads a number as people write it.
func parseNumber(s string) (float64, bool) {
	if s == "" || strings.Trim(s, "0123456789.+-eE") != "" {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil
}

// compareNumber compares a number of the properties with f; ok is false if
// they have no order.
func compareNumber(v any, f float64) (_ int, ok bool) {
	switch v := v.(type) {
	case float64:
		if math.IsNaN(v) || math.IsNaN(f) {
			return 0, false
		}
		return compareFloat(v, f), true
	case int64:
		if -1<<53 <= v && v <= 1<<53 {
			return compareFloat(float64(v), f), true
		}
		return new(big.Float).SetInt64(v).Cmp(big.NewFloat(f)), true
	case json.Number:
		n, ok := new(big.Int).SetString(string(v), 10)
		if !ok {
			return 0, false
		}
		return new(big.Float).SetInt(n).Cmp(big.NewFloat(f)), true
	}
	return 0, false
}

func compareFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// scalarText is a text, number or truth value as text.
func scalarText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool, int64, float64, json.Number:
		return strings.Trim(string(appendValue(nil, v)), `"`), true
	}
	return "", false
}

// appendValue appends a value of the properties as JSON. JSON has no infinite
// numbers: they become strings, as YAML writes them.
func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case facts.Map:
		b = append(b, '{')
		for i, m := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendValue(append(appendValue(b, m.Key), ':'), m.Value)
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendValue(b, item)
		}
		return append(b, ']')
	case float64:
		switch {
		case math.IsNaN(v):
			return append(b, `".nan"`...)
		case math.IsInf(v, 1):
			return append(b, `".inf"`...)
		case math.IsInf(v, -1):
			return append(b, `"-.inf"`...)
		}
	}
	var w bytes.Buffer
	e := json.NewEncoder(&w)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // a scalar
	return append(b, bytes.TrimSuffix(w.Bytes(), []byte("\n"))...)
}

// lookup follows a dotted path into mappings and lists. At each step the
// longest key wins, so that a key with dots can be named; items of lists count
// from 0. A key that is equal wins over one that differs in case.
func lookup(v any, path string) (any, bool) {
	for end := len(path); end >= 0; end = strings.LastIndexByte(path[:end], '.') {
		child, ok := step(v, path[:end])
		if !ok {
			continue
		}
		if end == len(path) {
			return child, true
		}
		if found, ok := lookup(child, path[end+1:]); ok {
			return found, true
		}
	}
	return nil, false
}

func step(v any, key string) (any, bool) {
	switch v := v.(type) {
	case facts.Map:
		if child, ok := v.Get(key); ok {
			return child, true
		}
		folded := vault.FoldName(key)
		for _, m := range v {
			if vault.FoldName(m.Key) == folded {
				return m.Value, true
			}
		}
	case []any:
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(v) {
			return v[i], true
		}
	}
	return nil, false
}
