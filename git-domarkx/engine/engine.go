// Package engine implements the SessionManager: everything that users can do with sessions and
// their workspaces. It connects the codecs of package format with the store in package gitstore,
// and does not depend on how sessions are displayed.
package engine

import (
	"context"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/plugins"
)

// blobs reads stored contents, from the store or within a change of it.
type blobs interface {
	Read(ctx context.Context, b domarkx.Blob) ([]byte, error)
	Includes(ctx context.Context, tree string) ([]domarkx.Include, error)
	Origin(ctx context.Context, tree string) (*gitstore.Origin, error)
}

// Environment holds what a SessionManager needs besides the store.
type Environment struct {
	StateDir string // private, machine-local files; created on first use
	WorkTree string // "" in a bare repository
	Identity func(ctx context.Context) (author, committer domarkx.Signature, err error)

	Workspaces *plugins.WorkspaceManager // manages the live workspaces on this machine
	Local      local.State
	Warn       func(error) // receives each problem that an operation skips; nil ignores them
}

// SessionManager creates, reads and changes sessions. Its methods are safe for concurrent use.
type SessionManager struct {
	store  *gitstore.Store
	env    Environment
	codecs []format.Codec

	lengths lengths // cached lengths of messages
}

// New returns a manager for the sessions in a store. Without a store, it can only work on
// documents.
func New(store *gitstore.Store, codecs []format.Codec, env Environment) *SessionManager {
	return &SessionManager{store: store, env: env, codecs: codecs}
}

// Warn reports a problem that does not end the operation.
func (m *SessionManager) Warn(err error) {
	if m.env.Warn != nil {
		m.env.Warn(err)
	}
}
