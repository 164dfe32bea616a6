package tools

import "time"

// Clock writes a time as every tool does: RFC 3339 with offset.
func Clock(t time.Time) string { return t.Format(time.RFC3339) }
