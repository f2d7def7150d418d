package workspaces

import (
	"context"
	"iter"
	"log/slog"
	"syscall"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
)

// Workspaces lists the workspaces and reads their versions.
type Workspaces interface {
	// Workspaces returns the newest version of every workspace, sorted by name and
	// without resources.
	Workspaces(ctx context.Context) ([]domarkx.Version, error)
	// WorkspaceTip returns the newest version of a workspace, or domarkx.ErrNotFound.
	WorkspaceTip(ctx context.Context, name string) (domarkx.Version, error)
	// Version returns a version by its full id, with its resources.
	Version(ctx context.Context, id string) (domarkx.Version, error)
	// Versions returns a version and all versions before it, newest first, without
	// resources.
	Versions(ctx context.Context, id string) iter.Seq2[domarkx.Version, error]
}

// Config configures an [FS].
type Config struct {
	Workspaces Workspaces
	Contents   domarkx.VersionReader
	Started    time.Time                 // modification time of directories without versions
	Errno      func(error) syscall.Errno // the errno(3) of an error
	Spelled    func(string) string       // converts a name from the kernel to the form that the store uses
	Logger     *slog.Logger
}
