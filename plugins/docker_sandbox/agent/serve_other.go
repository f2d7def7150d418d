//go:build !linux

package agent

import (
	"fmt"
	"io"
	"runtime"

	"github.com/domarkx/domarkx"
)

// Serve is process 1 of a container, which is one of Linux.
func Serve(io.Reader, io.Writer) error {
	return fmt.Errorf("be process 1 of a container on %s: %w", runtime.GOOS, domarkx.ErrUnsupported)
}
