package stdio

import (
	"context"
	"encoding/json"
	"testing"
)

func TestSlot(t *testing.T) {
	if SetError(t.Context(), RPCError{}) || SetResult(t.Context(), nil) {
		t.Error("there is no slot, but an answer was taken")
	}
	ctx, slot := WithSlot(t.Context())
	if slot.Result() != nil || slot.Err() != nil {
		t.Error("a new slot is not empty")
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	if !SetResult(inner, json.RawMessage(`{}`)) || string(slot.Result()) != "{}" || slot.Err() != nil {
		t.Error("the result did not arrive")
	}
	if !SetError(inner, RPCError{Code: 7}) || slot.Err() == nil || slot.Err().Code != 7 || slot.Result() != nil {
		t.Error("the last answer does not count")
	}
}
