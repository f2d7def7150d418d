package fusefs

import (
	"context"
	"log/slog"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/sessions"
	"github.com/domarkx/domarkx/fusefs/workspaces"
)

// A Form is the format of a document.
type Form string

// The forms of documents in the mount.
const (
	Markdown Form = "md"
	JSON     Form = "json"
)

var forms = []Form{Markdown, JSON}

func (f Form) extension() string { return "." + string(f) }

// Snapshots reads the contents of snapshots and their messages.
type Snapshots interface {
	// History returns the newest snapshot of a session and all its ancestors, parents
	// before children.
	History(ctx context.Context, name string) ([]domarkx.Info, error)
	// Render returns a snapshot as a document, which the caller must not change. As
	// Markdown it is what its author saved, Info.Bytes bytes.
	Render(ctx context.Context, id string, form Form) ([]byte, error)
	// Size returns the length of the result of Render at a lower cost.
	Size(ctx context.Context, id string, form Form) (int64, error)
	// Roles returns the role of each message, without reading the messages.
	Roles(ctx context.Context, id string) ([]domarkx.Role, error)
	// Message returns message k, counted from 0. The caller must not change it.
	Message(ctx context.Context, id string, k int, form Form) ([]byte, error)
	// Link returns the id of the workspace version that message k is linked to, or "".
	Link(ctx context.Context, id string, k int) (string, error)
}

// Changing has the functions with which a mount changes sessions. It is not used when the mount is read-only.
type Changing struct {
	Saver    sessions.Saver
	Attacher sessions.Attacher // nil attaches nothing
	Drafts   string            // directory of the journals
}

// WorkspaceSource has the workspaces that a mount shows.
type WorkspaceSource struct {
	Workspaces workspaces.Workspaces // nil shows none
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
	Sessions    sessions.Sessions
	Snapshots   Snapshots
	Attachments sessions.Attachments // reads attached files; nil shows none
	Changing
	WorkspaceSource
	ReadOnly bool            // reject all changes
	Label    string          // source in mount(8), such as the repository's directory
	Logger   *slog.Logger    // nil logs nothing
	Timing   sessions.Timing // zero for the default
}
