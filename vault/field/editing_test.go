package field

import "maps"

// setFrontmatter changes properties: sets some, removes some, and adds tags.
func setFrontmatter(s *site, in values) (answer, error) {
	path := text(in, "path")
	var steps []values
	if set, ok := in["set"].(values); ok {
		steps = append(steps, values{"operation": "merge", "properties": set})
	}
	for _, key := range texts(in["remove"]) {
		steps = append(steps, values{"operation": "remove", "key": key})
	}
	for _, step := range steps {
		step["path"] = path
		if _, err := s.call("update_frontmatter", step); err != nil {
			return answer{}, err
		}
	}
	for _, tag := range texts(in["add_tags"]) {
		if _, err := s.call("add_tag", values{"path": path, "tag": tag}); err != nil {
			return answer{}, err
		}
	}
	return answer{file: path}, nil
}

// toggleTask opens or closes a task, or gives it a status.
func toggleTask(s *site, in values) (answer, error) {
	args := maps.Clone(in)
	if status, ok := args["status"]; ok {
		delete(args, "status")
		args["status_char"] = status
	} else {
		args["toggle"] = true
	}
	_, err := s.call("update_task", args)
	return answer{file: text(in, "path")}, err
}
