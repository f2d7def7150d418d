// Package engine holds the SessionManager: what a user can do with sessions,
// whatever they are stored in and however they are shown.
//
// It joins the codecs of package format to a store. It does not know Git; the
// store is what the interfaces in this file say.
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

// Refs tells what sessions there are.
type Refs interface {
	// List returns all sessions by name.
	List(ctx context.Context) ([]domarkx.Info, error)
	// Tip returns the newest snapshot of a session; domarkx.ErrNotFound.
	Tip(ctx context.Context, name string) (domarkx.Info, error)
	// Trashed returns the snapshots that were removed under a name.
	Trashed(ctx context.Context, name string) ([]string, error)
	// Conflicts returns how many conflicts merges left in snapshots, by id, without those
	// that have none.
	Conflicts(ctx context.Context, snapshots []domarkx.Info) (map[string]int, error)
	// MapName returns the acceptable name that is nearest to a name.
	MapName(name string) string
}

// History reads snapshots.
type History interface {
	// Info returns a snapshot by its full id.
	Info(ctx context.Context, id string) (domarkx.Info, error)
	// History returns a snapshot and what it continues, newest first.
	History(ctx context.Context, id string) iter.Seq2[domarkx.Info, error]
	// Ancestors returns a snapshot and all that it came from, also by merges, the newest first.
	Ancestors(ctx context.Context, id string) iter.Seq2[domarkx.Info, error]
	// Find returns the snapshot of a session whose id begins so.
	Find(ctx context.Context, tip, prefix string) (domarkx.Info, error)
}

// Contents reads what snapshots hold. Entry costs the same for every message.
type Contents interface {
	Load(ctx context.Context, id string) (*domarkx.State, error)
	// LoadPacked is Load for a snapshot that may have many messages.
	LoadPacked(ctx context.Context, id string) (*domarkx.PackedState, error)
	Header(ctx context.Context, id string) ([]domarkx.HeaderEntry, error)
	// Entries returns the messages of a snapshot in order, a few of which are in memory at once.
	Entries(ctx context.Context, id string) iter.Seq2[domarkx.Entry, error]
	Entry(ctx context.Context, id string, k int) (domarkx.Entry, error)
	// EntriesFrom returns the messages from number k on.
	EntriesFrom(ctx context.Context, id string, k int) ([]domarkx.Entry, error)
}

// Blobs reads stored content.
type Blobs interface {
	Read(ctx context.Context, b domarkx.Blob) ([]byte, error)
	Includes(ctx context.Context, tree string) ([]domarkx.Include, error)
	Origin(ctx context.Context, tree string) (Origin, error)
}

// An Origin is a foreign document that a session was imported from.
type Origin struct {
	Format       string
	Conversation string // identifies the conversation that was made from it
	Size         int64
	Open         func() (io.ReadCloser, error)
}

// Ancestry compares snapshots.
type Ancestry interface {
	// IsAncestor reports whether snapshot a is b or in its history.
	IsAncestor(ctx context.Context, a, b string) (bool, error)
	// Conversation identifies the conversation of a snapshot: equal
	// conversations, equal ids.
	Conversation(ctx context.Context, id string) (string, error)
}

// Updater changes the store.
type Updater interface {
	// Update runs fn and then applies all its changes or none. What it
	// acknowledged survives a power cut. It returns domarkx.ErrConflict when a
	// session moved meanwhile; the caller begins again from the tips.
	Update(ctx context.Context, reason string, fn func(Tx) error) error
}

// Tx is a change of the store under way.
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
	// StoreConversation stores the messages of a snapshot with these parents as they come,
	// for Commit. Blobs without an id get one. Within the change the snapshot can be continued,
	// but its messages cannot be read.
	StoreConversation(ctx context.Context, parents []string, live iter.Seq2[*domarkx.Entry, error]) (*domarkx.StoredConversation, error)
	// Append stores a snapshot that continues its first parent with more messages, at
	// a cost that does not grow with the session. c.State holds only the new entries,
	// and headers only when the header changes too.
	Append(ctx context.Context, c domarkx.Commit) (domarkx.Info, error)
	// StoreIncludes returns the tree of a document's companions.
	StoreIncludes(ctx context.Context, files []domarkx.Include) (string, error)
	// BeginOrigin begins to store a foreign document, of which that is the digest.
	BeginOrigin(format string, content io.Reader, sha256 [32]byte) (OriginWriter, error)
	// GrowOrigin stores what a foreign document grew by, at a cost that does not grow
	// with the document, and returns its tree. The digest is that of all of it.
	GrowOrigin(ctx context.Context, tree string, more io.Reader, sha256 [32]byte) (string, error)
}

// An OriginWriter stores a foreign document.
type OriginWriter interface {
	// Continue says which original, that of a snapshot in the history, the document may have
	// much in common with, which then is not stored again. An error does no harm.
	Continue(ctx context.Context, tree string) error
	// Through stores at least the first n bytes. Messages that are stored right behind what
	// says the same cost least.
	Through(ctx context.Context, n int64) error
	// Finish stores the rest, and returns the document's tree.
	Finish(ctx context.Context) (string, error)
}

// Names changes which sessions there are.
type Names interface {
	Tip(ctx context.Context, name string) (domarkx.Info, error)
	// CheckName says what is wrong with a name for a new session: its spelling is
	// domarkx.ErrInvalid, a clash with another session domarkx.ErrExists.
	CheckName(ctx context.Context, name string) error
	// Set points a session, which need not exist, at a snapshot of this store.
	Set(ctx context.Context, name, id string) error
	Rename(ctx context.Context, from, to string) error
	ToTrash(ctx context.Context, name string) error
	// FromTrash takes the session that was removed last out of the trash.
	FromTrash(ctx context.Context, name string) (domarkx.Info, error)
}

// Store is where sessions are kept.
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

// Drafts keeps saved bytes that are not in a snapshot yet, durably.
type Drafts interface {
	Put(ctx context.Context, d Draft) error
	List(ctx context.Context) ([]Draft, error)
	Delete(ctx context.Context, name string) error
}

// A Draft is what somebody saved for a session that could not become a snapshot.
type Draft struct {
	Name    string
	Base    string // the snapshot that the text was made from; "" for a new session
	Problem string // what is wrong with it, with line and column; "" when not tried
	Data    []byte
}

// Surroundings is what the engine needs of the machine.
type Surroundings struct {
	StateDir string // private, machine-local files; made when first needed
	WorkTree string // "" in a bare repository
	Now      func() time.Time
	Identity func(ctx context.Context) (author, committer domarkx.Signature, err error)
	Ignored  func(ctx context.Context, paths []string) ([]bool, error)
	// IgnoredNames tells which slash-separated paths below the work tree are ignored, also
	// of those that are not there. With tracked, what Git tracks is not.
	IgnoredNames func(ctx context.Context, names []string, tracked bool) ([]bool, error)
	Drafts       Drafts

	Workspaces *plugins.WorkspaceManager // of the workspaces that are live on this machine
	Restorer   Restorer
	Local      LocalState
}

// SessionManager is the service through which sessions are made, read and
// changed. Its methods may be called by several goroutines at once.
type SessionManager struct {
	store  Store
	around Surroundings
	codecs []format.Codec

	lengths lengths // of messages
}

// New returns a manager of the sessions in a store.
func New(store Store, codecs []format.Codec, around Surroundings) *SessionManager {
	return &SessionManager{store: store, around: around, codecs: codecs}
}
