package elicit

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"vault-mcp/hitl"
	"vault-mcp/internal/config"
	"vault-mcp/internal/fingerprint"
)

// Named is the call that a person wants to approve, as the refusal told it.
type Named struct {
	Hash, Tool, Caller string
	// Vault is an id or a folder; "" is any vault.
	Vault string
	// StateFP is what the request has to be about; "" is whatever it is.
	StateFP string
}

// Minted is a token and what it is for.
type Minted struct {
	Token     string    `json:"token"`
	RequestID string    `json:"request_id"`
	Tool      string    `json:"tool"`
	Vault     string    `json:"vault"`
	Caller    string    `json:"caller"`
	ExpiresAt time.Time `json:"expires_at"`
}

// Mint shows the request of a call, asks the person, and gives a token that lets
// the call run once. Without a terminal it approves only where elicit.unattended
// is set. Its errors say why there is no token.
func (d *Desk) Mint(ctx context.Context, n Named) (*Minted, error) {
	if err := d.Look(ctx); err != nil {
		return nil, err
	}
	hit, err := d.find(ctx, n)
	if err != nil {
		return nil, err
	}
	if err := mintable(hit.Request); err != nil {
		return nil, err
	}
	if n.StateFP != "" && hit.State.Shown(hit.ID) != n.StateFP {
		return nil, errors.New("the vault has changed since that command was shown: --state-fp is not the one of the request that is kept; the call has to be made again")
	}
	choice := ""
	t, err := d.Terminal()
	switch {
	case err == nil:
		defer t.Close()
		if choice, err = hit.sayYes(ctx, t); err != nil {
			return nil, err
		}
	case len(hit.Candidates) > 0:
		return nil, fmt.Errorf("%w which note is meant: run the command in a terminal, or let the call be made with a path", err)
	case !hit.unattended():
		return nil, fmt.Errorf("%w: run the command in a terminal, or set elicit.unattended for scripts", err)
	}
	var secret [16]byte
	rand.Read(secret[:]) // never fails
	token := hex.EncodeToString(secret[:])
	g, err := hit.store.Requests().Approve(ctx, hit.ID, hitl.Approval{
		Route: hitl.RouteCommand, By: Account(), TokenHash: hitl.TokenHash(token), Choice: choice, Life: hit.life(),
	})
	if err != nil {
		return nil, late(err)
	}
	return &Minted{token, hit.ID, hit.Tool, hit.Request.Vault, hit.Caller, g.Expires.UTC().Truncate(time.Second)}, nil
}

// mintable says why a request can no longer be approved, or nil.
func mintable(r *hitl.Request) error {
	switch r.Status {
	case hitl.Open, hitl.Declined, hitl.Approved:
	case hitl.Used:
		return errors.New("the approval was used: what it allowed was done once")
	case hitl.Expired:
		return errors.New("the request or its approval has expired: the call has to be made again")
	case hitl.Superseded:
		return errors.New("the vault has changed since: the call has to be made again")
	default:
		return fmt.Errorf("the request is %s: the call has to be made again", r.Status)
	}
	return nil
}

// sayYes shows a request and asks. Without an error it is a yes, for the note that
// was chosen where there are several.
func (f Found) sayYes(ctx context.Context, t *Terminal) (choice string, err error) {
	now, err := f.store.Requests().Now(ctx)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(t, "\n%s\n%s\n", head(f.Request, now), body(f.Request, 0))
	choice, said := decide(ctx, t, f.Candidates, f.Floor != "")
	switch said {
	case yes:
		return choice, nil
	case decline:
		if err := f.end(ctx, hitl.Declined, hitl.RouteCommand); err != nil {
			return "", late(err)
		}
		return "", errors.New("declined")
	}
	return "", errors.New("not approved; the request stays as it is")
}

// plainID is what can be the id of a vault. A folder of such a name is given as
// ./name.
var plainID = regexp.MustCompile(`^[a-z0-9_-]{1,64}$`)

// find is the one request that a person means. Places that may not be answered
// from here count as well: then the reason is said, and nothing of what is there.
func (d *Desk) find(ctx context.Context, n Named) (Found, error) {
	id, real := n.Vault, ""
	if n.Vault != "" && !plainID.MatchString(n.Vault) {
		cfg, err := d.Env.Load(n.Vault)
		if err != nil {
			return Found{}, err
		}
		if cfg.File != "" {
			return Found{}, errors.New("--vault takes the id of a vault or its folder; a config file goes to --config")
		}
		id, real = "", cfg.Vaults[0].Real
	}
	var hits []Found
	var wrong []error
	for _, p := range d.inOrder() {
		if real != "" && !p.holds(real) {
			continue
		}
		if p.store == nil {
			if p.wrong != nil {
				wrong = append(wrong, p.wrong)
			}
			continue
		}
		list, err := p.store.Asked(ctx, n.Tool, n.Caller, fingerprint.Call(n.Hash))
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		for _, r := range list {
			if id == "" || r.Vault == id {
				hits = append(hits, Found{p, r})
			}
		}
	}
	for _, h := range hits {
		if err := h.refused(config.Route(hitl.RouteCommand)); err != nil {
			return Found{}, err
		}
	}
	switch len(hits) {
	case 0:
		why := errors.New("there is no request for this call in the last 24 hours: the vault, the tool, the hash and the caller have to be those of the refusal")
		return Found{}, errors.Join(append([]error{why}, wrong...)...)
	case 1:
		return hits[0], nil
	}
	var b strings.Builder
	b.WriteString("the call waits in several places; say which one with --vault:")
	for _, h := range hits {
		fmt.Fprintf(&b, "\n  %s: %s", h.Request.Vault, h.Folder())
	}
	return Found{}, errors.New(b.String())
}

// Folder is the vault whose state it is, by its path on this machine, or the state
// folder if that is not known.
func (p *place) Folder() string {
	if len(p.vaults) > 0 {
		return p.vaults[0].Path
	}
	return p.dir
}

// Abandon gives a request up.
func (d *Desk) Abandon(ctx context.Context, id string) error {
	if err := d.Look(ctx); err != nil {
		return err
	}
	f, err := d.Request(ctx, hitl.RouteCommand, id)
	if err == nil {
		err = f.end(ctx, hitl.Abandoned, hitl.RouteCommand)
	}
	if errors.Is(err, hitl.ErrStatus) {
		return errors.New("the request is over already")
	}
	return err
}
