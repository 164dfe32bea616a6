// Package tasks holds the tools for the tasks in notes.
package tasks

import "vault-mcp/tools"

// Tools are the domain's tools.
func Tools() tools.Domain {
	return tools.Domain{Name: "automation", Tools: []tools.Tool{listTasks(), updateTask()}}
}
