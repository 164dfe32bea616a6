package stdio

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// exchange measures one call at a time over pipes, with texts of the given
// lengths in the request and in the answer.
func exchange(b *testing.B, tool string, request, answer int) {
	s := server.NewMCPServer("test", "1")
	reply := strings.Repeat("abcdefg\n", answer/8)
	s.AddTool(mcp.NewTool("plain"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(reply), nil
	})
	text, _ := json.Marshal(reply)
	raw := json.RawMessage(`{"content":[{"type":"text","text":` + string(text) + `}]}`)
	s.AddTool(mcp.NewTool("raw"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		SetResult(ctx, raw)
		return &mcp.CallToolResult{}, nil
	})
	line := callLine("1", tool, `{"text":"`+strings.Repeat(`abcdefg\n`, request/9)+`"}`) + "\n"
	roundTrips(b, s, line, 1)
}

// roundTrips sends lines, as many answers, again and again.
func roundTrips(b *testing.B, s *server.MCPServer, lines string, answers int) {
	inR, in := io.Pipe()
	out, outW := io.Pipe()
	served := make(chan error)
	go func() { served <- Serve(b.Context(), s, inR, outW, Options{}) }()
	r := bufio.NewReaderSize(out, 1<<20)
	b.ReportAllocs()
	for b.Loop() {
		go func() { io.WriteString(in, lines) }()
		if err := readAnswers(r, answers); err != nil {
			b.Fatal(err)
		}
	}
	in.Close()
	if err := <-served; err != nil {
		b.Fatal(err)
	}
}

func readAnswers(r *bufio.Reader, n int) error {
	for n > 0 {
		part, err := r.ReadSlice('\n')
		switch {
		case err == nil:
			n--
		case err != bufio.ErrBufferFull:
			return err
		case bytes.Contains(part[:min(len(part), 60)], []byte(`"error"`)):
			return fmt.Errorf("got %s", part)
		}
	}
	return nil
}

func BenchmarkEcho(b *testing.B)          { exchange(b, "plain", 20, 8) }
func BenchmarkRequest1MiB(b *testing.B)   { exchange(b, "plain", 1<<20, 8) }
func BenchmarkAnswer1MiB(b *testing.B)    { exchange(b, "plain", 8, 1<<20) }
func BenchmarkRawAnswer1MiB(b *testing.B) { exchange(b, "raw", 8, 1<<20) }

func BenchmarkEcho64InFlight(b *testing.B) {
	var lines strings.Builder
	for i := range 64 {
		fmt.Fprintln(&lines, callLine(fmt.Sprint(i), "echo", `{"text":"x"}`))
	}
	roundTrips(b, testServer(), lines.String(), 64)
}

func BenchmarkParse(b *testing.B) {
	for _, size := range []int{20, 1 << 20} {
		line := []byte(callLine("1", "echo", `{"text":"`+strings.Repeat(`abcdefg\n`, size/9)+`"}`))
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				if _, fault := parse(line); fault != nil {
					b.Fatal(fault)
				}
			}
		})
	}
}
