package vaults

import (
	"context"
	"strings"

	"vault-mcp/internal/acl"
	"vault-mcp/internal/auth"
	"vault-mcp/tools"
	"vault-mcp/vault"
)

type getIn struct{ tools.VaultArg }

type getOut struct {
	ID       string      `json:"id"`
	Name     string      `json:"name"`
	ReadOnly bool        `json:"read_only"`
	Counts   counts      `json:"counts"`
	Settings settingsOut `json:"settings" jsonschema:"the vault's Obsidian settings that change what tools do"`
	Warnings []string    `json:"warnings"`
}

type counts struct {
	Notes       int   `json:"notes"`
	Canvases    int   `json:"canvases"`
	Bases       int   `json:"bases"`
	Attachments int   `json:"attachments"`
	Other       int   `json:"other" jsonschema:"files that Obsidian does not show"`
	Bytes       int64 `json:"bytes" jsonschema:"size of all files together"`
}

type settingsOut struct {
	AttachmentFolder string `json:"attachment_folder" jsonschema:"attachmentFolderPath as it is set; / is the root, ./ the note's own folder"`
	NewLinkFormat    string `json:"new_link_format"`
	UseMarkdownLinks bool   `json:"use_markdown_links"`
	TrashOption      string `json:"trash_option"`
}

func settingsOf(w *acl.View) settingsOut {
	s := w.Settings()
	return settingsOut{
		AttachmentFolder: s.AttachmentFolder, NewLinkFormat: string(s.NewLinkFormat),
		UseMarkdownLinks: s.UseMarkdownLinks, TrashOption: string(s.Trash),
	}
}

func getVault() tools.Tool {
	return tools.Query(tools.Spec{
		Name:  "get_vault",
		Title: "Describe a vault",
		Doc:   "Tells how many notes and attachments a vault has and which Obsidian settings matter for it.",
		Scope: auth.Read,
	}, func(ctx context.Context, c *tools.Call, _ getIn) (getOut, error) {
		s := c.View.Settings()
		out := getOut{
			ID: c.View.ID, Name: c.View.Name(), ReadOnly: c.View.ReadOnly,
			Settings: settingsOf(c.View),
			Warnings: append([]string{}, s.Problems...),
		}
		root, err := c.View.FindFolder(ctx, "")
		if err != nil {
			return out, err
		}
		ws := c.NewWarnings(false)
		err = c.View.Walk(ctx, root, vault.WalkOptions{Problem: ws.Fail}, func(f vault.File) error {
			out.Counts.Bytes += f.Size
			switch vault.Kind(f.Path) {
			case vault.Note:
				out.Counts.Notes++
			case vault.Canvas:
				out.Counts.Canvases++
			case vault.Base:
				out.Counts.Bases++
			case vault.Other:
				out.Counts.Other++
			default:
				out.Counts.Attachments++
			}
			return nil
		})
		for _, w := range ws.List() {
			out.Warnings = append(out.Warnings, strings.TrimPrefix(w.Path+": "+w.Reason, ": "))
		}
		return out, err
	})
}
