//go:build !linux

package dirversion

import (
	"context"
	"fmt"

	"github.com/domarkx/domarkx"
)

// Own is only supported on Linux.
func Own(context.Context, domarkx.VersionReader, string, string) error {
	return fmt.Errorf("owners of files: %w on this system", domarkx.ErrUnsupported)
}
