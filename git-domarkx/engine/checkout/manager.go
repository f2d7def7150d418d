// Package checkout writes versions of workspaces to directories.
package checkout

import (
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/gitstore"
)

// Manager writes versions of workspaces to directories.
type Manager struct {
	sessions *engine.SessionManager
	trust    *trust.Manager
	store    *gitstore.Store
}

// New returns a manager for the workspaces in a store.
func New(sessions *engine.SessionManager, trust *trust.Manager, store *gitstore.Store) *Manager {
	return &Manager{sessions: sessions, trust: trust, store: store}
}
