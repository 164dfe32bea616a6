package dispatch

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"vault-mcp/internal/fault"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/tools"
	"vault-mcp/tools/facade"
)

// unwrap puts the inner call in the place of a call of facade.CallCapability, or of the
// tool of a domain. Both are no more than another shape of that call: from here on
// there is only the inner one, with its own hash, rules, approval and record. A
// token that stands beside the inner arguments is taken for one among them.
func (d *Dispatcher) unwrap(c *Call) error {
	outer := c.Request.Tool
	nameArg, domain := "name", []*tools.Tool(nil)
	if outer != facade.CallCapability {
		if domain = d.Registry.Domain(outer); len(domain) == 0 {
			return nil
		}
		nameArg = "action"
	}
	in, err := envelope(outer, nameArg, c.Request.Args)
	if err != nil {
		return err
	}
	if in.tool == outer {
		return fault.New(fault.InvalidInput, "%s does not call itself.", outer).With("argument", nameArg)
	}
	t := d.Registry.Tool(in.tool)
	if domain != nil && (t == nil || t.Domain != outer) {
		return d.noAction(outer, in.tool, domain)
	}
	if t == nil || t.Hidden {
		return d.noTool(in.tool)
	}
	c.Request.Tool, c.Request.Args = in.tool, in.args
	return nil
}

// inner is the call inside of another one.
type inner struct {
	tool string
	args json.RawMessage
}

// envelope reads the arguments of a tool that calls another one, strictly: what is
// not understood must not be left out of the inner call.
func envelope(outer, nameArg string, raw json.RawMessage) (in inner, err error) {
	refuse := func(argument, format string, args ...any) (inner, error) {
		return inner{}, fault.New(fault.ValidationError, "%s It takes the name of a tool as %s, and the arguments of that as the object args.", fmt.Sprintf(format, args...), nameArg).
			With("argument", argument).With("valid", []string{nameArg, "args"})
	}
	var fields map[string]json.RawMessage
	if len(raw) == 0 || json.Unmarshal(raw, &fields) != nil {
		return refuse("args", "%s has no arguments.", outer)
	}
	if _, err := fingerprint.Canonical(raw); err != nil { // a key twice, a number that would be rounded
		return refuse("args", "%s cannot read its arguments: %v.", outer, err)
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if name != nameArg && name != "args" && name != tools.TokenArg {
			return refuse(tools.Cut(name, 100), "%s has no argument %q.", outer, tools.Cut(name, 100))
		}
	}
	if json.Unmarshal(fields[nameArg], &in.tool) != nil || in.tool == "" {
		return refuse(nameArg, "%s misses %s.", outer, nameArg)
	}
	args := map[string]json.RawMessage{}
	if sent := fields["args"]; len(sent) > 0 && string(sent) != "null" {
		if json.Unmarshal(sent, &args) != nil {
			return refuse("args", "The args of %s are no object.", outer)
		}
	}
	if token := fields[tools.TokenArg]; token != nil {
		args[tools.TokenArg] = token
	}
	in.args, err = json.Marshal(args)
	return in, err
}

// noAction is the fault of an action that is none of its domain.
func (d *Dispatcher) noAction(domain, action string, of []*tools.Tool) error {
	names := make([]string, len(of))
	for i, t := range of {
		names[i] = t.Name
	}
	e := fault.New(fault.ValidationError, "The domain %s has no action %.100q. Valid: %s.", domain, action, strings.Join(names, ", ")).
		With("argument", "action").With("valid", names)
	if near := d.Registry.Nearest(action); near != "" {
		e = e.With("nearest", near)
	}
	return e
}

// noTool is the fault of a name that is no tool.
func (d *Dispatcher) noTool(name string) error {
	e := fault.New(fault.NotFound, "There is no tool %.100q.", name)
	if near := d.Registry.Nearest(name); near != "" {
		e = e.With("nearest", near)
	}
	return e
}
