package dispatch

import (
	"bytes"
	"encoding/json"
	"maps"

	"vault-mcp/internal/fault"
)

// CallCapability is the tool that calls another one. It is no more than another
// shape of that call: from here on there is only the inner one, with its own hash,
// rules, approval and record.
const CallCapability = "call_capability"

// unwrap puts the inner call in the place of a call of CallCapability. A token
// that stands beside the inner arguments is taken for one among them.
func (c *Call) unwrap() error {
	if c.Request.Tool != CallCapability {
		return nil
	}
	var in struct {
		Name  string                     `json:"name"`
		Args  map[string]json.RawMessage `json:"args"`
		Token json.RawMessage            `json:"elicit_token"`
	}
	d := json.NewDecoder(bytes.NewReader(c.Request.Args))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil || in.Name == "" {
		return fault.New(fault.ValidationError, "%s takes the name of a tool, and its arguments as the object args.", CallCapability).
			With("argument", "args").Because(err)
	}
	if in.Name == CallCapability {
		return fault.New(fault.InvalidInput, "%s does not call itself.", CallCapability).With("argument", "name")
	}
	if in.Token != nil {
		if in.Args = maps.Clone(in.Args); in.Args == nil {
			in.Args = map[string]json.RawMessage{}
		}
		in.Args["elicit_token"] = in.Token
	}
	args, err := json.Marshal(in.Args)
	if err != nil {
		return err
	}
	c.Request.Tool, c.Request.Args = in.Name, args
	return nil
}
