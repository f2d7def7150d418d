// Package turns works in the workspaces of sessions. It opens the workspace of a session, runs calls in it, stores their
// changes as versions of the workspace, and appends their results to the session, each call in one update of the store. It
// also appends messages, and keeps sessions and their workspaces together when they are forked, rewound, renamed or removed.
//
// A program that drives a session turn by turn uses [Manager.Append] to add a message, [Manager.Run] to run the calls of the
// last message, and [Manager.Exec] to run one call that is in no message yet. Each of them links the message to the
// workspace version that it leaves, and refuses what the user has not trusted with a [trust.UntrustedError] unless approved.
package turns

import (
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/gitstore"
)

// Manager runs the turns of sessions. Its methods are safe for concurrent use; calls in one
// workspace wait for each other, also between processes.
type Manager struct {
	sessions *engine.SessionManager
	trust    *trust.Manager
	store    *gitstore.Store
	env      local.Environment
}

// New returns a manager for the sessions in a store.
func New(sessions *engine.SessionManager, trust *trust.Manager, store *gitstore.Store, env local.Environment) *Manager {
	return &Manager{sessions: sessions, trust: trust, store: store, env: env}
}
