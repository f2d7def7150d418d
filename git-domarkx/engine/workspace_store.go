package engine

import (
	"cmp"
	"context"
	"io"
	"iter"

	"github.com/domarkx/domarkx"
)

// Workspaces tells what workspaces there are.
type Workspaces interface {
	// Workspaces returns the newest version of every workspace by name, without its
	// resources.
	Workspaces(ctx context.Context) ([]domarkx.Version, error)
	// WorkspaceTip returns the newest version of a workspace; domarkx.ErrNotFound.
	WorkspaceTip(ctx context.Context, name string) (domarkx.Version, error)
}

// Versions reads versions of workspaces.
type Versions interface {
	// Version returns a version by its full id.
	Version(ctx context.Context, id string) (domarkx.Version, error)
	// Versions returns a version and all before it, newest first, without their
	// resources.
	Versions(ctx context.Context, id string) iter.Seq2[domarkx.Version, error]
	// FindVersion returns the version whose id begins so, among one and all before it.
	FindVersion(ctx context.Context, tip, prefix string) (domarkx.Version, error)
}

// Attachments reads what is kept beside messages: outputs that are too large for one, and
// files.
type Attachments interface {
	// Attachment opens what a snapshot holds under a SHA-256 in hexadecimal;
	// domarkx.ErrNotFound.
	Attachment(ctx context.Context, snapshot, sha256 string) (domarkx.Content, error)
	// Files returns the files that a snapshot keeps by their paths, in order of path.
	Files(ctx context.Context, snapshot string) ([]domarkx.AttachedFile, error)
}

// A VersionDiffer compares versions of a resource, and checks what is new in one.
type VersionDiffer interface {
	// DiffVersions calls fn for each path at which two versions of a resource differ,
	// with the file that either has there, nil for none.
	DiffVersions(ctx context.Context, a, b string, fn func(path string, old, new *domarkx.File) error) error
	// CheckVersion reports, as domarkx.ErrCorrupt, folders of a version of a resource
	// that cannot be read, and a version that stands for more than any reader gets through.
	// Of base, another version or "" for none, it is known already.
	CheckVersion(ctx context.Context, base, version string) error
}

// Links tells which versions of workspaces hold on to a snapshot.
type Links interface {
	// LinkedVersions returns the versions that are parents of a snapshot, in order:
	// those that its messages linked first, and those that a rewind left and made.
	LinkedVersions(ctx context.Context, snapshot string) ([]string, error)
}

// VersionObjects stores versions of workspaces.
type VersionObjects interface {
	WorkspaceTip(ctx context.Context, name string) (domarkx.Version, error)
	// CommitVersion stores a version, which no ref holds yet.
	CommitVersion(ctx context.Context, workspace string, c domarkx.VersionCommit) (domarkx.Version, error)
	// SetWorkspace points a workspace, which need not exist, at a version that its tip
	// is an ancestor of.
	SetWorkspace(ctx context.Context, name, id string) error
}

// WorkspaceNames changes which workspaces there are.
type WorkspaceNames interface {
	// CheckWorkspaceName says what is wrong with a name for a new workspace, as
	// CheckName does.
	CheckWorkspaceName(ctx context.Context, name string) error
	RenameWorkspace(ctx context.Context, from, to string) error
	WorkspaceToTrash(ctx context.Context, name string) error
	// WorkspaceFromTrash takes the workspace that was removed last out of the trash.
	WorkspaceFromTrash(ctx context.Context, name string) (domarkx.Version, error)
}

// AttachmentObjects stores what is kept beside messages.
type AttachmentObjects interface {
	// StoreAttachment stores the bytes of r and returns them as a blob with their
	// SHA-256 in hexadecimal. They stay when a snapshot's Commit.Attachments has them.
	StoreAttachment(ctx context.Context, r io.Reader) (b domarkx.Blob, sha256 string, err error)
	// Files returns the files that a snapshot keeps by their paths, in order of path.
	Files(ctx context.Context, snapshot string) ([]domarkx.AttachedFile, error)
}

// workspaceOf returns the name of the workspace that a session works in.
func (m *SessionManager) workspaceOf(ctx context.Context, session string) (string, error) {
	all, err := m.Attached(ctx)
	if err != nil {
		return "", err
	}
	return cmp.Or(all[session], session), nil
}
