package tools

import (
	"context"
	"encoding/json"
	"errors"
	"path"
	"reflect"
	"slices"
	"strings"

	"vault-mcp/internal/acl"
	"vault-mcp/internal/fault"
	"vault-mcp/vault"
)

// maxPath bounds a path argument, in characters.
const maxPath = 1024

// VaultID is the id of a configured vault.
type VaultID string

// VaultArg is embedded by every tool that works on a vault.
type VaultArg struct {
	Vault VaultID `json:"vault,omitempty" jsonschema:"vault id, if there are several"`
}

// PageArg is embedded by every tool whose answer comes in pages, beside a
// limit of its own.
type PageArg struct {
	Cursor string `json:"cursor,omitempty" jsonschema:"next_cursor of the page before" limits:"maxLength=8192"`
}

// Extensions is a list of file extensions, with or without their dot; * stands
// for all.
type Extensions []string

// Accept tells by its name whether a file has one of the extensions, whatever
// their case; without any, orElse tells.
func (x Extensions) Accept(orElse func(name string) bool) func(name string) bool {
	if len(x) == 0 {
		return orElse
	}
	if slices.Contains(x, "*") {
		return func(string) bool { return true }
	}
	exts := make([]string, len(x))
	for i, e := range x {
		exts[i] = "." + strings.ToLower(strings.TrimPrefix(e, "."))
	}
	return func(name string) bool { return slices.Contains(exts, strings.ToLower(path.Ext(name))) }
}

// Verbosity says how much of each row comes back.
type Verbosity string

// The verbosities.
const (
	Full  Verbosity = "full"
	Terse Verbosity = "terse"
)

// Values lists the verbosities for the schema.
func (Verbosity) Values() []string { return []string{string(Full), string(Terse)} }

// Format says whether a text comes as it is or in the structured form.
type Format string

// The formats.
const (
	FormatText Format = "text"
	FormatJSON Format = "json"
)

// Values lists the formats for the schema.
func (Format) Values() []string { return []string{string(FormatText), string(FormatJSON)} }

// FormatArg is embedded by every tool that answers with a note's text.
type FormatArg struct {
	Format Format `json:"format,omitempty" jsonschema:"text as it is, or json for programs" limits:"default=text"`
}

// Ref is an argument that names something in the vault. The folders stage
// resolves and judges it, so that a handler opens the very path that was
// judged.
type Ref interface {
	resolve(context.Context, *acl.View) error
}

// ref is one named path: as it was sent, and what it was found to be.
type ref struct {
	Arg string
	at  vault.Path
	err error
}

// UnmarshalJSON reads the path as it was sent.
func (r *ref) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &r.Arg) }

// Path is the file or folder that was found and may be read. Its errors are
// note_not_found, path_invalid and acl_denied.
func (r *ref) Path() (vault.Path, error) { return r.at, r.err }

// settle keeps a missing path for the tool to answer and refuses the call for
// everything else.
func (r *ref) settle(p vault.Path, err error) error {
	r.at, r.err = p, err
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Code == fault.NoteNotFound {
		return nil
	}
	return err
}

// Note names a note by its path, with or without .md.
type Note struct{ ref }

func (n *Note) resolve(ctx context.Context, w *acl.View) error {
	return n.settle(w.FindNote(ctx, n.Arg))
}

// File names a file or folder exactly.
type File struct{ ref }

func (f *File) resolve(ctx context.Context, w *acl.View) error {
	return f.settle(w.FindFile(ctx, f.Arg))
}

// Folder names a folder; "" is the vault's root.
type Folder struct{ ref }

func (f *Folder) resolve(ctx context.Context, w *acl.View) error {
	return f.settle(w.FindFolder(ctx, f.Arg))
}

// Notes names several notes. One that is missing or denied does not refuse the
// call: the tool answers for each by itself.
type Notes []Note

func (ns Notes) resolve(ctx context.Context, w *acl.View) error {
	for i := range ns {
		if err := ctx.Err(); err != nil {
			return err
		}
		ns[i].at, ns[i].err = w.FindNote(ctx, ns[i].Arg)
	}
	return nil
}

// refs collects the arguments that name something in the vault.
func (a *arguments) refs(in reflect.Value) []Ref {
	var rs []Ref
	for _, f := range a.fields {
		v := in.FieldByIndex(f.index)
		if v.Type().Implements(refType) {
			rs = append(rs, v.Interface().(Ref))
		} else if v.Addr().Type().Implements(refType) {
			rs = append(rs, v.Addr().Interface().(Ref))
		}
	}
	return rs
}

// NotePath is the path of a note that need not be there: cleaned, with .md where
// it has no extension that the app knows.
func NotePath(arg string) (string, error) {
	clean, err := vault.Clean(arg)
	if err == nil && vault.Kind(clean) == vault.Other {
		clean += ".md"
	}
	return clean, err
}

// Target names a file that a change is about, which may not exist yet. The
// caller must be allowed to write there.
type Target struct {
	Arg string
	at  acl.Target
	err error
}

// UnmarshalJSON reads the path as it was sent.
func (t *Target) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &t.Arg) }

// Target is what was found. Its errors are path_invalid and acl_denied.
func (t *Target) Target() (acl.Target, error) { return t.at, t.err }

// Places names files exactly that something is done to besides the notes; they
// may be gone. The caller must be allowed to write each.
type Places []Target

func (ps Places) resolve(ctx context.Context, w *acl.View) error {
	for i := range ps {
		if err := ctx.Err(); err != nil {
			return err
		}
		t := &ps[i]
		if t.at, t.err = w.Target(ctx, t.Arg, false); t.err != nil {
			return t.err
		}
	}
	return nil
}

// Paths are the files as they are spelled on disk, as far as they are there.
func (ps Places) Paths() []string {
	paths := make([]string, len(ps))
	for i := range ps {
		paths[i] = ps[i].at.Path
	}
	return paths
}

func (t *Target) resolve(ctx context.Context, w *acl.View) error {
	if t.Arg == "" {
		return nil // an argument that may be left out
	}
	t.at, t.err = w.Target(ctx, t.Arg, true)
	return t.err
}
