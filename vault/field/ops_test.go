package field

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

	"canvas_read":      {args: names("path"), keys: join(is(rows, "nodes", "edges"), is(keyed, "canvases")), ways: []way{below(canvasRead)}},
	"canvas_edges":     {args: names("path"), keys: is(rows, "edges"), ways: []way{below(canvasRead)}},
	"base_query":       {args: names("path", "view", "this"), keys: join(is(rows, "paths"), is(within, "summaries")), ways: []way{later("query_base")}},
	"eval_formula":     {args: names("expressions", "path", "this"), keys: is(value, "values"), ways: []way{later("query_base")}},
	"format_date":      {args: names("items"), keys: is(value, "texts"), ways: []way{later("expand_template")}},
	"render_template":  {args: names("template", "title", "datetime"), keys: is(value, "content"), ways: []way{later("expand_template")}},
	"list_daily_notes": {keys: is(value, "notes"), ways: []way{later("list_periodic_notes")}},

	"set_frontmatter":    {args: names("path", "set", "remove", "add_tags"), ways: []way{{[]string{"update_frontmatter", "add_tag"}, setFrontmatter}}},
	"patch":              {args: names("path", "target", "mode", "content"), ways: []way{by("patch_note", patch)}},
	"toggle_task":        {args: names("path", "line", "status"), ways: []way{by("update_task", toggleTask)}},
	"move_note":          {indexed: true, args: names("from", "to"), ways: []way{{[]string{"move_note", "move_attachment"}, moveFile}}},
	"move_folder":        {indexed: true, args: names("from", "to"), ways: []way{by("move_folder", moveFolder)}},
	"rename_heading":     {indexed: true, args: names("path", "heading", "to"), ways: []way{by("rename_heading", renameHeading)}},
	"create_note":        {args: names("path", "content"), ways: []way{by("write_note", createNote)}},
	"delete_note":        {args: names("path"), ways: []way{by("delete_note", deleteNote)}},
	"daily_note":         {args: names("datetime", "append"), keys: is(value, "path", "created"), ways: []way{later("find_or_create_periodic_note")}},
	"unique_note":        {args: names("datetime"), keys: is(value, "path"), ways: []way{later("create_unique_note")}},
	"canvas_add_node":    {args: names("path", "node"), ways: []way{later("add_canvas_node")}},
	"canvas_add_edge":    {args: names("path", "edge"), ways: []way{later("add_canvas_edge")}},
	"canvas_remove_node": {args: names("path", "id"), ways: []way{later("remove_canvas_node")}},
}

// A sequence is made of operations of the table, so it cannot stand there.
func init() { ops["sequence"] = op{indexed: true, args: names("ops"), ways: []way{below(sequence)}} }

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
