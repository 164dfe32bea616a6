package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"time"
)

// file is one file of an archive.
type file struct {
	path string
	mode fs.FileMode
	text []byte
}

// epoch is the time of every file in an archive: the earliest that zip can hold.
var epoch = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// under puts files into a folder.
func under(folder string, files []file) []file {
	list := make([]file, len(files))
	for i, f := range files {
		list[i] = file{path.Join(folder, f.path), f.mode, f.text}
	}
	return list
}

func tarred(ext string, files []file) (string, []byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return ext, nil, err
	}
	w := tar.NewWriter(z)
	for _, f := range files {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: f.path, Mode: int64(f.mode), Size: int64(len(f.text)), ModTime: epoch, Format: tar.FormatUSTAR}
		if err := w.WriteHeader(h); err != nil {
			return ext, nil, err
		}
		if _, err := w.Write(f.text); err != nil {
			return ext, nil, err
		}
	}
	if err := w.Close(); err != nil {
		return ext, nil, err
	}
	err = z.Close()
	return ext, b.Bytes(), err
}

// zipped keeps the mode of files, as archives made on Unix do.
func zipped(ext string, files []file) (string, []byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.path, Method: zip.Deflate, Modified: epoch}
		h.SetMode(f.mode)
		to, err := w.CreateHeader(h)
		if err == nil {
			_, err = to.Write(f.text)
		}
		if err != nil {
			return ext, nil, err
		}
	}
	err := w.Close()
	return ext, b.Bytes(), err
}

// bundle is what Claude Desktop installs by a double click: a zip with a manifest
// (MCPB, manifest version 0.3). The format tells systems apart but no processors,
// so there is one for each.
func bundle(ext string, t target, version string, exe file, common []file) (string, []byte, error) {
	text, err := json.MarshalIndent(manifest(t, version), "", "  ")
	if err != nil {
		return ext, nil, err
	}
	files := []file{{"manifest.json", 0o644, append(text, '\n')}}
	files = append(files, under("server", []file{exe})...)
	for _, f := range common {
		if slices.Contains([]string{"LICENSE", "NOTICE", "THIRD-PARTY.txt"}, f.path) {
			files = append(files, f)
		}
	}
	return zipped(ext, files)
}

// platforms are the systems by the names that the format has for them.
var platforms = map[string]string{"linux": "linux", "darwin": "darwin", "windows": "win32"}

func manifest(t target, version string) map[string]any {
	program := "server/" + t.binary()
	return map[string]any{
		"manifest_version": "0.3",
		"name":             name,
		"display_name":     "Obsidian vault",
		"version":          version,
		"description":      "Governed access to an Obsidian vault: every change is a plan, and what matters waits for you.",
		"author":           map[string]any{"name": name},
		"license":          "Apache-2.0",
		"server": map[string]any{
			"type":        "binary",
			"entry_point": program,
			"mcp_config": map[string]any{
				"command": "${__dirname}/" + program,
				"args":    []string{"serve", "${user_config.vault}"},
			},
		},
		"user_config": map[string]any{
			"vault": map[string]any{
				"type": "directory", "title": "Vault", "description": "The folder that holds your notes.", "required": true,
			},
		},
		"tools_generated": true,
		"compatibility":   map[string]any{"platforms": []string{platforms[t.os]}},
	}
}
