//go:build !linux

package odb

import "os"

// fsyncModeFor returns the mode that POSIX guarantees.
func fsyncModeFor(string) fsyncMode { return byFile }

func writeBack(f *os.File, _ bool) error { return f.Sync() }
