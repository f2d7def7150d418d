package fusefs

import (
	"context"
	"log/slog"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/sessions"
	"github.com/domarkx/domarkx/fusefs/workspaces"
)

// Attachments reads the attached files of sessions.
type Attachments = sessions.Attachments

// An Attacher attaches images to the sessions that show them.
type Attacher = sessions.Attacher

// A Form is the format of a document.
type Form int

// The forms of documents in the mount.
const (
	Markdown Form = iota
	JSON
)

var forms = []Form{Markdown, JSON}

func (f Form) extension() string {
	if f == JSON {
		return ".json"
	}
	return ".md"
}

// Sessions finds stored sessions.
type Sessions = sessions.Sessions

// Names checks the names of new sessions.
type Names = sessions.Names

// Saver changes sessions.
type Saver = sessions.Saver

// A SaveResult reports the outcome of a save.
type SaveResult = sessions.SaveResult

// Workspaces lists the workspaces.
type Workspaces = workspaces.Workspaces

// Versions reads versions of workspaces.
type Versions = workspaces.Versions

// Timing sets the delays of background work.
type Timing = sessions.Timing

// Snapshots reads the contents of snapshots.
type Snapshots interface {
	// History returns the newest snapshot of a session and all its ancestors, parents
	// before children.
	History(ctx context.Context, name string) ([]domarkx.Info, error)
	// Render returns a snapshot as a document, which the caller must not change. As
	// Markdown it is what its author saved, Info.Bytes bytes.
	Render(ctx context.Context, id string, form Form) ([]byte, error)
	// Size returns the length of the result of Render at a lower cost.
	Size(ctx context.Context, id string, form Form) (int64, error)
}

// Messages reads single messages of a snapshot.
type Messages interface {
	// Roles returns the role of each message, without reading the messages.
	Roles(ctx context.Context, id string) ([]domarkx.Role, error)
	// Message returns message k, counted from 0. The caller must not change it.
	Message(ctx context.Context, id string, k int, form Form) ([]byte, error)
	// Link returns the id of the workspace version that message k is linked to, or "".
	Link(ctx context.Context, id string, k int) (string, error)
}

// Changing is what a mount needs to change sessions. It is not used when the mount is read-only.
type Changing struct {
	Names    Names
	Saver    Saver
	Attacher Attacher // nil attaches nothing
	Drafts   string   // directory of the journals
}

// WorkspaceSource is what a mount needs to show workspaces.
type WorkspaceSource struct {
	Workspaces Workspaces // nil shows none
	Versions   Versions
	Contents   domarkx.VersionReader
	// Beside is a directory on which the workspaces are mounted. Users other than root
	// need it, because they cannot mount inside another mount. It is created if needed
	// and removed after the unmount, and MNT/workspaces is a symbolic link to it. ""
	// mounts the workspaces inside the mount.
	Beside string
}

// Options configures a mount.
type Options struct {
	Dir         string // an existing directory to mount on
	Sessions    Sessions
	Snapshots   Snapshots
	Messages    Messages
	Attachments Attachments // reads attached files; nil shows none
	Changing
	WorkspaceSource
	ReadOnly bool         // reject all changes
	Label    string       // source in mount(8), such as the repository's directory
	Logger   *slog.Logger // nil logs nothing
	Timing   Timing       // zero for the default
}
