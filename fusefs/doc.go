// Package fusefs serves sessions as files. A mount contains
//
//	README.md                          an overview
//	sessions/<name>.md                 read-write; a save is a new snapshot
//	snapshots/<name>/<NNNN>-<oid>.md   read-only, every snapshot; also .json, and latest.md, latest.json
//	messages/<name>/<NNNN>-<role>/     message.md and message.json of each message, workspace: its version
//	workspaces/<name>/<NNNN>-<oid>/    read-only, every version of a workspace, a directory for each resource
//	errors/<name>.md                   a save that did not parse or was merged, and why
//
// The store is behind the interfaces in [Options]. Package
// sessions implements sessions/, package drafts stores saves until they are snapshots,
// and package workspaces serves workspaces/.
//
// SEMANTICS.md documents the guarantees and the differences from POSIX.
package fusefs
