package acl

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"vault-mcp/internal/fault"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/vault"
	"vault-mcp/vault/change"
)

// Asked is an operation for which the rules want a person.
type Asked struct {
	Op Op
	// Path is the path that was judged. Named is how the call named it, "" if it did
	// not: then its name may be one that the caller must not learn.
	Path, Named string

	note bool // named as a note, with or without .md
}

// toRead reports whether what a call names is to be read: only that is opened to
// the caller.
func (k Asked) toRead() bool { return k.Op == Read && k.Named != "" }

// covers reports whether a path is what is asked for, or below such a folder.
func (k Asked) covers(path string) bool {
	return k.Path == path || len(path) > len(k.Path) && path[len(k.Path)] == '/' && path[:len(k.Path)] == k.Path
}

// asks are what one call has met that a person has to approve. Until they are
// sealed they only grow, and what is in them passes: nothing of it leaves the
// server before the gate has decided. The nil value lets nothing pass.
type asks struct {
	mu     sync.Mutex
	sealed bool
	list   []Asked
	named  map[string]Asked // how the call named a path
	expect map[string]fingerprint.Content
}

// name keeps how a call named a path.
func (a *asks) name(path, arg string, note bool) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, ok := a.named[path]; !ok && !a.sealed {
		a.named[path] = Asked{Named: arg, note: note}
	}
}

// pass reports whether an operation on a path may go on for now.
func (a *asks) pass(op Op, path string) bool {
	if a == nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.has(op, path) {
		return true
	}
	if !a.sealed {
		k := a.named[path]
		k.Op, k.Path = op, path
		a.list = append(a.list, k)
	}
	return !a.sealed
}

func (a *asks) has(op Op, path string) bool {
	return slices.ContainsFunc(a.list, func(k Asked) bool {
		return k.Op == op && k.Path == path || op == Read && k.toRead() && k.covers(path)
	})
}

// opens reports whether a path is one that the call names to read, or is below
// such a folder. In all other calls ask acts as hide.
func (a *asks) opens(path string) bool {
	if a == nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.ContainsFunc(a.list, func(k Asked) bool { return k.toRead() && k.covers(path) })
}

func (a *asks) reads() bool {
	if a == nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.ContainsFunc(a.list, Asked.toRead)
}

// ForCall is the view for one call, under the rules of now, which it keeps. What
// the rules want a person for passes until Seal, and is what Asked tells.
func (w *View) ForCall() *View {
	v := w.Now()
	v.asks = &asks{named: map[string]Asked{}}
	return v
}

// Now is the view under the rules of now; what they want a person for is refused.
func (w *View) Now() *View {
	p := w.current.Load()
	return &View{ID: w.ID, ReadOnly: p.readOnly, ground: w.ground, policy: p}
}

// Renew gives the vault other rules, for the calls that begin from now on.
func (w *View) Renew(rules *Rules, readOnly bool) {
	w.current.Store(&policy{rules: rules, readOnly: readOnly})
}

// Asked is what a person has to approve so far, in the order in which the call
// met it.
func (w *View) Asked() []Asked {
	if w.asks == nil {
		return nil
	}
	w.asks.mu.Lock()
	defer w.asks.mu.Unlock()
	return slices.Clone(w.asks.list)
}

// Named are the paths that the call names, as they were judged, in their order.
func (w *View) Named() (all []string) {
	if w.asks == nil {
		return nil
	}
	w.asks.mu.Lock()
	defer w.asks.mu.Unlock()
	return slices.Sorted(maps.Keys(w.asks.named))
}

// AsksToRead reports whether a person has to approve that something which the
// call names is read: before that no answer may tell what is there, nor whether
// anything is.
func (w *View) AsksToRead() bool { return w.asks.reads() }

// MayAskToRead reports whether some call on the vault may have to be approved
// because of what it reads.
func (w *View) MayAskToRead() bool { return w.rules.asksToRead() }

// Seal ends the asking: what was met passes, and nothing else under ask.
func (w *View) Seal() {
	if w.asks != nil {
		w.asks.mu.Lock()
		w.asks.sealed = true
		w.asks.mu.Unlock()
	}
}

// Reopen lets a sealed view meet more, while a plan is made anew. What it returns
// seals it again and reports whether there was more.
func (w *View) Reopen() (seal func() bool) {
	if w.asks == nil {
		return func() bool { return false }
	}
	w.asks.mu.Lock()
	defer w.asks.mu.Unlock()
	was, before := w.asks.sealed, len(w.asks.list)
	w.asks.sealed = false
	return func() bool {
		w.asks.mu.Lock()
		defer w.asks.mu.Unlock()
		w.asks.sealed = was
		return len(w.asks.list) > before
	}
}

// maxTold is how many paths a reason names.
const maxTold = 3

// Reasons say for which operations the rules want a person, as the caller may
// read it before anybody was asked. Where something is to be read only that is
// said, by the names that the call used: what else the call would do depends on
// what is there. One is set where even how many reads there are depends on that.
func (w *View) Reasons(one bool) (reasons []string) {
	list := w.Asked()
	ops, told := []Op{Read, Write, Delete}, func(k Asked, op Op) bool { return k.Op == op }
	if w.AsksToRead() {
		ops, told = ops[:1], func(k Asked, _ Op) bool { return k.toRead() }
	}
	for _, op := range ops {
		var names []string
		more := 0
		for _, k := range list {
			if !told(k, op) {
				continue
			}
			name := k.Named
			if name == "" && w.Judge(Read, k.Path).Verb != Ask && w.Knows(k.Path) {
				name = k.Path
			}
			quoted := fmt.Sprintf("%q", name)
			switch {
			case name != "" && slices.Contains(names, quoted): // found by two spellings
			case name == "" || len(names) == maxTold:
				more++
			default:
				names = append(names, quoted)
			}
		}
		if one && op == Read && len(names) > 0 {
			names, more = names[:1], 0
		}
		if what := enumerate(names, more); what != "" {
			reasons = append(reasons, fmt.Sprintf("the folder rules want a person to approve the %s of %s", op, what))
		}
	}
	return reasons
}

func enumerate(names []string, more int) string {
	rest := fmt.Sprintf("%d files", more)
	if more == 1 {
		rest = "1 file"
	}
	switch {
	case len(names) == 0 && more == 0:
		return ""
	case len(names) == 0:
		return rest + " that the call does not name"
	case more > 0:
		return strings.Join(names, ", ") + " and " + rest + " more"
	}
	return strings.Join(names, ", ")
}

// Bound is something that the rules want a person for to be read, as it is now.
type Bound struct {
	Asked
	// Real is where it is, "" if nothing is there.
	Real string
	// Dir says that it is a folder with so many files that may be known of.
	Dir   bool
	Files int
	Size  int64
	// State is what the approval is bound to: the content, or a folder's listing.
	State []byte
}

// Same reports whether two are the same thing in the same state.
func (b Bound) Same(o Bound) bool {
	return b.Named == o.Named && b.Real == o.Real && bytes.Equal(b.State, o.State)
}

// Bind looks at everything that a person has to approve the read of. Read and
// ReadPart refuse from then on a file that has become another one.
func (w *View) Bind(ctx context.Context) (all []Bound, err error) {
	for _, k := range w.Asked() {
		if !k.toRead() {
			continue
		}
		b := Bound{Asked: k}
		if err := w.bind(ctx, &b); err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, nil
}

func (w *View) bind(ctx context.Context, b *Bound) error {
	find := w.vault.Find
	if b.note {
		find = w.vault.FindNote
	}
	p, err := find(strings.Trim(b.Named, "/"), func(path string, dir bool) bool { return w.known(ctx, path, dir) })
	if err != nil {
		b.State = []byte("absent")
		return ctx.Err()
	}
	b.Real, b.Dir = p.String(), p.IsDir()
	if b.Dir {
		return w.bindFolder(ctx, p, b)
	}
	part, err := w.vault.ReadPart(p, 0, 0, change.MaxImage)
	if big, ok := errors.AsType[*vault.TooLargeError](err); ok {
		b.Size, b.State = big.Size, fmt.Appendf(nil, "large %d %d", p.Size(), p.ModTime().UnixNano())
		return nil
	}
	if err != nil {
		b.State = []byte("unread")
		return ctx.Err()
	}
	b.Size, b.State = part.Size, append([]byte("file "), part.Hash[:]...)
	w.asks.mu.Lock()
	defer w.asks.mu.Unlock()
	if w.asks.expect == nil {
		w.asks.expect = map[string]fingerprint.Content{}
	}
	w.asks.expect[b.Real] = part.Hash
	return nil
}

// bindFolder binds to the listing, with sizes and times: a search in a folder
// tells of what is in its notes.
func (w *View) bindFolder(ctx context.Context, p vault.Path, b *Bound) error {
	h := fingerprint.NewHasher()
	err := w.vault.Walk(ctx, p, vault.WalkOptions{Keep: func(path string, dir bool) bool { return w.known(ctx, path, dir) }}, func(f vault.File) error {
		b.Files++
		b.Size += f.Size
		row := append([]byte(f.Path), 0)
		row = binary.BigEndian.AppendUint64(row, uint64(f.Size))
		h.Write(binary.BigEndian.AppendUint64(row, uint64(f.ModTime.UnixNano())))
		return nil
	})
	sum := h.Content()
	b.State = append([]byte("folder "), sum[:]...)
	return err
}

// asBound refuses a file that is no longer the one that a person was asked about.
func (w *View) asBound(path string, hash func() fingerprint.Content) error {
	if w.asks == nil {
		return nil
	}
	w.asks.mu.Lock()
	want, ok := w.asks.expect[path]
	w.asks.mu.Unlock()
	if !ok || !w.asks.isSealed() || hash() == want {
		return nil
	}
	return fault.New(fault.ConcurrentModification, "%q has changed since a person approved the read of it.", path).With("path", path)
}

func (a *asks) isSealed() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sealed
}

// Judge is what the rules say about an operation on a path.
func (w *View) Judge(op Op, path string) Verdict { return w.rules.Judge(op, path) }

// Rules are the rules of the view.
func (w *View) Rules() *Rules { return w.rules }
