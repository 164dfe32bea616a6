package stdio

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/mark3labs/mcp-go/server"
)

// ErrClosed says that the connection is closing: no answer from the client can
// arrive any more. After the end of the input it is also the cause of the context
// of a request that outlived the drain.
var ErrClosed = errors.New("the connection is closing")

// Options bound what a connection may use. The zero value of each field is its
// default.
type Options struct {
	// MaxMessage is the longest message accepted, in bytes: 16 MiB.
	MaxMessage int
	// MaxInFlight is how many requests may be accepted and unanswered: 256.
	MaxInFlight int
	// Workers is how many tools/call, resources/read, prompts/get and
	// completion/complete run at once: 8.
	Workers int
	// Drain is how long running requests may go on after the end of the
	// input: 800 ms, since clients send SIGTERM two seconds after closing it. A
	// cancelled context allows a quarter of it. After either, what still runs
	// is cancelled and gets one eighth of it more.
	Drain time.Duration
	// Log receives panics with their stacks, and what could not be sent. Nil
	// discards.
	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	o.MaxMessage = cmp.Or(o.MaxMessage, 16<<20)
	o.MaxInFlight = cmp.Or(o.MaxInFlight, 256)
	o.Workers = cmp.Or(o.Workers, 8)
	o.Drain = cmp.Or(o.Drain, 800*time.Millisecond)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Serve answers the messages of in on out until the input ends, ctx is done or
// out fails; then it lets running requests finish for a while (see
// [Options.Drain]) and returns. It returns nil after the end of the input, and
// ctx.Err(), the read error or the write error otherwise. A request that ignores
// its cancelled context cannot hold it back; its answer is dropped.
//
// Values of ctx reach every request. A read of in that is blocked when ctx ends
// cannot be interrupted and is left behind.
//
// When out is a file, SIGPIPE is taken over for the rest of the process: a
// client that went away is then a write error, and whoever called Serve can
// still write its log and close what it opened.
func Serve(ctx context.Context, s *server.MCPServer, in io.Reader, out io.Writer, o Options) error {
	o = o.withDefaults()
	if _, ok := out.(*os.File); ok {
		// Notify and not Ignore: child processes would inherit the latter.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	}

	// alive ends early: with ctx, or when an answer cannot be written.
	alive, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	// run is what requests see: it outlives ctx by the drain.
	run, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(ErrClosed)

	c := newConn(run, s, &writer{out: out, fail: fail}, o)
	defer c.out.close()
	if err := s.RegisterSession(run, c.broadcast); err != nil {
		return fmt.Errorf("register session: %w", err)
	}
	defer s.UnregisterSession(run, c.broadcast.SessionID())

	ended := make(chan error, 1)
	go func() { ended <- c.read(in) }()

	var err error
	limit, cause := o.Drain/4, ErrClosed
	select {
	case err = <-ended:
		limit = o.Drain
	case <-alive.Done():
		err, cause = cmp.Or(ctx.Err(), context.Cause(alive)), context.Cause(alive)
	}
	idle := c.close()
	if !settle(alive, idle, limit, o.Drain/4) {
		stop(cause)
		if !settle(context.WithoutCancel(ctx), idle, o.Drain/8, 0) {
			o.Log.Warn("requests are still running after the drain; their answers are dropped")
		}
	}
	return cmp.Or(err, c.out.err())
}

// settle waits for idle at most limit, and at most hurry once alive has ended.
// It reports whether idle came.
func settle(alive context.Context, idle <-chan struct{}, limit, hurry time.Duration) bool {
	end := time.Now().Add(limit)
	timer := time.NewTimer(limit)
	defer timer.Stop()
	ending := alive.Done()
	for {
		select {
		case <-idle:
			return true
		case <-timer.C:
			return false
		case <-ending:
			ending = nil
			timer.Reset(min(hurry, time.Until(end)))
		}
	}
}
