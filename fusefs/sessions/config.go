package sessions

import (
	"context"
	"log/slog"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/drafts"
)

// Sessions finds stored sessions. Info is called for every lookup, List for every
// listing.
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
	// History returns the newest snapshot of a session and all its ancestors, parents
	// before children.
	History(ctx context.Context, name string) ([]domarkx.Info, error)
	// Markdown returns a snapshot as its author saved it: Info.Bytes bytes, which the
	// caller must not change.
	Markdown(ctx context.Context, id string) ([]byte, error)
}

// A Saver changes sessions. Changes are durable when a method returns.
type Saver interface {
	// CheckName returns domarkx.ErrInvalid if no new session can have the name, and
	// domarkx.ErrExists if it clashes with an existing session.
	CheckName(ctx context.Context, name string) error
	// Save creates a snapshot of a document that is based on the snapshot base, or a new
	// session if base is "". If the session has changed since base, Save merges both; if
	// the session was removed, it continues from base. Bytes equal to those of base
	// create no snapshot. The error is a *syntax.Error if the document does not
	// parse, and domarkx.ErrInvalid or domarkx.ErrExists if no new session can have the
	// name. After any other error the caller retries.
	Save(ctx context.Context, name, base string, data []byte) (SaveResult, error)
	// Settle waits until no child of a dead process still changes a session.
	Settle(ctx context.Context) error
	// Remove moves a session to the trash.
	Remove(ctx context.Context, name string) error
	// Rename renames a session. It returns domarkx.ErrExists if a session has the new
	// name.
	Rename(ctx context.Context, from, to string) error
}

// A SaveResult reports the outcome of a save.
type SaveResult struct {
	Info   domarkx.Info // the session's newest snapshot
	Saved  string       // the snapshot with exactly the saved bytes; Info.ID unless Merged
	Merged bool         // the newest snapshot also contains other changes
}

// A Journal stores saves until they are snapshots.
type Journal interface {
	// Put stores a draft durably and returns its key. It replaces the draft with the same
	// key; a draft without a key gets a new one.
	Put(d drafts.Draft) (key string, err error)
	// Delete deletes drafts durably. Missing drafts are not an error.
	Delete(keys ...string) error
}

// Config configures a [Tree].
type Config struct {
	Sessions  Sessions  // required
	Snapshots Snapshots // required
	Saver     Saver     // nil when read-only
	Journal   Journal   // required unless read-only
	// Attachments reads attached files; nil shows none.
	Attachments Attachments
	Attacher    Attacher // nil attaches nothing
	Scratch     string   // directory for large scratch files; "" is that of os.TempDir
	Logger      *slog.Logger
	Timing      Timing
}

// Timing sets the delays of background work.
type Timing struct {
	Settle  time.Duration // from the last fsync or release of a save to its snapshot
	Limit   time.Duration // the maximum, from the first fsync or release; also the delay for an empty document
	Removal time.Duration // from the removal of a session until it is in the trash
	Retry   time.Duration // until a failed save is first retried; doubles up to a minute
}

// DefaultTiming creates a snapshot within a second of the save.
var DefaultTiming = Timing{Settle: 250 * time.Millisecond, Limit: 700 * time.Millisecond, Removal: time.Second, Retry: time.Second}
