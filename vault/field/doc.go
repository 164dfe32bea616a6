// Package field decides whether this program agrees with the field cases: files
// of a vault, an operation on them, and what Obsidian makes of it. It has no
// code of its own to use; its tests run each case through the tools that are
// served, or through the packages below them where no tool does the job.
//
//	go test ./vault/... -run Field -v
//
// prints how many cases of each kind passed, failed, or ask for something that
// is not there yet. FIELD_CASES names another folder of cases; a relative one
// counts from the root of the module.
package field
