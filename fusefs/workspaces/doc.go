// Package workspaces serves every version of every workspace as a read-only file
// system:
//
//	<name>/<NNNN>-<oid>/<resource>/…   the files of a resource
//	<name>/latest                      a symbolic link to the latest version
//	.versions/<NNNN>-<oid>/…           any version by its id; not listed
//
// It implements the FUSE protocol on a connection of its own, because caching is
// negotiated for a whole connection: everything below an object id is immutable, so the
// kernel may cache it without a limit and open it without a message. This makes browsing
// four times as fast, and is impossible for sessions, where saving needs the messages of
// opens. Names above an object id are looked up each time.
//
// SEMANTICS.md of package fusefs documents the guarantees.
package workspaces
