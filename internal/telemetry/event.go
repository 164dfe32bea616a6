package telemetry

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// told are the attributes that events may have: names, ids, sizes, and sentences
// that the program itself has ready. Whatever else comes is dropped, so that a mistake shows nobody what a note or a person
// says.
var told = []string{"tool", "caller", "vault", "request_id", "change_id", "outcome", "route", "mode", "negotiated", "reason", "result_size", "limit"}

// maxValue bounds a text in an event, in bytes.
const maxValue = 256

// cloudEvent is an event as CloudEvents 1.0 writes it in JSON.
type cloudEvent struct {
	SpecVersion string         `json:"specversion"`
	ID          string         `json:"id"`
	Source      string         `json:"source"`
	Type        string         `json:"type"`
	Time        string         `json:"time"`
	ContentType string         `json:"datacontenttype"`
	Data        map[string]any `json:"data"`
}

// Event reports that something happened: it is counted, logged, and kept where
// there is a Sink. Attributes are pairs of a name and a value; those that are no
// name, id, size or code are dropped.
func (m *Meter) Event(ctx context.Context, name string, attrs ...any) {
	data := map[string]any{}
	var logged []any
	for i := 0; i+1 < len(attrs); i += 2 {
		key, _ := attrs[i].(string)
		value, ok := plain(attrs[i+1])
		if ok && slices.Contains(told, key) {
			data[key] = value
			logged = append(logged, key, value)
		}
	}
	m.Add(counterOf(name, data), 1)
	if m.Log != nil {
		m.Log.LogAttrs(ctx, slog.LevelInfo, name, slog.Group("", logged...))
	}
	if m.Sink == nil {
		return
	}
	line, err := json.Marshal(cloudEvent{
		SpecVersion: "1.0", ID: rand.Text(), Source: "/vault-mcp", Type: name, Time: time.Now().UTC().Format(time.RFC3339Nano),
		ContentType: "application/json", Data: data,
	})
	if err == nil {
		err = m.Sink(line)
	}
	if err != nil {
		m.Add(EventsDroppedTotal, 1)
	}
}

// plain is a value as an event shows it.
func plain(v any) (any, bool) {
	switch v := v.(type) {
	case int, int64, bool:
		return v, true
	case string:
		if len(v) > maxValue {
			n := maxValue
			for !utf8.RuneStart(v[n]) {
				n--
			}
			v = v[:n]
		}
		return v, true
	}
	return nil, false
}

// counterOf is the counter of an event: vault.elicit.answered with the outcome
// decline counts as elicit_decline_total.
func counterOf(name string, data map[string]any) string {
	parts := strings.Split(strings.TrimPrefix(name, "vault."), ".")
	if outcome, ok := data["outcome"].(string); ok && outcome != "" {
		parts[len(parts)-1] = outcome
	}
	return strings.Join(parts, "_") + "_total"
}
