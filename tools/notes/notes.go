// Package notes holds the tools that list and read notes.
package notes

import (
	"vault-mcp/tools"
)

// Tools are the domain's tools in the order of the docs.
func Tools(repos tools.Repos) tools.Domain {
	return tools.Domain{Name: "notes", Tools: []tools.Tool{
		listNotes(),
		noteExists(),
		readNote(repos),
		readNotes(),
		readSection(),
		writeNote(),
		appendNote(),
		patchNote(),
		copyNote(),
		moveNote(),
		deleteNote(),
		moveFolder(),
		deleteFolder(),
		bulkCreate(),
		bulkMove(),
	}}
}

// maxNote is the largest note that is read, in bytes. A part of a larger one
// could be shown only after reading all of it.
const maxNote = 64 << 20
