package stdio

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// handshake is what an initialize request established. It is never changed, only
// replaced.
type handshake struct {
	done    bool
	version string
	info    mcp.Implementation
	caps    mcp.ClientCapabilities
	level   mcp.LoggingLevel
}

// session is what mcp-go sees of the client during one request. It works on a
// copy of the handshake, or on an empty one in the era that has none: whatever a
// request makes mcp-go write into it stays with that request. What initialize
// and logging/setLevel wrote is published by the connection.
type session struct {
	id     string
	conn   *conn
	modern bool
	turn   turn
	outbox outbox

	mu    sync.Mutex
	state handshake

	// listening is set for subscriptions/listen: then nothing but what filter
	// names reaches the client.
	listening bool
	filter    atomic.Pointer[mcp.SubscriptionFilter]
}

var (
	_ server.SessionWithClientInfo         = (*session)(nil)
	_ server.SessionWithProtocolVersion    = (*session)(nil)
	_ server.SessionWithLogging            = (*session)(nil)
	_ server.SessionWithSubscriptionFilter = (*session)(nil)
	_ server.ClientSession                 = (*broadcast)(nil)
)

func (s *session) read() handshake {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

func (s *session) write(set func(*handshake)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	set(&s.state)
}

// SessionID is the same for all requests of a connection, except for
// subscriptions, which are registered by it.
func (s *session) SessionID() string { return s.id }

// NotificationChannel takes notifications that belong to this request.
func (s *session) NotificationChannel() chan<- mcp.JSONRPCNotification { return s.outbox.channel() }

// Initialize is called by mcp-go for initialize, and for each modern request.
func (s *session) Initialize() { s.write(func(h *handshake) { h.done = true }) }

// Initialized is whether notifications may be sent.
func (s *session) Initialized() bool { return s.read().done }

// GetClientInfo is the client's name as of this request; see [PeerFrom].
func (s *session) GetClientInfo() mcp.Implementation { return s.read().info }

// SetClientInfo is called by mcp-go.
func (s *session) SetClientInfo(i mcp.Implementation) { s.write(func(h *handshake) { h.info = i }) }

// GetClientCapabilities is what the client can do as of this request; see
// [PeerFrom].
func (s *session) GetClientCapabilities() mcp.ClientCapabilities { return s.read().caps }

// SetClientCapabilities is called by mcp-go.
func (s *session) SetClientCapabilities(c mcp.ClientCapabilities) {
	s.write(func(h *handshake) { h.caps = c })
}

// ProtocolVersion is the negotiated version; empty in the modern era.
func (s *session) ProtocolVersion() string { return s.read().version }

// SetProtocolVersion is called by mcp-go.
func (s *session) SetProtocolVersion(v string) { s.write(func(h *handshake) { h.version = v }) }

// GetLogLevel is the least level that the client wants to see.
func (s *session) GetLogLevel() mcp.LoggingLevel {
	if l := s.read().level; l != "" {
		return l
	}
	return mcp.LoggingLevelError
}

// SetLogLevel is called by mcp-go for logging/setLevel.
func (s *session) SetLogLevel(l mcp.LoggingLevel) { s.write(func(h *handshake) { h.level = l }) }

// SetSubscriptionFilter is called by mcp-go with what a subscription may carry.
func (s *session) SetSubscriptionFilter(f mcp.SubscriptionFilter) { s.filter.Store(&f) }

// SubscriptionFilter is what the subscription carries: nothing until mcp-go has
// set it.
func (s *session) SubscriptionFilter() (mcp.SubscriptionFilter, bool) {
	if f := s.filter.Load(); f != nil && s.listening {
		return *f, true
	}
	return mcp.SubscriptionFilter{}, s.listening
}

// broadcast is the session that mcp-go sends list changes to, for a client that
// made a handshake. Modern clients get them by subscription only.
type broadcast struct {
	id     string
	conn   *conn
	outbox outbox
}

// Notifier sends a client what it has subscribed to. The sessions that this
// transport registers are of it.
type Notifier interface {
	// Notify sends a notification, unless still reports false when it is about to
	// go out: then nothing is sent any more. It waits for a client that does not
	// read, in an era with subscriptions at most until ctx ends.
	Notify(ctx context.Context, method string, params map[string]any, still func() bool)
}

var (
	_ Notifier = (*session)(nil)
	_ Notifier = (*broadcast)(nil)
)

// Notify is for the session of subscriptions/listen, whose end is that of the
// request.
func (s *session) Notify(ctx context.Context, method string, params map[string]any, still func() bool) {
	if !still() {
		return
	}
	n := mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION, Notification: mcp.Notification{
		Method: method, Params: mcp.NotificationParams{AdditionalFields: params},
	}}
	select {
	case s.outbox.channel() <- n:
	case <-ctx.Done():
	}
}

// Notify is for a client that made a handshake.
func (b *broadcast) Notify(_ context.Context, method string, params map[string]any, still func() bool) {
	b.conn.notify(outgoing{Method: method, Params: params}, still)
}

func (b *broadcast) SessionID() string                                   { return b.id }
func (b *broadcast) NotificationChannel() chan<- mcp.JSONRPCNotification { return b.outbox.channel() }
func (b *broadcast) Initialize()                                         {}
func (b *broadcast) Initialized() bool                                   { return b.conn.handshake.Load().done }
