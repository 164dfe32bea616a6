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
	"vault-mcp/tools/facade"
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
	// served is what is served once it is known: the tools that describe the others
	// are in it.
	served func() *tools.Registry
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
		facade.Tools(facade.Source{Registry: n.served, Vaults: n.views}),
		resources.Tools(n.views),
		complete.Tools(n.views),
	}
}

// Registry is what a server with one vault serves, for the docs. Its tools are not to
// be run.
func Registry() (*tools.Registry, error) {
	return tools.NewRegistry(domains(needs{meter: &telemetry.Meter{}, programs: run.New(run.Options{})})...)
}

// CheckTools is what is wrong with the lists of tools in a config, which only a server
// that knows its tools can say.
func CheckTools(c config.Tools) error {
	r, err := Registry()
	if err == nil {
		_, err = r.Only(lists(c))
	}
	return err
}

func lists(c config.Tools) tools.Lists {
	return tools.Lists{Allow: c.Allow, Deny: c.Deny, ReadOnly: c.ReadOnly}
}

// maxNamed is how many vaults the instructions name.
const maxNamed = 6

// instructions tell a model what is here and how to begin, in the surface that it
// sees.
func (a *App) instructions() string {
	var names []string
	for i, v := range a.views {
		if i == maxNamed {
			names = append(names, "and more (list_vaults)")
			break
		}
		names = append(names, fmt.Sprintf("%q (id %s)", tools.Cut(v.Name(), 40), v.ID))
	}
	what := "the Obsidian vault " + names[0]
	if len(names) > 1 {
		what = "the Obsidian vaults " + strings.Join(names, ", ") + "; every call names one with vault"
	}
	does := "reads and changes "
	if a.cfg.Tools.ReadOnly {
		does = "reads "
	}
	return "This server " + does + what + ". Paths are relative to the vault's root, with / between folders and with or without .md; " +
		"title names a note by its name or alias instead. " + ways[facade.Surface(a.cfg.Surface)] +
		"Begin with search_text for words, list_notes with sort -mtime for what is new, read_note for a text; " +
		"read_section reads one heading of a long note. Lists come in pages of limit: pass next_cursor back as cursor, with all " +
		"other arguments unchanged. To change a part of a note use patch_note, append_note or update_frontmatter; dry_run shows what " +
		"would change, prev_hash (the content_hash that was read) refuses a note that has changed since, undo_change takes a change back. " +
		"What removes or replaces much needs a person: then say so and wait. An error says in its last line what to do next."
}

// ways tell how to reach the tools that a surface does not list.
var ways = map[facade.Surface]string{
	facade.Core: "Only the tools of daily work are listed, with their usual arguments. There are many more, for links, tags, properties, tables, " +
		"attachments, git and history: find_capability finds them by what they do, describe_capability tells all arguments, call_capability calls them. ",
	facade.Triad: "Every tool is reached by three: find_capability finds them by what they do, describe_capability tells their arguments, " +
		"call_capability calls them. ",
	facade.Domains: "Each listed tool calls those of one domain: action is the tool's name, args are its arguments, which describe_capability tells. ",
}
