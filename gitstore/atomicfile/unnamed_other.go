//go:build !linux

package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// CreateUnnamed needs Linux. The error is [errors.ErrUnsupported].
func CreateUnnamed(string, fs.FileMode) (*os.File, error) {
	return nil, fmt.Errorf("unnamed file: %w", errors.ErrUnsupported)
}

// Link needs Linux. The error is [errors.ErrUnsupported].
func Link(*os.File, string) error { return errors.ErrUnsupported }
