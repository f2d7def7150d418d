//go:build !linux

package odb

import "os"

// fsyncModeFor is the way that POSIX promises.
func fsyncModeFor(string) fsyncMode { return byFile }

func writeBack(f *os.File, _ bool) error { return f.Sync() }
