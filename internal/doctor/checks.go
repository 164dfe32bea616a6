package doctor

// checks are all ids of findings, with what each is about.
var checks = map[string]string{
	"program.file":    "the file that this command is",
	"program.missing": "a program that some tools use",
	"program.found":   "a program that some tools use",

	"config.problem": "a mistake in a config file",
	"config.valid":   "a config file",
	"config.none":    "no vault to look at was found",

	"servers.list":    "the list of running servers",
	"servers.running": "a server that runs now",
	"servers.version": "a running server of another version",
	"servers.gone":    "entries of servers that were killed",

	"vault.open":     "whether the vault can be served",
	"vault.size":     "how much is in the vault",
	"vault.write":    "whether the vault can be written to",
	"vault.obsidian": "Obsidian's settings folder",
	"vault.settings": "Obsidian's settings that matter here",
	"vault.trash":    "where deleted notes go",
	"vault.names":    "whether names differ by case or Unicode form",
	"vault.network":  "a network file system",
	"vault.links":    "symbolic links that are not followed",
	"vault.unread":   "folders that cannot be read",
	"vault.large":    "notes that are too large to be read",
	"vault.leftover": "temporary files of an interrupted change",

	"names.foreign": "names that other systems cannot hold",
	"names.twins":   "names that differ by case or Unicode form alone",

	"text.sample":   "how many notes were read",
	"text.encoding": "notes that are not UTF-8",
	"text.bom":      "notes with a byte order mark",
	"text.mixed":    "notes with mixed line ends",

	"sync.folder":       "who syncs the vault",
	"sync.several":      "several programs that sync one vault",
	"sync.placeholders": "files that are not on this machine",
	"sync.conflicts":    "copies that a sync made of two versions",

	"state.folder":    "the state folder",
	"state.usable":    "a state folder that cannot be used",
	"state.private":   "whether others may open the state",
	"state.sync":      "a state folder that is synced",
	"state.space":     "room on its disk",
	"state.keys":      "the keys that sign",
	"state.open":      "the database with what must not be lost",
	"state.audit":     "whether the audit is whole",
	"state.open_work": "changes that were begun and not ended",
	"state.uncertain": "changes that could not be taken back",

	"requests.open":   "calls that wait for a person",
	"requests.stuck":  "calls that have waited long",
	"requests.unused": "approvals that no call has used",

	"index.state":  "the index",
	"index.unread": "notes that the index could not read",
	"index.watch":  "whether changes of files are reported",
	"index.room":   "how many folders the system can watch",

	"git.repository": "the repository that holds the vault",
	"git.refused":    "a repository that cannot be used",
	"git.locked":     "a lock that a git program left",
	"git.busy":       "a merge or rebase that is not finished",
	"git.hooks":      "hooks of the repository",

	"client.none":    "no client's config was found",
	"client.config":  "the config file of a client",
	"client.entry":   "the entry of this program",
	"client.off":     "an entry that is switched off",
	"client.shadow":  "entries of one name that hide each other",
	"client.other":   "another server on the same vault",
	"client.command": "the command of an entry",
	"client.args":    "the arguments of an entry",
	"client.start":   "starting the command as the client does",
	"client.stdout":  "what is no protocol on stdout",
	"client.tools":   "the tools that the client gets",
	"client.search":  "a search as the client makes it",
	"client.timeout": "whether the client would wait that long",
	"client.prompt":  "how a person is asked with this client",
}
