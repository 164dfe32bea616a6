package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"
)

// BOM is what some editors put before a text in UTF-8. All clients skip it.
const BOM = "\ufeff"

// Unreadable is a file that its client cannot read either.
type Unreadable struct {
	// Line counts from 1; 0 is not known.
	Line int
	Why  string
}

// Error says where and why.
func (u *Unreadable) Error() string {
	if u.Line == 0 {
		return u.Why
	}
	return fmt.Sprintf("line %d: %s", u.Line, u.Why)
}

// Decode is what a file says. A text without anything says nothing: it is an
// empty map. The error is an *Unreadable.
func (s Syntax) Decode(text []byte) (map[string]any, error) {
	if s == TOML {
		return decodeTOML(text)
	}
	v, body, err := s.Tree(text)
	if err != nil {
		return nil, err
	}
	if len(body) == 0 {
		return map[string]any{}, nil
	}
	if v.Value.Kind() != '{' {
		return nil, &Unreadable{1, "it is no object"}
	}
	v.Standardize()
	d := json.NewDecoder(bytes.NewReader(v.Pack()))
	d.UseNumber()
	got := map[string]any{}
	if err := d.Decode(&got); err != nil {
		return nil, &Unreadable{0, err.Error()}
	}
	return got, nil
}

func decodeTOML(text []byte) (map[string]any, error) {
	got := map[string]any{}
	err := toml.Unmarshal(bytes.TrimPrefix(text, []byte(BOM)), &got)
	if at, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, _ := at.Position()
		return nil, &Unreadable{line, strings.TrimPrefix(at.Error(), "toml: ")}
	}
	if err != nil {
		return nil, &Unreadable{0, strings.TrimPrefix(err.Error(), "toml: ")}
	}
	return got, nil
}

var jsonLine = regexp.MustCompile(`^hujson: line (\d+), column \d+: (.*)$`)

// Tree is the syntax tree of a file in one of the JSON syntaxes. Its offsets
// count in body, which is the text without a BOM and is empty if there is nothing
// but blanks. The error is an *Unreadable.
func (s Syntax) Tree(text []byte) (v hujson.Value, body []byte, err error) {
	body = bytes.TrimPrefix(text, []byte(BOM))
	if !utf8.Valid(body) {
		return v, nil, &Unreadable{0, "it is not UTF-8"}
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return v, nil, nil
	}
	// The parser wants a line end behind a comment.
	v, err = hujson.Parse(append(bytes.Clone(body), '\n'))
	if err != nil {
		u := &Unreadable{0, err.Error()}
		if m := jsonLine.FindStringSubmatch(err.Error()); m != nil {
			u.Why = m[2]
			_, _ = fmt.Sscan(m[1], &u.Line) // digits
			u.Line = min(u.Line, 1+bytes.Count(body, []byte("\n")))
		}
		return v, nil, u
	}
	if at, what := s.tooMuch(&v); what != "" {
		return v, nil, &Unreadable{1 + bytes.Count(body[:at], []byte("\n")), what}
	}
	return v, body, nil
}

// tooMuch finds what the syntax does not allow, and says where.
func (s Syntax) tooMuch(v *hujson.Value) (at int, what string) {
	for one := range v.All() {
		if s < JSONComments && !(one.BeforeExtra.IsStandard() && one.AfterExtra.IsStandard()) {
			return one.StartOffset, "a comment, which this client does not read"
		}
		last, inside := lastOf(one.Value)
		if s < JSONComments && !inside.IsStandard() {
			return one.EndOffset, "a comment, which this client does not read"
		}
		if s < JSONWithCommas && last != nil && last.AfterExtra != nil {
			return last.EndOffset, "a comma behind the last value, which this client does not read"
		}
	}
	return 0, ""
}

// lastOf is the last value within an object or array, or nil, and what stands
// before its end.
func lastOf(v hujson.ValueTrimmed) (*hujson.Value, hujson.Extra) {
	switch v := v.(type) {
	case *hujson.Object:
		if n := len(v.Members); n > 0 {
			return &v.Members[n-1].Value, v.AfterExtra
		}
		return nil, v.AfterExtra
	case *hujson.Array:
		if n := len(v.Elements); n > 0 {
			return &v.Elements[n-1], v.AfterExtra
		}
		return nil, v.AfterExtra
	}
	return nil, nil
}
