package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

type hit struct {
	Path string `json:"path"`
	Line int64  `json:"line,omitempty"`
	Text string `json:"text,omitempty"`
}

type count struct {
	Tag   string `json:"tag"`
	Count int64  `json:"count"`
}

// serve answers the stub's tools but list, and two more, from the database.
func serve(root, name string) error {
	d, err := open(name)
	if err != nil {
		return err
	}
	defer d.close()
	var mu sync.Mutex // there is one connection
	s := server.NewMCPServer("raw", "0", server.WithToolCapabilities(false))
	add := func(tool, argument string, do func(arg string) (any, error)) {
		s.AddTool(mcp.NewTool(tool, mcp.WithString(argument)), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			mu.Lock()
			defer mu.Unlock()
			v, err := do(r.GetString(argument, ""))
			if err != nil {
				return nil, err
			}
			if text, ok := v.(string); ok {
				return mcp.NewToolResultText(text), nil
			}
			b, err := json.Marshal(v)
			return mcp.NewToolResultText(string(b)), err
		})
	}
	rows := func(query string, row func([]any), args ...any) error {
		s, err := d.prepare(query)
		if err != nil {
			return err
		}
		return s.query(row, args...)
	}
	add("echo", "s", func(string) (any, error) { return "", nil })
	add("read", "path", func(p string) (any, error) {
		b, err := os.ReadFile(root + "/" + p)
		return string(b), err
	})
	add("search", "query", func(q string) (any, error) {
		var hits []hit
		err := rows("SELECT path FROM words JOIN notes ON id = words.rowid WHERE words MATCH ? ORDER BY rank LIMIT 50",
			func(r []any) { hits = append(hits, first(root, r[0].(string), q)) }, `"`+q+`"`)
		return hits, err
	})
	add("backlinks", "path", func(p string) (any, error) {
		var hits []hit
		err := rows("SELECT path, line FROM links JOIN notes ON id = src WHERE dst = ?",
			func(r []any) { hits = append(hits, hit{Path: r[0].(string), Line: r[1].(int64)}) }, key(p))
		return hits, err
	})
	add("tags", "prefix", func(string) (any, error) {
		var tags []count
		err := rows("SELECT tag, count(DISTINCT note) AS n FROM tags GROUP BY tag ORDER BY n DESC LIMIT 200",
			func(r []any) { tags = append(tags, count{r[0].(string), r[1].(int64)}) })
		return tags, err
	})
	return server.ServeStdio(s)
}

// first is the first line that holds the query.
func first(root, p, query string) hit {
	h := hit{Path: p}
	text, err := os.ReadFile(root + "/" + p)
	if err != nil {
		return h
	}
	want := []byte(strings.ToLower(query))
	for line := range bytes.Lines(text) {
		h.Line++
		if bytes.Contains(bytes.ToLower(line), want) {
			h.Text = string(line[:min(len(line), 160)])
			break
		}
	}
	return h
}
