//go:build !linux && !darwin

package mountpoint

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"

	"github.com/domarkx/domarkx/format/domarkx"
)

func unsupported() error {
	return fmt.Errorf("unmounting on %s: %w", runtime.GOOS, domarkx.ErrUnsupported)
}

// Recover returns domarkx.ErrUnsupported on this system.
func Recover(context.Context, string) error { return unsupported() }

// Unmount returns domarkx.ErrUnsupported on this system.
func Unmount(context.Context, string) error { return unsupported() }

// Resolve returns the absolute path of a directory.
func Resolve(dir string) (string, error) { return filepath.Abs(dir) }

// SourceOf finds no mount on this system.
func SourceOf(string) (source string, ok bool) { return "", false }

// Detach returns domarkx.ErrUnsupported on this system.
func Detach(context.Context, string, string) error { return unsupported() }
