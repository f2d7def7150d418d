package local

import (
	"context"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins"
)

// Environment holds what the managers of sessions need besides the store.
type Environment struct {
	StateDir string // private, machine-local files; created on first use
	WorkTree string // "" in a bare repository
	Identity func(ctx context.Context) (author, committer domarkx.Signature, err error)

	Workspaces *plugins.WorkspaceManager // manages the live workspaces on this machine
	Local      State
	Warn       func(error) // receives each problem that an operation skips; nil ignores them
}
