// Package engine implements the SessionManager: everything that users can do with sessions,
// regardless of how sessions are stored and displayed.
//
// It connects the codecs of package format with a store. It does not depend on Git. The
// interfaces in this file describe the store.
package engine

import (
	"context"
	"io"
	"iter"
	"time"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/plugins"
)

// Refs lists sessions and finds their snapshots.
type Refs interface {
	// List returns all sessions, sorted by name.
	List(ctx context.Context) ([]domarkx.Info, error)
	// Tip returns the newest snapshot of a session. The error matches domarkx.ErrNotFound if the
	// session does not exist.
	Tip(ctx context.Context, name string) (domarkx.Info, error)
	// Trashed returns the ids of the snapshots that were removed under a name.
	Trashed(ctx context.Context, name string) ([]string, error)
	// Conflicts returns the number of merge conflicts by snapshot id. Snapshots without conflicts
	// are omitted.
	Conflicts(ctx context.Context, snapshots []domarkx.Info) (map[string]int, error)
	// MapName returns the valid session name that is closest to name.
	MapName(name string) string
}

// History reads snapshots.
type History interface {
	// Info returns a snapshot by its full id.
	Info(ctx context.Context, id string) (domarkx.Info, error)
	// History returns a snapshot and those it continues, newest first.
	History(ctx context.Context, id string) iter.Seq2[domarkx.Info, error]
	// Ancestors returns a snapshot and all its ancestors, including those by merges, newest
	// first.
	Ancestors(ctx context.Context, id string) iter.Seq2[domarkx.Info, error]
	// Find returns the snapshot in the history of tip whose id starts with prefix.
	Find(ctx context.Context, tip, prefix string) (domarkx.Info, error)
}

// Contents reads the contents of snapshots. The cost of Entry is the same for every message.
type Contents interface {
	Load(ctx context.Context, id string) (*domarkx.State, error)
	// LoadPacked is like Load, for snapshots that may have many messages.
	LoadPacked(ctx context.Context, id string) (*domarkx.PackedState, error)
	Header(ctx context.Context, id string) ([]domarkx.HeaderEntry, error)
	// Entries returns the messages of a snapshot in order and keeps only a few in memory.
	Entries(ctx context.Context, id string) iter.Seq2[domarkx.Entry, error]
	Entry(ctx context.Context, id string, k int) (domarkx.Entry, error)
	// EntriesFrom returns the messages from index k on.
	EntriesFrom(ctx context.Context, id string, k int) ([]domarkx.Entry, error)
}

// Blobs reads stored contents.
type Blobs interface {
	Read(ctx context.Context, b domarkx.Blob) ([]byte, error)
	Includes(ctx context.Context, tree string) ([]domarkx.Include, error)
	Origin(ctx context.Context, tree string) (Origin, error)
}

// An Origin is the foreign document that a session was imported from.
type Origin struct {
	Format       string
	Conversation string // identifies the conversation that the document was imported as
	Size         int64
	Open         func() (io.ReadCloser, error)
}

// Ancestry compares snapshots.
type Ancestry interface {
	// IsAncestor reports whether snapshot a is equal to b or in its history.
	IsAncestor(ctx context.Context, a, b string) (bool, error)
	// Conversation returns an id of the conversation in a snapshot. Equal conversations have
	// equal ids.
	Conversation(ctx context.Context, id string) (string, error)
}

// Updater changes the store.
type Updater interface {
	// Update calls fn and then applies all its changes or none. When it returns nil, the changes
	// are durable. It returns domarkx.ErrConflict if a session moved in the meantime; the caller
	// then retries from the new tips.
	Update(ctx context.Context, reason string, fn func(Tx) error) error
}

// Tx is a change of the store in progress.
type Tx interface {
	Objects
	Names
	Blobs
	Readings
	VersionObjects
	WorkspaceNames
	AttachmentObjects
}

// Objects stores snapshots.
type Objects interface {
	Commit(ctx context.Context, c domarkx.Commit) (domarkx.Info, error)
	// StoreConversation stores messages one by one for a later Commit with these parents. It sets
	// the ids of blobs that have none. Within the change, the new snapshot can be continued, but
	// its messages cannot be read.
	StoreConversation(ctx context.Context, parents []string, live iter.Seq2[*domarkx.Entry, error]) (*domarkx.StoredConversation, error)
	// Append stores a snapshot that adds messages to its first parent. The cost does not grow
	// with the session. c.State holds only the new entries, and headers only if the header
	// changes.
	Append(ctx context.Context, c domarkx.Commit) (domarkx.Info, error)
	// StoreIncludes stores the included files of a document and returns their tree.
	StoreIncludes(ctx context.Context, files []domarkx.Include) (string, error)
	// BeginOrigin starts to store a foreign document with this digest.
	BeginOrigin(format string, content io.Reader, sha256 [32]byte) (OriginWriter, error)
	// GrowOrigin appends to a stored foreign document and returns the new tree. The cost does not
	// grow with the document. sha256 is the digest of the entire document.
	GrowOrigin(ctx context.Context, tree string, more io.Reader, sha256 [32]byte) (string, error)
}

// An OriginWriter stores a foreign document.
type OriginWriter interface {
	// Continue names the original of an earlier snapshot that the document probably shares
	// content with, so that shared content is not stored again. Errors can be ignored.
	Continue(ctx context.Context, tree string) error
	// Through stores at least the first n bytes. It is cheapest to store a message directly after
	// the part of the original that contains the same text.
	Through(ctx context.Context, n int64) error
	// Finish stores the rest of the document and returns its tree.
	Finish(ctx context.Context) (string, error)
}

// Names creates, moves and removes sessions.
type Names interface {
	Tip(ctx context.Context, name string) (domarkx.Info, error)
	// CheckName returns an error if name cannot be used for a new session: domarkx.ErrInvalid if
	// it is malformed, domarkx.ErrExists if it clashes with another session.
	CheckName(ctx context.Context, name string) error
	// Set points a session at a snapshot in this store. It creates the session if necessary.
	Set(ctx context.Context, name, id string) error
	Rename(ctx context.Context, from, to string) error
	ToTrash(ctx context.Context, name string) error
	// FromTrash restores the most recently removed session with that name.
	FromTrash(ctx context.Context, name string) (domarkx.Info, error)
}

// Store holds sessions and workspaces.
type Store interface {
	Refs
	History
	Contents
	Blobs
	Ancestry
	Lineages
	Readings
	Updater
	Remotes
	Workspaces
	Versions
	Links
	Attachments
	domarkx.VersionReader
	VersionDiffer
}

// Drafts durably keeps saved text that is not in a snapshot yet.
type Drafts interface {
	Put(ctx context.Context, d Draft) error
	List(ctx context.Context) ([]Draft, error)
	Delete(ctx context.Context, name string) error
}

// A Draft is text that a user saved for a session and that could not become a snapshot.
type Draft struct {
	Name    string
	Base    string // the snapshot that the text was based on; "" for a new session
	Problem string // why it was not saved, with line and column; "" if nobody tried
	Data    []byte
}

// Surroundings provides the engine's dependencies on the machine.
type Surroundings struct {
	StateDir string // private, machine-local files; created on first use
	WorkTree string // "" in a bare repository
	Now      func() time.Time
	Identity func(ctx context.Context) (author, committer domarkx.Signature, err error)
	Ignored  func(ctx context.Context, paths []string) ([]bool, error)
	// IgnoredNames reports which slash-separated paths below the work tree are ignored. The paths
	// need not exist. If tracked is set, files that Git tracks do not count as ignored.
	IgnoredNames func(ctx context.Context, names []string, tracked bool) ([]bool, error)
	Drafts       Drafts

	Workspaces *plugins.WorkspaceManager // manages the live workspaces on this machine
	Restorer   Restorer
	Local      LocalState
}

// SessionManager creates, reads and changes sessions. Its methods are safe for concurrent use.
type SessionManager struct {
	store  Store
	around Surroundings
	codecs []format.Codec

	lengths lengths // cached lengths of messages
}

// New returns a manager for the sessions in a store.
func New(store Store, codecs []format.Codec, around Surroundings) *SessionManager {
	return &SessionManager{store: store, around: around, codecs: codecs}
}
