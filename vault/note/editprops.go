package note

import (
	"fmt"
	"slices"
	"strings"
)

// PropertyFault says what kind of reason there is against an edit.
type PropertyFault uint8

// The kinds of reasons.
const (
	FaultInvalid PropertyFault = iota // the properties are no YAML that could be edited; the app refuses that too
	FaultValue                        // what is to be written cannot be
	FaultShape                        // what is there is no list, or no mapping, where the edit needs one
	FaultTaken                        // the new name of a property is that of another one
	FaultAlias                        // another value repeats this one by an alias (*name)
	FaultForm                         // it is written in a way in which it cannot be edited without touching other bytes
)

// PropertyError is why an edit was not made. The text is as it was.
type PropertyError struct {
	Fault PropertyFault
	// Line is where in the note, from 1, or 0 if it is about no place.
	Line int
	// Key is the property that it is about, or "".
	Key string
	// Reason is for people; it can quote a name from the note.
	Reason string
}

func (e *PropertyError) Error() string {
	s := e.Reason
	if e.Key != "" {
		s = fmt.Sprintf("%q: %s", e.Key, s)
	}
	if e.Line > 0 {
		s = fmt.Sprintf("line %d: %s", e.Line, s)
	}
	return s
}

// PropertyEdit is one change of the properties of a note; the functions below make them. A property is found without
// regard to case, like in the app, and keeps its spelling. Values are nil, bool, int, int64, float64, json.Number (written
// as it is), string, []string, []any, map[string]any (keys are sorted) and *Map (see DecodeValue).
type PropertyEdit struct{ apply func(*propertyEditor) error }

// SetProperty gives a property a value. A new property comes last.
func SetProperty(key string, value any) PropertyEdit {
	return PropertyEdit{func(e *propertyEditor) error {
		v, err := normal(value, 1)
		if err != nil {
			return named(err, key)
		}
		return named(e.set([]string{e.spelled(key)}, v), key)
	}}
}

// SetNested gives the property at a dotted path a value, as Properties.Lookup finds it: author.name. Mappings on the way
// are made; a value on the way that is something else is refused, and so is an item of a list.
func SetNested(path string, value any) PropertyEdit {
	return PropertyEdit{func(e *propertyEditor) error {
		v, err := normal(value, 1)
		if err != nil {
			return named(err, path)
		}
		return named(e.set(e.resolve(path), v), path)
	}}
}

// RemoveProperty takes a property away, if it is there. Comments stay. With its last property, a block that holds nothing
// else goes too, as in the app, so that adding a property and removing it is no change.
func RemoveProperty(key string) PropertyEdit {
	return PropertyEdit{func(e *propertyEditor) error { return named(e.remove([]string{e.spelled(key)}), key) }}
}

// RemoveNested takes away what is at a dotted path, if it is there. A mapping that loses its last key becomes {}.
func RemoveNested(path string) PropertyEdit {
	return PropertyEdit{func(e *propertyEditor) error { return named(e.remove(e.resolve(path)), path) }}
}

// RenameProperty gives a property another name in its place, if it is there. A name that another property has is refused.
func RenameProperty(key, to string) PropertyEdit {
	return PropertyEdit{func(e *propertyEditor) error { return named(e.rename(key, to), key) }}
}

// SetProperties gives each of properties its value, and leaves the others: a shallow merge.
func SetProperties(properties *Map) PropertyEdit {
	return PropertyEdit{func(e *propertyEditor) error {
		_, err := e.setAll(properties)
		return err
	}}
}

// ReplaceProperties makes properties the only ones. Those with the same value stay as they are written.
func ReplaceProperties(properties *Map) PropertyEdit {
	return PropertyEdit{func(e *propertyEditor) error {
		keep, err := e.setAll(properties)
		if err != nil {
			return err
		}
		for _, p := range slices.Clone(e.props.List) {
			if !keep[p.Key] {
				if err := e.remove([]string{p.Key}); err != nil {
					return named(err, p.Key)
				}
			}
		}
		return nil
	}}
}

// setAll sets properties, and returns their names as they are spelled in the note.
func (e *propertyEditor) setAll(properties *Map) (map[string]bool, error) {
	set := map[string]bool{}
	for _, key := range properties.keys {
		if set[e.spelled(key)] {
			return nil, &PropertyError{Fault: FaultTaken, Key: key, Reason: "the property is there twice, in two spellings"}
		}
		set[e.spelled(key)] = true
		if err := SetProperty(key, properties.values[key]).apply(e); err != nil {
			return nil, err
		}
	}
	return set, nil
}

// AddItems appends to a list what it does not hold yet. A property that is absent or has no value becomes a list, and one
// text or number becomes the first item as it is written. In tags neither case counts nor the #.
func AddItems(key string, items ...any) PropertyEdit {
	return PropertyEdit{func(e *propertyEditor) error {
		p, _ := e.props.Find(key)
		list, err := e.itemsOf(&p)
		if err != nil {
			return err
		}
		if (len(list)+len(items))*len(items) > maxItemWork {
			return tooMany(key)
		}
		added := false
		for _, item := range items {
			if item, err = normal(item, 2); err != nil {
				return named(err, key)
			}
			if !slices.ContainsFunc(list, func(have any) bool { return equalItems(key, have, item) }) {
				list, added = append(list, item), true
			}
		}
		if !added {
			return nil
		}
		return named(e.set([]string{e.spelled(key)}, list), key)
	}}
}

// RemoveItems takes items out of a list, which may become empty, or out of a property that is one text. What is not there
// is no error. Items are compared as in AddItems.
func RemoveItems(key string, items ...any) PropertyEdit {
	return PropertyEdit{func(e *propertyEditor) error {
		v, err := normal(items, 1)
		if err != nil {
			return named(err, key)
		}
		if len(items)*len(e.props.YAML.Of(e.text)) > 16*maxItemWork {
			return tooMany(key)
		}
		return e.filter(key, func(have any) bool {
			return slices.ContainsFunc(v.([]any), func(item any) bool { return equalItems(key, have, item) })
		})
	}}
}

func tooMany(key string) error {
	return &PropertyError{Fault: FaultValue, Key: key, Reason: "these are too many items for one call"}
}

// EditProperties makes edits, one after the other and all or none, and returns the new text. Only the bytes of what is
// edited change: comments, order, quotes, indentation, blank lines, line ends, a byte order mark and the end of the file
// stay. An edit that changes nothing returns the text itself. Errors are of type *PropertyError.
//
// Each edit is read back before it counts: all other values must be what they were.
func EditProperties(text []byte, edits ...PropertyEdit) ([]byte, error) {
	e := propertyEditor{}
	if err := e.open(text); err != nil {
		return nil, err
	}
	for _, edit := range edits {
		if err := edit.apply(&e); err != nil {
			return nil, err
		}
	}
	return e.text, nil
}

// named says which property an error is about.
func named(err error, key string) error {
	if e, ok := err.(*PropertyError); ok && e.Key == "" {
		c := *e
		c.Key = key
		return &c
	}
	return err
}

// spelled is the name that a property has in the note, or will have.
func (e *propertyEditor) spelled(key string) string {
	if p, ok := e.props.Find(key); ok {
		return p.Key
	}
	return key
}

// resolve parts a dotted path. As in Properties.Lookup the longest key that is there wins, so that keys with dots can be
// named; what is not there is parted at each dot.
func (e *propertyEditor) resolve(path string) []string {
	var at any = e.props.Map()
	var keys []string
	for {
		m, ok := at.(*Map)
		if !ok {
			return append(keys, strings.Split(path, ".")...)
		}
		end := len(path)
		for ; end >= 0; end = strings.LastIndexByte(path[:end], '.') {
			key := path[:end]
			if len(keys) == 0 {
				key = e.spelled(key)
			}
			if child, found := m.Get(key); found {
				at, keys = child, append(keys, key)
				break
			}
		}
		switch {
		case end == len(path):
			return keys
		case end < 0:
			return append(keys, strings.Split(path, ".")...)
		}
		path = path[end+1:]
	}
}

// equalItems compares items of a list. Tags are equal without case and #.
func equalItems(key string, a, b any) bool {
	x, ok1 := plainOf(a).(string)
	y, ok2 := b.(string)
	switch {
	case !ok1 || !ok2:
		return equalValues(a, b)
	case isTagKey(key):
		return sameTag(x, y)
	}
	return x == y
}

// isTagKey reports whether a property holds tags: tags, or tag, which the app has not read since release 1.9.
func isTagKey(key string) bool {
	return strings.EqualFold(key, "tags") || strings.EqualFold(key, "tag")
}

// tagName is a tag without its # and the blanks round it.
func tagName(s string) string { return strings.TrimPrefix(strings.TrimSpace(s), "#") }
