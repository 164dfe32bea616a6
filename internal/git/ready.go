package git

// EmptyTree is the tree without entries, which every repository knows: what there
// was before the first commit.
const EmptyTree ID = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// Ready refuses what git would not commit: the middle of a merge and the like,
// conflicts, and nothing at all.
func (r *Repo) Ready(ix *Index, staged []Change) error {
	if err := r.settled(ix); err != nil {
		return err
	}
	if len(staged) == 0 {
		return refused("nothing", "Nothing is staged.")
	}
	return nil
}

// settled refuses the middle of a merge and the like, and conflicts.
func (r *Repo) settled(ix *Index) error {
	if busy := r.Busy(); busy != "" {
		return refused(busy, "The repository is in the middle of a %s: end it, or give it up, with git.", busy)
	}
	if len(ix.Conflicts()) > 0 {
		return refused("conflict", "Files are in conflict: resolve them first.")
	}
	return nil
}
