package overlay

import (
	"context"
	"log/slog"
	"time"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/fusefs/drafts"
)

// Sessions tells what sessions there are. Info is called at every lookup, List at
// every listing.
type Sessions interface {
	// Info returns the newest snapshot of a session. A name that no session has, or
	// can have, is domarkx.ErrNotFound.
	Info(ctx context.Context, name string) (domarkx.Info, error)
	// List returns the newest snapshots of the sessions whose names begin with
	// prefix, by name.
	List(ctx context.Context, prefix string) ([]domarkx.Info, error)
}

// Snapshots reads what sessions held.
type Snapshots interface {
	// History returns all snapshots that led to a session's newest one, also those
	// that were merged into it, parents before children.
	History(ctx context.Context, name string) ([]domarkx.Info, error)
	// Markdown returns a snapshot as its author saved it, Info.Bytes long. The
	// caller does not change it.
	Markdown(ctx context.Context, id string) ([]byte, error)
}

// Names says what names new sessions can have.
type Names interface {
	// CheckName returns domarkx.ErrInvalid for a name no session can have, and
	// domarkx.ErrExists for one that clashes with a session that is there.
	CheckName(ctx context.Context, name string) error
}

// Saver changes sessions. What it acknowledges is durable.
type Saver interface {
	// Save makes a snapshot of a document that was made from the snapshot base, or
	// a session where base is "". Where the session moved on since, both are merged;
	// where it is gone, it continues from base. Bytes that are those of base make
	// no snapshot. The error is a *domarkx.SyntaxError for a document that does not
	// parse, domarkx.ErrInvalid or domarkx.ErrExists for a name that cannot be; after
	// any other the save is tried again.
	Save(ctx context.Context, name, base string, data []byte) (Result, error)
	// Settle returns when nothing is under way any more that a process began which
	// is dead now: a child that it started may move a session after its death.
	Settle(ctx context.Context) error
	// Remove moves a session to the trash.
	Remove(ctx context.Context, name string) error
	// Rename gives a session another name, which none has.
	Rename(ctx context.Context, from, to string) error
}

// A Result says what became of a save.
type Result struct {
	Info   domarkx.Info // the session's newest snapshot now
	Saved  string       // the snapshot that holds exactly the saved bytes; Info.ID unless merged
	Merged bool         // the newest snapshot holds other changes too
}

// Journal keeps saves until they are snapshots.
type Journal interface {
	// Put stores a draft durably, in the place of that with its key; a new one
	// without a key gets one.
	Put(d drafts.Draft) (key string, err error)
	// Delete removes drafts durably.
	Delete(keys ...string) error
}

// Config is what a [Tree] is made of.
type Config struct {
	Sessions  Sessions  // required
	Snapshots Snapshots // required
	Names     Names     // required unless read-only
	Saver     Saver     // nil when read-only
	Journal   Journal   // required unless read-only
	// Attachments are the files that sessions keep; nil shows none.
	Attachments Attachments
	Attacher    Attacher // nil attaches nothing
	Scratch     string   // folder for the content of large scratch files; "" is that of the system
	Logger      *slog.Logger
	Pace        Pace

	UID, GID uint32 // who owns the files
}

// A Pace says how long to wait for what belongs together.
type Pace struct {
	Settle  time.Duration // after the last fsync or release of a save
	Limit   time.Duration // after the first, and for empty documents
	Removal time.Duration // until a removed name that was not made again is removed
	Retry   time.Duration // until a save that failed is tried again; doubles up to a minute
}

// DefaultPace makes a snapshot within a second of the save.
var DefaultPace = Pace{Settle: 250 * time.Millisecond, Limit: 700 * time.Millisecond, Removal: time.Second, Retry: time.Second}
