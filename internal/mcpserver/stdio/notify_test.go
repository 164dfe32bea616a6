package stdio

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/mark3labs/mcp-go/server"
)

// notifiers collects the sessions that a server registers.
func notifiers(all map[string]Notifier) *server.MCPServer {
	hooks := &server.Hooks{}
	hooks.AddOnRegisterSession(func(_ context.Context, s server.ClientSession) { all[s.SessionID()] = s.(Notifier) })
	return server.NewMCPServer("test", "1", server.WithHooks(hooks), server.WithResourceCapabilities(true, false))
}

// What a client has left must not reach it any more, also if it waited for a
// client that did not read.
func TestWhatIsLeftWhileItWaitsIsNotSent(t *testing.T) {
	var out strings.Builder
	c := newConn(t.Context(), testServer(), &writer{out: &out}, Options{}.withDefaults())
	c.out.mu.Lock() // as while a client does not read what is written
	var follows atomic.Bool
	follows.Store(true)
	var all sync.WaitGroup
	for _, n := range []struct {
		uri   string
		still func() bool
	}{{"left", follows.Load}, {"kept", always}} {
		all.Go(func() {
			c.broadcast.Notify(t.Context(), "notifications/resources/updated", map[string]any{"uri": n.uri}, n.still)
		})
	}
	for range 100 {
		runtime.Gosched() // so that they come to wait
	}
	follows.Store(false)
	c.out.mu.Unlock()
	all.Wait()
	if got, want := out.String(), `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"kept"}}`+"\n"; got != want {
		t.Errorf("sent: %s", got)
	}
}

// However many notifications a subscription has at once, each goes out, tagged and
// after the acknowledgement; and none after its end.
func TestASubscriptionGetsAllThatItIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := map[string]Notifier{}
		c := connect(t, notifiers(all), Options{})
		c.send(`{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["x"]},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`)
		if got := c.received(); len(got) != 1 || !strings.Contains(got[0], "acknowledged") {
			t.Fatalf("begins with %q", got)
		}
		var s *session
		for _, n := range all {
			if l, ok := n.(*session); ok {
				s = l
			}
		}
		tell := func(n int) {
			for range n {
				s.Notify(t.Context(), "notifications/resources/updated", map[string]any{"uri": "x"}, always)
			}
		}
		tell(5 * outboxSize)
		got := c.received()
		if len(got) != 5*outboxSize {
			t.Errorf("%d of %d went out", len(got), 5*outboxSize)
		}
		for _, line := range got {
			if !strings.Contains(line, `"io.modelcontextprotocol/subscriptionId":7`) || !strings.Contains(line, `"uri":"x"`) {
				t.Fatalf("not tagged: %s", line)
			}
		}
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
		c.received()
		ended, end := context.WithCancel(t.Context())
		go s.Notify(ended, "notifications/resources/updated", map[string]any{"uri": "late"}, always)
		if got := c.received(); len(got) != 0 {
			t.Errorf("after its end: %q", got)
		}
		end()
		c.in.Close()
		c.wait()
		c.open.Wait()
	})
}
