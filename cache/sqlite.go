package cache

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// DatabaseURL names a database file for SQLite, without parameters.
func DatabaseURL(path string) string {
	name := filepath.ToSlash(path)
	if !strings.HasPrefix(name, "/") {
		name = "/" + name
	}
	return "file://" + (&url.URL{Path: name}).EscapedPath()
}

// ReadOnlyURL names a database file for reading alone. Where no log of writes is
// beside the file, nobody has it open, and it is read as it lies there, because
// SQLite would make such a log otherwise.
func ReadOnlyURL(path string) string {
	name := DatabaseURL(path) + "?mode=ro&_pragma=busy_timeout(5000)&_pragma=query_only(1)"
	if _, err := os.Lstat(path + "-wal"); err != nil {
		name += "&immutable=1"
	}
	return name
}
