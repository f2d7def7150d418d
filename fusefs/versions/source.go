package versions

import (
	"context"
	"iter"
	"log/slog"
	"syscall"
	"time"

	"github.com/domarkx/domarkx"
)

// Workspaces tells what workspaces there are.
type Workspaces interface {
	// Workspaces returns the newest version of every workspace by name; their
	// resources are not looked at.
	Workspaces(ctx context.Context) ([]domarkx.Version, error)
	// WorkspaceTip returns the newest version of a workspace; domarkx.ErrNotFound.
	WorkspaceTip(ctx context.Context, name string) (domarkx.Version, error)
}

// Versions reads versions of workspaces.
type Versions interface {
	// Version returns a version by its full id, with its resources.
	Version(ctx context.Context, id string) (domarkx.Version, error)
	// Versions returns a version and all before it, newest first; their resources are
	// not looked at.
	Versions(ctx context.Context, id string) iter.Seq2[domarkx.Version, error]
}

// Config is what is shown, and how.
type Config struct {
	Workspaces Workspaces
	Versions   Versions
	Contents   domarkx.VersionReader
	Started    time.Time                 // the time of folders that have none
	Errno      func(error) syscall.Errno // which error a program sees for which of ours
	Spelled    func(string) string       // how the store spells a name of the kernel's
	Logger     *slog.Logger
}
