// Package importer imports documents as sessions: Markdown, snapshots and the transcripts of other programs. It
// recognizes a document that it has imported before, continues its session with what the document has more, and stores
// the files that belong to a document. It also validates documents.
//
// An import has these steps. Each passes its result to the next:
//
//   - A collector finds documents: files, sessions in databases, standard input ([found]).
//   - recognise compares a document, or a branch of it, with the sessions of the repository ([recognised]). It reads no
//     more of the document than it must.
//   - A document that is not unchanged is decoded ([document.Conversation]), or only its new part ([growth]).
//   - edition makes an edit of the session ([edition.Edition]).
//   - store stores it, and records the document when all of it is stored.
//
// Homes, databases, saves, branches and parts of a session differ in the first two steps only. Below this package,
// document reads the bytes, and edition knows from which snapshot a document was made, and what follows from that.
package importer

import (
	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/gitstore"
)

// A Manager imports documents into a repository. Several goroutines may use it at once.
type Manager struct {
	sessions *engine.SessionManager
	trust    *trust.Manager
	store    *gitstore.Store
	codecs   []format.Codec
	env      local.Environment

	databases Databases

	renamer Renamer
	homes   HomeKeeper // nil for none
}

// New returns a manager that imports into a store. With a nil store it can only validate.
func New(sessions *engine.SessionManager, trust *trust.Manager, store *gitstore.Store, codecs []format.Codec, env local.Environment, databases Databases) *Manager {
	if databases.Open == nil {
		databases = noDatabases()
	}
	return &Manager{sessions: sessions, trust: trust, store: store, codecs: codecs, env: env, databases: databases}
}
