// Package transfer exchanges sessions and their workspaces with remotes: fetch, pull and push. It
// merges sessions and joins workspaces that changed on both sides.
package transfer

import (
	"context"
	"errors"

	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/remote"
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

// A Receiver combines two histories if one of them is redacted or has expired workspace versions.
type Receiver interface {
	// Receive combines a history of a remote with the local histories if only one side is redacted or has expired versions, or
	// if both differ in that. If the histories differ in more than secrets, nothing changes and the error matches
	// [ErrNotSame].
	Receive(ctx context.Context, in Incoming) (Received, error)
}

// ErrNotSame means that one history is not a redaction of the other: they differ in more than secrets and expired files.
var ErrNotSame = errors.New("the histories differ in more than secrets and expired files")

// An Incoming is a verified commit of a remote.
type Incoming struct {
	Ref      string // the tracking ref
	ID       string
	Accept   bool // do not check that the redacted history differs only in secrets
	Redacted bool // also replace a local history by a redacted one
}

// Received describes how a commit of a remote was received.
type Received struct {
	ID       string   // the received commit, or its redacted form
	Moved    bool     // the tracking ref points to ID
	Replaced bool     // local histories were replaced
	Expired  bool     // they were replaced only because workspace versions expired
	Kept     []string // refs of the replaced histories in the trash

	Others []remote.Move // of other remote-tracking refs, which had the same commits
}
