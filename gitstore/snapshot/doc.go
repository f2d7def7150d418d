// Package snapshot converts the snapshots of sessions, and the versions of workspaces, into Git commits and
// trees, and back. SPEC.md of package gitstore specifies them byte for byte.
//
// A [Reader] reads them, a [Builder] writes them within an update, and a [Checker] compares them with the
// specification. None of them reads or moves refs.
package snapshot
