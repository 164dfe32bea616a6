package stdio

import (
	"context"

	"github.com/mark3labs/mcp-go/server"
)

// Later gives what outlives the request that ctx belongs to: a context that ends
// with the connection, and what sends notifications until then. ok is false for a
// request that came by no connection of this package.
func Later(ctx context.Context) (connection context.Context, to Notifier, ok bool) {
	s, ok := server.ClientSessionFromContext(ctx).(*session)
	if !ok {
		return nil, nil, false
	}
	return s.conn.run, s.conn.broadcast, true
}
