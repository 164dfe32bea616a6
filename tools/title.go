package tools

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"vault-mcp/internal/fault"
)

// Title names a note that is there by its file name without the extension, or
// by an alias, in place of the argument that its tag names tells. A tool has at
// most one.
type Title string

// NoteArg is embedded by every tool that reads one note.
type NoteArg struct {
	Path  Note  `json:"path,omitempty" jsonschema:"path from the vault's root, with or without .md"`
	Title Title `json:"title,omitempty" jsonschema:"instead: the note's name or alias" names:"path"`
}

// FromArg is embedded by every tool that takes one note somewhere else.
type FromArg struct {
	From  Note  `json:"from,omitempty" jsonschema:"path from the vault's root, with or without .md"`
	Title Title `json:"title,omitempty" jsonschema:"instead: the note's name or alias" names:"from"`
}

// TargetArg is embedded by every tool that changes one note which is there.
type TargetArg struct {
	Path  Target `json:"path,omitempty" jsonschema:"path from the vault's root, with or without .md"`
	Title Title  `json:"title,omitempty" jsonschema:"instead: the note's name or alias" names:"path"`
}

// nameable is an argument that a title can stand for.
type nameable interface {
	Ref
	path() string
	name(path string, err error)
	missing() error
}

func (r *ref) path() string                { return r.Arg }
func (r *ref) name(path string, err error) { r.Arg, r.err = path, err }
func (r *ref) missing() error              { return r.err }

func (t *Target) path() string                { return t.Arg }
func (t *Target) name(path string, err error) { t.Arg, t.err = path, err }

func (t *Target) missing() error {
	if t.err == nil && !t.at.Exists {
		return fault.New(fault.NoteNotFound, "No note or file at %q.", t.at.Path).With("path", t.at.Path)
	}
	return t.err
}

// pair finds the title, if there is one, and what it stands for.
func (a *arguments) pair() error {
	at := slices.IndexFunc(a.fields, func(f field) bool { return a.typ.FieldByIndex(f.index).Type == reflect.TypeFor[Title]() })
	if at < 0 {
		return nil
	}
	a.title = &a.fields[at]
	names := a.typ.FieldByIndex(a.title.index).Tag.Get("names")
	at = slices.IndexFunc(a.fields, func(f field) bool { return f.name == names })
	if at < 0 || a.fields[at].required {
		return fmt.Errorf("argument %s is in the place of %q, which is none that may be left out", a.title.name, names)
	}
	a.path = &a.fields[at]
	return nil
}

// titled is the note that the arguments name by its title.
func (a *arguments) titled(in reflect.Value) titled {
	if a.title == nil {
		return titled{}
	}
	return titled{in.FieldByIndex(a.title.index).String(), in.FieldByIndex(a.path.index).Addr().Interface().(nameable)}
}

// oneName refuses a call that names its note twice, or not at all.
func (a *arguments) oneName(args map[string]json.RawMessage) error {
	if a.title == nil {
		return nil
	}
	switch path, title := !isNull(args[a.path.name]), !isNull(args[a.title.name]); {
	case path && title:
		return invalid(a.title.name, "The note is named twice: by %q and by %q. Give one of them.", a.path.name, a.title.name)
	case !path && !title:
		return invalid(a.path.name, "The argument %q is missing, or %q in its place.", a.path.name, a.title.name)
	}
	return nil
}

// titled is the note that a call names by its title.
type titled struct {
	title string
	note  nameable
}

// waits reports whether an argument is the note, and what its title stands for
// is not known.
func (t titled) waits(r Ref) bool { return t.title != "" && t.note.path() == "" && Ref(t.note) == r }

// Titled is the title by which the call names its note; "" if it has a path.
func (c *Call) Titled() string { return c.titled.title }

// Name makes the call one about the note at a path. Resolve has to follow.
func (c *Call) Name(path string) { c.titled.note.name(path, nil) }

// Unnamed leaves it to the tool to answer that there is no such note.
func (c *Call) Unnamed(err *fault.Error) { c.titled.note.name("", err) }

// Missing is why the note that a title stood for is not there; nil if it is.
func (c *Call) Missing() error { return c.titled.note.missing() }
