//go:build !linux

package main

import "errors"

// forget is never called: the driver runs on Linux only.
func forget(string) error { return errors.ErrUnsupported }
