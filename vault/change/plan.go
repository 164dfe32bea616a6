// Package change owns the plan: the list of edits that a tool would make,
// which everything that governs a change reads.
package change

import "vault-mcp/internal/fingerprint"

// Kind is what an edit does to a path.
type Kind int

// The kinds of edits.
const (
	// Put replaces the content of an existing file.
	Put Kind = iota
	// Create writes a file that must not exist.
	Create
	// Move gives a file or folder another path.
	Move
	// Remove takes a file away, to the trash or for good.
	Remove
	// Mkdir makes a folder.
	Mkdir
)

// Edit is one step of a plan.
type Edit struct {
	Kind Kind
	// Path is what is edited, from the vault's root; for Move, where it was.
	Path string
	// To is where Move puts it.
	To string
	// Before and After are the content expected before the edit and left after
	// it; the zero value stands for an absent file.
	Before, After fingerprint.Content
	// Upkeep marks a put that only keeps links right in another note.
	Upkeep bool
}

// Plan is what a change would do. Nothing has been written.
type Plan struct {
	// Summary says in one sentence what the person would be approving.
	Summary string
	Edits   []Edit
}
