//go:build !linux

package atomicfile

import "errors"

// SyncFS returns [errors.ErrUnsupported]: it requires Linux.
func SyncFS(string) error { return errors.ErrUnsupported }
