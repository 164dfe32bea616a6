package vault

import "strings"

// FileKind is what Obsidian makes of a file, by its extension.
type FileKind string

// The kinds of files.
const (
	Note   FileKind = "note"
	Canvas FileKind = "canvas"
	Base   FileKind = "base"
	Image  FileKind = "image"
	Audio  FileKind = "audio"
	Video  FileKind = "video"
	PDF    FileKind = "pdf"
	// Other is every file that Obsidian does not show by default.
	Other FileKind = "other"
)

type format struct {
	kind FileKind
	mime string
}

// formats are the files that Obsidian opens. Of the two kinds that webm can
// be, video is the one that shows everything.
var formats = map[string]format{
	"md":     {Note, "text/markdown"},
	"canvas": {Canvas, "application/json"},
	"base":   {Base, "application/yaml"},
	"pdf":    {PDF, "application/pdf"},

	"avif": {Image, "image/avif"},
	"bmp":  {Image, "image/bmp"},
	"gif":  {Image, "image/gif"},
	"jpeg": {Image, "image/jpeg"},
	"jpg":  {Image, "image/jpeg"},
	"png":  {Image, "image/png"},
	"svg":  {Image, "image/svg+xml"},
	"webp": {Image, "image/webp"},

	"3gp":  {Audio, "audio/3gpp"},
	"flac": {Audio, "audio/flac"},
	"m4a":  {Audio, "audio/mp4"},
	"mp3":  {Audio, "audio/mpeg"},
	"ogg":  {Audio, "audio/ogg"},
	"wav":  {Audio, "audio/wav"},

	"mkv":  {Video, "video/x-matroska"},
	"mov":  {Video, "video/quicktime"},
	"mp4":  {Video, "video/mp4"},
	"ogv":  {Video, "video/ogg"},
	"webm": {Video, "video/webm"},
}

// Kind is the kind of a file by its name or path; the extension's case does
// not matter. A name without extension, or with nothing before it, is Other.
func Kind(name string) FileKind {
	if f, ok := formatOf(name); ok {
		return f.kind
	}
	return Other
}

// MIME is the media type of a file by its name or path; it is
// application/octet-stream for every file of kind Other.
func MIME(name string) string {
	if f, ok := formatOf(name); ok {
		return f.mime
	}
	return "application/octet-stream"
}

func formatOf(name string) (format, bool) {
	dot := strings.LastIndexByte(name, '.')
	if dot <= strings.LastIndexByte(name, '/')+1 {
		return format{}, false
	}
	ext := name[dot+1:]
	if f, ok := formats[ext]; ok {
		return f, true
	}
	f, ok := formats[strings.ToLower(ext)]
	return f, ok
}
