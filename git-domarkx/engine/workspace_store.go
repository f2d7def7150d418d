package engine

import (
	"cmp"
	"context"
	"io"
	"iter"

	"github.com/domarkx/domarkx"
)

// Workspaces lists workspaces.
type Workspaces interface {
	// Workspaces returns the newest version of every workspace, sorted by name, without
	// resources.
	Workspaces(ctx context.Context) ([]domarkx.Version, error)
	// WorkspaceTip returns the newest version of a workspace. The error matches
	// domarkx.ErrNotFound if the workspace does not exist.
	WorkspaceTip(ctx context.Context, name string) (domarkx.Version, error)
}

// Versions reads versions of workspaces.
type Versions interface {
	// Version returns a version by its full id.
	Version(ctx context.Context, id string) (domarkx.Version, error)
	// Versions returns a version and its ancestors, newest first, without resources.
	Versions(ctx context.Context, id string) iter.Seq2[domarkx.Version, error]
	// FindVersion returns the version whose id starts with prefix, among tip and its ancestors.
	FindVersion(ctx context.Context, tip, prefix string) (domarkx.Version, error)
}

// Attachments reads contents stored beside messages: large outputs and attached files.
type Attachments interface {
	// Attachment opens an attachment of a snapshot by its SHA-256 in hexadecimal. The error
	// matches domarkx.ErrNotFound if the snapshot has no such attachment.
	Attachment(ctx context.Context, snapshot, sha256 string) (domarkx.Content, error)
	// Files returns the attached files of a snapshot, sorted by path.
	Files(ctx context.Context, snapshot string) ([]domarkx.AttachedFile, error)
}

// A VersionDiffer compares versions of a resource and checks new ones.
type VersionDiffer interface {
	// DiffVersions calls fn for each path that differs between two versions of a resource, with
	// the file in each version, or nil if it does not exist there.
	DiffVersions(ctx context.Context, a, b string, fn func(path string, old, new *domarkx.File) error) error
	// CheckVersion returns an error that matches domarkx.ErrCorrupt if a version of a resource
	// cannot be read, or would expand to more than readers can process. base, if not "", is a
	// version that was already checked.
	CheckVersion(ctx context.Context, base, version string) error
}

// Links finds the workspace versions that a snapshot references.
type Links interface {
	// LinkedVersions returns the versions that are parents of a snapshot, in order: those that
	// its messages linked first, or those before and after a rewind.
	LinkedVersions(ctx context.Context, snapshot string) ([]string, error)
}

// VersionObjects stores versions of workspaces.
type VersionObjects interface {
	WorkspaceTip(ctx context.Context, name string) (domarkx.Version, error)
	// CommitVersion stores a version without a ref.
	CommitVersion(ctx context.Context, workspace string, c domarkx.VersionCommit) (domarkx.Version, error)
	// SetWorkspace makes id the newest version of a workspace, which it creates if necessary. The
	// tip so far must be an ancestor of id.
	SetWorkspace(ctx context.Context, name, id string) error
}

// WorkspaceNames creates, renames and removes workspaces.
type WorkspaceNames interface {
	// CheckWorkspaceName checks a name for a new workspace, with the same errors as CheckName.
	CheckWorkspaceName(ctx context.Context, name string) error
	RenameWorkspace(ctx context.Context, from, to string) error
	WorkspaceToTrash(ctx context.Context, name string) error
	// WorkspaceFromTrash restores the most recently removed workspace with that name.
	WorkspaceFromTrash(ctx context.Context, name string) (domarkx.Version, error)
}

// AttachmentObjects stores contents beside messages.
type AttachmentObjects interface {
	// StoreAttachment stores the bytes of r and returns them as a blob with their SHA-256 in
	// hexadecimal. They are kept if the Commit.Attachments of a snapshot contain them.
	StoreAttachment(ctx context.Context, r io.Reader) (b domarkx.Blob, sha256 string, err error)
	// Files returns the attached files of a snapshot, sorted by path.
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
