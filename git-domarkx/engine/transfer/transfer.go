// Package transfer exchanges sessions and their workspaces with remotes: fetch, pull and push. It
// merges sessions and joins workspaces that changed on both sides.
package transfer

import (
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/gitstore"
)

// Manager exchanges the sessions of a repository with its remotes. Its methods are safe for
// concurrent use.
type Manager struct {
	sessions *engine.SessionManager
	store    *gitstore.Store
	env      local.Environment
	redacted Receiver
}

// New returns a manager for the sessions in a store.
func New(sessions *engine.SessionManager, store *gitstore.Store, env local.Environment, redacted Receiver) *Manager {
	return &Manager{sessions: sessions, store: store, env: env, redacted: redacted}
}
