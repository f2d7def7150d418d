package sessions

import (
	"context"
	"log/slog"
	"time"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/fusefs/drafts"
)

// Sessions lists the sessions. Info is called for every lookup, List for every listing.
type Sessions interface {
	// Info returns the newest snapshot of a session, or domarkx.ErrNotFound if no session has
	// or can have the name.
	Info(ctx context.Context, name string) (domarkx.Info, error)
	// List returns the newest snapshots of the sessions whose names start with prefix, sorted
	// by name.
	List(ctx context.Context, prefix string) ([]domarkx.Info, error)
}

// Snapshots reads the contents of snapshots.
type Snapshots interface {
	// History returns all snapshots that led to the newest one of a session, including merged
	// ones, parents before children.
	History(ctx context.Context, name string) ([]domarkx.Info, error)
	// Markdown returns a snapshot as its author saved it, Info.Bytes long. The caller must not
	// change it.
	Markdown(ctx context.Context, id string) ([]byte, error)
}

// Names checks the names of new sessions.
type Names interface {
	// CheckName returns domarkx.ErrInvalid if no session can have the name, and
	// domarkx.ErrExists if it clashes with an existing session.
	CheckName(ctx context.Context, name string) error
}

// A Saver changes sessions. Changes are durable when a method returns.
type Saver interface {
	// Save creates a snapshot of a document that was made from the snapshot base, or a new
	// session if base is "". If the session has changed since base, Save merges both; if the
	// session was removed, it continues from base. Bytes equal to those of base create no
	// snapshot. The error is a *domarkx.SyntaxError if the document does not parse, and
	// domarkx.ErrInvalid or domarkx.ErrExists if the name is not possible. After any other
	// error the save is retried.
	Save(ctx context.Context, name, base string, data []byte) (SaveResult, error)
	// Settle waits for the work that a dead process started: a child of it may still change a
	// session.
	Settle(ctx context.Context) error
	// Remove moves a session to the trash.
	Remove(ctx context.Context, name string) error
	// Rename renames a session. No session may have the new name.
	Rename(ctx context.Context, from, to string) error
}

// A SaveResult reports the outcome of a save.
type SaveResult struct {
	Info   domarkx.Info // the session's newest snapshot
	Saved  string       // the snapshot that holds exactly the saved bytes; Info.ID unless merged
	Merged bool         // the newest snapshot also has changes from elsewhere
}

// A Journal stores saves until they are snapshots.
type Journal interface {
	// Put stores a draft durably and replaces the one with the same key. It returns a new key
	// for a draft without one.
	Put(d drafts.Draft) (key string, err error)
	// Delete deletes drafts durably.
	Delete(keys ...string) error
}

// Config configures a [Tree].
type Config struct {
	Sessions  Sessions  // required
	Snapshots Snapshots // required
	Names     Names     // required unless read-only
	Saver     Saver     // nil when read-only
	Journal   Journal   // required unless read-only
	// Attachments reads attached files; nil shows none.
	Attachments Attachments
	Attacher    Attacher // nil attaches nothing
	Scratch     string   // directory for large scratch files; "" is the system's
	Logger      *slog.Logger
	Timing      Timing

	UID, GID uint32 // owner of all files
}

// Timing sets the delays between a change and its effect.
type Timing struct {
	Settle  time.Duration // after the last fsync or release of a save
	Limit   time.Duration // after the first, and for empty documents
	Removal time.Duration // until a removed session goes to the trash
	Retry   time.Duration // until a failed save is retried; doubles up to a minute
}

// DefaultTiming creates a snapshot within a second of the save.
var DefaultTiming = Timing{Settle: 250 * time.Millisecond, Limit: 700 * time.Millisecond, Removal: time.Second, Retry: time.Second}
