package app

import (
	"os"
	"reflect"
	"slices"
	"sync"
	"time"

	"vault-mcp/internal/acl"
	"vault-mcp/internal/config"
)

// lookAtConfig is how often the config file is looked at, at most, and restless
// how long after it was written its time alone does not tell that it is the same.
const (
	lookAtConfig = time.Second
	restless     = 2 * time.Second
)

// rulebook takes up folder rules and read_only from a config file that has
// changed. All else of it holds until a restart.
type rulebook struct {
	app *App
	now func() time.Time

	mu     sync.Mutex
	looked time.Time
	info   os.FileInfo    // of the file as it was read last
	read   time.Time      // when that was
	last   *config.Config // as it was read last
	used   []config.Vault // as they are served
	told   string         // the problem that was said last
}

// newRulebook is one for the config that the vaults were opened with.
func newRulebook(a *App) *rulebook {
	b := &rulebook{app: a, now: a.opts.Clock, last: a.cfg, used: a.cfg.Vaults}
	if b.now == nil {
		b.now = time.Now
	}
	return b
}

// refresh implements dispatch.Config.Refresh. A file that is no longer valid, or
// gone, leaves the rules as they are.
func (b *rulebook) refresh() {
	file := b.app.cfg.File
	if file == "" {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	if since := now.Sub(b.looked); since >= 0 && since < lookAtConfig && !b.looked.IsZero() {
		return
	}
	b.looked = now
	info, err := os.Stat(file)
	if err != nil {
		b.keep(err)
		return
	}
	if b.info != nil && os.SameFile(info, b.info) && info.ModTime().Equal(b.info.ModTime()) && info.Size() == b.info.Size() &&
		b.read.Sub(info.ModTime()) > restless {
		return
	}
	b.info, b.read = info, time.Now() // as the file system counts, whatever the clock
	cfg, err := b.app.opts.Env.Load(file)
	if err != nil {
		b.keep(err)
		return
	}
	b.take(cfg)
}

// keep says once why the rules stay as they are.
func (b *rulebook) keep(err error) {
	if told := err.Error(); told != b.told {
		b.told = told
		b.app.opts.Log.Error("the config file cannot be used any more: the folder rules stay as they are", "err", err)
	}
}

// take gives each vault that is served its rules. They come together or not at all.
func (b *rulebook) take(cfg *config.Config) {
	b.told = ""
	if reflect.DeepEqual(cfg, b.last) {
		return
	}
	b.last = cfg
	rules := make([]*acl.Rules, len(b.used))
	next := make([]config.Vault, len(b.used))
	same := len(cfg.Vaults) == len(b.used)
	for i, was := range b.used {
		at := slices.IndexFunc(cfg.Vaults, func(is config.Vault) bool { return is.ID == was.ID && is.Real == was.Real })
		if next[i] = was; at >= 0 {
			next[i] = cfg.Vaults[at]
		}
		same = same && at == i
		var err error
		if rules[i], err = acl.Compile(rulesOf(next[i])); err != nil {
			b.keep(err)
			return
		}
	}
	for i, v := range next {
		if was := b.used[i]; !reflect.DeepEqual(v.Rules, was.Rules) || v.ReadOnly != was.ReadOnly {
			b.app.views[i].Renew(rules[i], v.ReadOnly)
			b.app.opts.Log.Info("the folder rules were read anew", "vault", v.ID, "rules", len(v.Rules), "read_only", v.ReadOnly)
		}
	}
	b.used = next
	if !same || !reflect.DeepEqual(unruled(cfg), unruled(b.app.cfg)) {
		b.app.opts.Log.Warn("the config file says more than folder rules that is new: that counts after a restart")
	}
}

// unruled is a config without what is taken up while the server runs.
func unruled(c *config.Config) config.Config {
	u := *c
	u.Vaults = nil
	return u
}
