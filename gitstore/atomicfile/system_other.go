//go:build !linux

package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// CreateUnnamed returns [errors.ErrUnsupported]: it requires Linux.
func CreateUnnamed(string, fs.FileMode) (*os.File, error) {
	return nil, fmt.Errorf("unnamed file: %w", errors.ErrUnsupported)
}

// Link returns [errors.ErrUnsupported]: it requires Linux.
func Link(*os.File, string) error { return errors.ErrUnsupported }

// SyncFS returns [errors.ErrUnsupported]: it requires Linux.
func SyncFS(string) error { return errors.ErrUnsupported }
