package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// module is a library that is part of the program.
type module struct {
	path, version string
	ids           []string // its licences by their SPDX names
	text          string   // of its licence files
}

// modules are those that packages need on any system, by their paths.
func modules(packages ...string) (map[string]module, error) {
	found := map[string]module{}
	for _, t := range targets {
		args := append([]string{"list", "-deps", "-f", "{{with .Module}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}"}, packages...)
		c := exec.Command("go", args...)
		c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOOS="+t.os, "GOARCH="+t.arch)
		out, err := c.Output()
		if err != nil {
			return nil, fmt.Errorf("go list for %s: %w", t, err)
		}
		for line := range strings.Lines(string(out)) {
			f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			if len(f) != 3 || f[1] == "" || found[f[0]].path != "" { // of the standard library, ours, or known
				continue
			}
			m := module{path: f[0], version: f[1]}
			if m.ids, m.text, err = licence(f[2]); err != nil {
				return nil, fmt.Errorf("%s: %w", m.path, err)
			}
			found[m.path] = m
		}
	}
	return found, nil
}

// marks are sentences that only one licence has.
var marks = []struct{ id, has, without string }{
	{"Apache-2.0", "Apache License, Version 2.0", ""},
	{"Apache-2.0", "Apache License Version 2.0, January 2004", ""},
	{"MIT", "Permission is hereby granted, free of charge, to any person obtaining a copy", ""},
	{"ISC", "Permission to use, copy, modify, and/or distribute this software for any purpose", ""},
	{"BSD-3-Clause", "may be used to endorse or promote products derived from", ""},
	{"BSD-2-Clause", "Redistribution and use in source and binary forms", "may be used to endorse or promote products derived from"},
}

// licence reads the licence files of a module. One that is none of those that we
// accept is an error.
func licence(dir string) (ids []string, text string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, "", err
	}
	var b strings.Builder
	for _, e := range entries {
		upper := strings.ToUpper(e.Name())
		if e.IsDir() || !strings.HasPrefix(upper, "LICEN") && !strings.HasPrefix(upper, "COPYING") && upper != "NOTICE" && !strings.HasPrefix(upper, "PATENTS") {
			continue
		}
		t, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, "", err
		}
		plain := strings.Join(strings.Fields(string(t)), " ")
		known := len(ids)
		for _, m := range marks {
			if strings.Contains(plain, m.has) && (m.without == "" || !strings.Contains(plain, m.without)) && !slices.Contains(ids, m.id) {
				ids = append(ids, m.id)
			}
		}
		if known == 0 && len(ids) == 0 && strings.HasPrefix(upper, "LICEN") {
			return nil, "", fmt.Errorf("%s is no MIT, BSD, Apache or ISC licence", e.Name())
		}
		fmt.Fprintf(&b, "%s\n", bytes.TrimSpace(bytes.ReplaceAll(t, []byte("\r\n"), []byte("\n"))))
	}
	if len(ids) == 0 {
		return nil, "", fmt.Errorf("it has no licence")
	}
	return ids, b.String(), nil
}

// notice is the file NOTICE: what is part of the program, and under which licence.
func notice(list map[string]module) string {
	var b strings.Builder
	b.WriteString("vault-mcp\n\nLicensed under the Apache License, Version 2.0; see LICENSE. The program contains the\n" +
		"libraries below, under their own licences. What is released has their texts in\nTHIRD-PARTY.txt. (Generated: go generate ./internal/release)\n\n  The Go standard library (BSD-3-Clause)\n")
	for _, path := range slices.Sorted(maps.Keys(list)) {
		fmt.Fprintf(&b, "  %s (%s)\n", path, strings.Join(list[path].ids, ", "))
	}
	return b.String()
}

// thirdParty is the file THIRD-PARTY.txt: the texts of these licences.
func thirdParty(list map[string]module) ([]byte, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	_, text, err := licence(strings.TrimSpace(string(root)))
	if err != nil {
		return nil, fmt.Errorf("the licence of Go: %w", err)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "The Go standard library\n\n%s", text)
	for _, path := range slices.Sorted(maps.Keys(list)) {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s", strings.Repeat("-", 80), path, list[path].text)
	}
	return b.Bytes(), nil
}

// component is a part of the program in the list of its parts.
type component struct {
	Type     string    `json:"type"`
	Ref      string    `json:"bom-ref"`
	Name     string    `json:"name"`
	Version  string    `json:"version"`
	PURL     string    `json:"purl"`
	Licenses []license `json:"licenses,omitempty"`
}

type license struct {
	License struct {
		ID string `json:"id"`
	} `json:"license"`
}

func part(kind, path, version string, ids []string) component {
	purl := "pkg:golang/" + path + "@" + version
	c := component{Type: kind, Ref: purl, Name: path, Version: version, PURL: purl}
	for _, id := range ids {
		var l license
		l.License.ID = id
		c.Licenses = append(c.Licenses, l)
	}
	return c
}

// sbom lists what a program was built from, as the program itself says it
// (CycloneDX 1.6). It has no serial number and no time, which would differ each
// time.
func sbom(ext, binary, version string, known map[string]module) (string, []byte, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return ext, nil, err
	}
	parts := []component{part("library", "std", strings.TrimPrefix(info.GoVersion, "go"), []string{"BSD-3-Clause"})}
	for _, d := range info.Deps {
		m, ok := known[d.Path]
		if !ok || m.version != d.Version {
			return ext, nil, fmt.Errorf("the program holds %s %s, of which no licence was read", d.Path, d.Version)
		}
		parts = append(parts, part("library", d.Path, d.Version, m.ids))
	}
	text, err := json.MarshalIndent(map[string]any{
		"bomFormat":   "CycloneDX",
		"specVersion": "1.6",
		"version":     1,
		"metadata":    map[string]any{"component": part("application", name, version, []string{"Apache-2.0"})},
		"components":  parts,
	}, "", "  ")
	return ext, append(text, '\n'), err
}
