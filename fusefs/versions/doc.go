// Package versions shows every version of every workspace as a read-only file
// system:
//
//	<name>/<NNNN>-<oid>/<resource>/…   what a resource held
//	<name>/latest                      a symbolic link to the newest
//	.versions/<NNNN>-<oid>/…           any version by its id; not listed
//
// It speaks the FUSE protocol itself, on a connection of its own: what is below an
// object id never changes, so that the kernel may keep it for ever, and opens
// files and folders there without asking; that holds for a whole connection.
// What is above an object id is looked up each time.
//
// SEMANTICS.md of package fusefs says what can be relied on.
package versions
