// Package attachments holds the tools for what notes embed: images, sound,
// video and PDF.
package attachments

import (
	"vault-mcp/tools"
	"vault-mcp/vault"
)

// Tools are the domain's tools.
func Tools() tools.Domain {
	return tools.Domain{Name: "attachments", Tools: []tools.Tool{listAttachments(), getAttachment()}}
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
