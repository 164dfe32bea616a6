// Package attachments holds the tools for what notes embed: images, sound,
// video and PDF.
package attachments

import (
	"vault-mcp/internal/run"
	"vault-mcp/tools"
	"vault-mcp/vault"
)

// Tools are the domain's tools. programs run those that read PDFs.
func Tools(programs *run.Programs) tools.Domain {
	return tools.Domain{Name: "attachments", Tools: []tools.Tool{
		listAttachments(), getAttachment(newPDFs(programs)), putAttachment(), moveAttachment(), deleteAttachment(),
	}}
}

// isAttachment tells by its name whether Obsidian shows a file as an
// attachment (help page Accepted file formats).
func isAttachment(name string) bool {
	switch vault.Kind(name) {
	case vault.Image, vault.Audio, vault.Video, vault.PDF:
		return true
	}
	return false
}
