//go:build !linux

package unnamed

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Create is of Linux alone.
func Create(string, fs.FileMode) (*os.File, error) {
	return nil, fmt.Errorf("unnamed file: %w", errors.ErrUnsupported)
}

// Link is of Linux alone.
func Link(*os.File, string) error { return errors.ErrUnsupported }
