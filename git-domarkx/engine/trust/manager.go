// Package trust decides whether a session may run. A session runs nothing that the user has not
// trusted: its setup script, its calls and named code blocks, and the resources that they need,
// whether the document names them, .domarkx.toml or the workspace. All of that is one [Digest],
// and the digests that the user trusts are in the local state of the clone.
package trust

import (
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/gitstore"
)

// Manager determines what sessions run and whether the user trusts it. Its methods are safe for
// concurrent use.
type Manager struct {
	store *gitstore.Store
	env   local.Environment
}

// New returns a manager for the sessions in a store.
func New(store *gitstore.Store, env local.Environment) *Manager { return &Manager{store, env} }
