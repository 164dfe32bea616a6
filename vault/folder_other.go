//go:build !linux && !darwin

package vault

import "os"

// openFolder opens the folder of root itself, whose real path is path.
func openFolder(root *os.Root, path string) (folder, error) { return openRootFolder(root, path) }
