package field

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"vault-mcp/vault/link"
	"vault-mcp/vault/note"
)

func readNote(s *site, in values) (answer, error) {
	out, err := s.call("read_note", values{"path": in["path"], "format": "json"})
	return answer{data: out, file: text(in, "path")}, err
}

func listNotes(s *site, in values) (answer, error) {
	found, err := s.rows("list_notes", in, "notes")
	return answer{data: values{"paths": column(found, "path")}}, err
}

// readPart reads a section or a block.
func readPart(s *site, in values) (answer, error) {
	args := values{"path": in["path"], "format": "json"}
	if h := texts(in["heading"]); h != nil {
		args["heading"] = h
	}
	if b := text(in, "block"); b != "" {
		args["block"] = b
	}
	out, err := s.call("read_section", args)
	if err != nil {
		return answer{}, err
	}
	content := text(out, "content")
	return answer{data: values{"content": content, "lines": lines(strings.TrimRight(content, "\r\n"))}}, nil
}

// scan reads the structure of the note that a case asks about.
func scan(s *site, in values) (*note.Note, []byte, error) {
	b, err := s.text(text(in, "path"))
	if err != nil {
		return nil, nil, err
	}
	return note.Scan(b), b, nil
}

func headings(s *site, in values) (answer, error) {
	n, _, err := scan(s, in)
	if err != nil {
		return answer{}, err
	}
	all := []values{}
	for _, h := range n.Headings {
		all = append(all, values{"level": h.Level, "text": h.Text, "line": h.Line})
	}
	return answer{data: values{"headings": all}}, nil
}

func blocks(s *site, in values) (answer, error) {
	n, _, err := scan(s, in)
	if err != nil {
		return answer{}, err
	}
	all := values{}
	for _, b := range n.Blocks {
		if all[b.ID] == nil {
			all[b.ID] = values{"start_line": b.Line, "end_line": b.EndLine, "kind": b.Kind.String()}
		}
	}
	return answer{data: values{"blocks": all}}, nil
}

func callouts(s *site, in values) (answer, error) {
	n, _, err := scan(s, in)
	if err != nil {
		return answer{}, err
	}
	all := []values{}
	for _, c := range n.Inline().Callouts {
		row := values{
			"line": c.Line, "end_line": c.EndLine, "type": c.Type, "metadata": c.Metadata, "title": cmp.Or(c.Title, c.DefaultTitle()),
			"canonical": c.Canonical(), "fold": nil,
		}
		if c.Fold != 0 {
			row["fold"] = string(rune(c.Fold))
		}
		all = append(all, row)
	}
	return answer{data: values{"callouts": all}}, nil
}

func tables(s *site, in values) (answer, error) {
	n, b, err := scan(s, in)
	if err != nil {
		return answer{}, err
	}
	cells := func(spans []note.Span) []string {
		all := []string{}
		for _, c := range spans {
			all = append(all, note.CellText(b, c))
		}
		return all
	}
	all := []values{}
	for _, t := range n.Inline().Tables {
		body, align := [][]string{}, []any{}
		for i := range t.Rows() {
			body = append(body, cells(t.Row(i)))
		}
		for _, a := range t.Align {
			if a == note.AlignNone {
				align = append(align, nil)
			} else {
				align = append(align, a.String())
			}
		}
		all = append(all, values{"line": t.Line, "end_line": t.EndLine, "header": cells(t.Header()), "align": align, "cells": body})
	}
	return answer{data: values{"tables": all}}, nil
}

func frontmatter(s *site, in values) (answer, error) {
	out, err := s.call("read_frontmatter", values{"path": in["path"]})
	if err != nil {
		return answer{}, err
	}
	b, err := s.text(text(in, "path"))
	if err != nil {
		return answer{}, err
	}
	data := out["frontmatter"]
	if data == nil && out["state"] != "invalid" {
		data = values{}
	}
	p := note.ParseProperties(b)
	return answer{data: values{"state": out["state"], "data": data, "body_starts_with": string(b[p.Body:])}}, nil
}

// aliases are those of one note, or of all notes that have any.
func aliases(s *site, in values) (answer, error) {
	paths, err := s.notes()
	if err != nil {
		return answer{}, err
	}
	all := values{}
	for _, path := range paths {
		b, err := s.text(path)
		if err != nil {
			return answer{}, err
		}
		p := note.ParseProperties(b)
		if names := p.Aliases(); len(names) > 0 {
			all[path] = names
		}
	}
	if path := text(in, "path"); path != "" {
		names, _ := all[path].([]string)
		return answer{data: values{"aliases": append([]string{}, names...)}}, nil
	}
	return answer{data: values{"aliases": all}}, nil
}

// inContext finds a link by its markup in the note that holds it, or by itself
// if it is not there: what stands round it may matter, as in a table.
func (s *site) inContext(from, markup string) ([]note.Link, error) {
	text, err := s.text(from)
	if err != nil {
		return nil, err
	}
	for _, l := range note.Scan(text).Inline().Links {
		if string(l.Span.Of(text)) == markup {
			return []note.Link{l}, nil
		}
	}
	return note.Scan([]byte(markup)).Inline().Links, nil
}

// resolveLink resolves a link as the reader of notes finds it. The reader of
// single links must find the same.
func resolveLink(s *site, in values) (answer, error) {
	from, markup := text(in, "from"), text(in, "markup")
	x, err := s.targets()
	if err != nil {
		return answer{}, err
	}
	found, err := s.inContext(from, markup)
	if err != nil {
		return answer{}, err
	}
	found = slices.DeleteFunc(found, func(l note.Link) bool { return l.External })
	single, ok := link.Parse(markup)
	if ok = ok && !single.External; ok != (len(found) == 1) {
		return answer{}, troublef("%q is %d links in a note, and link.Parse says %v", markup, len(found), ok)
	}
	if !ok {
		return answer{data: values{"path": nil, "target": nil, "subpath": nil, "subpath_line": nil, "embed": false}}, nil
	}
	l := found[0]
	data := linkRow(x, from, l)
	path, _ := x.Resolve(from, single.Path, nil)
	if was, _ := data["resolved"].(string); was != path || l.Subpath != single.Subpath || l.Embed != single.Embed {
		return answer{}, troublef("%q is %q %q in a note, and link.Parse says %q %q", markup, l.Target, l.Subpath, single.Path, single.Subpath)
	}
	data["path"], data["subpath_line"] = data["resolved"], nil
	if path, ok := data["path"].(string); ok && l.Subpath != "" {
		b, err := s.text(path)
		if err != nil {
			return answer{}, err
		}
		if place, ok := link.Locate(note.Scan(b), l.Subpath); ok {
			data["subpath_line"] = place.Line
		}
	}
	return answer{data: data}, nil
}

func links(s *site, in values) (answer, error) {
	all, err := s.links(text(in, "path"))
	return answer{data: values{"links": all}}, err
}

// resolvedLinks counts the links of a note by the files that they lead to.
func resolvedLinks(links adapter) adapter {
	return func(s *site, in values) (answer, error) {
		out, err := links(s, in)
		if err != nil {
			return out, err
		}
		counts := values{}
		for _, l := range out.data["links"].([]any) {
			if path, ok := l.(values)["resolved"].(string); ok {
				count(counts, path)
			}
		}
		return answer{data: values{"resolved": counts}}, nil
	}
}

func count(counts values, key string) {
	n, _ := counts[key].(int)
	counts[key] = n + 1
}

func tags(s *site, in values) (answer, error) {
	n, b, err := scan(s, in)
	if err != nil {
		return answer{}, err
	}
	p := note.ParseProperties(b)
	all := []string{}
	for _, t := range append(p.Tags(), n.Inline().Tags...) {
		if !slices.ContainsFunc(all, func(have string) bool { return strings.EqualFold(have, t.Name) }) {
			all = append(all, t.Name)
		}
	}
	return answer{data: values{"tags": all}}, nil
}

// tasks are those of one note, or of all; filter is todo or done, and status
// the character in the box.
func tasks(s *site, in values) (answer, error) {
	paths, err := s.notes()
	if err != nil {
		return answer{}, err
	}
	if path := text(in, "path"); path != "" {
		paths = []string{path}
	}
	filter := text(in, "filter")
	if filter != "" && filter != "todo" && filter != "done" {
		return answer{}, troublef("unknown filter %q", filter)
	}
	all := []values{}
	for _, path := range paths {
		b, err := s.text(path)
		if err != nil {
			return answer{}, err
		}
		for _, t := range note.Scan(b).Inline().Tasks {
			if filter != "" && t.Done() != (filter == "done") || in["status"] != nil && string(t.Status) != text(in, "status") {
				continue
			}
			all = append(all, taskRow(path, t))
		}
	}
	return answer{data: values{"tasks": all}}, nil
}

// taskRow is a task in the words of the cases.
func taskRow(path string, t note.Task) values {
	row := values{
		"path": path, "line": t.Line, "end_line": t.EndLine, "status": string(t.Status), "text": t.Text, "parent_line": nil,
		"block_id": t.ID, "done": t.Done(),
	}
	if t.Parent > 0 {
		row["parent_line"] = t.Parent
	}
	return row
}

func attachmentPath(s *site, in values) (answer, error) {
	x, err := s.targets()
	if err != nil {
		return answer{}, err
	}
	return path(link.AttachmentPath(text(in, "note"), text(in, "filename"), s.settings(), x.Has))
}

func createFromLink(s *site, in values) (answer, error) {
	l, ok := link.Parse(text(in, "markup"))
	if !ok {
		return path("", false)
	}
	return path(link.NewNote(text(in, "from"), l.Path, s.settings()))
}

func path(p string, ok bool) (answer, error) {
	if !ok {
		return answer{data: values{"path": nil}}, nil
	}
	return answer{data: values{"path": p}}, nil
}

func generateLink(s *site, in values) (answer, error) {
	x, err := s.targets()
	if err != nil {
		return answer{}, err
	}
	o := link.OptionsFor(s.settings())
	o.Text, o.Subpath = text(in, "alias"), text(in, "subpath")
	o.Embed, _ = in["embed"].(bool)
	if h := texts(in["heading"]); h != nil {
		o.Subpath = link.HeadingSubpath(h...)
	}
	markup, ok := x.Text(text(in, "from"), text(in, "to"), o)
	if !ok {
		return answer{data: values{"markup": nil}}, nil
	}
	return answer{data: values{"markup": markup}}, nil
}

// sequence runs operations one after the other; the first refusal ends it.
func sequence(s *site, in values) (answer, error) {
	raw, err := json.Marshal(in["ops"])
	if err != nil {
		return answer{}, trouble{err}
	}
	var steps []operation
	if err := decode(raw, &steps); err != nil {
		return answer{}, trouble{err}
	}
	var last answer
	for _, step := range steps {
		run, missing := pick(step.What)
		if run == nil {
			return answer{}, unsupported(missing)
		}
		if last, err = run(s, step.Args); err != nil {
			return answer{}, err
		}
	}
	return last, nil
}
