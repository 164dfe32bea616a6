package change

import "vault-mcp/vault"

// OtherNames are the files of puts that have another name as well, a hard link:
// that name keeps the old content, as a put writes a new file.
func OtherNames(d Disk, edits []Edit) (paths []string) {
	entries(d, edits, func(e *Edit) bool { return e.Kind == Put }, func(e *Edit, is vault.Entry) {
		if is.Links > 1 {
			paths = append(paths, e.Path)
		}
	})
	return paths
}

// permissions notes those of the files that are removed for good.
func permissions(d Disk, edits []Edit) {
	forGood := func(e *Edit) bool { return e.Kind == Remove && e.To == "" && !e.Dir }
	entries(d, edits, forGood, func(e *Edit, is vault.Entry) { e.Mode = is.Mode })
}

// entries calls f with what is now at the paths of those edits that are wanted,
// as far as something is there.
func entries(d Disk, edits []Edit, wanted func(*Edit) bool, f func(*Edit, vault.Entry)) {
	var in Place
	at := ""
	defer func() {
		if in != nil {
			in.Close()
		}
	}()
	for i := range edits {
		e := &edits[i]
		if !wanted(e) {
			continue
		}
		dir, name := split(e.Path)
		if in == nil || dir != at {
			p, err := d.Place(dir)
			if err != nil {
				continue // it comes to be with an earlier edit, or the edit says what is wrong
			}
			if in != nil {
				in.Close()
			}
			in, at = p, dir
		}
		if is, err := in.Stat(name); err == nil {
			f(e, is)
		}
	}
}
