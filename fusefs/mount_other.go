//go:build !linux && !darwin

package fusefs

import (
	"context"
	"fmt"
	"runtime"

	"github.com/domarkx/domarkx/format/domarkx"
)

// A Server is a mount that this process serves. It does not exist on this system.
type Server struct{}

func unsupported() error {
	return fmt.Errorf("mounting on %s: %w", runtime.GOOS, domarkx.ErrUnsupported)
}

// Mount returns domarkx.ErrUnsupported on this system.
func Mount(context.Context, Options) (*Server, error) { return nil, unsupported() }

// Dir returns "" on this system.
func (*Server) Dir() string { return "" }

// Wait returns domarkx.ErrUnsupported on this system.
func (*Server) Wait() error { return unsupported() }

// Dismiss does nothing on this system.
func (*Server) Dismiss(context.Context, string) error { return nil }

// Settle returns nothing on this system.
func (*Server) Settle(context.Context) []string { return nil }

// TryUnmount returns domarkx.ErrUnsupported on this system.
func (*Server) TryUnmount(context.Context) error { return unsupported() }
