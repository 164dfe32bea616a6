package doctor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"vault-mcp/cache"
	"vault-mcp/hitl"
)

// servers tells which servers run, and which of them are of another version.
func (e *exam) servers(setups []setup) {
	s := e.general()
	running, gone, err := cache.Listed(e.o.Env)
	if err != nil {
		s.broken("servers.list", oneLine(err.Error()), "do what it says; until then vault-mcp elicit finds no request of a running server")
		return
	}
	looked := map[string]bool{}
	for _, in := range setups {
		for _, v := range in.cfg.Vaults {
			looked[v.Real] = true
		}
	}
	others := 0
	for _, r := range running {
		i := slices.IndexFunc(r.Vaults, func(v cache.ServedVault) bool { return looked[v.Path] })
		if i < 0 {
			others++
			continue
		}
		at := subject{e: e, vault: r.Vaults[i].Path}
		text := fmt.Sprintf("server %d, version %s, runs since %s", r.PID, hitl.Display(r.Version), age(e.o.Now, r.Started))
		if r.Version != e.o.Version {
			at.warn("servers.version", text+", and this command is "+e.o.Version, "quit and start its client again")
		} else {
			at.ok("servers.running", "%s", text)
		}
	}
	switch {
	case others > 0:
		s.ok("servers.list", "%s on other vaults", plural(others, "server"))
	case len(running) == 0:
		s.ok("servers.list", "no server runs, or none has had a call yet")
	}
	if len(gone) > 0 {
		s.off("servers.gone", plural(len(gone), "server")+" on the list ended without taking themselves off it", "nothing: the next server does")
	}
}

// age is how long ago a time was, in its greatest unit.
func age(now, then time.Time) string {
	d := max(now.Sub(then), 0)
	switch {
	case d < time.Minute:
		return plural(int(d.Seconds()), "second")
	case d < time.Hour:
		return plural(int(d.Minutes()), "minute")
	case d < 48*time.Hour:
		return plural(int(d.Hours()), "hour")
	}
	return plural(int(d.Hours()/24), "day")
}

// oneLine is a text of several as one, without what a terminal would obey.
func oneLine(text string) string { return strings.Join(strings.Fields(hitl.Display(text)), " ") }
