package note

import (
	"bytes"
	"strings"
	"testing"
)

// sample is a note of about 4 KB with what everyday notes hold.
func sample() []byte {
	var b strings.Builder
	b.WriteString("---\ntitle: A day in the shed\ntags: [wood, repair]\ncreated: 2031-02-03\naliases:\n  - Shed day\n  - Repairs\nrating: 4\n---\n# Shed\n\n")
	for range 8 {
		b.WriteString("## Chair and table\n\nThe chair by the window has a loose leg, see [[Glue]] and [[Clamps|the clamps]].\n")
		b.WriteString("It was mended once before, with nails, which did not hold for long. ^leg\n\n")
		b.WriteString("- [ ] glue the leg 📅 2031-02-05\n  - [ ] buy glue #errand\n- [x] find the clamps\n\n")
		b.WriteString("> [!note] Drying\n> Takes a day in winter.\n\n```sh\n# not a heading\nls -l\n```\n\n| Part | State |\n| --- | --- |\n| leg | loose |\n\n")
	}
	return []byte(b.String())
}

func BenchmarkScan(b *testing.B) {
	text := sample()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Scan(text)
	}
}

func BenchmarkScanInline(b *testing.B) {
	text := sample()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Scan(text).Inline()
	}
}

// BenchmarkEverything is what an index takes from a note.
func BenchmarkEverything(b *testing.B) {
	text := sample()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Scan(text).Inline()
		p := ParseProperties(text)
		p.Tags()
		p.Aliases()
		p.Links(text)
	}
}

func BenchmarkScanLarge(b *testing.B) {
	text := bytes.Repeat(sample()[200:], 1000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Scan(text)
	}
}

func BenchmarkParseProperties(b *testing.B) {
	text := sample()
	b.ReportAllocs()
	for b.Loop() {
		ParseProperties(text)
	}
}
