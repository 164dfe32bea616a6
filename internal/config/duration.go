package config

import (
	"fmt"
	"reflect"
	"time"
)

// Duration is a time as it is written in the file: 300s, 5m, 1h.
type Duration string

var durationType = reflect.TypeFor[Duration]()

// Duration is the time.
func (d Duration) Duration() time.Duration {
	t, _ := time.ParseDuration(string(d)) // the decoder has refused anything else
	return t
}

// within reports whether a text is a duration between the bounds of its key.
func within(text string, tag reflect.StructTag) bool {
	t, err := time.ParseDuration(text)
	return err == nil && t >= Duration(tag.Get("min")).Duration() && t <= Duration(tag.Get("max")).Duration()
}

// expectedDuration says what a key for a duration takes.
func expectedDuration(tag reflect.StructTag) string {
	return fmt.Sprintf("a time from %s to %s, as 300s or 5m", tag.Get("min"), tag.Get("max"))
}
