package stdio

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

func TestRequestsRunConcurrently(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, c *client) {
		c.call("1", "sleep", `{"ms":100}`)
		c.call("2", "echo", `{"text":"quick"}`)
		if got := texts(t, c.received()); len(got) != 1 || got["2"] != "quick" {
			t.Errorf("got %v while 1 sleeps, want the answer of 2", got)
		}
		time.Sleep(100 * time.Millisecond)
		if got := texts(t, c.received()); got["1"] != "slept" {
			t.Errorf("got %v, want the answer of 1", got)
		}
	})
}

func TestWorkersBoundCallsAndReads(t *testing.T) {
	bubble(t, Options{Workers: 2}, func(t *testing.T, c *client) {
		for i := range 4 {
			c.call(fmt.Sprint(i), "sleep", `{"ms":100}`)
		}
		c.send(`{"jsonrpc":"2.0","id":"r","method":"resources/read","params":{"uri":"note:///a.md"}}`)
		c.send(`{"jsonrpc":"2.0","id":"p","method":"ping"}`, `{"jsonrpc":"2.0","id":"l","method":"tools/list"}`)
		if got := texts(t, c.received()); len(got) != 2 {
			t.Errorf("got %v, want ping and tools/list beside the full workers", got)
		}
		for _, want := range []int{2, 2, 1} {
			time.Sleep(100 * time.Millisecond)
			if got := texts(t, c.received()); len(got) != want {
				t.Errorf("got %v, want %d answers", got, want)
			}
		}
	})
}

func TestTooManyRequestsAreRefusedButPingIsNot(t *testing.T) {
	bubble(t, Options{MaxInFlight: 3, Workers: 1}, func(t *testing.T, c *client) {
		for i := range 4 {
			c.call(fmt.Sprint(i), "sleep", `{"ms":100}`)
		}
		c.send(`{"jsonrpc":"2.0","id":"p","method":"ping"}`)
		got := texts(t, c.received())
		if _, ok := got[`"p"`]; !ok || !strings.Contains(got["3"], "Too many requests") || len(got) != 2 {
			t.Errorf("got %v, want ping answered and 3 refused", got)
		}
		time.Sleep(300 * time.Millisecond)
		if got := texts(t, c.received()); len(got) != 3 {
			t.Errorf("got %v, want the three accepted answered", got)
		}
	})
}

// 30 calls that wait for people, with 2 workers, block neither a ping nor another
// call, and each gets the answer that was meant for it.
func TestCallsWaitingForAPersonBlockNobody(t *testing.T) {
	bubble(t, Options{Workers: 2}, func(t *testing.T, c *client) {
		c.hello(`{"elicitation":{}}`)
		for i := range 30 {
			c.call(fmt.Sprintf(`"ask%d"`, i), "ask", `{}`)
		}
		questions := c.received()
		if len(questions) != 30 {
			t.Fatalf("%d questions, want 30", len(questions))
		}
		c.send(`{"jsonrpc":"2.0","id":"p","method":"ping"}`)
		c.call(`"e"`, "echo", `{"text":"hi"}`)
		if got := texts(t, c.received()); got[`"e"`] != "hi" || len(got) != 2 {
			t.Errorf("got %v, want ping and echo", got)
		}
		for i, q := range slices.Backward(questions) {
			m := decode(t, q)
			if m.Method != "elicitation/create" {
				t.Fatalf("got %s", q)
			}
			c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"decline","content":{"n":%d}}}`, m.ID, i))
		}
		got := texts(t, c.received())
		for i := range 30 {
			if a := got[fmt.Sprintf(`"ask%d"`, i)]; !strings.Contains(a, "decline") {
				t.Errorf("call %d got %q", i, a)
			}
		}
	})
}

func TestYieldWorker(t *testing.T) {
	bubble(t, Options{Workers: 1}, func(t *testing.T, c *client) {
		c.call("1", "wait_yielded", `{"ms":100}`)
		time.Sleep(time.Millisecond)
		c.call("2", "sleep", `{"ms":200}`)
		c.call("3", "echo", `{}`)
		time.Sleep(150 * time.Millisecond)
		if got := texts(t, c.received()); len(got) > 1 {
			t.Errorf("got %v, want 1 to wait for the worker that 2 has", got)
		}
		time.Sleep(150 * time.Millisecond)
		if got := texts(t, c.received()); got["1"] != "resumed" || got["2"] != "slept" {
			t.Errorf("got %v", got)
		}
	})
	YieldWorker(t.Context())() // without a worker it does nothing
}

func TestCancel(t *testing.T) {
	cancel := func(id string) string {
		return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`
	}
	t.Run("running", func(t *testing.T) {
		bubble(t, Options{}, func(t *testing.T, c *client) {
			c.call("1", "sleep", `{"ms":5000}`)
			c.call(`"1"`, "sleep", `{"ms":50}`)
			c.received()
			start := time.Now()
			c.send(cancel("1"))
			if got := c.received(); len(got) != 0 {
				t.Errorf("a cancelled request sent %q", got)
			}
			if time.Since(start) > 0 {
				t.Error("the request was not woken")
			}
			c.call("1", "echo", `{"text":"again"}`)
			time.Sleep(50 * time.Millisecond)
			if got := texts(t, c.received()); got["1"] != "again" || got[`"1"`] != "slept" {
				t.Errorf("got %v, want the other id untouched and the id free again", got)
			}
		})
	})
	t.Run("by another spelling of its id", func(t *testing.T) {
		bubble(t, Options{}, func(t *testing.T, c *client) {
			c.call(`"a/b"`, "sleep", `{"ms":10}`)
			c.send(cancel(`"a\/\u0062"`))
			time.Sleep(time.Second)
			if got := c.received(); len(got) != 0 {
				t.Errorf("a cancelled request sent %q", got)
			}
		})
	})
	t.Run("queued calls never run", func(t *testing.T) {
		bubble(t, Options{Workers: 1}, func(t *testing.T, c *client) {
			c.call("1", "sleep", `{"ms":100}`)
			c.received()
			c.call("2", "add_tool", `{}`)
			c.received()
			c.send(cancel("2"), cancel("1"), cancel("99"), cancel("{}"))
			time.Sleep(time.Second)
			if got := c.received(); len(got) != 0 {
				t.Errorf("cancelled requests sent %q", got)
			}
			c.send(`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`)
			if got := c.received(); len(got) != 1 || strings.Contains(got[0], "another") {
				t.Error("the cancelled call ran")
			}
		})
	})
	t.Run("no progress after it", func(t *testing.T) {
		bubble(t, Options{}, func(t *testing.T, c *client) {
			c.hello(`{}`)
			c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"progress","arguments":{"n":2,"ms":100},"_meta":{"progressToken":1}}}`)
			if got := c.received(); len(got) != 2 {
				t.Errorf("got %q, want two notifications", got)
			}
			c.send(cancel("1"))
			time.Sleep(time.Second)
			if got := c.received(); len(got) != 0 {
				t.Errorf("a cancelled request sent %q", got)
			}
		})
	})
}

func TestProgressNeverFollowsItsAnswer(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, c *client) {
		c.hello(`{}`)
		for i := range 100 {
			c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"progress","_meta":{"progressToken":%d}}}`, i+1, i+1))
		}
		seen := map[string]int{}
		for _, l := range c.received() {
			m := decode(t, l)
			if m.Method != "" {
				seen[fmt.Sprint(m.Params["progressToken"])]++
			} else if n := seen[string(m.ID)]; n != 3 {
				t.Errorf("answer of %s after %d of 3 notifications", m.ID, n)
			}
		}
		if len(seen) != 100 {
			t.Errorf("%d calls reported progress, want 100", len(seen))
		}
	})
}

// A burst beyond the outbox loses notifications, never the answer.
func TestProgressBurst(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, c *client) {
		c.hello(`{}`)
		c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"progress","arguments":{"n":1000},"_meta":{"progressToken":1}}}`)
		got := c.received()
		if len(got) < outboxSize || decode(t, got[len(got)-1]).text() != "done" {
			t.Errorf("%d lines, the last %q", len(got), got[len(got)-1])
		}
	})
}

// What is sent behind initialize sees the handshake, although it was pipelined.
func TestInitializeIsABarrier(t *testing.T) {
	for range 20 {
		bubble(t, Options{}, func(t *testing.T, c *client) {
			c.send(helloLine(`{"elicitation":{"url":{}}}`), callLine("1", "who", `{}`))
			lines := c.received()
			want := `modern=false version="2025-06-18" name="old" forms=false urls=true`
			if len(lines) != 2 || string(decode(t, lines[0]).ID) != "0" || decode(t, lines[1]).text() != want {
				t.Errorf("got %q", lines)
			}
		})
	}
}

func TestLogLevelIsKept(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, c *client) {
		c.hello(`{}`)
		c.call("1", "log", `{}`)
		if got := c.received(); len(got) != 1 {
			t.Errorf("got %q, want no message below the default level", got)
		}
		c.send(`{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"info"}}`)
		c.received()
		c.call("3", "log", `{}`)
		if got := c.received(); len(got) != 2 || decode(t, got[0]).Method != "notifications/message" {
			t.Errorf("got %q, want the message and the answer", got)
		}
		c.call("4", "who", `{}`)
		if got := texts(t, c.received())["4"]; !strings.Contains(got, `version="2025-06-18"`) {
			t.Errorf("the handshake is lost: %s", got)
		}
	})
}

func TestPanicsAreLoggedOnly(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, c *client) {
		c.call("1", "panic", `{}`)
		if got := c.received(); len(got) != 1 || strings.Contains(got[0], "secret") {
			t.Errorf("got %q", got)
		}
		if log := c.log.String(); !strings.Contains(log, "secret") || !strings.Contains(log, "harness_test.go") {
			t.Errorf("no stack in the log: %q", log)
		}
	})
}

// The bytes of a raw result are the bytes on the wire, also when they are many.
func TestRawResultIsWrittenVerbatim(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, c *client) {
		raw := `{"content":[{"type":"text","text":"` + strings.Repeat(`<&é\u2028`, 1<<15) + `"}]}`
		arg, _ := json.Marshal(map[string]string{"raw": raw})
		c.call("1", "slot", string(arg))
		if got := c.received(); len(got) != 1 || got[0] != `{"jsonrpc":"2.0","id":1,"result":`+raw+`}` {
			t.Error("the result was changed")
		}
	})
}

// A change that comes between registering a subscription and acknowledging it is
// told after the acknowledgement.
func TestSubscriptionBeginsWithItsAcknowledgement(t *testing.T) {
	var out strings.Builder
	c := newConn(t.Context(), testServer(), &writer{out: &out}, Options{}.withDefaults())
	e, fault := parse([]byte(`{"jsonrpc":"2.0","id":"s","method":"subscriptions/listen","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`))
	if fault != nil {
		t.Fatal(fault)
	}
	r := c.newRequest(e, nil)
	shared := map[string]any{"k": 1}
	for _, method := range []string{"notifications/tools/list_changed", mcp.MethodNotificationSubscriptionsAcknowledged, "notifications/late"} {
		n := mcp.JSONRPCNotification{Notification: mcp.Notification{Method: method}}
		n.Params.Meta = shared
		r.session.outbox.channel() <- n
	}
	r.session.outbox.close()
	if r.session.outbox.channel() != nil {
		t.Error("a closed outbox takes notifications")
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		m := decode(t, line)
		if !strings.Contains(line, `"io.modelcontextprotocol/subscriptionId":"s"`) {
			t.Errorf("not tagged: %s", line)
		}
		got = append(got, m.Method)
	}
	want := []string{mcp.MethodNotificationSubscriptionsAcknowledged, "notifications/tools/list_changed", "notifications/late"}
	if !slices.Equal(got, want) || len(shared) != 1 {
		t.Errorf("got %q, want %q", got, want)
	}
}
