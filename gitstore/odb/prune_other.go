//go:build !linux

package odb

// pruning cannot be told here.
func pruning() bool { return false }
