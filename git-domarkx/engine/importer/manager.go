// Package importer makes sessions of documents: Markdown, snapshots and the transcripts of other
// programs. It recognizes a document that it imported before, continues its session when the
// document grew, and keeps the files that a document brings along. It also validates documents.
package importer

import (
	"context"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/gitstore"
)

// Manager imports documents into a repository. Its methods are safe for concurrent use.
type Manager struct {
	sessions *engine.SessionManager
	trust    *trust.Manager
	store    *gitstore.Store
	codecs   []format.Codec
	env      local.Environment

	redactor Redactor
}

// A Redactor replaces the secrets in documents of sessions that were redacted.
type Redactor interface {
	// Document returns the redacted document of a session with that tip, and whether the session was redacted.
	Document(ctx context.Context, tip string, data []byte) ([]byte, bool, error)
}

// Redacts sets who redacts the documents of redacted sessions.
func (m *Manager) Redacts(r Redactor) { m.redactor = r }

// New returns a manager that imports into a store. Without a store, it can only validate.
func New(sessions *engine.SessionManager, trust *trust.Manager, store *gitstore.Store, codecs []format.Codec, env local.Environment) *Manager {
	return &Manager{sessions: sessions, trust: trust, store: store, codecs: codecs, env: env}
}
