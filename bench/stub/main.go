// Command stub is the least server that a vault can have: the protocol library
// with its own transport and four tools over plain files. It governs nothing,
// pages nothing and keeps no state. What the real server costs is measured
// against it. It links the libraries without which no server has an index, as
// loading them is a part of every start.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	_ "github.com/fsnotify/fsnotify"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	_ "github.com/yuin/goldmark"
	_ "modernc.org/sqlite"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: stub <vault>")
		os.Exit(2)
	}
	root := os.Args[1]
	s := server.NewMCPServer("stub", "0", server.WithToolCapabilities(false))
	s.AddTool(mcp.NewTool("echo", mcp.WithNumber("n"), mcp.WithString("s")),
		func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(strings.Repeat("abcdefg\n", r.GetInt("n", 0)/8)), nil
		})
	s.AddTool(mcp.NewTool("read", mcp.WithString("path", mcp.Required())),
		func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			b, err := os.ReadFile(filepath.Join(root, r.GetString("path", "")))
			return mcp.NewToolResultText(string(b)), err
		})
	s.AddTool(mcp.NewTool("list", mcp.WithString("sort"), mcp.WithNumber("limit")),
		func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return answer(list(root, r.GetString("sort", "path"), r.GetInt("limit", 200)))
		})
	s.AddTool(mcp.NewTool("search", mcp.WithString("query", mcp.Required())),
		func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return answer(search(root, r.GetString("query", ""), 50))
		})
	if err := server.ServeStdio(s); err != nil {
		fmt.Fprintln(os.Stderr, "stub:", err)
		os.Exit(1)
	}
}

func answer(v any, err error) (*mcp.CallToolResult, error) {
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(v)
	return mcp.NewToolResultText(string(b)), err
}

type file struct {
	Path  string    `json:"path"`
	Size  int64     `json:"size"`
	MTime time.Time `json:"mtime"`
}

// walk visits the notes in the order of their paths, and stops at the first
// error of visit.
func walk(root string, visit func(rel string, d fs.DirEntry) error) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != root:
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(d.Name(), ".md"):
			return nil
		}
		return visit(path[len(root)+1:], d)
	})
}

// list is the first page by path, which needs no more than the page, or by any
// other order, which needs all.
func list(root, sort string, limit int) ([]file, error) {
	var files []file
	err := walk(root, func(rel string, d fs.DirEntry) error {
		if sort == "path" && len(files) == limit {
			return fs.SkipAll
		}
		info, err := d.Info()
		if err == nil {
			files = append(files, file{rel, info.Size(), info.ModTime()})
		}
		return err
	})
	if sort != "path" {
		slices.SortFunc(files, func(a, b file) int { return b.MTime.Compare(a.MTime) })
	}
	return files[:min(limit, len(files))], err
}

type hit struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

// search reads every note, finds the first line of each that holds the query
// in any case of ASCII, and answers with the first ones by path.
func search(root, query string, limit int) ([]hit, error) {
	want := bytes.ToLower([]byte(query))
	paths := make(chan string, 256)
	var mu sync.Mutex
	var hits []hit
	var readers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		readers.Go(func() {
			var lower []byte
			for rel := range paths {
				b, err := os.ReadFile(root + "/" + rel)
				if err != nil {
					continue
				}
				lower = append(lower[:0], b...)
				for i, c := range lower {
					if 'A' <= c && c <= 'Z' {
						lower[i] = c + 'a' - 'A'
					}
				}
				at := bytes.Index(lower, want)
				if at < 0 {
					continue
				}
				start := bytes.LastIndexByte(b[:at], '\n') + 1
				line, _, _ := bytes.Cut(b[start:], []byte("\n"))
				mu.Lock()
				hits = append(hits, hit{rel, bytes.Count(b[:at], []byte("\n")) + 1, string(line[:min(len(line), 160)])})
				mu.Unlock()
			}
		})
	}
	err := walk(root, func(rel string, _ fs.DirEntry) error {
		paths <- rel
		return nil
	})
	close(paths)
	readers.Wait()
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Compare(a.Path, b.Path) })
	return hits[:min(limit, len(hits))], err
}
