package mcpserver

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"vault-mcp/internal/fault"
	"vault-mcp/internal/mcpserver/stdio"
	"vault-mcp/internal/updates"
	"vault-mcp/internal/uri"
	"vault-mcp/tools/resources"
)

// followers are the sessions that may follow resources, by their ids: a
// connection in the eras of resources/subscribe, each subscriptions/listen since
// 2026-07-28.
type followers struct{ byID sync.Map }

func (f *followers) of(id string) *updates.Session {
	s, _ := f.byID.Load(id)
	session, _ := s.(*updates.Session)
	return session
}

// addSubscriptions serves subscriptions to resources.
func (e *edge) addSubscriptions(hooks *server.Hooks) {
	hooks.AddOnRegisterSession(func(ctx context.Context, s server.ClientSession) {
		if to, ok := s.(stdio.Notifier); ok {
			e.followers.byID.Store(s.SessionID(), e.Updates.Open(ctx, func(ctx context.Context, uri string, still func() bool) {
				to.Notify(ctx, string(mcp.MethodNotificationResourceUpdated), map[string]any{"uri": uri}, still)
			}))
		}
	})
	hooks.AddOnUnregisterSession(func(_ context.Context, s server.ClientSession) {
		if f := e.followers.of(s.SessionID()); f != nil {
			e.followers.byID.Delete(s.SessionID())
			f.Close()
		}
	})
	hooks.AddBeforeSubscribe(func(ctx context.Context, _ any, r *mcp.SubscribeRequest) {
		if r.Params.URI == "" {
			return // refused by mcp-go
		}
		if err := e.follow(ctx, r.Params.URI); err != nil {
			stdio.SetError(ctx, followError(err, r.Params.URI, stdio.PeerFrom(ctx)))
		}
	})
	hooks.AddBeforeUnsubscribe(func(ctx context.Context, _ any, r *mcp.UnsubscribeRequest) {
		if f := e.followers.of(sessionID(ctx)); f != nil {
			f.Unfollow(r.Params.URI)
		}
	})
	// What cannot be followed is left out of the acknowledgement.
	hooks.AddBeforeSubscriptionsListen(func(ctx context.Context, _ any, r *mcp.SubscriptionsListenRequest) {
		n := &r.Params.Notifications
		slices.Sort(n.ResourceSubscriptions)
		n.ResourceSubscriptions = slices.DeleteFunc(slices.Compact(n.ResourceSubscriptions), func(uri string) bool { return e.follow(ctx, uri) != nil })
	})
}

func sessionID(ctx context.Context) string {
	if s := server.ClientSessionFromContext(ctx); s != nil {
		return s.SessionID()
	}
	return ""
}

// follow makes the session of a request follow a resource.
func (e *edge) follow(ctx context.Context, name string) error {
	f := e.followers.of(sessionID(ctx))
	if f == nil {
		return fault.New(fault.InvalidInput, "This connection cannot be told of changes.")
	}
	if len(name) > maxURI {
		return fault.New(fault.NoteNotFound, "The URI is too long.")
	}
	vault, path, err := uri.Parse(name)
	if err != nil {
		return err
	}
	return f.Follow(name, vault, func() (updates.File, error) {
		found, err := decode[resources.Found](e.query(ctx, resources.Look, map[string]any{"vault": vault, "path": path}))
		return updates.File(found), err
	})
}

// followError is the fault of resources/subscribe.
func followError(err error, name string, p stdio.Peer) stdio.RPCError {
	switch {
	case errors.Is(err, updates.ErrTooMany):
		err = fault.New(fault.InvalidInput, "%d resources are followed already; end some with resources/unsubscribe.", updates.Most).With("limit", updates.Most)
	case errors.Is(err, updates.ErrNoIndex):
		err = fault.New(fault.InvalidInput, "This vault has no index, so nobody keeps track of its changes.").With("reason", "no_index")
	}
	if len(name) > maxURI {
		name = ""
	}
	return readError(err, name, p)
}
