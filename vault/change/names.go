package change

// OtherNames are the files of puts that have another name as well, a hard link:
// that name keeps the old content, as a put writes a new file.
func OtherNames(d Disk, edits []Edit) (paths []string) {
	var in Place
	var at string
	for i := range edits {
		e := &edits[i]
		if e.Kind != Put {
			continue
		}
		dir, name := split(e.Path)
		if in == nil || dir != at {
			if in != nil {
				in.Close()
			}
			in, at = nil, dir
			p, err := d.Place(dir)
			if err != nil {
				continue // it comes to be with an earlier edit, or the edit says what is wrong
			}
			in = p
		}
		if is, err := in.Stat(name); err == nil && is.Links > 1 {
			paths = append(paths, e.Path)
		}
	}
	if in != nil {
		in.Close()
	}
	return paths
}
