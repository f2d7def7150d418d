// Package importer makes sessions of documents: Markdown, snapshots and the transcripts of other
// programs. It recognizes a document that it imported before, continues its session when the
// document grew, and keeps the files that a document brings along. It also validates documents.
package importer

import (
	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/redact"
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

	redactor *redact.Manager
}

// RedactsDocuments sets who redacts documents before they are stored.
func (m *Manager) RedactsDocuments(r *redact.Manager) { m.redactor = r }

// New returns a manager that imports into a store. Without a store, it can only validate.
func New(sessions *engine.SessionManager, trust *trust.Manager, store *gitstore.Store, codecs []format.Codec, env local.Environment) *Manager {
	return &Manager{sessions: sessions, trust: trust, store: store, codecs: codecs, env: env}
}
