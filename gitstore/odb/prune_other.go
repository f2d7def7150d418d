//go:build !linux

package odb

// pruning cannot be told here.
func (*Database) pruning() bool { return false }
