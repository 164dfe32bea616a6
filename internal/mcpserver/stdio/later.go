package stdio

import (
	"context"

	"github.com/mark3labs/mcp-go/server"
)

// Notifier sends a notification that no request owns.
type Notifier func(method string, params any)

// Later gives what outlives the request that ctx belongs to: a context that ends
// with the connection, and a way to send notifications until then. ok is false for
// a request that came by no connection of this package.
func Later(ctx context.Context) (connection context.Context, notify Notifier, ok bool) {
	s, ok := server.ClientSessionFromContext(ctx).(*session)
	if !ok {
		return nil, nil, false
	}
	return s.conn.run, func(method string, params any) {
		s.conn.notify(outgoing{Method: method, Params: params}, always)
	}, true
}
