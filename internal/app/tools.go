package app

import (
	"fmt"
	"strings"
	"time"

	"vault-mcp/internal/acl"
	"vault-mcp/internal/config"
	"vault-mcp/internal/run"
	"vault-mcp/internal/telemetry"
	"vault-mcp/tools"
	"vault-mcp/tools/admin"
	"vault-mcp/tools/attachments"
	"vault-mcp/tools/bundles"
	"vault-mcp/tools/complete"
	"vault-mcp/tools/git"
	"vault-mcp/tools/history"
	"vault-mcp/tools/links"
	"vault-mcp/tools/metadata"
	"vault-mcp/tools/notes"
	"vault-mcp/tools/resources"
	"vault-mcp/tools/search"
	"vault-mcp/tools/tables"
	"vault-mcp/tools/tasks"
	"vault-mcp/tools/vaults"
)

// needs is what the tools need besides the vault of a call.
type needs struct {
	config   *config.Config
	views    []*acl.View
	version  string
	started  time.Time
	meter    *telemetry.Meter
	programs *run.Programs
	past     history.Source
	repos    tools.Repos
}

// domains is everything that is served, in the order of the docs.
func domains(n needs) []tools.Domain {
	return []tools.Domain{
		notes.Tools(n.repos),
		metadata.Tools(),
		links.Tools(),
		search.Tools(),
		attachments.Tools(n.programs),
		tables.Tools(),
		tasks.Tools(),
		bundles.Tools(),
		history.Tools(n.past, n.repos),
		git.Tools(n.repos),
		vaults.Tools(n.views),
		admin.Tools(admin.Server{Version: n.version, Started: n.started, Vaults: n.views, Config: n.config, Meter: n.meter}),
		resources.Tools(n.views),
		complete.Tools(n.views),
	}
}

// Registry is what a server with one vault serves, for the docs.
func Registry() (*tools.Registry, error) {
	return tools.NewRegistry(domains(needs{meter: &telemetry.Meter{}, programs: run.New(run.Options{})})...)
}

// maxNamed is how many vaults the instructions name.
const maxNamed = 8

// instructions tell a model what is here and how to begin.
func instructions(views []*acl.View) string {
	var names []string
	for i, v := range views {
		if i == maxNamed {
			names = append(names, "and more (list_vaults)")
			break
		}
		names = append(names, fmt.Sprintf("%q (id %s)", tools.Cut(v.Name(), 60), v.ID))
	}
	what := "the Obsidian vault " + names[0]
	if len(names) > 1 {
		what = "the Obsidian vaults " + strings.Join(names, ", ") + "; every call names one with vault"
	}
	return "This server reads and changes " + what + ". Paths are relative to the vault's root, with / between folders. " +
		"Begin with search_text for words, list_notes with sort -mtime for what is new, read_note for a text; " +
		"read_section reads one heading of a long note. Lists come in pages: pass next_cursor back as cursor, with all " +
		"other arguments unchanged. To change a part of a note use patch_note, append_note or update_frontmatter; dry_run shows what " +
		"would change, prev_hash refuses a note that has changed since it was read, undo_change takes a change back. What removes " +
		"or replaces much needs a person: then say so and wait. An error says in its last line what to do next."
}
