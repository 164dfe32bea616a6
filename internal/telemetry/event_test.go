package telemetry

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

func TestEventsShowNamesAlone(t *testing.T) {
	var log bytes.Buffer
	var lines [][]byte
	m := &Meter{Log: slog.New(slog.NewTextHandler(&log, nil)), Sink: func(line []byte) error { lines = append(lines, line); return nil }}
	m.Event(t.Context(), "vault.elicit.answered", "tool", "t", "outcome", "decline", "content", "PLANTED", "tool2", "PLANTED",
		"vault", []string{"PLANTED"}, "caller", strings.Repeat("é", 1000), "result_size", 5)
	var e struct {
		Type string
		Data map[string]any
	}
	if len(lines) != 1 || json.Unmarshal(lines[0], &e) != nil {
		t.Fatalf("%q", lines)
	}
	caller, _ := e.Data["caller"].(string)
	if e.Type != "vault.elicit.answered" || e.Data["tool"] != "t" || e.Data["result_size"] != 5.0 || len(caller) != maxValue || strings.Trim(caller, "é") != "" {
		t.Errorf("%+v", e)
	}
	for _, text := range []string{log.String(), string(lines[0])} {
		if strings.Contains(text, "PLANTED") || !strings.Contains(text, "decline") {
			t.Errorf("%s", text)
		}
	}
	m.Sink = func([]byte) error { return errors.New("full") }
	m.Event(t.Context(), EventOverflow)
	if c := m.Counts(); c["elicit_decline_total"] != 1 || c["governor_overflow_total"] != 1 || c[EventsDroppedTotal] != 1 {
		t.Errorf("%v", c)
	}
}
