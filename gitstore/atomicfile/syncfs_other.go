//go:build !linux

package atomicfile

import "errors"

// SyncFS needs Linux. The error is [errors.ErrUnsupported].
func SyncFS(string) error { return errors.ErrUnsupported }
