//go:build !linux && !darwin

package fusefs

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"

	"github.com/domarkx/domarkx"
)

// A Server is a mount that this process serves. It does not exist on this system.
type Server struct{}

func unsupported() error {
	return fmt.Errorf("mounting on %s: %w", runtime.GOOS, domarkx.ErrUnsupported)
}

// Mount returns domarkx.ErrUnsupported on this system.
func Mount(context.Context, Options) (*Server, error) { return nil, unsupported() }

// Recover returns domarkx.ErrUnsupported on this system.
func Recover(context.Context, string) error { return unsupported() }

// Unmount is not possible on this system: domarkx.ErrUnsupported.
func Unmount(context.Context, string) error { return unsupported() }

// Resolve returns the absolute path of a directory.
func Resolve(dir string) (string, error) { return filepath.Abs(dir) }

// SourceOf finds no mount on this system.
func SourceOf(string) (source string, ok bool) { return "", false }

// Detach returns domarkx.ErrUnsupported on this system.
func Detach(context.Context, string, string) error { return unsupported() }

// Busy returns domarkx.ErrUnsupported on this system.
func Busy(string) ([]User, error) { return nil, unsupported() }

// Dir returns the folder that is mounted on.
func (*Server) Dir() string { return "" }

// Wait waits until the folder is unmounted.
func (*Server) Wait() error { return unsupported() }

// Settle has nothing to do.
func (*Server) Settle(context.Context) []string { return nil }

// TryUnmount unmounts the folder.
func (*Server) TryUnmount(context.Context) error { return unsupported() }

// Unmount unmounts the folder.
func (*Server) Unmount(context.Context) error { return unsupported() }
