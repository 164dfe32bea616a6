package field

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"vault-mcp/vault/canvas"
	"vault-mcp/vault/link"
	"vault-mcp/vault/note"
)

// op is an operation of the cases: what a case may say about it, and the ways
// to run it, the best first.
type op struct {
	args []string
	keys map[string]shape
	ways []way
	// indexed says that the tool answers from the index, where there is one.
	indexed bool
}

// way runs an operation if the tools that it needs are registered.
type way struct {
	tools []string
	run   adapter
}

// adapter runs an operation. An error that is no trouble is a refusal.
type adapter func(*site, values) (answer, error)

// answer is what an operation says. file is the one that the text of the case
// is about, where that is not in the answer.
type answer struct {
	data values
	file string
}

// shape is how the answer under a key is compared.
type shape uint8

const (
	value  shape = iota // equal
	rows                // a list of objects of which only some keys are compared, or of values; in order
	set                 // rows in any order
	keyed               // an object with exactly these keys; of its values only some keys are compared
	sets                // a list of sets
	within              // an object of which only some keys are compared
)

// by is a way through one tool.
func by(tool string, run adapter) way { return way{[]string{tool}, run} }

// below is a way through the packages below the tools.
func below(run adapter) way { return way{run: run} }

// later is a way that nobody can go yet: the tool's adapter comes with the tool.
func later(tools ...string) way { return way{tools: tools} }

var ops = map[string]op{
	"read_note":    {args: names("path"), keys: is(value, "content"), ways: []way{by("read_note", readNote)}},
	"list_notes":   {args: names("folder"), keys: is(set, "paths"), ways: []way{by("list_notes", listNotes)}},
	"read_section": {args: names("path", "heading"), keys: is(value, "content", "lines"), ways: []way{by("read_section", readPart)}},
	"read_block":   {args: names("path", "block"), keys: is(value, "content", "lines"), ways: []way{by("read_section", readPart)}},
	"headings":     {args: names("path"), keys: is(rows, "headings"), ways: []way{below(headings)}},
	"blocks":       {args: names("path"), keys: is(keyed, "blocks"), ways: []way{below(blocks)}},
	"callouts":     {args: names("path"), keys: is(rows, "callouts"), ways: []way{below(callouts)}},
	"tables":       {args: names("path"), keys: is(rows, "tables"), ways: []way{below(tables)}},
	"kanban":       {args: names("path"), keys: is(rows, "lanes", "archive"), ways: []way{later("read_kanban")}},

	"frontmatter": {args: names("path"), keys: is(value, "state", "data", "body_starts_with"), ways: []way{by("read_frontmatter", frontmatter)}},
	"aliases":     {args: names("path"), keys: is(value, "aliases"), ways: []way{below(aliases)}},

	"resolve_link": {
		args: names("from", "markup"), ways: []way{below(resolveLink)},
		keys: is(value, "path", "target", "subpath", "subpath_line", "embed", "kind", "display", "width", "height"),
	},
	"links":          {indexed: true, args: names("path"), keys: is(rows, "links"), ways: []way{by("get_outgoing_links", outgoingLinks), below(links)}},
	"resolved_links": {indexed: true, args: names("path"), keys: is(value, "resolved"), ways: []way{by("get_outgoing_links", resolvedLinks(outgoingLinks)), below(resolvedLinks(links))}},
	"backlinks": {
		indexed: true, args: names("path"), ways: []way{by("get_backlinks", backlinks)},
		keys: join(is(set, "sources"), is(value, "source_counts")),
	},

	"tags": {args: names("path"), keys: is(rows, "tags"), ways: []way{by("get_note_tags", noteTags), below(tags)}},
	"tag_counts": {
		indexed: true, args: names("nested"), keys: is(value, "tags", "notes_per_tag"), ways: []way{by("list_tags", tagCounts)},
	},
	"notes_with_tag": {indexed: true, args: names("tag"), keys: is(set, "paths"), ways: []way{by("find_notes_by_tag", notesWithTag)}},
	"tasks":          {indexed: true, args: names("path", "filter", "status"), keys: is(rows, "tasks"), ways: []way{by("list_tasks", listTasks), below(tasks)}},
	"search":         {indexed: true, args: names("queries", "embedded_in"), keys: is(sets, "results"), ways: []way{by("search_vault", search)}},

	"attachment_path":  {args: names("note", "filename"), keys: is(value, "path"), ways: []way{below(attachmentPath)}},
	"create_from_link": {args: names("from", "markup"), keys: is(value, "path"), ways: []way{below(createFromLink)}},
	"generate_link": {
		args: names("from", "to", "alias", "subpath", "heading", "embed"), keys: is(value, "markup"), ways: []way{below(generateLink)},
	},

	"canvas_read":      {args: names("path"), keys: is(rows, "nodes", "edges"), ways: []way{below(canvasRead)}},
	"canvas_edges":     {args: names("path"), keys: is(rows, "edges"), ways: []way{below(canvasRead)}},
	"base_query":       {args: names("path", "view", "this"), keys: join(is(rows, "paths"), is(within, "summaries")), ways: []way{later("query_base")}},
	"eval_formula":     {args: names("expressions", "path", "this"), keys: is(value, "values"), ways: []way{later("query_base")}},
	"format_date":      {args: names("items"), keys: is(value, "texts"), ways: []way{later("expand_template")}},
	"render_template":  {args: names("template", "title", "datetime"), keys: is(value, "content"), ways: []way{later("expand_template")}},
	"list_daily_notes": {keys: is(value, "notes"), ways: []way{later("list_periodic_notes")}},

	"set_frontmatter":    {args: names("path", "set", "remove", "add_tags"), ways: []way{later("update_frontmatter")}},
	"patch":              {args: names("path", "target", "mode", "content"), ways: []way{later("patch_note")}},
	"toggle_task":        {args: names("path", "line", "status"), ways: []way{later("update_task")}},
	"move_note":          {args: names("from", "to"), ways: []way{later("move_note")}},
	"move_folder":        {args: names("from", "to"), ways: []way{later("move_folder")}},
	"rename_heading":     {args: names("path", "heading", "to"), ways: []way{later("rename_heading")}},
	"create_note":        {args: names("path", "content"), ways: []way{later("write_note")}},
	"delete_note":        {args: names("path"), ways: []way{later("delete_note")}},
	"daily_note":         {args: names("datetime", "append"), keys: is(value, "path", "created"), ways: []way{later("find_or_create_periodic_note")}},
	"unique_note":        {args: names("datetime"), keys: is(value, "path"), ways: []way{later("create_unique_note")}},
	"canvas_add_node":    {args: names("path", "node"), ways: []way{later("add_canvas_node")}},
	"canvas_add_edge":    {args: names("path", "edge"), ways: []way{later("add_canvas_edge")}},
	"canvas_remove_node": {args: names("path", "id"), ways: []way{later("remove_canvas_node")}},
}

// A sequence is made of operations of the table, so it cannot stand there.
func init() { ops["sequence"] = op{args: names("ops"), ways: []way{below(sequence)}} }

func names(all ...string) []string { return all }

func is(s shape, keys ...string) map[string]shape {
	all := map[string]shape{}
	for _, k := range keys {
		all[k] = s
	}
	return all
}

func join(parts ...map[string]shape) map[string]shape {
	all := map[string]shape{}
	for _, p := range parts {
		for k, s := range p {
			all[k] = s
		}
	}
	return all
}

// text is a value that is a string, or "".
func text(v values, name string) string { s, _ := v[name].(string); return s }

// texts is an argument that is a list of strings, or one.
func texts(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var all []string
		for _, item := range v {
			if s, ok := item.(string); ok {
				all = append(all, s)
			}
		}
		return all
	}
	return nil
}

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

// canvasRead reads the nodes and edges of a canvas in the words of the format,
// and the ends of edges in those of the cases too.
func canvasRead(s *site, in values) (answer, error) {
	b, err := s.text(text(in, "path"))
	if err != nil {
		return answer{}, err
	}
	c, err := canvas.Read(b)
	if err != nil {
		return answer{}, err
	}
	nodes, edges := []values{}, []values{}
	for _, n := range c.Nodes {
		nodes = append(nodes, values{
			"id": n.ID, "type": n.Type, "x": n.X, "y": n.Y, "width": n.Width, "height": n.Height, "color": n.Color, "text": n.Text,
			"file": n.File, "subpath": n.Subpath, "url": n.URL, "label": n.Label, "background": n.Background,
			"backgroundStyle": n.BackgroundStyle, "line": n.Line,
		})
	}
	for _, e := range c.Edges {
		edges = append(edges, values{
			"id": e.ID, "from": e.FromNode, "to": e.ToNode, "from_side": e.FromSide, "to_side": e.ToSide, "from_end": e.FromEnd,
			"to_end": e.ToEnd, "color": e.Color, "label": e.Label,
		})
	}
	return answer{data: values{"nodes": nodes, "edges": edges}}, nil
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
