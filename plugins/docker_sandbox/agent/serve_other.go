//go:build !linux

package agent

import (
	"fmt"
	"io"
	"runtime"

	"github.com/domarkx/domarkx/format/domarkx"
)

// Serve returns domarkx.ErrUnsupported: containers run on Linux.
func Serve(io.Reader, io.Writer) error {
	return fmt.Errorf("run as process 1 of a container on %s: %w", runtime.GOOS, domarkx.ErrUnsupported)
}
