package search

import (
	"testing"

	"vault-mcp/cache/index"
)

func TestHowFarTheIndexIsIsSaid(t *testing.T) {
	for want, s := range map[string]index.Status{
		"building, 3 of 7":      {Phase: index.Building, Done: 3, Total: 7, Counted: true},
		"building, 7 of 7":      {Phase: index.Loading, Done: 7, Total: 7, Counted: true},
		"building":              {Phase: index.Building},
		"not usable: full disk": {Phase: index.Degraded, Reason: "full disk"},
		"":                      {Phase: index.Stopped},
	} {
		if got := progress(s); got != want {
			t.Errorf("%+v: %q, want %q", s, got, want)
		}
	}
}
