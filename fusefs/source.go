package fusefs

import (
	"context"
	"log/slog"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/fusefs/sessions"
	"github.com/domarkx/domarkx/fusefs/workspaces"
)

// Attachments reads the files that sessions keep beside their documents.
type Attachments = sessions.Attachments

// An Attacher lets sessions keep the images that they show.
type Attacher = sessions.Attacher

// A Form is how a document is written.
type Form int

// The forms that the mount shows.
const (
	Markdown Form = iota
	JSON
)

func (f Form) extension() string {
	if f == JSON {
		return ".json"
	}
	return ".md"
}

// Sessions tells what sessions there are.
type Sessions = sessions.Sessions

// Names says what names new sessions can have.
type Names = sessions.Names

// Saver changes sessions.
type Saver = sessions.Saver

// A SaveResult says what became of a save.
type SaveResult = sessions.SaveResult

// Workspaces tells what workspaces there are.
type Workspaces = workspaces.Workspaces

// Versions reads versions of workspaces.
type Versions = workspaces.Versions

// Timing sets the delays between a change in the mount and its effect.
type Timing = sessions.Timing

// Snapshots reads what sessions held.
type Snapshots interface {
	// History returns all snapshots that led to a session's newest one, also those
	// that were merged into it, parents before children.
	History(ctx context.Context, name string) ([]domarkx.Info, error)
	// Render returns a snapshot as a document: as Markdown the bytes that its author
	// saved, Info.Bytes long. The caller does not change them.
	Render(ctx context.Context, id string, form Form) ([]byte, error)
	// Size returns the length of what Render returns, at a lower cost.
	Size(ctx context.Context, id string, form Form) (int64, error)
}

// Messages reads single messages of a snapshot.
type Messages interface {
	// Roles returns the role of each message, without reading the messages.
	Roles(ctx context.Context, id string) ([]domarkx.Role, error)
	// Message returns message k, counted from 0. The caller does not change it.
	Message(ctx context.Context, id string, k int, form Form) ([]byte, error)
	// Link returns the id of the workspace version that message k is linked to, ""
	// when it is linked to none.
	Link(ctx context.Context, id string, k int) (string, error)
}

// Options is what is mounted where.
type Options struct {
	Dir       string // the folder to mount on; it is there
	Sessions  Sessions
	Snapshots Snapshots
	Messages  Messages
	Names     Names // not needed when ReadOnly
	Saver     Saver // not needed when ReadOnly
	// Attachments are the files that sessions keep; nil shows none.
	Attachments Attachments
	Attacher    Attacher              // not needed when ReadOnly; nil attaches nothing
	Workspaces  Workspaces            // nil shows no workspaces
	Versions    Versions              // not needed without Workspaces
	Contents    domarkx.VersionReader // not needed without Workspaces
	// Beside is where the versions of workspaces are mounted when a mount cannot be
	// inside of another, which takes root: a folder that is made, and removed in the
	// end. MNT/workspaces is a symbolic link to it then. "" mounts them inside.
	Beside   string
	Drafts   string       // folder of the journal of drafts; not needed when ReadOnly
	ReadOnly bool         // refuse all changes
	Label    string       // what mount(8) shows as the source, such as the repository's folder
	Logger   *slog.Logger // nil logs nothing
	Timing   Timing       // zero for the default
}

// FileSystem is the type under which mounts of this package stand in the mount
// table.
const FileSystem = "fuse.domarkx"
