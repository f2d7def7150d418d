// Package fusefs shows sessions as files: it mounts
//
//	README.md                          what is what
//	sessions/<name>.md                 read-write; a save is a new snapshot
//	snapshots/<name>/<NNNN>-<oid>.md   read-only, every snapshot; also .json, and latest.md, latest.json
//	messages/<name>/<NNNN>-<role>/     message.md and message.json of each message, workspace: its version
//	workspaces/<name>/<NNNN>-<oid>/    read-only, every version of a workspace, a folder for each resource
//	errors/<name>.md                   what became of a save that is not in the session as it was saved
//
// It knows nothing of how sessions are stored: that is behind [Sessions],
// [Snapshots], [Messages], [Names] and [Saver]. What programs do in sessions/ is
// the work of package sessions, what was saved and is no snapshot yet is kept by
// package drafts, versions of workspaces are served by package workspaces; this package turns both into a file system.
//
// SEMANTICS.md says what can be relied on, and where the mount is not POSIX.
package fusefs
