package stdio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestEndOfInput(t *testing.T) {
	t.Run("idle returns at once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := connect(t, nil, Options{})
			c.hello(`{}`)
			c.in.Close()
			if took, err := c.wait(); err != nil || took != 0 {
				t.Errorf("took %v, %v", took, err)
			}
			c.open.Wait()
		})
	})
	for _, tool := range []string{"echo", "sleep", "progress"} {
		t.Run("pipelined "+tool, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := connect(t, nil, Options{})
				c.send(helloLine(`{}`))
				for i := range 50 {
					c.call(fmt.Sprint(i+1), tool, `{"ms":100}`)
				}
				c.in.Close()
				if took, err := c.wait(); err != nil || took > 700*time.Millisecond {
					t.Errorf("took %v, %v", took, err)
				}
				c.open.Wait()
				if got := texts(t, c.take()); len(got) != 51 {
					t.Errorf("%d answers, want 51", len(got))
				}
			})
		})
	}
	t.Run("unterminated last line", func(t *testing.T) {
		var out bytes.Buffer
		err := Serve(t.Context(), testServer(), strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`), &out, Options{})
		if got := out.String(); err != nil || got != `{"jsonrpc":"2.0","id":1,"result":{}}`+"\n" {
			t.Errorf("got %q, %v", got, err)
		}
	})
	t.Run("long running work is cancelled, queued work does not start", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := connect(t, nil, Options{Workers: 1})
			c.call("1", "sleep", `{"ms":9000}`)
			c.received()
			c.call("2", "add_tool", `{}`)
			c.in.Close()
			if took, err := c.wait(); err != nil || took != 800*time.Millisecond {
				t.Errorf("took %v, %v", took, err)
			}
			c.open.Wait()
			got := texts(t, c.take())
			if got["1"] != "woken: the connection is closing" || !strings.Contains(got["2"], "did not run") {
				t.Errorf("got %v", got)
			}
		})
	})
	t.Run("deaf work is left behind", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := connect(t, nil, Options{})
			c.call("1", "sleep", `{"ms":9000,"deaf":true}`)
			c.in.Close()
			if took, err := c.wait(); err != nil || took != 900*time.Millisecond {
				t.Errorf("took %v, %v", took, err)
			}
			time.Sleep(10 * time.Second)
			c.open.Wait()
			if got := c.take(); len(got) != 0 {
				t.Errorf("sent after the end: %q", got)
			}
		})
	})
}

func TestContextEnds(t *testing.T) {
	tests := []struct {
		name, arguments string
		took            time.Duration
		answer          string
	}{
		{"idle", "", 0, ""},
		{"short work is answered", `{"ms":100}`, 100 * time.Millisecond, "slept"},
		{"long work is cancelled", `{"ms":9000}`, 200 * time.Millisecond, "woken: context canceled"},
		{"deaf work is left behind", `{"ms":9000,"deaf":true}`, 300 * time.Millisecond, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := connect(t, nil, Options{})
				if tt.arguments != "" {
					c.call("1", "sleep", tt.arguments)
				}
				c.received()
				c.cancel()
				if took, err := c.wait(); !errors.Is(err, context.Canceled) || took != tt.took {
					t.Errorf("took %v, %v, want %v", took, err, tt.took)
				}
				c.open.Wait()
				if got := texts(t, c.take())["1"]; got != tt.answer {
					t.Errorf("answered %q, want %q", got, tt.answer)
				}
				c.in.Close()
				time.Sleep(10 * time.Second)
			})
		})
	}
	t.Run("during the drain", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := connect(t, nil, Options{})
			c.call("1", "sleep", `{"ms":9000}`)
			c.in.Close()
			time.Sleep(100 * time.Millisecond)
			c.cancel()
			if took, err := c.wait(); err != nil || took != 200*time.Millisecond {
				t.Errorf("took %v, %v", took, err)
			}
			c.open.Wait()
		})
	})
}

// A subscription and a question end in good order, whatever ends the connection.
func TestEndOfSubscriptionsAndQuestions(t *testing.T) {
	for _, end := range []string{"input", "context"} {
		t.Run(end, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := connect(t, nil, Options{})
				c.hello(`{"elicitation":{}}`)
				c.send(`{"jsonrpc":"2.0","id":"s","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`)
				c.call("1", "ask", `{}`)
				c.received()
				if end == "input" {
					c.in.Close()
				} else {
					c.cancel()
				}
				if took, _ := c.wait(); took != 0 {
					t.Errorf("took %v", took)
				}
				c.open.Wait()
				lines := c.take()
				if got := texts(t, lines); got["1"] != "no answer: "+ErrClosed.Error() || len(got) != 2 {
					t.Errorf("got %v", got)
				}
				if got := strings.Join(lines, "\n"); !strings.Contains(got, `"io.modelcontextprotocol/subscriptionId":"s"`) {
					t.Errorf("no closing result in %s", got)
				}
				c.in.Close()
			})
		})
	}
}

type brokenPipe struct{ writes int }

var errBroken = errors.New("broken")

func (b *brokenPipe) Write([]byte) (int, error) { b.writes++; return 0, errBroken }

func TestWriteErrorEndsServe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, w := io.Pipe()
		out := &brokenPipe{}
		served := make(chan error)
		go func() { served <- Serve(t.Context(), testServer(), in, out, Options{}) }()
		fmt.Fprintln(w, callLine("1", "sleep", `{"ms":100}`))
		fmt.Fprintln(w, `{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		if err := <-served; !errors.Is(err, errBroken) {
			t.Errorf("got %v", err)
		}
		if out.writes != 1 {
			t.Errorf("%d writes, want no more after the first error", out.writes)
		}
		w.Close()
	})
}

// A client that does not read its answers cannot hold Serve back.
func TestBlockedOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := strings.NewReader(callLine("1", "echo", `{}`) + "\n")
		r, out := io.Pipe()
		start := time.Now()
		if err := Serve(t.Context(), testServer(), in, out, Options{}); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took != 900*time.Millisecond {
			t.Errorf("took %v", took)
		}
		r.Close()
	})
}

func TestReadErrorIsReturned(t *testing.T) {
	var out bytes.Buffer
	in := io.MultiReader(strings.NewReader(callLine("1", "echo", `{"text":"x"}`)+"\n"), errReader{})
	if err := Serve(t.Context(), testServer(), in, &out, Options{}); !errors.Is(err, errBroken) {
		t.Errorf("got %v", err)
	}
	if got := texts(t, strings.Split(strings.TrimSpace(out.String()), "\n")); got["1"] != "x" {
		t.Errorf("got %v", got)
	}
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errBroken }

// One write per message, however many requests answer at once.
func TestOneWritePerMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var in strings.Builder
		for i := range 200 {
			fmt.Fprintln(&in, callLine(fmt.Sprint(i), "echo", `{"text":"x\ny"}`))
		}
		out := &writes{}
		if err := Serve(t.Context(), testServer(), strings.NewReader(in.String()), out, Options{}); err != nil {
			t.Fatal(err)
		}
		if len(out.all) != 200 {
			t.Errorf("%d writes, want 200", len(out.all))
		}
		for _, w := range out.all {
			if !strings.HasSuffix(w, "}\n") || strings.Count(w, "\n") != 1 {
				t.Errorf("not one message: %q", w)
			}
		}
	})
}

type writes struct{ all []string } // needs no lock: writes do not overlap

func (w *writes) Write(b []byte) (int, error) {
	w.all = append(w.all, string(b))
	return len(b), nil
}

func TestTwoConnectionsOfOneServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testServer()
		a, b := connect(t, s, Options{}), connect(t, s, Options{})
		a.hello(`{"elicitation":{}}`)
		b.hello(`{}`)
		a.call("1", "sleep", `{"ms":10}`)
		b.call("1", "who", `{}`)
		a.call("2", "add_tool", `{}`)
		time.Sleep(time.Second)
		if got := texts(t, a.received()); got["1"] != "slept" || got["2"] != "added" {
			t.Errorf("a got %v", got)
		}
		if got := b.received(); len(got) != 2 || !strings.Contains(strings.Join(got, "\n"), "list_changed") {
			t.Errorf("b got %q", got)
		}
		a.in.Close()
		b.in.Close()
		a.open.Wait()
		b.open.Wait()
	})
}

func TestNoGoroutineIsLeft(t *testing.T) {
	base := runtime.NumGoroutine()
	var in strings.Builder
	fmt.Fprintln(&in, helloLine(`{}`))
	for i := range 200 {
		for j, tool := range []string{"echo", "progress", "panic", "ask"} {
			fmt.Fprintln(&in, callLine(fmt.Sprintf(`"%d-%d"`, i, j), tool, `{"n":2}`))
		}
	}
	var out bytes.Buffer
	if err := Serve(t.Context(), testServer(), strings.NewReader(in.String()), &out, Options{MaxInFlight: 1000}); err != nil {
		t.Fatal(err)
	}
	// What has been answered may still be about to end.
	for range 1000 {
		if runtime.NumGoroutine() <= base {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), base)
}
