package field

import "slices"

// The adapters in this file are those of the tools that look at many notes.

// column is one value of each row.
func column(found []any, name string) []any {
	all := []any{}
	for _, r := range found {
		row, _ := r.(values)
		all = append(all, row[name])
	}
	return all
}

// outgoingLinks takes from the tool what it says about a link; what it does not
// say, such as the size of an embed, comes from the reader of notes.
func outgoingLinks(s *site, in values) (answer, error) {
	found, err := s.rows("get_outgoing_links", values{"path": in["path"]}, "links")
	if err != nil {
		return answer{}, err
	}
	own, err := s.links(text(in, "path"))
	if err != nil {
		return answer{}, err
	}
	all := []any{}
	for _, f := range found {
		tool, ok := f.(values)
		if !ok {
			return answer{}, troublef("no row of get_outgoing_links: %v", f)
		}
		if tool["kind"] == "external" || tool["external"] == true {
			continue
		}
		row := values{}
		if len(all) < len(own) {
			for k, v := range own[len(all)].(values) {
				row[k] = v
			}
		}
		for _, k := range []string{"kind", "target", "line", "display"} {
			if v := tool[k]; v != nil {
				row[k] = v
			}
		}
		row["subpath"], row["resolved"], row["key"] = "", tool["target_path"], ""
		if h := text(tool, "heading"); h != "" {
			row["subpath"] = "#" + h
		}
		if key := text(tool, "property"); key != "" {
			row["kind"], row["key"] = "frontmatter", key
		}
		all = append(all, row)
	}
	return answer{data: values{"links": all}}, nil
}

func backlinks(s *site, in values) (answer, error) {
	found, err := s.rows("get_backlinks", values{"path": in["path"]}, "backlinks")
	if err != nil {
		return answer{}, err
	}
	counts, sources := values{}, []any{}
	for _, from := range column(found, "source_path") {
		path, _ := from.(string)
		if counts[path] == nil {
			sources = append(sources, path)
		}
		count(counts, path)
	}
	return answer{data: values{"sources": sources, "source_counts": counts}}, nil
}

func noteTags(s *site, in values) (answer, error) {
	out, err := s.call("get_note_tags", values{"path": in["path"]})
	return answer{data: values{"tags": out["all"]}}, err
}

// tagCounts counts the places where a tag stands, and the notes that have it.
func tagCounts(s *site, in values) (answer, error) {
	found, err := s.rows("list_tags", in, "tags")
	if err != nil {
		return answer{}, err
	}
	places, notes := values{}, values{}
	for _, f := range found {
		row, _ := f.(values)
		places[text(row, "tag")], notes[text(row, "tag")] = row["places"], row["count"]
	}
	return answer{data: values{"tags": places, "notes_per_tag": notes}}, nil
}

func notesWithTag(s *site, in values) (answer, error) {
	found, err := s.rows("find_notes_by_tag", in, "matches")
	return answer{data: values{"paths": column(found, "path")}}, err
}

// finished are the statuses that the app takes for done: all but the blank.
var finished = []string{"done", "cancelled", "in_progress", "scheduled", "other"}

// optional are the keys that a row of list_tasks leaves out where there is none.
var optional = []string{
	"end_line", "parent_line", "block_id", "due", "scheduled", "start", "done", "created", "cancelled",
	"priority", "recur", "id", "depends", "on_completion",
}

// listTasks takes the tool's rows; text is the description.
func listTasks(s *site, in values) (answer, error) {
	args := values{}
	if path := in["path"]; path != nil {
		args["paths"] = []any{path}
	}
	switch filter := text(in, "filter"); filter {
	case "":
	case "todo":
		args["status"] = []string{"todo"}
	case "done":
		args["status"] = finished
	default:
		return answer{}, troublef("unknown filter %q", filter)
	}
	if status := in["status"]; status != nil {
		args["status_char"] = status
	}
	found, err := s.rows("list_tasks", args, "items")
	if err != nil {
		return answer{}, err
	}
	all := []any{}
	for _, f := range found {
		row, ok := f.(values)
		if !ok {
			return answer{}, troublef("no row of list_tasks: %v", f)
		}
		row["state"], row["status"], row["text"] = row["status"], row["status_char"], row["description"]
		for _, key := range optional {
			if _, ok := row[key]; !ok {
				row[key] = nil
			}
		}
		row["recurrence"] = row["recur"]
		if row["end_line"] == nil {
			row["end_line"] = row["line"]
		}
		all = append(all, row)
	}
	return answer{data: values{"tasks": all}}, nil
}

func search(s *site, in values) (answer, error) {
	queries, results := texts(in["queries"]), []any{}
	for _, q := range queries {
		args := values{"query": q}
		if note := in["embedded_in"]; note != nil {
			args["embedded_in"] = note
		}
		found, err := s.rows("search_vault", args, "items") // one for each line that matches
		if err != nil {
			return answer{}, err
		}
		paths := []any{}
		for _, p := range column(found, "path") {
			if !slices.Contains(paths, p) {
				paths = append(paths, p)
			}
		}
		results = append(results, paths)
	}
	return answer{data: values{"results": results}}, nil
}
